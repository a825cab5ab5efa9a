"""Every case with what became of it and the numbers behind that: what a reader checks a verdict with."""

from collections.abc import Mapping
from typing import Any

from convergebench.metric_modules.halflife.outcomes import Outcome

from ..analysis.analysis import Analysis
from ..analysis.cases import MEANINGS, QUALITIES, Case, checks_left_out
from ..analysis.groups import is_missing_case
from ..analysis.tables import Column
from . import OnPage

TITLE = "Every case"
SECTION = "Methods"
ON_PAGE = OnPage(order=95, show=False)
NUMBERS = (
    *(Column(f"retained_{name}", f"Retained {name}", "share") for name in (*QUALITIES, *MEANINGS)),
    Column("applied", "Edits made"),
    Column("undone", "Edits taken back"),
    Column("left", "Change left", "share"),
    Column("part_lost", "Part lost"),
    Column("part_share", "Largest changed part", "share"),
    Column("redrawn_share", "Largest redrawn part", "share"),
    Column("framing", "Loss of framing", "share"),
)
COLUMNS = (
    Column("chain", "Chain"),
    Column("editor", "Editor"),
    Column("group", "Programs"),
    Column("source", "Source"),
    Column("program", "Program"),
    Column("run", "Run", "count"),
    Column("rounds", "Rounds planned", "count"),
    Column("end", "Ended"),
    Column("kept", "Rounds kept", "count"),
    Column("lost_at", "Lost in round", "count"),
    Column("cause", "Lost to"),
    Column("missing", "Missing because"),
    Column("not_judged", "Checks that nobody can make"),
    Column("number_of_round", "Round of the numbers", "count"),
    *NUMBERS,
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each case that a headline counts."""
    return [
        case_row(case, outcome)
        for name, group in analysis.groups.items()
        for editor, cases in group.cases.items()
        for case, outcome in zip(cases, analysis.outcomes[name][editor], strict=True)
    ]


def case_row(case: Case, outcome: Outcome) -> dict[str, Any]:
    """What became of a case; the numbers are those of the round it was lost in, or of the last one kept."""
    round = outcome.kept if outcome.lost_at is None else outcome.lost_at
    gaps = checks_left_out(case)
    return {
        "chain": case.chain.id,
        "run": case.chain.run,
        **{name: getattr(case, name) for name in ("editor", "group", "source", "program", "rounds")},
        "end": case.end,
        "kept": outcome.kept,
        "lost_at": outcome.lost_at,
        "cause": outcome.cause,
        "missing": why_missing(case) if is_missing_case(outcome) else None,
        "not_judged": "; ".join(f"{cause}: {code}" for cause, code in gaps.items()) or None,
        "number_of_round": round or None,
        **(numbers_of(case, round) if round else {}),
    }


def numbers_of(case: Case, round: int) -> Mapping[str, Any]:
    """What was measured of one round."""
    place = round - 1
    found: dict[str, Any] = {f"retained_{name}": at(case.judged(name), place) for name in (*QUALITIES, *MEANINGS)}
    return found | {
        "applied": yes_or_no(at(case.applied, place)),
        "undone": yes_or_no(at(case.undone, place)),
        "left": at(case.left, place),
        "part_lost": yes_or_no(at(case.part_lost, place)),
        "part_share": at(case.part_share, place),
        "redrawn_share": at(case.redrawn_share, place),
        "framing": at(case.framing, place),
    }


def at(values: Any, place: int) -> Any:
    return values[place] if values is not None and place < len(values) else None


def yes_or_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def why_missing(case: Case) -> str:
    """The technical reason."""
    return "a call failed" if case.end == "failed" else "a round could not be measured"
