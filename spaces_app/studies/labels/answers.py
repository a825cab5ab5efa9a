"""People's answers about the dataset's pictures, by item, and those about single steps in the form all studies read."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS, Label, latest
from convergebench.generation.records import FinishedChain

from ...analysis.analysis import Analysis
from ...analysis.answers import PEOPLE, StepAnswer


@dataclass(frozen=True)
class LabelledItem:
    """One item that people were asked about, with all their answers."""

    question: str
    chain: FinishedChain
    step: int
    other: FinishedChain | None  # of a pair, the one on the right
    answers: tuple[str, ...]
    raters: tuple[str, ...]

    @property
    def picture(self) -> str:
        """The clean picture behind the item; items with the same one are not independent."""
        return self.chain.source.reference or self.chain.source.id

    @property
    def majority(self) -> str | None:
        """The answer that more than half gave."""
        [(answer, count)] = Counter(self.answers).most_common(1)
        return answer if count * 2 > len(self.answers) else None

    @property
    def mean(self) -> float:
        """Of answers that are numbers."""
        return math.fsum(map(float, self.answers)) / len(self.answers)


def people_of(analysis: Analysis) -> list[LabelledItem]:
    """People's answers about the pictures, by item."""
    return labelled_items(analysis.rows(Label), analysis.chains)


def labelled_items(labels: Iterable[Label], chains: Sequence[FinishedChain]) -> list[LabelledItem]:
    """The items in the order of their questions; labels of chains that are not here are left out."""
    by_id = {chain.id: chain for chain in chains}
    by_item: dict[tuple[Hashable, ...], list[Label]] = defaultdict(list)
    for label in latest(labels):
        if label.chain in by_id and (label.other_chain is None or label.other_chain in by_id):
            by_item[label.item].append(label)
    items = [
        LabelledItem(
            question=labels[0].question,
            chain=by_id[labels[0].chain],
            step=labels[0].step,
            other=by_id[labels[0].other_chain] if labels[0].other_chain else None,
            answers=tuple(label.answer for label in labels),
            raters=tuple(label.rater for label in labels),
        )
        for labels in by_item.values()
    ]
    order = list(QUESTIONS)
    return sorted(items, key=lambda item: (order.index(item.question), item.chain.order, item.step))


def of_question(items: Iterable[LabelledItem], question: str) -> list[LabelledItem]:
    return [item for item in items if item.question == question]


def by_editor(items: Iterable[LabelledItem]) -> dict[str, list[LabelledItem]]:
    groups: dict[str, list[LabelledItem]] = defaultdict(list)
    for item in items:
        groups[item.chain.editor].append(item)
    return groups


def answers(analysis: Analysis) -> Iterator[StepAnswer]:
    """The median of numbers, or the majority of yes and no as 1 or 0; "majority" is the answer in its own words."""
    for item in analysis.once(people_of):
        if item.other is None:
            details = {"majority": item.majority}
            yield StepAnswer(PEOPLE, item.question, (item.chain.id, item.step), _value(item), details)


def _value(item: LabelledItem) -> float | None:
    question = QUESTIONS[item.question]
    if question.measure != "interval":
        return {"yes": 1.0, "no": 0.0}.get(item.majority or "")
    numbers = [number for answer in item.answers if (number := question.number(answer)) is not None]
    return median(numbers) if numbers else None
