"""The headline of a report in Python: its rows, a pandas frame, and its HTML for a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.dataset_builder.dataset.damage import refuse_missing
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.generation.files import disk_errors_explained
from convergebench.generation.records import UserError

from ..analysis.analysis import Options
from ..analysis.groups import ROLES
from ..analysis.tables import Table, as_text, capitalised, rows_of
from ..statistics import find_statistics, leaderboard
from .filmstrips import typical_strips
from .page import table_html
from .sentences import excluded_sentence, facts_of, stand_in, where_chains_went, why_nothing_counts
from .write import PAGE, Report, make_report, read_analysis, write_files

if TYPE_CHECKING:
    import pandas

# The columns that a terminal and a notebook show.
_HEADLINE = (
    *("editor", "role", "rank", "rounds_kept", "survival", "half_life_text", "forward", "refused", "failed"),
    *("cause", "cases", "sources", "apart"),
)


@dataclass(frozen=True)
class Board:
    """The leaderboard, best editor first, with the path of the page."""

    table: Table
    page: Path
    files: int
    chains: str  # where every chain went: kept, lost, missing, or left out by name

    @property
    def title(self) -> str:
        return self.table.title

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """By the keys of the columns; what is missing is None."""
        return self.table.rows

    @property
    def frame(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.rows, columns=self.table.keys)

    @property
    def _columns(self) -> Sequence[str]:
        return _HEADLINE if self.table.row_type is leaderboard.Row else ()

    def __str__(self) -> str:
        words = f"{self.files} files; open {self.page}"
        return "\n\n".join((capitalised(self.title), as_text(self.table, self._columns), self.chains, words))

    def _repr_html_(self) -> str:
        page = self.page.as_posix()
        return f'{table_html(self.table, self._columns)}<p>The whole report: <a href="{page}">{page}</a></p>'


def write_board(
    dataset: Path,
    out: Path,
    threshold: float,
    framing: float | None = None,
    suites: Mapping[str, Sequence[str]] | None = None,
) -> Board:
    """A dataset that cannot be used is a UserError."""
    check_dataset(dataset, threshold)
    if framing is not None and not 0 < framing <= 1:
        raise UserError(f"--framing must be above 0 and at most 1, got {framing:g}")
    try:
        with disk_errors_explained(out):
            report, files = _write_report(Reader(dataset), out, Options(threshold, framing, suites or {}))
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}; choose another folder") from error
    table, facts = headline(report.tables), facts_of(report.tables)
    chains = " ".join(filter(None, [where_chains_went(facts), excluded_sentence(facts) if table.rows else ""]))
    return Board(table, out / PAGE, files, chains)


def _write_report(reader: Reader, out: Path, options: Options) -> tuple[Report, int]:
    report = make_report(read_analysis(reader, options))
    strips = {
        name: statistic.strips(report.tables[name], reader)
        for name, statistic in find_statistics().items()
        if hasattr(statistic, "strips")
    }
    board = rows_of(report.tables, leaderboard.Row)
    tested = [row.editor for row in board if row.group == board[0].group and row.role == ROLES["editor"]]
    return report, write_files(report, out, strips, typical_strips(report.analysis, tested, reader) if tested else ())


def headline(tables: Mapping[str, Table]) -> Table:
    """The first group's leaderboard; or what a study or a sentence says instead."""
    board, other = tables["leaderboard"], stand_in(tables)
    if other:
        return other.table
    if not board.rows:
        return replace(board, title=why_nothing_counts(facts_of(tables)))
    return replace(board.where(group=board.rows[0]["group"]), title=board.rows[0]["name"])


def check_dataset(dataset: Path, threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise UserError(f"--threshold must be above 0 and at most 1, got {threshold:g}")
    reader = Reader(dataset)
    if not reader.files("chains"):
        raise UserError(f"{dataset} is not a dataset: it has no data/chains; `convergebench build` makes one")
    if not reader.files("scores") and not reader.files("published"):
        raise UserError(f"{dataset} has no scores yet; `convergebench score {dataset}` adds them")
    refuse_missing(dataset)
