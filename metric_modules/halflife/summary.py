"""Summarises the outcomes of many chains: half-life, restricted mean and survival with intervals."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .intervals import mean_interval, median_interval, share_interval
from .outcomes import Outcome, bracket_text
from .survival import area, kaplan_meier, median, pseudo_values

_MEDIAN_FROM = 10  # rounds; for shorter chains the share that survives is given


def summarise(
    outcomes: Sequence[Outcome],
    rounds: Sequence[int],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    programs: Sequence[Hashable] | None = None,
) -> dict[str, Any]:
    """Half-life, restricted mean and survival of chains from their outcomes; `clusters` names each chain's source.

    The intervals cover other sources under these programs; if `programs` names each chain's program, some are also
    given for other programs (`..._interval_two_way`). Chains without a measured round are counted separately.
    """
    if not any(outcome.time for outcome in outcomes):
        blank = dict.fromkeys(summarise([Outcome(1)], [1], None, confidence, None if programs is None else [0]))
        return blank | {
            "half_life_reason": "no chain has a measured round",
            "chains": 0,
            "chains_unmeasured": len(outcomes),
        }
    names = range(len(outcomes)) if clusters is None else clusters
    watched, sources, chain_programs = zip(
        *[row for row in zip(outcomes, names, programs or names, strict=True) if row[0].time], strict=True
    )
    times = np.array([outcome.time for outcome in watched], float)
    lost = np.array([outcome.lost for outcome in watched], bool)
    # A chain watched up to a round was not at risk of the loss that others met after that round.
    kept = np.array([outcome.kept + 1e-9 * outcome.lost for outcome in watched])
    grid, alive = kaplan_meier(times, lost)
    # After the last chain that was still watched nothing is known, unless all chains are lost.
    horizon = float(rounds[-1]) if alive.size and alive[-1] < 1e-12 else min(float(rounds[-1]), times.max())
    seen = np.flatnonzero(lost | (times >= horizon))
    survived, seen_sources = ~lost[seen], [sources[place] for place in seen]
    means, means_kept = (pseudo_values(values, lost, horizon) for values in (times, kept))
    result = {
        **_half_life(grid, alive, rounds, horizon, median_interval(times, lost, sources, confidence)),
        "restricted_mean": float(area(grid, alive, horizon)),
        "restricted_mean_interval": mean_interval(
            means, sources, horizon, first=min(1.0, horizon), confidence=confidence
        ),
        "mean_rounds_kept": round(float(area(*kaplan_meier(kept, lost), horizon)), 6),
        "mean_rounds_kept_interval": mean_interval(means_kept, sources, horizon, confidence=confidence),
        "survival": float(alive[-1]) if alive.size else 1.0,
        "survival_interval": share_interval(survived, seen_sources, confidence=confidence),
        "last_round": int(horizon),
        "share_censored": float(1 - lost.mean()),
        "share_failed": float(np.mean([outcome.failed for outcome in watched])),
        "chains": len(watched),
        "chains_unmeasured": len(outcomes) - len(watched),
        "clusters": len(set(sources)),
    }
    if programs is not None:
        seen_programs = [chain_programs[place] for place in seen]
        result |= {
            "mean_rounds_kept_interval_two_way": mean_interval(
                means_kept, sources, horizon, chain_programs, confidence=confidence
            ),
            "survival_interval_two_way": share_interval(survived, seen_sources, seen_programs, confidence),
        }
    return result


def _half_life(
    grid: np.ndarray, alive: np.ndarray, rounds: Sequence[int], horizon: float, limits: tuple[float, float] | None
) -> dict[str, Any]:
    middle = float(median(grid, alive))
    short, outlived = rounds[-1] < _MEDIAN_FROM, np.isinf(middle)
    good = max((earlier for earlier in rounds if earlier < middle), default=0)
    reason, text = None, f">{horizon:.0f}" if outlived else bracket_text(good, int(middle))
    if short:
        reason = f"chains of {_plural(rounds[-1])} give a share that survives; a median needs {_MEDIAN_FROM}"
        text = f"{alive[-1] if alive.size else 1:.0%} survive {_plural(int(horizon))}"
    elif outlived:
        reason = f"more than half survive round {horizon:.0f}"
    return {
        "half_life": None if reason else int(middle),
        "half_life_bracket": None if reason else [good, int(middle)],
        "half_life_text": text,
        "half_life_interval": None if short or limits is None else [None if np.isinf(x) else int(x) for x in limits],
        "half_life_reason": reason,
    }


def _plural(rounds: int) -> str:
    return f"{rounds} round{'s' * (rounds != 1)}"
