from collections import defaultdict
from collections.abc import Iterator
from math import exp, log
from statistics import median

from convergebench.metric_modules.halflife.intervals import mean_over_clusters
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.steering.measure import DAMAGE

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.tables import Estimate, TableRow, column, estimate, mean_of
from ....statistics import OnPage

TITLE = "Steering: from a goal to the picture, by corrections"
SECTION = "Steering"
ON_PAGE = OnPage(line_where="editor")
NOTE = (
    "A simulated user wants one thing of a drawn scene changed, looks at each picture, says the next correction, and "
    "stops when the thing is within tolerance and nothing else is damaged, or after 12 corrections. A factor of 0.5 "
    "means that a correction halves the distance; above 1 the picture moves away from the goal."
)
_FAR = 2.0  # tolerances: nearer steps are mostly rounding, and a wrong word is never nearer or farther
_NEAR = 0.05  # tolerances: an arrival counts as this near, so that its logarithm is finite


class Row(TableRow):
    editor: str = column("Editor")
    goal: str = column("Goal")
    arrived: Estimate = column("Arrived", "share")
    corrections: float | None = column("Corrections to arrive, median", "number")
    factor: float | None = column("Factor of a correction, median", "number")
    damaged: float | None = column("Ended with other damage", "share")
    cost: float | None = column("Cost of arriving", "dollars")
    chains: int = column("Chains", "count")
    scenes: int = column("Scenes", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    cases = [case for case in analysis.cases if case.chain.program.category == "steering"]
    scores = analysis.scores.of_chains({case.chain.id for case in cases})
    chains = defaultdict[tuple[str, str], list[tuple[Case, list[ScoreRow]]]](list)
    for case in cases:
        for goal in ("all", case.program.removeprefix(f"steer-{case.source}-")):
            chains[case.chain.editor, goal].append((case, scores.get(case.chain.id, [])))
    for (editor, goal), some in sorted(chains.items(), key=lambda item: item[0]):
        ends = [max(steps, key=lambda step: step.step, default=None) for _, steps in some]
        arrived = [end is not None and bool(end.value("steer_arrived")) for end in ends]
        arrivals = [
            (case, end) for (case, _), end, there in zip(some, ends, arrived, strict=True) if there and end
        ]
        factors = [factor for _, steps in some for step in steps if (factor := _factor(step)) is not None]
        damages = [damage for end in ends if end and (damage := end.value("steer_damage")) is not None]
        sources = [case.source for case, _ in some]
        yield Row(
            editor=editor,
            goal=goal,
            arrived=estimate(*mean_over_clusters([float(there) for there in arrived], sources)),
            corrections=median(end.step for _, end in arrivals) if arrivals else None,
            factor=exp(median(factors)) if factors else None,
            damaged=mean_of(damage > DAMAGE for damage in damages),
            cost=mean_of(case.chain.cost for case, _ in arrivals),
            chains=len(some),
            scenes=len(set(sources)),
        )


def _factor(step: ScoreRow) -> float | None:
    """The logarithm of the factor by which a correction changed the distance."""
    before, after = step.value("steer_before"), step.value("steer_distance")
    if before is None or after is None or before <= _FAR:
        return None
    return log(max(after, _NEAR) / before)
