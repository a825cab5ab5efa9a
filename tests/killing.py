"""Runs that are killed, in a light process of their own: a fork of one that holds torch takes longer than a run.

`killing.py kill FOLDER N` kills a run N times at random moments and prints what came of it; `killing.py share FOLDER`
takes its part of a run that another process fills too.
"""

import hashlib
import json
import multiprocessing
import random
import sys
from pathlib import Path

from convergebench.dataset_builder.building import build
from convergebench.generation import store, store_reader
from convergebench.generation.records import canonical
from counting import Counting, digest, finished, generate, planned

PAUSE = 0.002  # seconds that each call of the editor takes


def main(verb, folder, kills=0):
    if verb == "share":
        generate(planned(Counting(folder / "asked", pause=PAUSE)), folder / "run")
        return
    generate(planned(Counting(folder / "quiet", pause=PAUSE)), folder / "quiet-run")
    facts = {"store": summed(folder / "quiet-run"), "dataset": built(folder / "quiet-run")}
    facts |= {"kills": 0, "stores": [], "datasets": [], "repeated": []}
    while facts["kills"] < kills:
        number = len(facts["stores"])
        run, editor = folder / f"run{number}", Counting(folder / f"asked{number}", pause=PAUSE)
        disturb(run, editor, facts)
        facts["stores"].append(summed(run))
        facts["datasets"].append(built(run))
    print(json.dumps(facts))


def disturb(run, editor, facts):
    """Start the run and kill it, until it is whole; where nothing was finished in time, the next one has longer."""
    context, chance, longest = multiprocessing.get_context("fork"), random.Random(str(run.name)), 0.1
    while not all(store.is_done(run, chain.id) for chain in planned(editor).chains):
        known, asked = finished(run), len(editor.seeds())
        child = context.Process(target=generate, args=(planned(editor), run), kwargs={"workers": 8})
        child.start()
        child.join(chance.uniform(0, longest))
        if child.exitcode is None:
            child.kill()
            child.join()
            facts["kills"] += 1
        facts["repeated"] += sorted(known & set(editor.seeds()[asked:]))
        longest *= 1.0 if finished(run) - known else 1.5


def summed(folder):
    return hashlib.sha256(canonical(digest(folder)).encode()).hexdigest()


def built(run):
    """The dataset that a run becomes; what a builder notes for itself is no part of it."""
    folder = run.with_name(run.name + "-dataset") / "convergebench"
    build.build(store_reader.find_finished({run}), folder)
    files = {name: value for name, value in digest(folder).items() if not name.startswith(".")}
    return hashlib.sha256(canonical(files).encode()).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
