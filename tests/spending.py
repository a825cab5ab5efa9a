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

from convergebench.generation import pictures, plan, scheduler, store
from convergebench.generation.records import Answer
from counting import SUITE, choose
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


class Vendor:
    """Bills each call when it arrives, and answers after so many seconds."""

    def __init__(self, seconds):
        self.seconds, self.billed = seconds, []

    def __call__(self, server, request):
        self.billed.append(time.monotonic())
        time.sleep(self.seconds)
        return Reply()


def spend(address, run, outcomes=None):
    os.environ["no_proxy"] = "127.0.0.1"
    choice = choose(Billed(address))
    chains = tuple(plan._variant_chains(SUITE, SUITE.variants[0], choice, 10, 4, True, b""))
    made = plan.Plan(SUITE, (choice,), chains)
    outcome = scheduler.generate(made, chains, run, 8, LIMIT)
    if outcomes is not None:
        outcomes.put([outcome.stopped, outcome.abandoned])


def recorded(run):
    steps = [step for folder in sorted(run.glob("chains/*")) for step in store.recover_steps(folder)]
    return round(sum(step.cost or 0 for step in steps), 6)


def under_kills(address, vendor, run, processes, kills):
    chance, done = random.Random(1), 0
    while True:
        crowd = [FORK.Process(target=spend, args=(address, run)) for _ in range(processes)]
        for each in crowd:
            each.start()
        if done == kills:
            for each in crowd:
                each.join(120)
            break
        for each in crowd:
            each.join(chance.uniform(0, 0.15))
            if each.exitcode is None and done < kills:
                each.kill()
                done += 1
        for each in crowd:
            each.join(120)
    spend(address, run)  # and once more, alone
    return {"billed": round(len(vendor.billed) * PRICE, 6), "recorded": recorded(run), "kills": done}


def under_sigterm(address, vendor, run):
    outcomes = FORK.SimpleQueue()
    child = FORK.Process(target=spend, args=(address, run, outcomes))
    child.start()
    while len(vendor.billed) < 4:
        time.sleep(0.01)
    before, started = len(vendor.billed), time.monotonic()
    os.kill(child.pid, signal.SIGTERM)
    child.join(60)
    stopped, abandoned = outcomes.get()
    facts = {"before": before, "after": len(vendor.billed), "seconds": time.monotonic() - started}
    about = {"stopped": stopped, "abandoned": abandoned, "recorded": recorded(run)}
    return {**facts, **about, "price": PRICE, "exit": child.exitcode}


if __name__ == "__main__":
    place, what = Path(sys.argv[1]) / "run", sys.argv[2]
    vendor = Vendor(1.0 if what == "terminate" else 0.01)
    with serving(vendor) as server:
        if what == "terminate":
            facts = under_sigterm(server.base, vendor, place)
        else:
            facts = under_kills(server.base, vendor, place, int(what), int(sys.argv[3]))
    print(json.dumps(facts))
