"""Programs of several edits out and back, composed from the edits of out_and_back.toml."""

from collections.abc import Iterator

from ...files import toml_beside
from ...records import Json


def compose() -> Iterator[Json]:
    table = toml_beside(__file__, "out_and_back.toml")
    edits = table["edits"]
    for name, sequence in table["sequences"].items():
        for depth in table["depths"]:
            chosen = [edits[id] for id in sequence["edits"][:depth]]
            yield {
                "id": f"out-and-back-{depth}-{name}",
                "cycle": [*(edit["out"] for edit in chosen), *(edit["back"] for edit in reversed(chosen))],
                "category": "out and back",
                "closes": True,
                "reversibility": "clear",
                "reason": f"{depth} edits that can each be taken back",
                "fits": sequence["fits"],
                "small": True,
            }
