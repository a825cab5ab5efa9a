"""Strips of small pictures inside the page: cases in which an editor did worst, typical ones, restored pictures."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode
from convergebench.metric_modules.halflife.outcomes import Outcome
from PIL import Image

from ..analysis.cases import Case
from ..analysis.display_names import display_name
from ..analysis.reasons import TITLES, losing_step, loss_clause
from ..analysis.tables import Table, format_value
from ..analysis.typical import frames_of

SIDE = 192  # pixels: sharp on a phone's screen at two thirds of it
_QUALITY = 55


@dataclass(frozen=True)
class Frame:
    """One small picture as a data URI; without one, `words` say why."""

    label: str
    words: str
    uri: str = ""
    width: int = 0
    height: int = 0
    is_loss: bool = False


@dataclass(frozen=True)
class Strip:
    editor: str
    title: str
    frames: tuple[Frame, ...]
    why: str = ""  # of a typical case: the round and the reason of its loss


def worst_strips(table: Table, reader: Reader) -> list[Strip]:
    """The strips of the cases that an editor lost first."""
    lengths = {chain.id: len(chain.program.cycle) for chain in reader.chains()}
    found = []
    for chain in dict.fromkeys(row["chain"] for row in table.rows):
        rows = [row for row in table.rows if row["chain"] == chain]
        one = rows[0]
        name = f"{one['source']}, {one['program']}"
        frames = [make_frame(reader.picture(chain, 0), "original", f"{name}: the original")]
        for row in rows:
            words = f"{name}, as {one['editor']} returned it in round {row['round']}"
            data = reader.picture(chain, row["round"] * lengths[chain])
            frames.append(make_frame(data, f"round {row['round']}, {format_value(row['quality'], 'share')}", words))
        cause = TITLES.get(one["cause"], str(one["cause"])).lower()
        found.append(Strip(display_name(one["editor"]), f"{name}: {cause} in round {one['lost_in']}", tuple(frames)))
    return found


def typical_strip(
    case: Case, outcome: Outcome, checks: Sequence[str], threshold: float, scores: Mapping[int, Any], reader: Reader
) -> Strip:
    """One editor on a case: the original, the first edit, some returns and the step in which the case was lost.

    `scores` holds the rows of the case's steps, for the numbers of what was lost.
    """
    at = losing_step(case, outcome, scores)
    frames = []
    for frame in frames_of(case, checks, at):
        data = reader.picture(case.chain.id, frame["step"]) if frame["there"] else None
        label = " ".join(filter(None, (frame["label"], frame["share"])))
        made = make_frame(data, label, f"{case.source}, {case.program}: {label}")
        frames.append(replace(made, is_loss=bool(frame["is_loss"])))
    clause = loss_clause(case, outcome, checks, threshold, scores.get(at or -1))
    why = f"lost in round {outcome.lost_at}: {clause}" if outcome.lost else f"survived all {case.rounds} rounds"
    title = f"a typical test: “{case.chain.program.cycle[0]}” on {case.source}"
    return Strip(display_name(case.editor), title, tuple(frames), why)


def make_frame(data: bytes | None, label: str, words: str) -> Frame:
    """A picture made small; one that is missing or broken is said in words."""
    if data is None:
        return Frame(label, "no picture")
    try:
        small = decode(data)
    except Undecodable as error:
        return Frame(label, f"unreadable: {error}")
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=_QUALITY, method=4)
    uri = "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
    return Frame(label, words, uri, *small.size)
