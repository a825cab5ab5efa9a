"""Strips of small pictures inside the page."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.scores import ScoreRow
from PIL import Image

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.display_names import display_names
from ..analysis.groups import CaseGroup
from ..analysis.reasons import frames_of, losing_step, loss_clause, lost_places, typical_cases, verdict_words
from ..crops import Place, box_around, changed_place

SIDE = 192  # pixels: sharp on a phone's screen at two thirds of it
_QUALITY = 55
# One picture for the template: label, words, uri, size and is_loss. Without a uri, the words say why.
Frame = dict[str, Any]


@dataclass(frozen=True)
class Strip:
    editor: str  # its name
    title: str
    frames: Sequence[Frame]
    why: str = ""  # of a typical case: when and why it was lost
    label: str = ""  # the editor's own


def typical_strips(
    analysis: Analysis, group: CaseGroup, tested: Sequence[str], shown: Sequence[str], reader: Reader
) -> list[Strip]:
    key = typical_cases(group, analysis.outcomes[group.name], tested, shown)[0]
    chosen = [pair for pair in analysis.with_outcomes(group, *shown) if pair[0].key == key]
    scores = analysis.scores.of_chains({case.chain.id for case, _ in chosen})
    losses: dict[str, tuple[int | None, ScoreRow | None]] = {}
    for case, outcome in chosen:
        by_step = {row.step: row for row in scores[case.chain.id]}
        step = losing_step(case, outcome, by_step)
        losses[case.chain.id] = step, by_step.get(step or -1)
    last = next((case for case, outcome in reversed(chosen) if outcome.lost), chosen[-1][0]).chain.id
    places = _places(reader, last, *losses[last])
    return [
        _typical_strip(
            analysis, case, outcome, group.checks_of(case.editor), *losses[case.chain.id], reader, places
        )
        for case, outcome in chosen
    ]


def _places(reader: Reader, chain: str, lost_step: int | None, row: ScoreRow | None) -> list[Place]:
    """What the edit changed most, and what was lost, or changed most, when the case was lost."""
    places = lost_places(row)
    original, *others = (reader.picture(chain, step) for step in (0, 1, *(() if places else (lost_step or 1,))))
    try:
        return places + [changed_place(decode(original), decode(data)) for data in others if original and data]
    except Undecodable:
        return []


def _typical_strip(
    analysis: Analysis,
    case: Case,
    outcome: Outcome,
    checks: Sequence[str],
    lost_step: int | None,
    row: ScoreRow | None,
    reader: Reader,
    places: list[Place],
) -> Strip:
    frames = []
    for shown in frames_of(case, checks, lost_step):
        data = reader.picture(case.chain.id, shown["step"]) if shown["is_there"] else None
        label = ", ".join(filter(None, (shown["label"], shown["share"])))
        frames.append(
            make_frame(data, label, f"{case.source}, {case.program}: {label}", shown["is_loss"], places)
        )
    why = verdict_words(case, outcome, loss_clause(case, outcome, checks, analysis.threshold, row))
    title = f"a typical test: “{case.chain.program.cycle[0]}” on {case.source}"
    return Strip(display_names([case.editor])[case.editor], title, frames, why, case.editor)


def make_frame(
    data: bytes | None, label: str, words: str, is_loss: bool = False, places: list[Place] | None = None
) -> Frame:
    """With `places`, the part of the picture that holds them."""
    frame = {"label": label, "words": "no picture", "uri": "", "size": (0, 0), "is_loss": is_loss}
    if data is None:
        return frame
    try:
        small = decode(data)
    except Undecodable as error:
        return frame | {"words": f"unreadable: {error}"}
    if places:
        small = small.crop(box_around(small.size, places))
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=_QUALITY, method=4)
    uri = "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
    return frame | {"words": words, "uri": uri, "size": small.size}
