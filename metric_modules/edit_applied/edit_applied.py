"""Did the forward edit happen, and was it undone? As an `evaluate` module; the pure functions are in judge.py."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate
from convergebench.metric_modules._shared.images import ImageInputs, dealt, pixels, reason_text, signature_text
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.edit_applied.judge import Judgement, judge_step
from convergebench.metric_modules.edit_applied.measure import signature
from convergebench.metric_modules.edit_applied.sharpness import grey
from convergebench.metric_modules.edit_applied.spec import SPEC

FORWARD = ("applied", "region_share")
UNDO = ("undone", "undo_ratio", "undo_explained", "part_lost", "part_lost_share", "part_redrawn_share")
FIELDS = FORWARD + UNDO

DESCRIPTION = """Whether an edit happened (applied, 0 or 1, with the share of the picture its largest region covers)
whether a second edit took it back (undone, 0 or 1, with the part of the change that is left), and whether a part of the
picture was lost on the way (part_lost, 0 or 1). Every null has a reason."""

INPUTS = """
Args:
    predictions: the pictures that the forward instruction gave.
    references: the pictures it was given.
    returns: the pictures that the undoing instruction gave. All three are Pillow images, uint8 arrays, paths or
        encoded bytes, of any sizes.
    cycle: the two instructions; flips and rotations are recognised by their words and judged by an exact oracle.
    small: True for changes that cover little of the picture, such as glasses.
    meaning: for each example, the likeness (CLIP's cosine) of reference, prediction and return to the words for what
        the forward picture shows; it has to rise, and half of the rise at most may be left.
Returns:
    applied, region_share, undone, undo_ratio, undo_explained, part_lost, part_lost_share,
        part_redrawn_share: means over the examples that
        have them, or None; the same names with _values: one number or None each; reasons: one dictionary each;
        signature: what the numbers depend on.
"""


class EditApplied(ImageInputs, evaluate.Metric):
    """Did the forward edit happen, and was it undone?"""

    def _info(self) -> evaluate.MetricInfo:
        image = datasets.Image()
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": image, "references": image, "returns": image}),
        )

    def _compute(
        self,
        predictions: list[Any],
        references: list[Any],
        returns: list[Any],
        cycle: Sequence[str] = ("make the edit", "take it back"),
        small: bool = False,
        meaning: Sequence[Sequence[float]] | None = None,
    ) -> dict[str, Any]:
        if isinstance(cycle, str) or [role.kind for role in roles(cycle, closes=True)] != ["forward", "undo"]:
            raise ValueError(f"cycle is {cycle!r}; give two instructions, the second taking back the first")
        if meaning is not None and [len(three) for three in meaning] != [3] * len(predictions):
            raise ValueError(
                "meaning does not have three numbers for each example: of reference, prediction and return"
            )
        likenesses: Sequence[Sequence[float] | None] = meaning or [None] * len(predictions)
        given = list(zip(references, predictions, returns, likenesses, strict=True))

        def both(example: tuple[Any, Any, Any, Sequence[float] | None]) -> Judgement:
            shown = [pixels(picture) for picture in example[:3]]
            seen, greys = [look(picture) for picture in shown], [grey(picture) for picture in shown]
            given: dict[str, Any] = {"source": seen[0], "small": small, "meaning": example[3]}
            given |= {"greys": greys, "source_grey": greys[0]}
            made, taken = (judge_step(cycle, True, n, seen, **given) for n in (1, 2))
            reasons = {name: made.reasons.get(name) for name in FORWARD}
            reasons |= {name: taken.reasons.get(name) for name in UNDO}
            known = {name: reason for name, reason in reasons.items() if reason is not None}
            return taken._replace(applied=made.applied, region_share=made.region_share, reasons=known)

        judged = dealt(given, both)
        result: dict[str, Any] = {}
        for field in FIELDS:
            values = [getattr(one, field) for one in judged]
            known = [value for value in values if value is not None]
            result[field] = sum(known) / len(known) if known else None
            result[f"{field}_values"] = values
        result["reasons"] = [
            {name: reason_text(SPEC, reason) for name, reason in one.reasons.items()} for one in judged
        ]
        result["signature"] = signature_text("edit_applied", signature(), small_program=small)
        return result
