"""How often a judge's drift is seen: in simulated answers, and in those of a server on this machine."""

import hashlib
import os
import tempfile
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import judging
import numpy as np
from convergebench.metric_modules._judges import run
from convergebench.metric_modules._judges.drift import FIRST_REPEATS, LEVEL, REPEATS, SAMPLE, compare_runs
from vendors.loopback import serving

PAGE = "judges.md"
RUNS = 200
NOISE = (0.0, 0.02, 0.05, 0.1)
KINDS = {
    "no drift": {},
    "one step in ten is answered otherwise": {"moved": 0.1},
    "one answer in ten is turned round": {"wavering": 0.1},
}
LOCK = threading.Lock()
LATER = 10  # runs of each kind over a server after each first run
SERVER_NOISE = 0.1
QUESTION = """
title = "Is it polite?"
asked_of = "forward"
scale = "yes or no"
words = "Is '{instruction}' polite? Answer yes or no."
"""


def answered(generator, items=SAMPLE, noise=0.02, moved=0.0, wavering=0.0):
    """The sample's answers of a first and of a later run of a judge with noise of its own."""
    right = generator.random((items, 1)) < 0.5
    turned = right ^ (generator.random((items, 1)) < moved)
    old = right ^ (generator.random((items, FIRST_REPEATS)) < noise)
    shape = (items, REPEATS)
    new = turned ^ (generator.random(shape) < noise) ^ (generator.random(shape) < wavering)
    return [(list(each.astype(float)), list(other.astype(float))) for each, other in zip(old, new, strict=True)]


def alarms(noise, words, runs, seed=0):
    generator = np.random.default_rng(seed)
    return np.mean([compare_runs(answered(generator, noise=noise, **words))[2] <= LEVEL for _ in range(runs)])


def simulated(runs):
    rows = [f"| in {runs} simulated runs, alarms | {' | '.join(KINDS)} |", "|---|--:|--:|--:|"]
    for noise in NOISE:
        cells = " | ".join(f"{alarms(noise, words, runs):.1%}" for words in KINDS.values())
        rows.append(f"| {f'{noise:.0%} of its answers are noise' if noise else 'judge without noise'} | {cells} |")
    return "\n".join(rows)


def chance(*words):
    """A number from 0 to 1 that is always the same for the same words."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, words)).encode()).digest()[:8], "big") / 2**64


def polite(state, request, asked, number):
    """Yes or no by the words; some answers are noise, and what has drifted is answered otherwise, or now and then."""
    words = request.json()["messages"][0]["content"]
    with LOCK:
        state["times"][words] += 1
        time = state["times"][words]
    drifts = KINDS[state["kind"]]
    moved = chance(state["session"], words) < drifts.get("moved", 0.0)
    wavering = chance(state["session"], words, time) < drifts.get("wavering", 0.0)
    noisy = chance("noise", state["session"], words, time) < SERVER_NOISE
    return "yes" if (chance(words) < 0.5) ^ moved ^ wavering ^ noisy else "no"


def one_first_run(first):
    """Whether each of LATER runs of each kind is alarmed, all beside one first run."""
    os.environ["no_proxy"] = "127.0.0.1"
    seen = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "polite.toml").write_text(QUESTION)
        things = tuple(f"thing{first}-{number}" for number in range(SAMPLE))
        small = {"editors": {"steady": 0.02}, "sources": ("harbour",), "programs": things, "rounds": 1, "side": 16}
        data = judging.dataset(folder / "convergebench", **small)
        state = {"session": f"{first}-0", "kind": "no drift", "times": Counter()}
        with serving(judging.Vendor(partial(polite, state))) as server:
            judge, question = judging.spec(server.base, concurrency=2), str(folder / "polite.toml")
            ask = partial(run.judge, data, judge, question, limit=0, again=True, quiet=True)
            ask()
            for session, kind in enumerate([*KINDS] * LATER, 1):
                state |= {"session": f"{first}-{session}", "kind": kind, "times": Counter()}
                outcome = ask()
                assert outcome.asked == SAMPLE * REPEATS
                seen[kind].append(bool(outcome.alarms))
    return seen


def over_a_server(runs):
    return server_table([one_first_run(first) for first in range(-(-runs // LATER))])


def server_table(found):
    rows = [f"| over a server on this machine, {SERVER_NOISE:.0%} noise | runs | alarms |", "|---|--:|--:|"]
    for kind in KINDS:
        alarmed = [each for seen in found for each in seen[kind]]
        rows.append(f"| {kind} | {len(alarmed)} | {np.mean(alarmed):.1%} |")
    return "\n".join(rows)


def tables(scale=1.0):
    runs = max(2, round(RUNS * scale))
    return {"drift simulated": simulated(runs), "drift over a server": over_a_server(runs)}
