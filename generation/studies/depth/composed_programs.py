"""Programs of several edits out and back, composed from the edits of out_and_back.toml."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from ...records import Json


def compose() -> Iterator[Json]:
    table = tomllib.loads(Path(__file__).with_name("out_and_back.toml").read_text(encoding="utf-8"))
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
