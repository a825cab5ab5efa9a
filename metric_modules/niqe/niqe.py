"""NIQE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate

from .images import ImageInputs
from .measure import Pristine, niqe, pristine, signature
from .no_reference import NoReference
from .nss import luma
from .packages import Unavailable
from .parameters import load
from .pictures import resize_to
from .registries import python_indexes
from .spec import SPEC

# `evaluate` brings along what this file itself imports.
__all__ = ["ImageInputs", "Niqe", "Unavailable", "load", "luma", "python_indexes", "resize_to"]


class Niqe(NoReference, evaluate.Metric):
    """How far a picture is from undamaged photographs, by the statistics of its contrast."""

    spec = SPEC
    about = """How far a picture is from undamaged photographs, by the statistics of its contrast; lower is better,
    0 is as near as can be, without an upper end. There is no reference: a picture is judged on its own."""

    @staticmethod
    def load_parameters() -> Pristine:
        return pristine()

    @staticmethod
    def score(picture: Any, parameters: Pristine) -> Any:
        return niqe(picture, parameters)

    @staticmethod
    def signature(parameters: Pristine) -> dict[str, Any]:
        return signature()
