"""Retained quality: any metric's values on one scale from 1 (untouched) to 0 (another picture altogether)."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import datasets
from convergebench.metric_modules._shared import modules
from convergebench.metric_modules.retained.floors import CEILINGS, retained_value


def retained(
    values: Sequence[float | None],
    references: Sequence[str],
    metric: str,
    floors: Mapping[str, Mapping[str, float]],
    ceiling: float | None = None,
) -> dict[str, object]:
    """Values of one metric on the retained scale. Formula: clip((m - floor) / (ceiling - floor), 0, 1).

    >>> retained([0.0, 25.0, 120.0], ["cat"] * 3, "rmse", {"cat": {"rmse": 100.0}})["retained"]
    [1.0, 0.75, 0.0]
    """
    if len(values) != len(references):
        raise ValueError(f"{len(values)} values were given with {len(references)} references; there is one for each")
    if metric == "psnr":
        raise ValueError("'psnr' is in decibels, which have no even scale; use 'rmse'")
    if ceiling is None and metric not in CEILINGS:
        raise ValueError(f"no ceiling is known for {metric!r}; give `ceiling`, or one of {', '.join(CEILINGS)}")
    top = float(CEILINGS[metric] if ceiling is None else ceiling)
    result: list[float | None] = []
    clipped = 0
    for value, reference in zip(values, references, strict=True):
        bottom = _floor_of(reference, metric, floors, top)
        if value is None or math.isnan(value):
            result.append(None)
            continue
        result.append(retained_value(value, bottom, top))
        clipped += not 0 <= (value - bottom) / (top - bottom) <= 1
    measured = [share for share in result if share is not None]
    return {
        "retained": result,
        "mean": math.fsum(measured) / len(measured) if measured else None,
        "measured": len(measured),
        "clipped": clipped,
        "signature": f"metric={metric}|ceiling={top:g}|floor=per reference",
    }


def _floor_of(reference: str, metric: str, floors: Mapping[str, Mapping[str, float]], ceiling: float) -> float:
    if reference not in floors:
        raise ValueError(f"no floors for reference {reference!r}; the table holds {len(floors)} others")
    if metric not in floors[reference]:
        known = ", ".join(floors[reference]) or "none"
        raise ValueError(f"no {metric} floor for reference {reference!r}; it has {known}")
    bottom = float(floors[reference][metric])
    wanted = f"a number other than {ceiling:g}" * (not math.isfinite(bottom) or bottom == ceiling)
    if not wanted and metric in CEILINGS and (bottom < ceiling) != (CEILINGS[metric] > 0):
        wanted = f"{'below' if CEILINGS[metric] > 0 else 'above'} {ceiling:g}, what an untouched picture scores"
    if wanted:
        raise ValueError(f"the {metric} floor of reference {reference!r} must be {wanted}, got {bottom}")
    return bottom


class Retained(modules.Module):
    """How much of what separates the original from an unrelated picture is still there: r = (m - floor) / (ceiling -
    floor), clipped to 0..1, with the floor of each reference from a suite's frozen table. Pixels are measured by
    RMSE, never in dB."""

    function = staticmethod(retained)
    columns: ClassVar = {"predictions": datasets.Value("float64"), "references": datasets.Value("string")}
    example: ClassVar = {
        "predictions": [0.05, 0.12, 0.21, 0.33, 0.48],
        "references": ["cat"] * 5,
        "metric": "lpips",
        "floors": {"cat": {"lpips": 0.74}},
    }
