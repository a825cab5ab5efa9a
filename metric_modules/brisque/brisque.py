"""BRISQUE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate

from .images import ImageInputs
from .measure import Regression, brisque, published_regression, signature
from .no_reference import NoReference
from .nss import luma
from .packages import Unavailable
from .parameters import load
from .pictures import resize_to
from .registries import python_indexes
from .spec import SPEC

# `evaluate` brings along what this file itself imports.
__all__ = ["Brisque", "ImageInputs", "Unavailable", "load", "luma", "python_indexes", "resize_to"]


class Brisque(NoReference, evaluate.Metric):
    """A score of visible damage that was learned from the opinions of people."""

    spec = SPEC
    about = """A score of visible damage that was learned from the opinions of people; lower is better, 0 to 100 on
    the pictures it was learned from, and beyond on others. There is no reference: a picture is judged on its own."""

    @staticmethod
    def load_parameters() -> Regression:
        return published_regression()

    @staticmethod
    def score(picture: Any, parameters: Regression) -> Any:
        return brisque(picture, parameters)

    @staticmethod
    def signature(parameters: Regression) -> dict[str, Any]:
        return signature()
