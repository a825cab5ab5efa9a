"""Strips of small pictures inside the page."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode
from convergebench.metric_modules.halflife.outcomes import Outcome
from PIL import Image

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.display_names import display_names
from ..analysis.reasons import frames_of, losing_step, loss_clause, typical_cases

SIDE = 192  # pixels: sharp on a phone's screen at two thirds of it
_QUALITY = 55
# One picture for the template: label, words, uri, size and is_loss. Without a uri, the words say why.
Frame = dict[str, Any]


@dataclass(frozen=True)
class Strip:
    editor: str
    title: str
    frames: Sequence[Frame]
    why: str = ""  # of a typical case: when and why it was lost


def typical_strips(analysis: Analysis, tested: Sequence[str], reader: Reader) -> list[Strip]:
    group = next(iter(analysis.groups.values()))
    outcomes = analysis.outcomes[group.name]
    shown = list(dict.fromkeys([tested[0], tested[-1]]))
    key = typical_cases(group, outcomes, tested, shown)[0]
    return [
        _typical_strip(analysis, case, outcome, group.checks_of(editor), reader)
        for editor in shown
        for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True)
        if case.key == key
    ]


def _typical_strip(
    analysis: Analysis, case: Case, outcome: Outcome, checks: Sequence[str], reader: Reader
) -> Strip:
    scores = {row.step: row for row in analysis.scores.of_chains({case.chain.id})[case.chain.id]}
    lost_step = losing_step(case, outcome, scores)
    frames = []
    for shown in frames_of(case, checks, lost_step):
        data = reader.picture(case.chain.id, shown["step"]) if shown["is_there"] else None
        label = " ".join(filter(None, (shown["label"], shown["share"])))
        frames.append(make_frame(data, label, f"{case.source}, {case.program}: {label}", shown["is_loss"]))
    clause = loss_clause(case, outcome, checks, analysis.threshold, scores.get(lost_step or -1))
    why = f"lost in round {outcome.lost_at}: {clause}" if outcome.lost else f"survived all {case.rounds} rounds"
    title = f"a typical test: “{case.chain.program.cycle[0]}” on {case.source}"
    return Strip(display_names([case.editor])[case.editor], title, frames, why)


def make_frame(data: bytes | None, label: str, words: str, is_loss: bool = False) -> Frame:
    frame = {"label": label, "words": "no picture", "uri": "", "size": (0, 0), "is_loss": is_loss}
    if data is None:
        return frame
    try:
        small = decode(data)
    except Undecodable as error:
        return frame | {"words": f"unreadable: {error}"}
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=_QUALITY, method=4)
    uri = "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
    return frame | {"words": words, "uri": uri, "size": small.size}
