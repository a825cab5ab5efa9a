"""Restored pictures, the dataset's own and published ones: their scores, their prompts and the clean pictures."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import Comparison, compare
from convergebench.metric_modules.halflife.intervals import student_interval
from convergebench.metric_modules.nr_gap.ranges import COLUMNS as WITHOUT_REFERENCE

from .cases import COLUMNS, CURVES, column_range
from .stored_rows import rows_of
from .tables import Column

if TYPE_CHECKING:
    from .analysis import Analysis

Row = Mapping[str, Any]
ByPicture = dict[str, float]
Cell = tuple[str, str]  # a prompt and a picture
CATEGORY = "restoration"
NO_PROMPT = "restored"  # the program of an imported method that takes no words
MEAN = "mean of all pictures: "
NOT_SHOWN = ("rmse",)  # says what PSNR says
PROMPT = re.compile(r"(?:restore-)?([a-z]+)-?\d+", re.IGNORECASE)
LONG, SHORT, FAITHFUL, FREE = ("L", "LF"), ("S", "SF"), ("LF", "SF"), ("L", "S")


@dataclass(frozen=True)
class Restored:
    """One restored picture and its scores, or the mean of many that somebody published as one row."""

    table: str  # of whoever published it; empty for the dataset's own
    method: str
    prompt: str  # empty where the method has none
    words: int | None  # of the prompt
    picture: str  # the degraded one; for a mean of many, see `mean_name`
    clean: str  # what it was before: pictures of one are not independent
    scene: str
    degradation: str
    run: int
    round: int
    values: Mapping[str, float]  # without a clean picture, only what needs none
    chain: str = ""
    direction: float | None = None  # of a further pass: the cosine with what the first one changed
    size: float | None = None  # and how much of that it changed


def own_of(analysis: "Analysis") -> list[Restored]:
    return own_restorations(analysis.scores, [case.chain for case in analysis.cases])


def scored_chains(analysis: "Analysis") -> set[str]:
    """The ids of the dataset's own restorations that have a score."""
    return {restored.chain for restored in analysis.once(own_of) if restored.values}


def restored_of(analysis: "Analysis") -> list["RestoredSet"]:
    """The dataset's own restorations and those of every published table."""
    return restored_sets(analysis.once(own_of), published_restorations(analysis.table("published")))


def baselines_of(analysis: "Analysis") -> set[str]:
    """Methods that do not look at the words: in tables of prompts they would only repeat themselves."""
    methods = {method for restored in analysis.once(restored_of) for method in restored.methods}
    others = {method for method in methods if analysis.roles.get(method, "editor") != "editor"}
    return others if methods - others else set()


def own_restorations(scores: Iterable[Row], chains: Iterable[FinishedChain]) -> list[Restored]:
    """The dataset's own, one for each pass of each chain; one without a picture has no values."""
    returns: dict[str, list[Row]] = defaultdict(list)
    wanted = {chain.id: chain for chain in chains if chain.program.category == CATEGORY and not is_disturbed(chain)}
    for row in rows_of(scores, wanted):
        if row["position"] == len(wanted[row["chain"]].program.cycle):
            returns[row["chain"]].append(row)
    metrics = [*full_reference(), *WITHOUT_REFERENCE]
    found = []
    for chain in sorted(wanted.values(), key=lambda chain: chain.order):
        source, has_truth = chain.source, chain.source.reference is not None
        own = [name for name in metrics if has_truth or not needs_clean(name)]
        for row in sorted(returns[chain.id], key=lambda row: row["round"]) or [{"round": 1}]:
            found.append(
                Restored(
                    table="",
                    method=chain.editor,
                    prompt="" if chain.program.id == NO_PROMPT else chain.program.id,
                    words=len(chain.program.cycle[0].split()) if chain.program.id != NO_PROMPT else None,
                    picture=source.id,
                    clean=source.reference or source.id.partition("~")[0],
                    scene=source.scene,
                    degradation=source.degradation or source.id.partition("~")[2],
                    run=chain.run,
                    round=row["round"],
                    values={name: float(row[name]) for name in own if is_number(row.get(name))},
                    chain=chain.id,
                    direction=row.get("pass_direction"),
                    size=row.get("pass_size"),
                )
            )
    return found


