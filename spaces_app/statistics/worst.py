"""The cases in which each editor did worst; the page shows their pictures as filmstrips."""

from collections.abc import Sequence

from convergebench.dataset_builder.dataset.reader import Reader

from ..analysis.analysis import Analysis
from ..analysis.cases import Case, spread_rounds
from ..analysis.display_names import display_name
from ..analysis.groups import CaseGroup, OutcomesByEditor, is_measured, lowest_quality
from ..analysis.reasons import TITLES
from ..analysis.tables import Table, TableRow, column, format_value, rows_of
from ..reporting.filmstrips import Strip, make_frame
from . import OnPage

TITLE = "The worst cases of each editor"
SECTION = "Worst cases"
ON_PAGE = OnPage(show=False)
_FRAMES = 6  # with the original
_STRIPS = 6  # all editors together, and one for each at least


class Row(TableRow):
    editor: str = column("Editor")
    chain: str = column("Chain")
    source: str = column("Source")
    program: str = column("Program")
    round: int = column("Round", "count")
    quality: float | None = column("Retained quality", "share")
    lost_in: str = column("Lost in round")
    cause: str | None = column("Lost to")


def rows(analysis: Analysis) -> list[Row]:
    """The worst cases of the first group."""
    for name, group in analysis.groups.items():
        return worst_of_group(group, analysis.outcomes[name])
    return []


def worst_of_group(group: CaseGroup, outcomes: OutcomesByEditor) -> list[Row]:
    """For each editor the cases lost first, of these the lowest quality first; a row for each round shown.

    One case for each source; a refusal in the first round leaves no pictures to look at. Baselines are shown only
    if there is nothing else.
    """
    tested = [editor for editor in group.cases if group.roles[editor] != "baseline"] or list(group.cases)
    rows: list[Row] = []
    for editor in tested:
        checks = group.checks_of(editor)
        pairs = zip(group.cases[editor], outcomes[editor], strict=True)
        lost = [(case, outcome) for case, outcome in pairs if outcome.lost and is_measured(case, 0)]
        lost.sort(key=lambda pair: (pair[1].lost_at, _mean_quality(pair[0], checks), pair[0].chain.id))
        first = {case.source: (case, outcome) for case, outcome in reversed(lost)}
        chosen = [pair for pair in lost if first[pair[0].source] == pair][: max(1, _STRIPS // len(tested))]
        for case, outcome in chosen:
            values = lowest_quality(case, checks) or [None] * case.rounds
            last = case.rounds if case.end_round is None else case.end_round
            rows += [
                Row(
                    editor=editor,
                    chain=case.chain.id,
                    source=case.source,
                    program=case.program,
                    round=round,
                    quality=values[round - 1],
                    lost_in=outcome.text,
                    cause=outcome.cause,
                )
                for round in spread_rounds(last, _FRAMES - 1)
            ]
    return rows


def _mean_quality(case: Case, checks: Sequence[str]) -> float:
    values = [value for value in lowest_quality(case, checks) if value is not None]
    return sum(values) / len(values) if values else 0.0


def strips(table: Table, reader: Reader) -> list[Strip]:
    """The pictures of each case: the original, and what came back in the rounds of its rows."""
    lengths = {chain.id: len(chain.program.cycle) for chain in reader.chains()}
    rows_of_case: dict[str, list[Row]] = {}
    for row in rows_of({table.name: table}, Row):
        rows_of_case.setdefault(row.chain, []).append(row)
    strips = []
    for chain, rows in rows_of_case.items():
        case = rows[0]
        name = f"{case.source}, {case.program}"
        frames = [make_frame(reader.picture(chain, 0), "original", f"{name}: the original")]
        for row in rows:
            data = reader.picture(chain, row.round * lengths[chain])
            label = f"round {row.round}, {format_value(row.quality, 'share')}"
            frames.append(make_frame(data, label, f"{name}, as {row.editor} returned it in round {row.round}"))
        title = f"{name}: {TITLES[str(case.cause)].lower()} in round {case.lost_in}"
        strips.append(Strip(display_name(case.editor), title, tuple(frames)))
    return strips
