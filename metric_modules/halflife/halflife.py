"""How many rounds of use a measured quality survives: the Kaplan-Meier median, over chains, of the first round
whose value is past a threshold, with a bootstrap interval over sources; the restricted mean; the share that was
not lost at all."""

import math
from collections.abc import Hashable, Sequence

from convergebench.metric_modules._evaluate import modules
from convergebench.metric_modules._evaluate.modules import Series, check_counts, checked_rounds
from convergebench.metric_modules.halflife.causes import END_CAUSES
from convergebench.metric_modules.halflife.intervals import CONFIDENCE, RESAMPLES, SEED
from convergebench.metric_modules.halflife.outcomes import ENDS, curve_outcome, is_measured
from convergebench.metric_modules.halflife.survival import kaplan_meier, summarise


def half_life(
    curves: Sequence[Series],
    rounds: Sequence[int] | None = None,
    threshold: float | None = None,
    better: str = "higher",
    ends: Sequence[str] | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> dict[str, object]:
    """The half-life of curves of one metric, one curve per chain.

    A chain is lost in its first measured round past the threshold, or in
    the round in which it was refused; a technical failure and the last
    round censor. Formula: min{n : S(n) <= 1/2}, S the Kaplan-Meier curve.

    >>> half_life([[0.9] * 4 + [0.3] * 6, [0.9] * 6 + [0.4] * 4, [0.9] * 10])["half_life_text"]
    '7'
    """
    limit = 0.5 if threshold is None else threshold
    if better not in ("higher", "lower"):
        raise ValueError(f"no direction {better!r}; the directions are higher, lower")
    if not math.isfinite(limit) or (better == "lower" and threshold is None):
        raise ValueError(
            f"threshold must be a number in the metric's own unit, got {threshold} with better={better!r}"
        )
    at = checked_rounds(curves, rounds)
    all_ends = check_counts("ends", ends, len(curves)) or ["complete"] * len(curves)
    check_counts("clusters", clusters, len(curves))
    outcomes = []
    for number, (curve, end) in enumerate(zip(curves, all_ends, strict=True), 1):
        _check_curve(number, curve, at, threshold is None, end)
        outcomes.append(curve_outcome(curve, at, limit, better, end))
    grid, alive = kaplan_meier([outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes])
    scale = "retained" if threshold is None else "absolute"
    signature = f"scale={scale}|threshold={limit}|better={better}|rounds={','.join(map(str, at))}"
    return {
        **summarise(outcomes, at, clusters),
        "curve": {"rounds": [int(round) for round in grid], "survival": alive.tolist()},
        "per_chain": [
            {
                "half_life": outcome.lost_at,  # None if it was not lost; the text says how far it was followed
                "text": outcome.text,
                "cause": outcome.cause,
            }
            for outcome in outcomes
        ],
        "signature": f"{signature}|confidence={CONFIDENCE}|bootstrap={RESAMPLES}|seed={SEED}",
    }


def _check_curve(
    number: int, curve: Sequence[float | None], rounds: Sequence[int], is_retained: bool, end: str
) -> None:
    if end not in ENDS:
        raise ValueError(f"curve {number} ends with {end!r}; an end is one of {', '.join(ENDS)}")
    outside = [value for value in curve if is_measured(value) and not 0 <= value <= 1]  # type: ignore[operator]
    if is_retained and outside:
        raise ValueError(f"curve {number} holds {outside[0]:g}; without a threshold values must be from 0 to 1")
    if end in END_CAUSES and len(curve) == len(rounds) and is_measured(curve[-1]):
        raise ValueError(f"curve {number} ends with {end!r} yet has a value in the last round, {rounds[-1]}")


HalfLife = modules.Module.of(
    __name__,
    __doc__,
    half_life,
    example={
        "predictions": [[0.96, 0.91, 0.84, 0.76, 0.68, 0.61, 0.55, 0.48, 0.44, 0.41], [0.95, 0.88, 0.79]],
        "ends": ["complete", "refused"],
        "clusters": ["photo 1", "photo 2"],
    },
)