def is_disturbed(chain: FinishedChain) -> bool:
    """Whether a recall audit reached the chain: one of a single call has nothing that it could disturb."""
    return "audit" in chain.chain.settings and chain.rounds * len(chain.program.cycle) > 1


def published_restorations(rows: Iterable[Row]) -> list[Restored]:
    """Those of published tables of restored pictures."""
    place = {"chain", "editor", "case", "image", "run", "round", "position", "category", "program", "clean", "scene",
             "degradation", "reasons", "table", "table_sha256", "signature"}  # fmt: skip
    return [
        Restored(
            table=row["table"],
            method=row["editor"],
            prompt=row["program"] or "",
            words=None,
            picture=row["image"] or mean_name(row),
            clean=row["clean"] or row["image"] or mean_name(row),
            scene=row["scene"] or "",
            degradation=row["degradation"] or "",
            run=row["run"],
            round=row["round"],
            values={name: float(value) for name, value in row.items() if name not in place and is_number(value)},
        )
        for row in rows
        if row.get("category") == CATEGORY
    ]


def mean_name(row: Row) -> str:
    """Stands for the picture of a published mean: of all pictures, of a scene or of a degradation."""
    return MEAN + ", ".join(filter(None, (row["scene"], row["degradation"])))


def is_mean(picture: str) -> bool:
    return picture.startswith(MEAN)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def full_reference() -> list[str]:
    """The metrics that compare with the clean picture, in their order."""
    return [name for name in CURVES if name not in NOT_SHOWN]


def needs_clean(metric: str) -> bool:
    return metric in CURVES


def metric_title(metric: str) -> str:
    if metric in COLUMNS:
        return COLUMNS[metric].title
    known = WITHOUT_REFERENCE.get(metric)
    return known.name if known else metric.upper()


def better_sign(metric: str) -> int:
    """1 where a higher value is better, -1 where a lower one is."""
    if metric in WITHOUT_REFERENCE:
        return 1 if WITHOUT_REFERENCE[metric].higher_is_better else -1
    return -1 if metric in COLUMNS and COLUMNS[metric].direction == "lower" else 1


def prompt_group(prompt: str) -> str:
    """The group of a prompt by its name; those of one group share it up to the number.

    >>> prompt_group("restore-sf1"), prompt_group("L3"), prompt_group("restore")
    ('SF', 'L', '')
    """
    found = PROMPT.fullmatch(prompt)
    return found[1].upper() if found else ""


def prompt_name(prompt: str) -> str:
    """'SF1' for restore-sf1; other names as they are."""
    return prompt.removeprefix("restore-").upper() if prompt_group(prompt) else prompt


