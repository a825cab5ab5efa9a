"""What the oracle, which undoes exactly, loses: every program of a suite on every picture here that it fits."""

import tempfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import programs, suites
from convergebench.generation.plan import Plan, make_plan
from convergebench.generation.records import Chain
from convergebench.generation.scheduler import generate
from convergebench.generation.sources import catalogue
from convergebench.spaces_app.study.cases import read_cases
from convergebench.spaces_app.study.floors import Floors
from convergebench.spaces_app.study.groups import outcome_of_case

CHECKS = ("edits", "rmse", "ssim", "part_lost")
COUNTED = "additions"  # the group that no headline counts


def local_pictures() -> dict[str, str]:
    """The pictures that need no network, by id: their kind."""
    rows = catalogue.manifest().values()
    return {row.id: row.kind for row in rows if row.package == "painted" or row.package.startswith("installed:")}


def outcomes(suite: str, short_side: int, most: int) -> list[dict[str, Any]]:
    """A row for each program and picture: rounds kept of one, and the cause. At most so many pictures a program.

    Pictures of the suite that have to be gathered from elsewhere are left out; what is here of the same kinds stands
    for them.
    """
    names = sorted({name for each in suites.load(suite).variants for name in each.programs})
    local = local_pictures()
    pairs = []
    for name in names:
        program = programs.get(name)
        fitting = [id for id, kind in local.items() if suites.fits(id, program)]
        fitting = fitting or [id for id, kind in local.items() if kind in program.fits]
        pairs += [(name, id) for id in fitting[:most]]
    values = {"title": "one chain each", "version": "1", "short_side": short_side, "rounds": 1, "runs": 1}
    made = suites.from_values("each", values | {"sources": sorted({id for _, id in pairs}), "programs": names})
    [choice] = make_plan(made, ["oracle"]).choices
    settings = {**choice.settings, "short_side": short_side}
    chains = [Chain(catalogue.source(id), programs.get(name), choice.label, settings, 1, 1) for name, id in pairs]
    with tempfile.TemporaryDirectory() as folder:
        run, dataset = Path(folder, "run"), Path(folder, "dataset")
        generate(Plan(made, (choice,), tuple(chains)), chains, run)
        for words in (["build", run, "--out", dataset], ["score", "--metrics", "psnr,ssim,edit_applied", dataset]):
            done = CliRunner().invoke(main, list(map(str, words)))
            if done.exit_code:
                raise RuntimeError(done.output)
        reader = Reader(dataset)
        floors = Floors(reader.rows("floors"), reader.chains())
        cases, _ = read_cases(reader.rows("scores"), reader.chains(), floors)
    return [
        {"program": case.program, "source": case.source, "kept": found.kept, "cause": found.cause or case.end}
        for case in cases
        if case.group != COUNTED
        for found in [outcome_of_case(case, CHECKS)]
    ]
