"""PIQE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate
from convergebench.metric_modules._shared.no_reference import NoReference
from convergebench.metric_modules.piqe.measure import piqe, signature
from convergebench.metric_modules.piqe.spec import SPEC


class Piqe(NoReference, evaluate.Metric):
    """The share of a picture's busy blocks that are visibly impaired or noisy."""

    spec = SPEC
    about = """The share of a picture's busy blocks that are visibly impaired or noisy; lower is better, 0 to 100.
    There is no reference: a picture is judged on its own."""

    @staticmethod
    def score(picture: Any, parameters: None) -> Any:
        return piqe(picture)

    @staticmethod
    def signature(parameters: None) -> dict[str, Any]:
        return signature()
