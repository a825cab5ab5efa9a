"""What judges and people answered about single steps (studies/*/answers.py)."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..studies import study_modules
from .analysis import Analysis

PEOPLE = "people"  # instead of a judge's name
StepKey = tuple[str, int]  # id of the chain, number of the step


class StepAnswer(NamedTuple):
    """The answer of a judge, or of people together, about one step."""

    judge: str
    question: str
    step: StepKey
    value: float | None  # 1 for yes, 0 for no, or a number
    details: Mapping[str, Any]  # a judge's whole answer; of people the "majority"


class Answers:
    """All answers, by judge and question."""

    def __init__(self, analysis: Analysis):
        self._answers: dict[tuple[str, str], dict[StepKey, StepAnswer]] = defaultdict(dict)
        self._by_chain: dict[tuple[str, str, str], dict[int, StepAnswer]] = defaultdict(dict)
        for module in study_modules("answers"):
            for answer in module.answers(analysis):
                chain, step = answer.step
                self._answers[answer.judge, answer.question][answer.step] = answer
                self._by_chain[answer.judge, answer.question, chain][step] = answer

    def judges(self, *questions: str) -> list[str]:
        """The judges that were asked one of these questions."""
        return sorted({judge for judge, question in self._answers if question in questions} - {PEOPLE})

    def to(self, judge: str, question: str) -> Mapping[StepKey, StepAnswer]:
        """By step."""
        return self._answers.get((judge, question), {})

    def of_chain(self, judge: str, question: str, chain: str) -> dict[int, StepAnswer]:
        """By number of the step."""
        return self._by_chain.get((judge, question, chain), {})

    def chains(self, judge: str, *questions: str) -> set[str]:
        """The ids of the chains that a judge was asked about."""
        return {chain for question in questions for chain, _ in self.to(judge, question)}
