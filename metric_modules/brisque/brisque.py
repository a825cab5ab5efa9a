"""BRISQUE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate
from convergebench.metric_modules._shared import parameters
from convergebench.metric_modules._shared.no_reference import NoReference
from convergebench.metric_modules.brisque.measure import Regression, brisque, published_regression, signature
from convergebench.metric_modules.brisque.spec import SPEC


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

    def fetch_weights(self) -> None:
        """Bring what the metric needs into the user's cache, unless it is there."""
        parameters.fetch("brisque")
