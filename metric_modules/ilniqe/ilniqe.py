"""IL-NIQE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate
from convergebench.metric_modules._shared.no_reference import NoReference
from convergebench.metric_modules.ilniqe import template
from convergebench.metric_modules.ilniqe.measure import ilniqe, signature
from convergebench.metric_modules.ilniqe.spec import SPEC
from convergebench.metric_modules.ilniqe.template import Template, load


class IlNiqe(NoReference, evaluate.Metric):
    """How far a picture is from undamaged photographs, by statistics of contrast, edges and colours."""

    spec = SPEC
    about = """How far a picture is from undamaged photographs, by the statistics of its contrast, edges and colours;
    lower is better, 0 is as near as can be, without an upper end. There is no reference: a picture is judged on its
    own."""

    @staticmethod
    def load_parameters() -> Template:
        return load()

    @staticmethod
    def score(picture: Any, parameters: Template) -> Any:
        return ilniqe(picture, parameters)

    @staticmethod
    def signature(parameters: Template) -> dict[str, Any]:
        return signature(parameters)

    def fetch_weights(self) -> None:
        """Bring what the metric needs into the user's cache, unless it is there."""
        template.fetch()
