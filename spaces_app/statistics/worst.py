"""The cases in which each editor did worst; the page shows their pictures as filmstrips."""

from collections.abc import Sequence
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader

from ..analysis.analysis import Analysis
from ..analysis.cases import Case, spread_rounds
from ..analysis.groups import CaseGroup, OutcomesByEditor, is_measured, lowest_quality
from ..analysis.tables import Column, Table
from ..reporting.filmstrips import Strip, worst_strips
from . import OnPage, Rows

TITLE = "The worst cases of each editor"
SECTION = "Worst cases"
ON_PAGE = OnPage(show=False)
FRAMES = 6  # with the original
STRIPS = 6  # all editors together, and one for each at least
COLUMNS = (
    Column("editor", "Editor"),
    Column("chain", "Chain"),
    Column("source", "Source"),
    Column("program", "Program"),
    Column("round", "Round", "count"),
    Column("quality", "Retained quality", "share"),
    Column("lost_in", "Lost in round"),
    Column("cause", "To"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """The worst cases of the first group."""
    for name, group in analysis.groups.items():
        return worst_of_group(group, analysis.outcomes[name])
    return []


def note(analysis: Analysis, rows: Rows) -> str:
    return "" if rows else "No editor lost a case of which there are pictures."


def worst_of_group(group: CaseGroup, outcomes: OutcomesByEditor) -> list[dict[str, Any]]:
    """For each editor the cases lost first, the lowest quality before others; a row for each round shown.

    One case for each source; a refusal in the first round leaves no pictures to look at. Baselines are shown only
    where there is nothing else.
    """
    tested = [editor for editor in group.cases if group.roles[editor] != "baseline"] or list(group.cases)
    rows: list[dict[str, Any]] = []
    for editor in tested:
        pairs = list(zip(group.cases[editor], outcomes[editor], strict=True))
        lost = [(case, outcome) for case, outcome in pairs if outcome.lost and is_measured(case, 0)]
        lost.sort(key=lambda pair: (pair[1].lost_at, mean_quality(pair[0], group.checks_of(editor)), pair[0].chain.id))
        first = {case.source: (case, outcome) for case, outcome in reversed(lost)}
        chosen = [pair for pair in lost if first[pair[0].source] == pair][: max(1, STRIPS // len(tested))]
        for case, outcome in chosen:
            values = lowest_quality(case, group.checks_of(editor)) or [None] * case.rounds
            last = case.rounds if case.end_round is None else case.end_round
            about: dict[str, Any] = {
                "editor": editor,
                "chain": case.chain.id,
                "source": case.source,
                "program": case.program,
            }
            rows += [
                about | {"round": round, "quality": values[round - 1], "lost_in": outcome.text, "cause": outcome.cause}
                for round in spread_rounds(last, FRAMES - 1)
            ]
    return rows


def mean_quality(case: Case, checks: Sequence[str]) -> float:
    values = [value for value in lowest_quality(case, checks) if value is not None]
    return sum(values) / len(values) if values else 0.0


def strips(table: Table, reader: Reader) -> list[Strip]:
    """The pictures of these cases."""
    return worst_strips(table, reader)
