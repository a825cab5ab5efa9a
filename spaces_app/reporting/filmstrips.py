"""The cases in which each editor did worst, as strips of small pictures inside the page."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode
from convergebench.metric_modules.halflife.outcomes import Outcome
from PIL import Image

from ..study.cases import Case
from ..study.display_names import display_name
from ..study.reasons import losing_step, loss_clause
from ..study.tables import Table, format_value
from ..study.typical import frames_of

SIDE = 192  # pixels: sharp on a phone's screen at two thirds of it
QUALITY = 55


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


def make_strips(table: Table, reader: Reader, lengths: Mapping[str, int]) -> list[Strip]:
    """The strips of the table's rows; `lengths` holds the steps in a round of each chain."""
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
        title = f"{name}: {one['cause']} in round {one['lost_in']}"
        found.append(Strip(one["editor"], title, tuple(frames)))
    return found


def typical_strip(case: Case, outcome: Outcome, checks: Sequence[str], reader: Reader) -> Strip:
    """One editor on a case: the original, the first edit, some returns and the step in which the case was lost."""
    frames = []
    for frame in frames_of(case, checks, losing_step(case, outcome, {})):
        data = reader.picture(case.chain.id, frame["step"]) if frame["there"] else None
        label = " ".join(filter(None, (frame["label"], frame["share"], "lost" if frame["is_loss"] else "")))
        frames.append(make_frame(data, label, f"{case.source}, {case.program}: {label}"))
    clause = loss_clause(case, outcome, checks)
    title = f"lost in round {outcome.lost_at}: {clause}" if outcome.lost else f"survived all {case.rounds} rounds"
    return Strip(display_name(case.editor), f"{title} ({case.source}, {case.program}: a typical case)", tuple(frames))


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
    small.save(buffer, "WEBP", quality=QUALITY, method=4)
    uri = "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
    return Frame(label, words, uri, *small.size)
