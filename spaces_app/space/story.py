"""The first screen: what decays, seen, and which editor lasts, said."""

import html
from typing import Any
from urllib.parse import urlencode

from ..reporting.filmstrips import spread
from ..statistics.cases import Case
from ..statistics.fates import converged, role
from .board import Board, board
from .store import Store

FRAMES = 4
CAUSES = {
    "not applied": "the change was no longer made",
    "not undone": "the change was no longer taken back",
    "quality lost": "half of the picture was gone",
    "part lost": "a part had become another picture",
    "meaning lost": "its meaning was lost",
}


def story(store: Store) -> str:
    """Headline, counts and two strips of pictures; without cases, one sentence."""
    found = board(store)
    if found.field is None or not found.table.rows:
        return f'<p class="cb-note">{html.escape(found.table.note)}</p>'
    strips = "".join(strip(store, found, case) for case in shown(found))
    tested = sum(role(name) == "editor" for name in store.names["editor"])
    counts = {
        "editor": tested,
        "reference row": len(store.names["editor"]) - tested,
        "chain": len(store.chains),
        "picture": len(store.names["source"]),
        "step": store.table.num_rows,
    }
    told = "".join(
        f"<span><b>{count:,}</b>{name}{'' if count == 1 else 's'}</span>" for name, count in counts.items() if count
    )
    return (
        f'<div class="cb-story"><div><h2>{headline(found)}</h2>'
        "<p>Ask an editor for a change, ask it to take the change back, and again. Every round should end where it "
        "began; what is lost adds up. Here is how many rounds each editor keeps.</p>"
        f'<div class="cb-counts">{told}</div></div><div>{strips}</div></div>'
    )


def headline(found: Board) -> str:
    """Who lasts longest, in one sentence."""
    rows = [row for row in found.table.rows if row["role"] == "editors"] or list(found.table.rows)
    first, last = rows[0], rows[-1]
    lasts = f"keeps {first['rounds_kept']:.1f} of {first['last_round']} rounds"
    told = f"On average <b>{html.escape(first['editor'])}</b> {lasts}"
    if len(rows) > 1:
        told += f"; <b>{html.escape(last['editor'])}</b> keeps {last['rounds_kept']:.1f}"
    return told + "."


def shown(found: Board) -> list[Case]:
    """First and last editor on one case; where there is one editor, its best case and its worst."""
    field = found.field
    assert field is not None  # noqa: S101 - ours: asked only where there is a table
    rows = [row["editor"] for row in found.table.rows if row["role"] == "editors"] or [
        row["editor"] for row in found.table.rows
    ]
    first, last = field.cases[rows[0]], field.cases[rows[-1]]

    def mean(case: Case) -> float:
        values = [value for value in case.quality if value is not None]
        return sum(values) / len(values) if values else 0.0

    if rows[0] == rows[-1]:
        every = sorted(first, key=lambda case: (converged(case, field.checks).kept, mean(case)))
        return [every[-1], every[0]] if len(every) > 1 else every
    keyed = {case.key: case for case in last}
    both = [(case, keyed[case.key]) for case in first if case.key in keyed]
    better, worse = max(both, key=lambda pair: mean(pair[0]) - mean(pair[1])) if both else (first[0], last[0])
    return [better, worse]


def strip(store: Store, found: Board, case: Case) -> str:
    """One case: the original and four of its returns; each opens the chain at that step."""
    assert found.field is not None  # noqa: S101
    fate = converged(case, found.field.checks)
    lasted = (
        "kept every round" if not fate.lost else f"round {fate.lost_at}: {CAUSES.get(fate.cause or '', fate.cause)}"
    )
    length = max(store.chain(case.chain)["steps"] // max(case.rounds, 1), 1)
    last = case.rounds if case.end_round is None else max(case.end_round - 1, 1)
    frames = [frame(case, 0, "original")] + [
        frame(case, round * length, f"round {round}") for round in spread(last, FRAMES)
    ]
    words = f"<b>{html.escape(case.editor)}</b>, {html.escape(case.program)}, {html.escape(case.source)}"
    kind = "cb-lasts" if not fate.lost else ""
    return (
        f'<figure class="cb-strip"><figcaption>{words} · <em class="{kind}">{html.escape(str(lasted))}</em>'
        "</figcaption>"
        f'<div class="cb-frames">{"".join(frames)}</div></figure>'
    )


def frame(case: Case, step: int, label: str) -> str:
    name = html.escape(case.chain, quote=True)
    query = html.escape(urlencode({"tab": "chains", "chain": case.chain, "step": step}), quote=True)
    return (
        f'<a href="?{query}" data-open="{name}" data-at="{step}">'
        f'<img data-chain="{name}" data-step="{step}" data-kind="view" '
        f'alt="{html.escape(case.source, quote=True)}, {label}"><span>{label}</span></a>'
    )


def about(store: Store) -> dict[str, Any]:
    """The dataset in a few facts, for the API."""
    suites = sorted({(row["suite"], row["suite_version"]) for row in store.chains.values()})
    return {
        "editors": {name: role(name) for name in store.names["editor"]},
        "pictures": store.names["source"],
        "programs": list(dict.fromkeys(row["program"] for row in store.chains.values())),
        "suites": [{"suite": suite, "version": version} for suite, version in suites],
        "chains": len(store.chains),
        "scored_steps": store.table.num_rows,
        "excluded_pictures": store.excluded,
    }
