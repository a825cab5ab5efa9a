"""Which of two editors people prefer when they see both results without names."""

from collections import defaultdict
from statistics import fmean
from typing import Any

from convergebench.metric_modules.halflife.comparison import compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.comparisons import verdict_name
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..people import LabelledItem, of_question, people_of

TITLE = "Blind pairs"
SECTION = "What people saw"
ON_PAGE = OnPage(order=20)
SCORE = {"first": 1.0, "second": -1.0, "same": 0.0}
COLUMNS = (
    Column("first", "Method"),
    Column("second", "against"),
    Column("wins", "Preferred", "share"),
    Column("ties", "Equally good", "share"),
    Column("losses", "The other preferred", "share"),
    Column("margin", "Margin", "signed", interval=True),
    Column("p_value", "p", "p"),
    Column("verdict", "Better"),
    Column("labels", "Answers", "count"),
    Column("pictures", "Pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each two editors that were shown beside each other, the names in alphabetical order."""
    pairs: dict[tuple[str, str], list[LabelledItem]] = defaultdict(list)
    for item in of_question(analysis.once(people_of), "pair"):
        if item.other is not None and item.other.editor != item.chain.editor:
            first, second = sorted((item.chain.editor, item.other.editor))
            pairs[first, second].append(item)
    compared = {}
    for names, items in pairs.items():
        margins = {place: fmean(scores_for(names[0], item)) for place, item in enumerate(items)}
        pictures = {place: item.picture for place, item in enumerate(items)}
        compared[names] = compare(names, margins, dict.fromkeys(margins, 0.0), pictures)
    found = []
    for pair in judge_together(list(compared.values())):
        items = pairs[pair.first, pair.second]
        given = [score for item in items for score in scores_for(pair.first, item)]
        low, high = pair.interval or (None, None)
        found.append(
            {
                "first": pair.first,
                "second": pair.second,
                "wins": sum(score > 0 for score in given) / len(given),
                "ties": sum(score == 0 for score in given) / len(given),
                "losses": sum(score < 0 for score in given) / len(given),
                "margin": pair.difference,
                "margin_low": None if low is None else max(low, -1.0),
                "margin_high": None if high is None else min(high, 1.0),
                "p_value": pair.p_value,
                "verdict": verdict_name(pair),
                "labels": len(given),
                "pictures": pair.sources,
            }
        )
    return found


def scores_for(editor: str, item: LabelledItem) -> list[float]:
    """1 for each answer that prefers the editor, -1 for each that prefers the other."""
    sign = 1.0 if item.chain.editor == editor else -1.0
    return [sign * SCORE[answer] for answer in item.answers]


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "The margin is the share of answers that prefer the first less the share that prefer the other, averaged by "
        "picture; p flips the signs of pictures."
    )
