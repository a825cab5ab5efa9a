"""The case in which each editor did worst, as a strip of small pictures inside the page."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules.halflife.outcomes import Outcome

from ..study.cases import Case
from ..study.groups import CaseGroup, is_measured, lowest_quality
from ..study.tables import Column, Table, format_value

SIDE = 192  # pixels: sharp on a phone's screen at two thirds of it
FRAMES = 6  # with the original
STRIPS = 6  # all editors together, and one for each at least
QUALITY = 55
COLUMNS = (
    Column("editor", "Editor"),
    Column("chain", "Chain"),
    Column("source", "Source"),
    Column("program", "Program"),
    Column("round", "Round", "count"),
    Column("quality", "Retained quality", "share"),
    Column("outcome", "Lost in round"),
    Column("cause", "To"),
)


@dataclass(frozen=True)
class Frame:
    """One small picture as a data URI; without one, `words` say why."""

    label: str
    words: str
    uri: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Strip:
    editor: str
    title: str
    frames: tuple[Frame, ...]


def worst(group: CaseGroup, outcomes: Mapping[str, Sequence[Outcome]]) -> Table:
    """For each editor the cases lost first, the lowest quality before others; a row for each round shown.

    One case for each source; a refusal in the first round leaves no pictures to look at. Reference rows are shown only
    where there is nothing else.
    """
    tested = [editor for editor in group.cases if group.roles[editor] != "reference"] or list(group.cases)
    rows = []
    for editor in tested:
        pairs = list(zip(group.cases[editor], outcomes[editor], strict=True))
        lost = [(case, outcome) for case, outcome in pairs if outcome.lost and is_measured(case, 0)]
        lost.sort(key=lambda pair: (pair[1].lost_at, mean_quality(pair[0], group.checks), pair[0].chain))
        first = {case.source: (case, outcome) for case, outcome in reversed(lost)}
        chosen = [pair for pair in lost if first[pair[0].source] == pair][: max(1, STRIPS // len(tested))]
        for case, outcome in chosen:
            values = lowest_quality(case, group.checks) or [None] * case.rounds
            last = case.rounds if case.end_round is None else case.end_round
            about: dict[str, Any] = {
                "editor": editor,
                "chain": case.chain,
                "source": case.source,
                "program": case.program,
            }
            rows += [
                about | {"round": round, "quality": values[round - 1], "outcome": outcome.text, "cause": outcome.cause}
                for round in spread(last, FRAMES - 1)
            ]
    note = "" if rows else "No editor lost a case of which there are pictures."
    return Table("worst", "The worst cases of each editor", COLUMNS, rows, note)


def mean_quality(case: Case, checks: Sequence[str]) -> float:
    values = [value for value in lowest_quality(case, checks) if value is not None]
    return sum(values) / len(values) if values else 0.0


def spread(last: int, count: int) -> list[int]:
    """Rounds from the first to the last, evenly."""
    if last <= count:
        return list(range(1, last + 1))
    return sorted({round(1 + place * (last - 1) / (count - 1)) for place in range(count)})


def strips(table: Table, reader: Reader, lengths: Mapping[str, int]) -> list[Strip]:
    """The strips of the table's rows; `lengths` holds the steps in a round of each chain."""
    found = []
    for chain in dict.fromkeys(row["chain"] for row in table.rows):
        rows = [row for row in table.rows if row["chain"] == chain]
        one = rows[0]
        name = f"{one['source']}, {one['program']}"
        frames = [frame(reader.picture(chain, 0), "original", f"{name}: the original")]
        for row in rows:
            words = f"{name}, as {one['editor']} returned it in round {row['round']}"
            data = reader.picture(chain, row["round"] * lengths[chain])
            frames.append(frame(data, f"round {row['round']}, {format_value(row['quality'], 'share')}", words))
        title = f"{name}: {one['cause']} in round {one['outcome']}"
        found.append(Strip(one["editor"], title, tuple(frames)))
    return found


def frame(data: bytes | None, label: str, words: str) -> Frame:
    """A picture made small; one that is missing or broken is said in words."""
    from PIL import Image

    if data is None:
        return Frame(label, "no picture")
    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.draft("RGB", (SIDE * 2, SIDE * 2))
            small = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        return Frame(label, f"unreadable: {type(error).__name__}")
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=QUALITY, method=4)
    uri = "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
    return Frame(label, words, uri, *small.size)
