"""The headline of a report in Python: its rows, a pandas frame, and its HTML for a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.dataset_builder.dataset.damage import refuse_missing
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.generation.files import disk_errors_explained
from convergebench.generation.records import UserError

from ..analysis.analysis import Options
from ..analysis.tables import Table, as_text, capitalised
from ..statistics.leaderboard import HEADLINE
from .filmstrips import Strip
from .page import render_board
from .sentences import excluded_sentence, facts_of, headline, where_chains_went
from .write import write_report

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Board:
    """The leaderboard, best editor first, with the path of the page and pictures of the worst cases."""

    table: Table
    page: Path
    files: int
    chains: str  # where every chain went: kept, lost, missing, or left out by name
    strips: tuple[Strip, ...] = ()

    @property
    def title(self) -> str:
        return self.table.title

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each editor, by the columns' keys; a value that is missing is None."""
        return [{key: row.get(key) for key in self.table.keys} for row in self.table.rows]

    @property
    def frame(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.rows, columns=self.table.keys)

    def __str__(self) -> str:
        parts = capitalised(self.title), as_text(self.table), self.chains, f"{self.files} files; open {self.page}"
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return render_board(self.table, self.strips, self.page)


def write_board(
    dataset: Path,
    out: Path,
    threshold: float,
    framing: float | None = None,
    suites: Mapping[str, Sequence[str]] | None = None,
) -> Board:
    """Write the whole report and return its headline; a dataset that cannot be used is a UserError."""
    check_dataset(dataset, threshold)
    if framing is not None and not 0 < framing <= 1:
        raise UserError(f"--framing must be above 0 and at most 1, got {framing:g}")
    try:
        with disk_errors_explained(out):
            written = write_report(dataset, out, Options(threshold, framing, suites or {}))
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}; choose another folder") from error
    table = headline(written.report.tables, HEADLINE)
    facts = facts_of(written.report.tables)
    chains = " ".join(filter(None, [where_chains_went(facts), excluded_sentence(facts) if table.rows else ""]))
    return Board(table, written.page, written.files, chains, tuple(written.strips))


def check_dataset(dataset: Path, threshold: float) -> None:
    """Refuse a threshold out of range, and a dataset without chains or scores."""
    if not 0 < threshold <= 1:
        raise UserError(f"--threshold must be above 0 and at most 1, got {threshold:g}")
    reader = Reader(dataset)
    if not reader.files("chains"):
        raise UserError(f"{dataset} is not a dataset: it has no data/chains; `convergebench build` makes one")
    if not reader.files("scores") and not reader.files("published"):
        raise UserError(f"{dataset} has no scores yet; `convergebench score {dataset}` adds them")
    refuse_missing(dataset)
