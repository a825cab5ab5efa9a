"""What the oracle, which undoes exactly, loses: one round of every case of a suite whose picture can be had."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from convergebench.generation import pictures, prepare, suites
from convergebench.generation.editors import oracle
from convergebench.generation.packages import Unavailable
from convergebench.generation.records import Chain, Turn
from convergebench.generation.sources import catalogue
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.metric_modules.edit_applied.looks import look
from convergebench.metric_modules.edit_applied.measure import signature
from convergebench.metric_modules.edit_applied.sharpness import grey

Row = dict[str, Any]


def outcomes(suite: str, short_side: int, kept: Path) -> tuple[list[Row], int]:
    """A row for each case, with what its round is lost to; and how many cases the suite has.

    Rows go to the file `kept` as they come, so that a run that was stopped goes on.
    """
    cases = suites.cases(suites.load(suite))
    rules = json.dumps([short_side, signature()], sort_keys=True)
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = {(row["source"], row["program"], row["rules"]): row for row in map(json.loads, lines)}
    found: list[Row] = []
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a") as file:
        for source in dict.fromkeys(source for source, _ in cases):
            asked = [program for each, program in cases if each == source]
            rows = [known.get((source.id, program.id, rules)) for program in asked]
            if None in rows:
                try:
                    rows = [row | {"rules": rules} for row in rows_of(source, asked, short_side)]
                except Unavailable:
                    continue
                file.writelines(json.dumps(row) + "\n" for row in rows)
                file.flush()
            found += rows
    return found, len(cases)


def rows_of(source, asked, short_side: int) -> Iterator[Row]:
    """The cases of one picture."""
    shown = prepare.prepare(pictures.decode(catalogue.read(source.id)), short_side).convert("RGB")
    first = np.asarray(shown)
    known = look(first), grey(first)
    for program in asked:
        chain = Chain(source, program, "oracle", {"seed": "per-step", "short_side": short_side}, 1, 1)
        history, seen = [Turn("", pictures.encode_png(shown))], [known]
        lost = None
        for number, _, position, instruction in chain.asks():
            given = pictures.decode(history[-1].data)
            answer = oracle.Editor().edit(given, instruction, chain.seed(number), history)
            if answer.status != "ok":
                lost = f"{answer.status}: {answer.reason}"
                break
            history.append(Turn(instruction, answer.data))
            pixels = np.asarray(pictures.decode(answer.data))
            seen.append((look(pixels), grey(pixels)))
            lost = lost or what_is_lost(program, position, seen)
        if lost is None and not np.array_equal(np.asarray(pictures.decode(history[-1].data)), first):
            lost = "quality lost"  # it does not end where it began
        yield {"source": source.id, "program": program.id, "lost": lost}


def what_is_lost(program, position: int, seen) -> str | None:
    """What a step loses, by the checks of edits and of parts."""
    cells, greys = zip(*seen, strict=True)
    about = {"source": cells[0], "small": program.small, "greys": greys, "source_grey": greys[0]}
    judged = judge_step(program.cycle, program.closes, position, cells, **about)
    if judged.applied == 0:
        return "not applied"
    if judged.undone == 0:
        return "not undone"
    return "part lost" if judged.part_lost else None
