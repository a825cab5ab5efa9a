"""How often a judge's drift is seen in simulated answers."""

import numpy as np
from convergebench.metric_modules._judges.drift import FIRST_REPEATS, LEVEL, REPEATS, SAMPLE, _compare_runs

from . import markdown

PAGE = "judges.md"
RUNS = 200
NOISE = (0.0, 0.02, 0.05, 0.1)
KINDS = {
    "no drift": {},
    "one step in ten is answered otherwise": {"moved": 0.1},
    "one answer in ten is turned round": {"wavering": 0.1},
}


def make_answers(rng, noise=0.02, moved=0.0, wavering=0.0):
    """The sample's answers of a first and of a later run of a judge with noise of its own."""
    right = rng.random((SAMPLE, 1)) < 0.5
    turned = right ^ (rng.random((SAMPLE, 1)) < moved)
    old = right ^ (rng.random((SAMPLE, FIRST_REPEATS)) < noise)
    shape = (SAMPLE, REPEATS)
    new = turned ^ (rng.random(shape) < noise) ^ (rng.random(shape) < wavering)
    return [(list(first.astype(float)), list(later.astype(float))) for first, later in zip(old, new, strict=True)]


def alarms(noise, drift, runs):
    rng = np.random.default_rng(0)
    return np.mean([_compare_runs(make_answers(rng, noise, **drift))[2] <= LEVEL for _ in range(runs)])


def tables(scale=1.0):
    runs = max(2, round(RUNS * scale))
    rows = []
    for noise in NOISE:
        name = f"{noise:.0%} of its answers are noise" if noise else "judge without noise"
        rows.append([name, *(f"{alarms(noise, drift, runs):.1%}" for drift in KINDS.values())])
    return {"drift simulated": markdown([f"in {runs} simulated runs, alarms", *KINDS], rows)}
