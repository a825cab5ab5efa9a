"""The curves of published tables, beside those of the dataset."""

from ...analysis.analysis import Analysis
from ...analysis.round_curves import CurveRow
from .published_metrics import published_curves, published_of


def curves(analysis: Analysis) -> list[CurveRow]:
    return published_curves(analysis.once(published_of))
