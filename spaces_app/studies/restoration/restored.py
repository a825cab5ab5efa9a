"""Restored pictures, the dataset's own and published ones, with their scores."""

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import Comparison, compare
from convergebench.metric_modules.halflife.intervals import student_interval
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.specs import specs

from ...analysis.analysis import Analysis
from ...analysis.cases import COLUMNS, CURVES, column_range
from ...analysis.tables import Column, Estimate, TableRow, estimate

CATEGORY = "restoration"
_PROMPT = re.compile(r"(?:restore-)?([a-z]+)-?\d+", re.IGNORECASE)
_FULL_REFERENCE = tuple(name for name in CURVES if name != "rmse")  # RMSE and PSNR order pictures alike
# Metrics of a picture on its own are optional: the others need the clean picture.
_OPTIONAL = [spec for spec in specs().values() if spec.optional and spec.kind == "picture"]
_SCORES = [score for spec in _OPTIONAL for score in spec.columns if score.direction and score.show == "number"]
_NO_REFERENCE = [score.name for score in sorted(_SCORES, key=lambda score: score.title.casefold())]
_NO_PROMPT = "restored"  # the program of an imported method that takes no words
_MEAN = "mean of all pictures: "  # the name under which a published mean represents the pictures of its scene
_PLACE = ("run", "round", "position")  # columns of published tables with numbers that are no scores

ByPicture = dict[str, float]
_Place = TypeVar("_Place", bound=Hashable)  # a picture, or a prompt with a picture
_Row = TypeVar("_Row", bound=TableRow)


@dataclass(frozen=True)
class Restored:
    table: str  # the published table's name; empty for the dataset's own
    method: str
    prompt: str  # empty for a method without prompts
    picture: str  # the degraded one
    clean: str  # the undegraded one: pictures made from the same one are not independent
    scene: str
    degradation: str
    run: int
    round: int
    values: Mapping[str, float]  # without a clean picture, only metrics that need none
    words: int | None = None  # of the prompt
    chain: str = ""
    direction: float | None = None  # of a further pass: the cosine with what the first one changed
    size: float | None = None  # and how much it changed, as a share of the first


def is_disturbed(chain: FinishedChain) -> bool:
    """Whether a recall audit reached the chain."""
    return "audit" in chain.chain.settings and chain.rounds * len(chain.program.cycle) > 1


def own_restorations(analysis: Analysis) -> list[Restored]:
    chains = {case.chain.id: case.chain for case in analysis.cases if case.chain.program.category == CATEGORY}
    chains = {name: chain for name, chain in chains.items() if not is_disturbed(chain)}
    scores, restored = analysis.scores.of_chains(chains), []
    for chain in sorted(chains.values(), key=lambda chain: chain.order):
        passes = [row for row in scores.get(chain.id, ()) if row.position == len(chain.program.cycle)]
        passes.sort(key=lambda row: row.round)
        restored += [_restored_by(chain, row) for row in (*passes,) or (None,)]
    return restored


def _restored_by(chain: FinishedChain, row: ScoreRow | None) -> Restored:
    source, program = chain.source, chain.program
    has_prompt = program.id != _NO_PROMPT
    metrics = [*_FULL_REFERENCE, *_NO_REFERENCE] if source.reference is not None else _NO_REFERENCE
    name, _, degradation = source.id.partition("~")
    return Restored(
        table="",
        method=chain.editor,
        prompt=program.id if has_prompt else "",
        picture=source.id,
        clean=source.reference or name,
        scene=source.scene,
        degradation=source.degradation or degradation,
        run=chain.run,
        round=row.round if row else 1,
        values=_numbers({metric: row.value(metric) for metric in metrics}) if row else {},
        words=len(program.cycle[0].split()) if has_prompt else None,
        chain=chain.id,
        direction=row.value("pass_direction") if row else None,
        size=row.value("pass_size") if row else None,
    )


