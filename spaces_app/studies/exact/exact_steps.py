"""The steps of drawn scenes, as every statistic of exact edits reads them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.intervals import mean_over_clusters
from convergebench.metric_modules.scores import ScoreRow

from ...analysis.analysis import Analysis
from ...analysis.tables import Estimate, estimate


class ExactStep(NamedTuple):
    chain: FinishedChain
    row: ScoreRow

    @property
    def operation(self) -> str:
        """A program's id is its scene's, such as scene-1-0, and the operation."""
        return self.chain.program.id.removeprefix(f"{self.chain.source.id}-")

    @property
    def difficulty(self) -> tuple[str, str]:
        """The level, and the kind of ground."""
        level, _, ground = self.chain.source.scene.partition(", ")
        return level, ground

    @property
    def is_forward(self) -> bool:
        return self.row.position == 1

    def value(self, column: str) -> float:
        return float(self.row.value(column))


def exact_steps(analysis: Analysis) -> list[ExactStep]:
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category.startswith("exact ")}
    rows = analysis.scores.with_any(["exact_as_asked"]) if chains else ()
    return [ExactStep(chains[row.chain], row) for row in rows if row.chain in chains]


def by(
    steps: Iterable[ExactStep], *keys: Callable[[ExactStep], object]
) -> Iterator[tuple[tuple, list[ExactStep]]]:
    parts: dict[tuple, list[ExactStep]] = defaultdict(list)
    for step in steps:
        parts[step.chain.editor, *(key(step) for key in keys)].append(step)
    yield from sorted(parts.items(), key=lambda item: item[0])


def mean(steps: Sequence[ExactStep], column: str) -> Estimate:
    values = [step.value(column) for step in steps]
    return estimate(*mean_over_clusters(values, [step.chain.source.id for step in steps]), 0.0, 1.0)
