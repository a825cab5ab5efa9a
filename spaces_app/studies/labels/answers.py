"""People's answers about the dataset's pictures."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from statistics import median
from typing import NamedTuple

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS, Label, latest, numbers_of
from convergebench.generation.records import FinishedChain

from ...analysis.analysis import Analysis
from ..step_answers import PEOPLE, StepAnswer


class LabelledItem(NamedTuple):
    """One item that people were asked about, with all their answers."""

    question: str
    chain: FinishedChain
    step: int
    other: FinishedChain | None  # of a pair, the one on the right
    answers: list[str]
    raters: list[str]

    @property
    def picture(self) -> str:
        """The clean picture behind the item; items with the same one are not independent."""
        return self.chain.source.reference or self.chain.source.id

    @property
    def majority(self) -> str | None:
        [(answer, count)] = Counter(self.answers).most_common(1)
        return answer if count * 2 > len(self.answers) else None


def people_of(analysis: Analysis) -> list[LabelledItem]:
    """The items by question; labels of other datasets are left out."""
    by_id = {chain.id: chain for chain in analysis.chains}
    by_item: dict[tuple[Hashable, ...], list[Label]] = defaultdict(list)
    for label in latest(analysis.rows(Label)).values():
        if label.chain in by_id and (label.other_chain is None or label.other_chain in by_id):
            by_item[label.item].append(label)
    items = []
    for labels in by_item.values():
        first, answers, raters = labels[0], [label.answer for label in labels], [label.rater for label in labels]
        other = by_id[first.other_chain] if first.other_chain else None
        items.append(LabelledItem(first.question, by_id[first.chain], first.step, other, answers, raters))
    order = list(QUESTIONS)
    return sorted(items, key=lambda item: (order.index(item.question), item.chain.order, item.step))


def by_editor(analysis: Analysis, question: str) -> dict[str, list[LabelledItem]]:
    groups: dict[str, list[LabelledItem]] = defaultdict(list)
    for item in analysis.once(people_of):
        if item.question == question:
            groups[item.chain.editor].append(item)
    return groups


def answers(analysis: Analysis) -> Iterator[StepAnswer]:
    for item in analysis.once(people_of):
        value = {"yes": 1.0, "no": 0.0}.get(item.majority or "")
        if QUESTIONS[item.question].measure == "interval":
            numbers = numbers_of(item.answers)
            value = median(numbers) if numbers else None
        if item.other is None:
            yield StepAnswer(
                PEOPLE, item.question, (item.chain.id, item.step), value, {"majority": item.majority}
            )
