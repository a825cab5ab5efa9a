"""Writes the report's folder, and returns its headline."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.damage import refuse_missing
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import FloorRow, StepRow
from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError
from convergebench.metric_modules.scores import ScoreRow

from ..analysis.analysis import Analysis, Options
from ..analysis.groups import ROLES
from ..analysis.stored_rows import StoredRows
from ..analysis.tables import Table, all_as_json, as_csv, as_json, as_latex, as_text, capitalised, rows_of
from ..statistics import compute_tables, find_statistics, leaderboard, on_page
from .filmstrips import Strip, typical_strips
from .page import make_sections, render_page, slug, table_html
from .sentences import (
    excluded_sentence,
    facts_of,
    methods_paragraph,
    page_sentences,
    stand_in,
    where_chains_went,
    why_nothing_counts,
)

if TYPE_CHECKING:
    import pandas

PAGE = "index.html"
_MANIFEST = ".report-manifest"  # only files in it are replaced
_READ_OTHERWISE = ("steps", "chains", "sources", "editors", "scores", "floors")
CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")
# The columns that a terminal and a notebook show.
_HEADLINE = (
    *("editor", "role", "rank", "rounds_kept", "survival", "half_life_text", "forward", "refused", "failed"),
    *("cause", "cases", "sources", "apart"),
)


@dataclass(frozen=True)
class Report:
    """All tables by their names, and what they were made from."""

    analysis: Analysis
    tables: dict[str, Table]


def read_analysis(reader: Reader, options: Options = Options()) -> Analysis:  # noqa: B008 - frozen
    calls = StoredRows(reader, StepRow, CALLS)
    roles = {label: editor.role for label, editor in reader.editors().items()}
    tables = {name: list(reader.rows(name)) for name in reader.configs() if name not in _READ_OTHERWISE}
    scores, floors = StoredRows(reader, ScoreRow), reader.rows_of(FloorRow)
    return Analysis(scores, reader.chains(), floors, calls, roles, options, tables)


def make_report(analysis: Analysis) -> Report:
    return Report(analysis, compute_tables(analysis))


def write_files(
    report: Report, out: Path, strips: Mapping[str, Sequence[Strip]] | None = None, top: Sequence[Strip] = ()
) -> int:
    """How many; `strips` are pictures by statistic, and the page begins with `top`."""
    sections = make_sections(report.tables, list(report.analysis.groups), strips or {})
    sentences = page_sentences(report.tables)
    for section in sections:
        section.sentences = sentences.get(section.group or section.title, [])
    files = _table_files(report)
    for drawing in [drawing for section in sections for drawing in section.drawings]:
        files[f"figures/{drawing.name}.svg"] = drawing.svg().encode()
        files[f"figures/{drawing.name}.pdf"] = drawing.pdf()
        files[f"figures/{drawing.name}.png"] = drawing.png()
    files["methods.md"] = methods_paragraph(report.tables).encode()
    page = render_page(sections, sentences["lead"], report.tables, top, stand_in(report.tables))
    _replace_files(out, files | {PAGE: page.encode()})
    return len(files) + 1


def _table_files(report: Report) -> dict[str, bytes]:
    tables = [table for table in report.tables.values() if table.rows]
    files = {f"{table.name}.csv": as_csv(table).encode() for table in tables}
    files["tables.json"] = all_as_json(tables).encode()
    shown = {name for name, statistic in find_statistics().items() if on_page(statistic).show}
    files["tables.tex"] = "\n".join(as_latex(table) for table in tables if table.name in shown).encode()
    board = report.tables["leaderboard"]
    files["leaderboard.json"] = as_json(board).encode()  # what `convergebench publish results` reads
    for group in report.analysis.groups:
        files[f"leaderboard-{slug(group)}.tex"] = leaderboard.latex(board.where(group=group)).encode()
    return files


def _replace_files(out: Path, files: Mapping[str, bytes]) -> None:
    """The page goes first and comes last: it never shows other figures."""
    with locked(out):
        before = manifest.listed(out, _MANIFEST)
        foreign = [name for name, data in files.items() if name not in before and not _is_free(out / name, data)]
        advice = "move them or choose another folder"
        manifest.refuse(out, foreign, "`convergebench report` did not write", advice)
        draft = out / ".report-draft"
        try:
            for name, data in files.items():
                for folder in (out, draft):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (draft / name).write_bytes(data)
            manifest.expect(out, {name: {} for name in files}, _MANIFEST)
            (out / PAGE).unlink(missing_ok=True)
            for name in sorted(files, key=lambda name: name == PAGE):
                (draft / name).replace(out / name)
            for name in before - files.keys():
                (out / name).unlink(missing_ok=True)
            manifest.record(out, {name: {} for name in files}, _MANIFEST)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _is_free(path: Path, data: bytes) -> bool:
    return not path.exists() or (path.is_file() and path.read_bytes() == data)


@dataclass(frozen=True)
class Board:
    table: Table
    page: Path
    files: int
    chains: str  # where every chain went: kept, lost, missing, or left out by name

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
        return "\n\n".join((capitalised(self.table.title), as_text(self.table, self._columns), self.chains, words))

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
    top = typical_strips(report.analysis, tested, reader) if tested else ()
    return report, write_files(report, out, strips, top)


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
