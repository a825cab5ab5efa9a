"""Restored pictures, the dataset's own and published ones, with their scores, prompts and clean pictures."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import Comparison, compare
from convergebench.metric_modules.halflife.intervals import student_interval
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.specs import specs

from ...analysis.analysis import Analysis
from ...analysis.cases import COLUMNS, CURVES, column_range
from ...analysis.stored_rows import rows_of
from ...analysis.tables import Column, Estimate, TableRow, column, estimate

CATEGORY = "restoration"
_FULL_REFERENCE = tuple(name for name in CURVES if name != "rmse")  # RMSE and PSNR order pictures alike
# Metrics of a picture on its own, in alphabetical order. They are the optional ones: the others need the clean picture.
_NO_REFERENCE = sorted(
    (column.name for spec in specs().values() if spec.optional and spec.kind == "picture" for column in spec.columns
     if column.direction and column.show == "number"),
    key=lambda name: COLUMNS[name].title.casefold(),
)  # fmt: skip
_NO_PROMPT = "restored"  # the program of an imported method that takes no words
_MEAN = "mean of all pictures: "
# The columns of published tables that hold no score.
_PLACE = {
    "chain", "editor", "case", "image", "run", "round", "position", "category", "program", "clean", "scene",
    "degradation", "reasons", "table", "table_sha256", "signature",
}  # fmt: skip

ByPicture = dict[str, float]
PromptAndPicture = tuple[str, str]


@dataclass(frozen=True)
class Restored:
    """One restored picture and its scores, or a published mean of many pictures."""

    table: str  # the published table's name; empty for the dataset's own
    method: str
    prompt: str  # empty for a method without prompts
    words: int | None  # of the prompt
    picture: str  # the degraded one; for a mean of many, see `_mean_name`
    clean: str  # the undegraded one: pictures made from the same one are not independent
    scene: str
    degradation: str
    run: int
    round: int
    values: Mapping[str, float]  # without a clean picture, only metrics that need none
    chain: str = ""
    direction: float | None = None  # of a further pass: the cosine with what the first one changed
    size: float | None = None  # and how much it changed, as a share of the first


def _own_restorations(analysis: Analysis) -> list[Restored]:
    """The dataset's own restorations, one for each pass of each chain; without a picture it has no values."""
    chains = {case.chain.id: case.chain for case in analysis.cases if case.chain.program.category == CATEGORY}
    chains = {name: chain for name, chain in chains.items() if not is_disturbed(chain)}
    returns: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows_of(analysis.scores, chains):
        if row.position == len(chains[row.chain].program.cycle):
            returns[row.chain].append(row)
    return [
        _restored_of_chain(chain, row)
        for chain in sorted(chains.values(), key=lambda chain: chain.order)
        for row in (*sorted(returns[chain.id], key=lambda row: row.round),) or (None,)
    ]


def _restored_of_chain(chain: FinishedChain, row: ScoreRow | None) -> Restored:
    source, program = chain.source, chain.program
    has_prompt = program.id != _NO_PROMPT
    metrics = [*_FULL_REFERENCE, *_NO_REFERENCE] if source.reference is not None else _NO_REFERENCE
    values = {name: row.value(name) for name in metrics} if row else {}
    return Restored(
        table="",
        method=chain.editor,
        prompt=program.id if has_prompt else "",
        words=len(program.cycle[0].split()) if has_prompt else None,
        picture=source.id,
        clean=source.reference or source.id.partition("~")[0],
        scene=source.scene,
        degradation=source.degradation or source.id.partition("~")[2],
        run=chain.run,
        round=row.round if row else 1,
        values={name: float(value) for name, value in values.items() if _is_number(value)},
        chain=chain.id,
        direction=row.value("pass_direction") if row else None,
        size=row.value("pass_size") if row else None,
    )


def is_disturbed(chain: FinishedChain) -> bool:
    """Whether a recall audit reached the chain: in one of a single call there is nothing to disturb."""
    return "audit" in chain.chain.settings and chain.rounds * len(chain.program.cycle) > 1


def scored_chains(analysis: Analysis) -> set[str]:
    """The ids of the dataset's own restorations that have a score."""
    return {restored.chain for restored in analysis.once(_own_restorations) if restored.values}


def _published(row: Mapping[str, Any]) -> Restored:
    mean_name = _MEAN + ", ".join(filter(None, (row["scene"], row["degradation"])))
    return Restored(
        table=row["table"],
        method=row["editor"],
        prompt=row["program"] or "",
        words=None,
        picture=row["image"] or mean_name,
        clean=row["clean"] or row["image"] or mean_name,
        scene=row["scene"] or "",
        degradation=row["degradation"] or "",
        run=row["run"],
        round=row["round"],
        values={name: float(value) for name, value in row.items() if name not in _PLACE and _is_number(value)},
    )


def is_mean(picture: str) -> bool:
    """Whether the name is that of a published mean, not of a picture."""
    return picture.startswith(_MEAN)


def is_mean_of_all(picture: str) -> bool:
    """Whether it is the mean of all pictures of a table, not that of a scene or a degradation."""
    return picture == _MEAN


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def needs_clean(metric: str) -> bool:
    return metric in CURVES


