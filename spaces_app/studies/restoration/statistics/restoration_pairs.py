from collections.abc import Iterator
from itertools import combinations

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.comparisons import verdict_name
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..restored import is_mean, metric_title, restored_sets

TITLE = "Methods of restoration in pairs"
SECTION = "Restoration"
ON_PAGE = OnPage(order=5, part_by="table", line_where="metric", folded=True)
NOTE = (
    "Positive is better for the first. The test flips the signs of clean pictures; the pairs of "
    "one metric are corrected together. With fewer than 12 clean pictures a result is indicative."
)


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    metric: str = column("Metric")
    first: str = column("Method")
    second: str = column("against")
    difference: Estimate = column("Gain", "score")
    p_value: float | None = column("p", "p")
    p_corrected: float | None = column("p, corrected for all pairs of the metric", "p")
    verdict: str = column("Better")
    pictures: int = column("Common pictures", "count")
    clean: int = column("Clean pictures", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    for table in analysis.once(restored_sets):
        methods = [method for method in table.methods if analysis.roles.get(method, "editor") == "editor"]
        values = {method: table.chosen(method, table.choose_prompts(method)) for method in methods}
        for metric in table.metrics:
            sides = {
                method: {
                    picture: value for picture, value in values[method][metric].items() if not is_mean(picture)
                }
                for method in methods
            }
            pairs = [table.compare((a, b), metric, sides[a], sides[b]) for a, b in combinations(methods, 2)]
            for pair in judge_together([pair for pair in pairs if pair.cases]):
                yield Row(
                    table=table.name or None,
                    metric=metric_title(metric),
                    first=pair.first,
                    second=pair.second,
                    difference=estimate(pair.difference, pair.interval),
                    p_value=pair.p_value,
                    p_corrected=pair.p_corrected,
                    verdict=verdict_name(pair),
                    pictures=pair.cases,
                    clean=pair.sources,
                )
