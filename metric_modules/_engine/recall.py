"""The recall audit: is an answer to a mirrored picture closer to the reference that was never shown mirrored?"""

from typing import Any

import numpy

from ..psnr.measure import compare as likeness
from .measures import Measure, Pictures, Values

NAME = COLUMN = "recalled"
SYMMETRIC = 15.0  # dB between a reference and its mirror image, from which on nothing can be told
NOT_AUDITED = "the recall audit did not mirror what this step was given"


def measure() -> Measure:
    """Pictures come turned back, as all that was mirrored is before it is scored; recall shows after a second turn."""

    def prepare(picture: numpy.ndarray) -> Any:
        return picture, likeness(picture, mirror(picture))["psnr"] < SYMMETRIC

    def compare(known: Any, pictures: Pictures, before: object) -> list[Values]:
        reference, telling = known
        if not telling:
            return [{COLUMN: "the reference looks like its own mirror image"} for _ in pictures]
        return [{COLUMN: rmse(reference, mirror(picture)) < rmse(reference, picture)} for picture in pictures]

    return Measure(NAME, (COLUMN,), f"{NAME}/1 symmetric>={SYMMETRIC:g}dB", prepare, compare)


def mirror(picture: numpy.ndarray) -> numpy.ndarray:
    return numpy.ascontiguousarray(picture[:, ::-1])


def rmse(reference: numpy.ndarray, picture: numpy.ndarray) -> float:
    return likeness(reference, picture)["rmse"]
