from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from convergebench.metric_modules.halflife.comparison import compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.comparisons import verdict_name
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..answers import people_of

TITLE = "Blind pairs"
SECTION = "What people saw"
ON_PAGE = OnPage(order=20)
NOTE = (
    "The margin is the share of answers that prefer the first minus the share that prefer the other, averaged by "
    "picture; p flips the signs of pictures."
)
_SCORE = {"first": 1.0, "second": -1.0, "same": 0.0}


class Row(TableRow):
    first: str = column("Method")
    second: str = column("against")
    wins: float = column("Preferred", "share")
    ties: float = column("Equally good", "share")
    losses: float = column("The other preferred", "share")
    margin: Estimate = column("Margin", "signed")
    p_value: float | None = column("p", "p")
    verdict: str = column("Better")
    labels: int = column("Answers", "count")
    pictures: int = column("Pictures", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    # Of two editors, each picture and the scores of the first.
    pairs: dict[tuple[str, str], list[tuple[str, list[float]]]] = defaultdict(list)
    for item in analysis.once(people_of):
        if item.other is not None and item.other.editor != item.chain.editor:
            first, second = sorted((item.chain.editor, item.other.editor))
            sign = 1.0 if item.chain.editor == first else -1.0
            pairs[first, second].append((item.picture, [sign * _SCORE[answer] for answer in item.answers]))
    compared = []
    for names, items in pairs.items():
        margins = {place: fmean(scores) for place, (_, scores) in enumerate(items)}
        pictures = {place: picture for place, (picture, _) in enumerate(items)}
        compared.append(compare(names, margins, dict.fromkeys(margins, 0.0), pictures))
    for pair in judge_together(compared):
        scores = [score for _, scores in pairs[pair.first, pair.second] for score in scores]
        yield Row(
            first=pair.first,
            second=pair.second,
            wins=fmean(score > 0 for score in scores),
            ties=fmean(score == 0 for score in scores),
            losses=fmean(score < 0 for score in scores),
            margin=estimate(pair.difference, pair.interval, -1.0, 1.0),
            p_value=pair.p_value,
            verdict=verdict_name(pair),
            labels=len(scores),
            pictures=pair.sources,
        )
