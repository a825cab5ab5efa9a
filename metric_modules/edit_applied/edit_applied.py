"""Whether something changed (changed, 0 or 1, with the share of the picture that its largest region covers),
whether the words were followed as far as that can be checked (as_asked, null unless they ask for a change of the
whole picture), whether a second edit took it back (undone, 0 or 1, with the part of the change that is left), and
how far all colours moved on the way (colour_shift, delta E). Every null has a reason."""

from collections.abc import Sequence

import datasets
from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import pixels
from convergebench.metric_modules._shared.looks import seen
from convergebench.metric_modules._shared.scoring import signature_text
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.edit_applied.judge import Judgement, judge_step
from convergebench.metric_modules.edit_applied.measure import SIGNATURE
from convergebench.metric_modules.edit_applied.spec import SPEC

_FORWARD = ("changed", "as_asked", "region_share")
_UNDO = ("undone", "undo_ratio", "undo_explained", "colour_shift")


def _edit_applied(
    predictions: Sequence[object],
    references: Sequence[object],
    returns: Sequence[object],
    cycle: Sequence[str] = ("make the edit", "take it back"),
    small: bool = False,
) -> dict[str, object]:
    if isinstance(cycle, str) or [role.kind for role in roles(cycle, closes=True)] != ["forward", "undo"]:
        raise ValueError(f"cycle is {cycle!r}; give two instructions, the second taking back the first")
    judged: list[Judgement] = []
    for three in zip(references, predictions, returns, strict=True):
        round = [seen(pixels(picture)) for picture in three]
        forward, undo = (judge_step(cycle, True, k, round, source=round[0], small=small) for k in (1, 2))
        judged.append({name: forward[name] for name in _FORWARD} | {name: undo[name] for name in _UNDO})
    signature = signature_text("edit_applied", SIGNATURE, small_program=small)
    return picture_modules.means_and_reasons(SPEC, judged, _FORWARD + _UNDO) | {"signature": signature}


EditApplied = picture_modules.PictureModule.of(
    __name__,
    __doc__,
    _edit_applied,
    columns={name: datasets.Image() for name in ("predictions", "references", "returns")},
    example={"cycle": ["add a red ball", "remove the red ball"], "small": False},
)