def metric_title(metric: str) -> str:
    return COLUMNS[metric].title if metric in COLUMNS else metric.upper()


def better_sign(metric: str) -> int:
    """1 if a higher value is better, -1 if a lower one is."""
    return -1 if metric in COLUMNS and COLUMNS[metric].direction == "lower" else 1


@dataclass(frozen=True)
class RestoredSet:
    """The restored pictures of one table."""

    name: str  # of the published table; empty for the dataset's own
    pictures: Sequence[Restored]

    @cached_property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(restored.method for restored in self.pictures))

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics with any value, first those that compare with the clean picture."""
        names = dict.fromkeys(name for restored in self.pictures for name in restored.values)
        return [*(name for name in _FULL_REFERENCE if name in names), *(name for name in names if name not in CURVES)]

    @cached_property
    def clean_of(self) -> dict[str, str]:
        return {restored.picture: restored.clean for restored in self.pictures}

    @cached_property
    def runs(self) -> dict[tuple[str, str, str, int], dict[str, dict[int, float]]]:
        """By method, prompt, metric and pass: each picture's value in each run."""
        runs: dict[tuple[str, str, str, int], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        for restored in self.pictures:
            for metric, value in restored.values.items():
                series = runs[restored.method, restored.prompt, metric, restored.round]
                series[restored.picture][restored.run] = value
        return dict(runs)

    def prompts(self, method: str) -> list[str]:
        return sorted({restored.prompt for restored in self.pictures if restored.method == method})

    @cached_property
    def _means(self) -> dict[tuple[str, str, str, int], ByPicture]:
        return {
            key: {picture: math.fsum(runs.values()) / len(runs) for picture, runs in pictures.items()}
            for key, pictures in self.runs.items()
        }

    def by_picture(self, method: str, prompt: str, metric: str, round: int = 1) -> ByPicture:
        """Each picture's value, averaged over repeated runs."""
        return self._means.get((method, prompt, metric, round), {})

    def mean(self, metric: str, values: ByPicture) -> Estimate:
        """The mean with its limits over clean pictures."""
        if not values:
            return Estimate()
        numbers = np.array(list(values.values()))
        clean = [self.clean_of[picture] for picture in values]
        limits = None if any(map(is_mean, values)) else student_interval(numbers, clean)
        ends = column_range(metric) if metric in COLUMNS else ()
        return estimate(math.fsum(numbers) / len(numbers), limits, *ends)

    def counts(self, values: Iterable[ByPicture]) -> tuple[int | None, int | None]:
        """The number of pictures and of clean ones behind some values; None if a published table does not say."""
        pictures = {picture for part in values for picture in part}
        if any(map(is_mean, pictures)):
            return None, None
        return len(pictures), len({self.clean_of[picture] for picture in pictures})

    def compare(
        self,
        names: tuple[str, str],
        metric: str,
        first: Mapping[str, float] | Mapping[PromptAndPicture, float],
        second: Mapping[str, float] | Mapping[PromptAndPicture, float],
    ) -> Comparison:
        """How much better the first is on what both have: pictures, or prompts with pictures."""
        sign = better_sign(metric)
        sides = [{key: sign * value for key, value in side.items()} for side in (first, second)]
        clean = {key: self.clean_of[key if isinstance(key, str) else key[1]] for side in sides for key in side}
        return compare(names, sides[0], sides[1], clean)


def mean_over(parts: Sequence[ByPicture], every: bool = True) -> ByPicture:
    """Each picture's mean over its values in the parts; with `every` only of pictures that have them all."""
    pictures = dict.fromkeys(picture for part in parts for picture in part)
    values = {picture: [part[picture] for part in parts if picture in part] for picture in pictures}
    return {
        picture: math.fsum(numbers) / len(numbers)
        for picture, numbers in values.items()
        if not every or len(numbers) == len(parts)
    }


def restored_sets(analysis: Analysis) -> list[RestoredSet]:
    """The dataset's own restorations, then those of each published table."""
    published = [_published(row) for row in analysis.table("published") if row.get("category") == CATEGORY]
    by_table: dict[str, list[Restored]] = defaultdict(list)
    for restored in (*analysis.once(_own_restorations), *published):
        by_table[restored.table].append(restored)
    return [RestoredSet(name, pictures) for name, pictures in by_table.items()]


class MethodRow(TableRow):
    """The first columns of tables that have one part for each method."""

    table: str | None = column("Table", shown=False)
    editor: str = column("Method", shown=False)


def methods_by_table(analysis: Analysis, with_baselines: bool = False) -> list[tuple[RestoredSet, str]]:
    """Every method of every table. Baselines ignore the prompt, so tables of prompts leave them out."""
    sets = analysis.once(restored_sets)
    methods = {method for table in sets for method in table.methods}
    baselines = {method for method in methods if analysis.roles.get(method, "editor") != "editor"}
    left_out = set() if with_baselines or not methods - baselines else baselines
    return [(table, method) for table in sets for method in table.methods if method not in left_out]


def score_column(metric: str) -> Column:
    """The column of a metric in tables that have one for each."""
    return Column(metric, metric_title(metric), "score", interval=True)
