"""From scores to tables: pure, so that simulated scores report like real ones, and the Space can ask again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from convergebench.metric_modules.halflife.outcomes import Outcome

from ..study.cases import Case, read_cases
from ..study.comparisons import compare_group
from ..study.floors import Floors
from ..study.groups import HALF, CaseGroup, group_cases, outcome_of_case
from ..study.tables import Table
from . import causes, curves, growth, hardest, leaderboard, methods, pairs, published, recall, sensitivity, variance

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What a reader may ask for."""

    threshold: float = HALF


@dataclass(frozen=True)
class Report:
    """All tables by their names, and what they were made from."""

    tables: dict[str, Table]
    groups: dict[str, CaseGroup]
    outcomes: dict[str, dict[str, list[Outcome]]]
    cases: list[Case] = field(repr=False, default_factory=list)


def report(
    scores: Sequence[Row],
    chains: Sequence[Row],
    floors: Sequence[Row] = (),
    calls: Sequence[Row] = (),
    theirs: Sequence[Row] = (),
    options: Options = Options(),
) -> Report:
    """Every table of the report from the rows of `scores`, `chains` and `floors`.

    `calls` are the rows of `steps` and tell time and cost; `theirs` are those of `published`.
    """
    zeros = Floors(floors, chains)
    cases, left_out = read_cases(scores, chains, zeros, calls)
    excluded = zeros.excluded(chains)
    audit = recall.table(scores, chains)
    groups = group_cases(cases, excluded, recall.confirmed(audit))
    outcomes = {
        group: {
            editor: [outcome_of_case(case, own.checks, options.threshold) for case in every]
            for editor, every in own.cases.items()
        }
        for group, own in groups.items()
    }
    headline, versus = [], []
    for name, group in groups.items():
        compared = compare_group(group, outcomes[name])
        headline += leaderboard.group_rows(group, outcomes[name], compared.ranks, options.threshold)
        versus += pairs.group_rows(group, compared)
    chosen = list(groups.values())
    imported, lines = published.tables(theirs, chains)
    drawn = curves.table(chosen, outcomes)
    tables = [
        leaderboard.table(headline),
        pairs.table(versus),
        replace(drawn, rows=[*drawn.rows, *lines]),
        causes.table(chosen, outcomes),
        causes.breakdown(chosen, outcomes),
        variance.table(chosen, outcomes),
        hardest.table(chosen, outcomes),
        hardest.measured(chosen, outcomes),
        sensitivity.table(chosen, options.threshold),
        growth.table(chosen),
        audit,
        *imported,
    ]
    made = {table.name: table for table in tables}
    made["facts"] = methods.facts(cases, left_out, excluded, groups, outcomes, scores, floors, options.threshold)
    return Report(made, groups, outcomes, cases)
