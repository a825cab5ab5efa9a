"""The curves of published tables, beside those of the dataset."""

from typing import Any

from ...analysis.analysis import Analysis
from .published_metrics import published_curves, published_of


def curves(analysis: Analysis) -> list[dict[str, Any]]:
    return published_curves(analysis.once(published_of))
