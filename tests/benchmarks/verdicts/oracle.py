"""What the oracle, which undoes exactly, loses: every case of a suite whose picture can be had."""

import dataclasses
import os
import shutil
from pathlib import Path
from typing import Any

from convergebench import dataset_builder, metric_modules
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import suites
from convergebench.generation.packages import Unavailable
from convergebench.generation.plan import Plan, make_plan
from convergebench.generation.records import Chain
from convergebench.generation.scheduler import generate
from convergebench.generation.sources import catalogue
from convergebench.spaces_app.study.cases import read_cases
from convergebench.spaces_app.study.floors import Floors
from convergebench.spaces_app.study.groups import outcome_of_case

CHECKS = ("edits", "rmse", "ssim", "part_lost")
COUNTED = "additions"  # the group that no headline counts


def readable(source: str) -> bool:
    """Whether a picture is here, or can be fetched."""
    try:
        catalogue.read(source)
    except Unavailable:
        return False
    return True


def planned(suite: str, short_side: int, rounds: int) -> tuple[Plan, int]:
    """The oracle's chain of each case of the suite, of one run and so many rounds; and of how many cases in all."""
    whole = suites.load(suite)
    made = dataclasses.replace(whole, short_side=short_side, rounds=rounds, runs=1)
    [choice] = make_plan(made, ["oracle"]).choices
    settings = {**choice.settings, "short_side": short_side}
    cases = suites.cases(whole)
    here = {id for id in {source.id for source, _ in cases} if readable(id)}
    chains = [
        Chain(source, program, choice.label, settings, 1, rounds) for source, program in cases if source.id in here
    ]
    return Plan(made, (choice,), tuple(chains)), len(cases)


def outcomes(suite: str, short_side: int, rounds: int, folder: Path) -> tuple[list[dict[str, Any]], int]:
    """A row for each case, with its rounds kept and the cause; and how many cases the suite has.

    A run that was stopped goes on in the same folder.
    """
    plan, count = planned(suite, short_side, rounds)
    outcome = generate(plan, plan.chains, folder / "run", workers=os.cpu_count())
    if not outcome.clean:
        raise RuntimeError(str(outcome))
    if not (folder / "built").exists():
        shutil.rmtree(folder / "dataset", ignore_errors=True)
        dataset_builder.build(folder / "run", folder / "dataset")
        (folder / "built").touch()
    metric_modules.score(folder / "dataset", ("psnr", "ssim", "edit_applied"), device="cpu", quiet=True)
    reader = Reader(folder / "dataset")
    floors = Floors(reader.rows("floors"), reader.chains())
    cases, _ = read_cases(reader.rows("scores"), reader.chains(), floors)
    rows = [
        {"program": case.program, "source": case.source, "kept": found.kept, "cause": found.cause or case.end}
        for case in cases
        if case.group != COUNTED
        for found in [outcome_of_case(case, CHECKS)]
    ]
    return rows, count