def _published(row: Mapping[str, Any]) -> Restored:
    mean = _MEAN + ", ".join(filter(None, (row["scene"], row["degradation"])))
    return Restored(
        table=row["table"],
        method=row["editor"],
        prompt=row["program"] or "",
        picture=row["image"] or mean,
        clean=row["clean"] or row["image"] or mean,
        scene=row["scene"] or "",
        degradation=row["degradation"] or "",
        run=row["run"],
        round=row["round"],
        values=_numbers({name: value for name, value in row.items() if name not in _PLACE}),
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def is_mean(picture: str) -> bool:
    return picture.startswith(_MEAN)


def metric_title(metric: str) -> str:
    return COLUMNS[metric].title if metric in COLUMNS else metric.upper()


def better_sign(metric: str) -> int:
    return -1 if metric in COLUMNS and COLUMNS[metric].direction == "lower" else 1


def score_column(metric: str) -> Column:
    return Column(metric, metric_title(metric), "score", interval=True)


def prompt_group(prompt: str) -> str:
    """The group of a prompt.

    >>> prompt_group("restore-sf1"), prompt_group("L3"), prompt_group("restore")
    ('SF', 'L', '')
    """
    match = _PROMPT.fullmatch(prompt)
    return match[1].upper() if match else ""


def prompt_name(prompt: str) -> str:
    """'SF1' for restore-sf1; other names are unchanged."""
    return prompt.removeprefix("restore-").upper() if prompt_group(prompt) else prompt


@dataclass(frozen=True)
class RestoredSet:
    name: str  # of the published table; empty for the dataset's own
    pictures: Sequence[Restored]

    @cached_property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(restored.method for restored in self.pictures))

    @cached_property
    def metrics(self) -> list[str]:
        """Those that compare with the clean picture come first."""
        names = dict.fromkeys(name for restored in self.pictures for name in restored.values)
        return [
            *(name for name in _FULL_REFERENCE if name in names),
            *(name for name in names if name not in CURVES),
        ]

    @cached_property
    def _clean_of(self) -> dict[str, str]:
        return {restored.picture: restored.clean for restored in self.pictures}

    @cached_property
    def runs(self) -> dict[tuple[str, str, str, int], dict[str, dict[int, float]]]:
        """By method, prompt, metric and pass: each picture's value in each run."""
        runs: dict[tuple[str, str, str, int], dict[str, dict[int, float]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for restored in self.pictures:
            for metric, value in restored.values.items():
                series = runs[restored.method, restored.prompt, metric, restored.round]
                series[restored.picture][restored.run] = value
        return dict(runs)

    def prompts(self, method: str) -> list[str]:
        return sorted({restored.prompt for restored in self.pictures if restored.method == method})

    def by_picture(self, method: str, prompt: str, metric: str, round: int = 1) -> ByPicture:
        runs = self.runs.get((method, prompt, metric, round), {})
        return {picture: math.fsum(values.values()) / len(values) for picture, values in runs.items()}

    def choose_prompts(self, method: str) -> dict[str, str]:
        """For each clean picture, the prompt that is best on the other half of them.

        Best is the best mean rank over metrics. Names alone decide the halves.
        """
        from scipy import stats  # half a second, and 45 MB that the Space would hold

        pictures = [r for r in self.pictures if r.method == method and not is_mean(r.picture)]
        prompts = sorted({r.prompt for r in pictures if r.values})
        choice = dict.fromkeys((r.clean for r in pictures), prompts[0] if prompts else "")
        if len(prompts) < 2:
            return choice
        values = {
            metric: [self.by_picture(method, prompt, metric) for prompt in prompts] for metric in self.metrics
        }
        common = {metric: sorted(set.intersection(*map(set, parts))) for metric, parts in values.items()}
        clean = {self._clean_of[picture] for pictures in common.values() for picture in pictures}
        order = sorted(clean, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        halves, ranks = (order[::2], order[1::2]), []
        for metric, parts in values.items():
            of_half = [[name for name in common[metric] if self._clean_of[name] in half] for half in halves]
            if all(of_half):
                means = [[np.mean([part[name] for name in half]) for part in parts] for half in of_half]
                ranks.append(stats.rankdata(-better_sign(metric) * np.array(means), axis=1))
        if ranks:
            first, second = np.mean(ranks, axis=0).argmin(axis=1)
            choice |= dict.fromkeys(halves[0], prompts[second]) | dict.fromkeys(halves[1], prompts[first])
        return choice

    def chosen(self, method: str, choice: Mapping[str, str]) -> dict[str, ByPicture]:
        """By metric: values by the chosen prompt, or else the published mean."""
        chosen = {}
        for metric in self.metrics:
            values, means = {}, {}
            for prompt in self.prompts(method):
                for picture, value in self.by_picture(method, prompt, metric).items():
                    if picture == _MEAN:
                        means[picture] = value
                    elif not is_mean(picture) and choice.get(self._clean_of[picture]) == prompt:
                        values[picture] = value
            chosen[metric] = values or means
        return chosen

    def mean(self, metric: str, values: ByPicture) -> Estimate:
        if not values:
            return Estimate()
        clean = [self._clean_of[picture] for picture in values]
        limits = None if any(map(is_mean, values)) else student_interval(np.array([*values.values()]), clean)
        ends = column_range(metric) if metric in COLUMNS else ()
        return estimate(math.fsum(values.values()) / len(values), limits, *ends)

    def counts(self, values: Iterable[ByPicture]) -> dict[str, int | None]:
        pictures = {picture for part in values for picture in part}
        if any(map(is_mean, pictures)):
            return {"pictures": None, "clean": None}
        return {"pictures": len(pictures), "clean": len({self._clean_of[picture] for picture in pictures})}

    def compare(
        self, names: tuple[str, str], metric: str, first: Mapping[_Place, float], second: Mapping[_Place, float]
    ) -> Comparison:
        """How much better the first is on what both have."""
        sign = better_sign(metric)
        sides = [{key: sign * value for key, value in side.items()} for side in (first, second)]
        clean = {key: self._clean_of[key if isinstance(key, str) else key[1]] for side in sides for key in side}  # type: ignore[index]
        return compare(names, sides[0], sides[1], clean)


def mean_over(parts: Sequence[ByPicture], every: bool = True) -> ByPicture:
    """Means over the parts; with `every` only of pictures that all parts have."""
    pictures = dict.fromkeys(picture for part in parts for picture in part)
    values = {picture: [part[picture] for part in parts if picture in part] for picture in pictures}
    return {
        picture: math.fsum(numbers) / len(numbers)
        for picture, numbers in values.items()
        if not every or len(numbers) == len(parts)
    }


def restored_sets(analysis: Analysis) -> list[RestoredSet]:
    published = [_published(row) for row in analysis.table("published") if row.get("category") == CATEGORY]
    by_table: dict[str, list[Restored]] = defaultdict(list)
    for restored in (*analysis.once(own_restorations), *published):
        by_table[restored.table].append(restored)
    return [RestoredSet(name, pictures) for name, pictures in by_table.items()]


def rows_by_method(
    rows: Callable[[RestoredSet, str], Iterable[_Row]], analysis: Analysis, with_baselines: bool = False
) -> Iterator[_Row]:
    """Baselines ignore the prompt, so tables of prompts leave them out."""
    sets = analysis.once(restored_sets)
    methods = {method for table in sets for method in table.methods}
    baselines = {method for method in methods if analysis.roles.get(method, "editor") != "editor"}
    left_out = set() if with_baselines or baselines == methods else baselines
    for table in sets:
        for method in table.methods:
            if method not in left_out:
                yield from rows(table, method)
