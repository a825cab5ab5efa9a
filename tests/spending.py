"""Runs that spend money at a vendor on this machine, which counts what it bills when a call arrives.

`spending.py FOLDER PROCESSES KILLS` lets several processes fill one run under one limit, kills them at random moments
and starts them again; `spending.py FOLDER terminate` ends one by SIGTERM while its calls are in flight. Both print what
came of it. In a light process of their own: a fork of one that holds torch takes longer than a run.
"""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from convergebench.generation import pictures, store
from convergebench.generation.records import Answer
from counting import generate, planned
from vendors.loopback import Reply, serving

PRICE, LIMIT = 0.04, 1.00
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Billed:
    address: str

    def price(self):
        return PRICE

    def edit(self, image, instruction, seed):
        with urllib.request.urlopen(self.address, data=b"edit", timeout=60) as reply:  # noqa: S310 -- our own server
            reply.read()
        return Answer(pictures.encode_png(image))


def spend(address, run, outcomes=None):
    os.environ["no_proxy"] = "127.0.0.1"
    outcome = generate(planned(Billed(address), 10, 4), run, workers=8, max_cost=LIMIT)
    if outcomes is not None:
        outcomes.put([outcome.stopped, outcome.abandoned])


def recorded(run):
    steps = [step for folder in sorted(run.glob("chains/*")) for step in store.recover_steps(folder)]
    return round(sum(step.cost or 0 for step in steps), 6)


def under_kills(server, run, processes, kills):
    chance, done, undisturbed = random.Random(1), 0, False
    while not undisturbed:
        undisturbed = done == kills
        crowd = [FORK.Process(target=spend, args=(server.base, run)) for _ in range(processes)]
        for each in crowd:
            each.start()
        for each in () if undisturbed else crowd:
            each.join(chance.uniform(0, 0.15))
            if each.exitcode is None and done < kills:
                each.kill()
                done += 1
        for each in crowd:
            each.join(120)
    spend(server.base, run)  # and once more, alone
    return {"billed": round(len(server.requests) * PRICE, 6), "recorded": recorded(run), "kills": done}


def under_sigterm(server, run):
    outcomes = FORK.SimpleQueue()
    child = FORK.Process(target=spend, args=(server.base, run, outcomes))
    child.start()
    while len(server.requests) < 4:
        time.sleep(0.01)
    before, started = len(server.requests), time.monotonic()
    os.kill(child.pid, signal.SIGTERM)
    child.join(60)
    stopped, abandoned = outcomes.get()
    facts = {"before": before, "after": len(server.requests), "seconds": time.monotonic() - started}
    about = {"stopped": stopped, "abandoned": abandoned, "recorded": recorded(run)}
    return {**facts, **about, "price": PRICE, "exit": child.exitcode}


if __name__ == "__main__":
    place, what = Path(sys.argv[1]) / "run", sys.argv[2]
    seconds = 1.0 if what == "terminate" else 0.01  # that each call takes, which is billed when it arrives
    with serving(lambda *_: time.sleep(seconds) or Reply()) as server:
        if what == "terminate":
            facts = under_sigterm(server, place)
        else:
            facts = under_kills(server, place, int(what), int(sys.argv[3]))
    print(json.dumps(facts))
