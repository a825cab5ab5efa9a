"""From scores to tables: pure, so that simulated scores report like real ones, and the Space can ask again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from convergebench.metric_modules.halflife.fates import Fate

from . import causes, curves, growth, hardest, leaderboard, methods, pairs, published, recall, sensitivity, variance
from .cases import Case, follow
from .fates import HALF, Field, converged, fields, role
from .table import Table
from .zeros import Zeros

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What a reader may ask for."""

    threshold: float = HALF


@dataclass(frozen=True)
class Report:
    """All tables by their names, and what they were made from."""

    tables: dict[str, Table]
    fields: dict[str, Field]
    fates: dict[str, dict[str, list[Fate]]]
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
    zeros = Zeros(floors, chains)
    cases, left_out = follow(scores, chains, zeros, calls)
    excluded = zeros.excluded(chains)
    groups = fields(cases, excluded)
    audit = recall.table(scores, chains)
    recalling = recall.confirmed(audit)
    fates = {
        group: {
            editor: [converged(case, own.checks, options.threshold) for case in every]
            for editor, every in own.cases.items()
        }
        for group, own in groups.items()
    }
    headline, versus = [], []
    for group, own in groups.items():
        rows, compared = standing(own, fates[group], recalling, options.threshold)
        headline += rows
        versus += compared
    chosen = list(groups.values())
    imported, lines = published.tables(theirs, chains)
    drawn = curves.table(chosen, fates)
    tables = [
        leaderboard.table(headline),
        pairs.table(versus),
        replace(drawn, rows=[*drawn.rows, *lines]),
        causes.table(chosen, fates, recalling),
        causes.breakdown(chosen, fates, recalling),
        variance.table(chosen, fates),
        hardest.table(chosen, fates),
        hardest.measured(chosen, fates),
        sensitivity.table(chosen, options.threshold),
        growth.table(chosen, recalling),
        audit,
        *imported,
    ]
    made = {table.name: table for table in tables}
    made["facts"] = methods.facts(cases, left_out, excluded, groups, fates, scores, floors, options.threshold)
    return Report(made, groups, fates, cases)


def standing(
    own: Field, fates: Mapping[str, Sequence[Fate]], recalling: Sequence[str], threshold: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The headline's rows and the comparisons of one group: editors among themselves, and against reference rows."""
    keyed = {
        editor: {case.key: (fate, case.rounds) for case, fate in zip(cases, fates[editor], strict=True)}
        for editor, cases in own.cases.items()
    }
    longest = sorted(own.cases, key=lambda editor: -sum(fate.kept for fate in fates[editor]) / len(fates[editor]))
    editors = [editor for editor in longest if role(editor, recalling) == "editor"]
    others = [editor for editor in longest if editor not in editors]
    among = pairs.compared(keyed, editors)
    against = pairs.compared(keyed, editors, others) if editors and others else []
    places = pairs.ranks(editors, among)
    rows = [
        leaderboard.row(editor, own, fates[editor], places.get(editor), recalling, threshold) for editor in own.cases
    ]
    versus = pairs.rows(keyed, among, own.group, "editors") + pairs.rows(keyed, against, own.group, "reference rows")
    return leaderboard.ordered(rows), versus
