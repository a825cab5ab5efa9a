"""NIQE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate
from convergebench.metric_modules._shared import parameters
from convergebench.metric_modules._shared.no_reference import NoReference
from convergebench.metric_modules.niqe.measure import Pristine, niqe, pristine, signature
from convergebench.metric_modules.niqe.spec import SPEC


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

    def fetch_weights(self) -> None:
        """Bring what the metric needs into the user's cache, unless it is there."""
        parameters.fetch("niqe")
