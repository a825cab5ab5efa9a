"""IL-NIQE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import evaluate

from .images import ImageInputs
from .measure import ilniqe, signature
from .no_reference import NoReference
from .nss import luma
from .packages import Unavailable
from .pictures import resize_to
from .registries import python_indexes
from .spec import SPEC
from .template import Template, load

# `evaluate` brings along what this file itself imports.
__all__ = ["IlNiqe", "ImageInputs", "Unavailable", "load", "luma", "python_indexes", "resize_to"]


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
