"""Which of two editors people prefer when they see both results without names."""

from collections import defaultdict
from statistics import fmean

from convergebench.metric_modules.halflife.comparison import compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.comparisons import verdict_name
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..answers import LabelledItem, of_question, people_of

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


def rows(analysis: Analysis) -> list[Row]:
    """A row for each two editors that were shown side by side, the names in alphabetical order."""
    pairs: dict[tuple[str, str], list[LabelledItem]] = defaultdict(list)
    for item in of_question(analysis.once(people_of), "pair"):
        if item.other is not None and item.other.editor != item.chain.editor:
            first, second = sorted((item.chain.editor, item.other.editor))
            pairs[first, second].append(item)
    compared = []
    for names, items in pairs.items():
        margins = {place: fmean(_scores_for(names[0], item)) for place, item in enumerate(items)}
        pictures = {place: item.picture for place, item in enumerate(items)}
        compared.append(compare(names, margins, dict.fromkeys(margins, 0.0), pictures))
    rows = []
    for pair in judge_together(compared):
        scores = [score for item in pairs[pair.first, pair.second] for score in _scores_for(pair.first, item)]
        rows.append(
            Row(
                first=pair.first,
                second=pair.second,
                wins=sum(score > 0 for score in scores) / len(scores),
                ties=sum(score == 0 for score in scores) / len(scores),
                losses=sum(score < 0 for score in scores) / len(scores),
                margin=estimate(pair.difference, pair.interval, -1.0, 1.0),
                p_value=pair.p_value,
                verdict=verdict_name(pair),
                labels=len(scores),
                pictures=pair.sources,
            )
        )
    return rows


def _scores_for(editor: str, item: LabelledItem) -> list[float]:
    """1 for each answer that prefers the editor, -1 for each that prefers the other."""
    sign = 1.0 if item.chain.editor == editor else -1.0
    return [sign * _SCORE[answer] for answer in item.answers]