@dataclass(frozen=True)
class RestoredSet:
    """The restored pictures of one table."""

    name: str
    pictures: Sequence[Restored]

    @cached_property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(each.method for each in self.pictures))

    @cached_property
    def metrics(self) -> list[str]:
        """Those with any value: first what compares with the clean picture."""
        there = dict.fromkeys(name for each in self.pictures for name in each.values)
        known = [name for name in full_reference() if name in there]
        return [*known, *(name for name in there if name not in CURVES)]

    @cached_property
    def clean_of(self) -> dict[str, str]:
        return {each.picture: each.clean for each in self.pictures}

    @cached_property
    def runs(self) -> dict[tuple[str, str, str, int], dict[str, dict[int, float]]]:
        """By method, prompt, metric and pass: of each picture the value of each run."""
        found: dict[Any, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        for each in self.pictures:
            for metric, value in each.values.items():
                found[each.method, each.prompt, metric, each.round][each.picture][each.run] = value
        return dict(found)

    def prompts(self, method: str) -> list[str]:
        return sorted({each.prompt for each in self.pictures if each.method == method})

    @cached_property
    def means(self) -> dict[tuple[str, str, str, int], ByPicture]:
        """The same with repeated runs averaged."""
        return {
            key: {picture: math.fsum(runs.values()) / len(runs) for picture, runs in own.items()}
            for key, own in self.runs.items()
        }

    def by_picture(self, method: str, prompt: str, metric: str, round: int = 1) -> ByPicture:
        """Each picture's value."""
        return self.means.get((method, prompt, metric, round), {})

    def with_limits(self, metric: str, values: ByPicture) -> dict[str, Any]:
        """The mean under the metric's name with its limits, which rest on clean pictures."""
        if not values:
            return {metric: None}
        numbers = np.array(list(values.values()))
        found: dict[str, Any] = {metric: math.fsum(numbers) / len(numbers)}
        clean = [self.clean_of[name] for name in values]
        if not any(map(is_mean, values)) and (limits := student_interval(numbers, clean)):
            low, high = column_range(metric) if metric in COLUMNS else (-math.inf, math.inf)
            found |= {f"{metric}_low": max(limits[0], low), f"{metric}_high": min(limits[1], high)}
        return found

    def counts(self, values: Iterable[ByPicture]) -> dict[str, int | None]:
        """How many pictures and how many clean ones values are of; None where a table does not say."""
        names = {name for each in values for name in each}
        if any(map(is_mean, names)):
            return {"pictures": None, "clean": None}
        return {"pictures": len(names), "clean": len({self.clean_of[name] for name in names})}

    def compare(self, names: tuple[str, str], metric: str, first: ByPicture, second: ByPicture) -> Comparison:
        """How much better the first is than the second on their common pictures; a published mean stands for itself."""
        sign = better_sign(metric)
        sides = [{name: sign * value for name, value in side.items()} for side in (first, second)]
        return compare(names, sides[0], sides[1], self.clean_of)

    def gain(self, metric: str, value: float, before: float) -> float:
        """How much better a value is than another."""
        return better_sign(metric) * (value - before)

    def compare_cells(
        self, names: tuple[str, str], metric: str, first: Mapping[Cell, float], second: Mapping[Cell, float]
    ) -> Comparison:
        """The same for cells of a prompt and a picture."""
        sign = better_sign(metric)
        sides = [{cell: sign * value for cell, value in side.items()} for side in (first, second)]
        return compare(names, sides[0], sides[1], {cell: self.clean_of[cell[1]] for side in sides for cell in side})


def mean_over(parts: Sequence[ByPicture], every: bool = True) -> ByPicture:
    """Each picture's mean over some of its values; with `every` only pictures that have them all."""
    names = dict.fromkeys(name for part in parts for name in part)
    found = {name: [part[name] for part in parts if name in part] for name in names}
    return {name: math.fsum(own) / len(own) for name, own in found.items() if not every or len(own) == len(parts)}


def restored_sets(own: Sequence[Restored], published: Sequence[Restored]) -> list[RestoredSet]:
    """One for the dataset's own restorations and one for each published table."""
    by_table: dict[str, list[Restored]] = defaultdict(list)
    for each in (*own, *published):
        by_table[each.table].append(each)
    return [RestoredSet(name, each) for name, each in by_table.items()]


def metric_columns(rows: Iterable[Row], form: str = "score") -> list[Column]:
    """A column for each metric that rows have, in their order."""
    known = {name: Column(name, metric_title(name), form, interval=True) for row in rows for name in row.get("of", ())}
    return list(known.values())


def each_method(
    sets: Iterable[RestoredSet], make: Callable[[RestoredSet, str], Iterable[Row]], without: Collection[str] = ()
) -> list[dict[str, Any]]:
    """The rows of every method of every table but those named, with the table's name and the metrics there are."""
    return [
        {"table": each.name or None, "editor": method, "of": each.metrics, **row}
        for each in sets
        for method in each.methods
        if method not in without
        for row in make(each, method)
    ]
