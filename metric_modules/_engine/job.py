"""What a run of the engine has to do: what there is, what is known of it already, and what is left."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from convergebench.dataset_builder.dataset.schema import Place, Reader

from ..psnr.images import target
from . import floors, known, panel, reading
from .cases import Case, find
from .floors import Task
from .known import Known
from .measures import Measure, Values
from .panel import Panel, Unusable

VERSION = 1


@dataclass
class Job:
    """A dataset, the metrics asked for, and what is known before the run."""

    folder: Path
    reader: Reader
    cases: list[Case]
    panel: Panel
    heads: dict[str, str]
    tasks: list[Task]
    known: Known

    def lacking(self, case: Case) -> list[Measure]:
        """The metrics that are still to be computed for a chain."""
        if not any(shot.scored for shot in case.steps):
            return []
        return [measure for measure in self.panel.measures if not self.known.has(case, measure.name, measure.signature)]

    def unpaired(self, task: Task) -> list[Measure]:
        """The metrics whose floor is still to be computed for a reference."""
        return [
            measure
            for measure in self.panel.measures
            if measure.floors and self.known.floors.get((task.key, measure.name), ("",))[0] != floor_signature(measure)
        ]

    def mine(self, rank: int, size: int) -> list[int]:
        """This process's chains among those that lack something, by their places in `cases`."""
        left = [place for place, case in enumerate(self.cases) if self.lacking(case)]
        return [left[each] for each in share([self.cases[place].cost for place in left], rank, size)]

    def images(self, rank: int, size: int) -> int:
        """How many pictures this process has to score."""
        return sum(shot.scored for place in self.mine(rank, size) for shot in self.cases[place].steps)

    def place(self, case: Case) -> tuple[str, str, int]:
        """Where a chain finds its floors: by suite, source and evaluation size."""
        return case.chain["suite"] or "", case.chain["source"], floors.short_side(case) or 0

    def bottoms(self) -> dict[tuple[str, str, int], floors.Medians]:
        """The floor of each metric, for every suite, source and evaluation size."""
        suites = floors.members(self.cases)
        found: dict[tuple[str, str, int], floors.Medians] = {}
        for task in self.tasks:
            values: dict[str, Values] = {}
            for name in self.panel.columns:
                for other, row in self.known.floors.get((task.key, name), ("", {}))[1].items():
                    values.setdefault(other, {}).update(row)
            for suite, members in suites.items():
                found[suite, task.reference.source, task.short_side] = floors.medians(values, members)
        return found

    @cached_property
    def copies(self) -> dict[str | None, list[Place]]:
        """Where every chain's input lies, by its hash."""
        found: dict[str | None, list[Place]] = defaultdict(list)
        for case in self.cases:
            if case.input and case.input.place:
                found[case.input.sha256].append(case.input.place)
        return found

    def copies_of(self, case: Case) -> list[Place]:
        """Where a chain's input can be read, in this chain or in another."""
        return self.copies[case.input.sha256] if case.input and case.input.place else []

    @property
    def current(self) -> dict[str, str]:
        return {case.id: case.digest for case in self.cases}


def floor_signature(measure: Measure) -> str:
    return (measure.exact or measure).signature


def prepare(folder: Path, asked: Sequence[str] | None, device: str | None, dtype: str | None) -> Job:
    """Read what there is and make the metrics ready."""
    reader = Reader(folder)
    if not reader.files("chains"):
        raise Unusable(f"{folder} is no dataset: there is no data/chains; `convergebench build` makes one")
    chosen = panel.choose(asked, device, dtype)
    cases = find(reader)
    heads = {case.id: head(case) for case in cases}
    tasks = floors.plan(reader, cases)
    found = known.from_dataset(reader, cases, heads, chosen.columns)
    known.add_floors(found, reader, tasks, chosen.columns)
    return Job(folder, reader, cases, chosen, heads, tasks, found)


def head(case: Case) -> str:
    """The part of a signature that all metrics share: how pictures are read and at which size they are compared."""
    size = "unknown"
    if case.input and case.input.width and case.input.height:
        width, height = target(case.input.width, case.input.height, case.chain["short_side"] or "reference")
        size = f"{width}x{height}"
    return f"engine/{VERSION} size={size} resize=lanczos pixels={reading.RULE}"


def share(costs: Sequence[int], rank: int, size: int) -> list[int]:
    """The places of this process: consecutive, so that equal references stay together, and of about equal cost."""
    total, before, places = sum(costs), 0, []
    for place, cost in enumerate(costs):
        if total and min(int((before + cost / 2) * size / total), size - 1) == rank:
            places.append(place)
        before += cost
    return places
