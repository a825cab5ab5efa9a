"""What the oracle, which undoes exactly, loses: one round of every case of a suite whose picture can be had."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from convergebench.generation import pictures, prepare, suites
from convergebench.generation.editors import oracle
from convergebench.generation.packages import Unavailable
from convergebench.generation.records import Chain, Program, Source, Turn
from convergebench.generation.sources import catalogue
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.metric_modules.edit_applied.measure import signature
from convergebench.metric_modules.edit_applied.sharpness import grey

Row = dict[str, Any]


def outcomes(suite: str, short_side: int, kept: Path, step: int = 1) -> tuple[list[Row], int]:
    """A row for each case of every `step`-th picture, with what its round is lost to; and how many cases there are.

    Rows go to the file `kept` as they come, so that a run that was stopped goes on.
    """
    whole = suites.load(suite)
    cases = suites.cases(dataclasses.replace(whole, sources=whole.sources[::step], variants=()))
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = {row["key"]: row for row in map(json.loads, lines)}
    found: list[Row] = []
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a") as file:
        for source in dict.fromkeys(source for source, _ in cases):
            keys = {key_of(source, program, short_side): program for each, program in cases if each == source}
            new = {key: program for key, program in keys.items() if key not in known}
            try:
                rows = [
                    row | {"key": key} for key, row in zip(new, rows_of(source, new.values(), short_side), strict=True)
                ]
            except Unavailable:
                continue
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            found += [*(known[key] for key in keys if key in known), *rows]
    return found, len(cases)


def key_of(source: Source, program: Program, short_side: int) -> str:
    """Names a case by all that its row depends on, but for the code."""
    about = [source.to_dict(), program.to_dict(), short_side, signature()]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:24]


def rows_of(source: Source, asked: Iterable[Program], short_side: int) -> Iterator[Row]:
    """The cases of one picture."""
    asked = list(asked)
    if not asked:
        return
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


def what_is_lost(program: Program, position: int, seen: Sequence[tuple[np.ndarray, np.ndarray]]) -> str | None:
    """What a step loses, by the checks of edits and of parts."""
    cells, greys = zip(*seen, strict=True)
    about = {"source": cells[0], "small": program.small, "greys": greys, "source_grey": greys[0]}
    judged = judge_step(program.cycle, program.closes, position, cells, **about)
    if judged.applied == 0:
        return "not applied"
    if judged.undone == 0:
        return "not undone"
    return "part lost" if judged.part_lost else None
