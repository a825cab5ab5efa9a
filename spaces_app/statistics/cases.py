"""Every case with its outcome and the numbers behind it."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from convergebench.metric_modules.halflife.outcomes import Outcome

from ..analysis.analysis import Analysis
from ..analysis.cases import CAUSE_COLUMNS, MEANINGS, QUALITIES, Case, checks_left_out
from ..analysis.groups import is_missing_case
from ..analysis.tables import Column, TableRow, column, columns_by_key
from . import OnPage

TITLE = "Every case"
SECTION = "Methods"
ON_PAGE = OnPage(order=95, show=False)
T = TypeVar("T")


class Row(TableRow):
    chain: str = column("Chain")
    editor: str = column("Editor")
    group: str = column("Programs")
    source: str = column("Source")
    program: str = column("Program")
    run: int = column("Run", "count")
    rounds: int = column("Rounds planned", "count")
    end: str = column("Ended")
    kept: int = column("Rounds kept", "count")
    lost_at: int | None = column("Lost in round", "count")
    cause: str | None = column("Lost to")
    # If a value is so near a limit that the outcome could be a different one.
    undecided: str | None = column("Undecided whether")
    undecided_in: int | None = column("Undecided in round", "count")
    missing: str | None = column("Missing because")
    not_judged: str | None = column("Checks that could not be made")
    number_of_round: int | None = column("Round of the numbers", "count")
    # The numbers of the round in which the case was lost, or of the last one kept.
    retained: Mapping[str, float | None] = columns_by_key(
        lambda key: Column(key, f"Retained {key.removeprefix('retained_')}", "share")
    )
    changed: str | None = column("Something changed")
    as_asked: str | None = column("As asked")
    undone: str | None = column("Edits taken back")
    left: float | None = column("Change left", "share")
    damage: float | None = column("Damage")
    framing: float | None = column("Loss of framing", "share")
    of_causes: Mapping[str, float | None] = columns_by_key(
        lambda key: Column(key, key.replace("_", " ").capitalize())
    )


def rows(analysis: Analysis) -> list[Row]:
    pairs = [pair for group in analysis.groups.values() for pair in analysis.with_outcomes(group)]
    return [_row(case, outcome, *analysis.bounds[case.chain.id]) for case, outcome in pairs]


def _row(case: Case, outcome: Outcome, if_kept: Outcome, if_lost: Outcome) -> Row:
    is_undecided = if_kept.kept != if_lost.kept
    round = outcome.kept if outcome.lost_at is None else outcome.lost_at
    missing = "a call failed" if case.end == "failed" else "a round could not be measured"
    return Row(
        chain=case.chain.id,
        editor=case.editor,
        group=case.group,
        source=case.source,
        program=case.program,
        run=case.chain.run,
        rounds=case.rounds,
        end=case.end,
        kept=outcome.kept,
        lost_at=outcome.lost_at,
        cause=outcome.cause,
        undecided=if_lost.cause if is_undecided else None,
        undecided_in=if_lost.lost_at if is_undecided else None,
        missing=missing if is_missing_case(outcome) else None,
        not_judged="; ".join(f"{cause}: {code}" for cause, code in checks_left_out(case).items()) or None,
        number_of_round=round or None,
        retained={f"retained_{name}": _in_round(round, case.judged(name)) for name in (*QUALITIES, *MEANINGS)},
        changed=_yes_or_no(_in_round(round, case.changed)),
        as_asked=_yes_or_no(_in_round(round, case.as_asked)),
        undone=_yes_or_no(_in_round(round, case.undone)),
        left=_in_round(round, case.values("left")),
        damage=_in_round(round, case.values("damage")),
        framing=_in_round(round, case.values("framing_loss")),
        of_causes={name: _in_round(round, case.values(name)) for name in CAUSE_COLUMNS},
    )


def _yes_or_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _in_round(round: int, values: Sequence[T | None] | None) -> T | None:
    return values[round - 1] if values is not None and 0 < round <= len(values) else None
