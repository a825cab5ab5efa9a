"""How one case ended: the rounds it kept, and in which step and why it was lost."""

from ..analysis.cases import Case
from ..analysis.groups import HALF, CaseGroup, lowest_quality, outcome_of_case
from ..analysis.reasons import losing_step, loss_clause, lost_outline
from .served_dataset import Answer, ServedDataset

_NOTHING: Answer = {
    "kept": None,
    "cause": None,
    "lost_at": None,
    "lost_step": None,
    "clause": "",
    "outline": [],
    "quality": [],
}


def ending(dataset: ServedDataset, case: Case | None, group: CaseGroup | None = None) -> Answer:
    """The ending as the page shows it; nulls for chains that no headline counts, such as those that only add.

    `group` is the group of cases that a visitor's filters chose; by default the whole one.
    """
    if case is None or not case.chain.program.closes:
        return dict(_NOTHING)
    checks = group.checks_of(case.editor) if group else dataset.checks_of(case)
    outcome = outcome_of_case(case, checks)
    scores = dataset.scores_of(case.chain.id)
    step = losing_step(case, outcome, scores)
    row = scores.get(step or -1)
    return {
        "kept": outcome.rounds_kept,
        "cause": outcome.cause,
        "lost_at": outcome.lost_at,
        "lost_step": step,
        "clause": loss_clause(case, outcome, checks, HALF, row),
        "outline": lost_outline(row),
        "quality": lowest_quality(case, checks),
    }
