"""Writes the report's folder, and returns its headline."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import FloorRow, StepRow
from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError
from convergebench.metric_modules.scores import ScoreRow

from ..analysis.analysis import Analysis
from ..analysis.groups import HALF, ROLES
from ..analysis.stored_rows import StoredRows
from ..analysis.tables import Table, all_as_json, as_csv, as_json, as_latex, as_text, capitalised, rows_of
from ..statistics import compute_tables, find_statistics, leaderboard, make_table, on_page
from .figures import FORMS, Drawing, house_style
from .filmstrips import Strip, typical_strips
from .headline import headline as answer_and_scope
from .headline import scored_on, stamp, suites_of
from .hero import draw_hero, editors_for_strips
from .page import looks_of, make_sections, render_page, slug, table_html
from .sentences import (
    Tables,
    excluded_sentence,
    facts_of,
    methods_paragraph,
    stand_in,
    where_chains_went,
    why_nothing_counts,
)

if TYPE_CHECKING:
    import pandas

PAGE = "index.html"
_MANIFEST = ".report-manifest"  # only files in it are replaced
_READ_OTHERWISE = ("steps", "chains", "sources", "scores", "floors")
CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")
# The columns that a terminal and a notebook show.
_HEADLINE = (
    *("editor", "role", "rank", "rounds_kept", "survival", "half_life_text", "forward", "refused", "failed"),
    *("cause", "cases", "sources", "apart"),
)


def read_analysis(
    reader: Reader,
    threshold: float = HALF,
    framing: float | None = None,
    programs_of: Callable[[str], Sequence[str]] | None = None,
) -> Analysis:
    calls = StoredRows(reader, StepRow, CALLS)
    roles = {label: editor.role for label, editor in reader.editors().items()}
    tables = {name: list(reader.rows(name)) for name in reader.configs() if name not in _READ_OTHERWISE}
    scores, floors = StoredRows(reader, ScoreRow), reader.rows_of(FloorRow)
    return Analysis(scores, reader.chains(), floors, calls, roles, tables, threshold, framing, programs_of)


def write_files(
    tables: Tables,
    out: Path,
    top: Sequence[Strip] = (),
    hero: Drawing | None = None,
    reader: Reader | None = None,
) -> int:
    """Write the files and return how many; the page begins with `top` and shows pictures of the reader's dataset."""
    sections, files = make_sections(tables, reader), _table_files(tables)
    drawings = [drawing for section in sections for drawing in section["drawings"]]
    for drawing in filter(None, [hero, *drawings]):
        files |= {f"figures/{drawing.name}.{form}": drawing.file(form) for form in FORMS}
    files["methods.md"] = methods_paragraph(tables).encode()
    files[PAGE] = render_page(sections, tables, top, scored_on(reader) if reader else "").encode()
    _replace_files(out, files)
    return len(files)


def _table_files(tables: Tables) -> dict[str, bytes]:
    filled = {name: table for name, table in tables.items() if table.rows}
    files = {f"{name}.csv": as_csv(table).encode() for name, table in filled.items()}
    files["tables.json"] = all_as_json(filled.values()).encode()
    shown = {name for name, statistic in find_statistics().items() if on_page(statistic).show}
    files["tables.tex"] = "\n".join(as_latex(filled[name]) for name in filled if name in shown).encode()
    board = tables["leaderboard"]
    files["leaderboard.json"] = as_json(board).encode()  # what `convergebench publish results` reads
    for group in dict.fromkeys(row["group"] for row in board.rows):
        files[f"leaderboard-{slug(group)}.tex"] = leaderboard.latex(board.where(group=group)).encode()
    return files


def _replace_files(out: Path, files: Mapping[str, bytes]) -> None:
    """The page is removed first and written last, so it never shows figures of another report."""
    with locked(out):
        before = manifest.listed_files(out, _MANIFEST)
        foreign = [name for name in files.keys() - before if (out / name).exists()]
        other = [name for name in foreign if (out / name).is_dir() or (out / name).read_bytes() != files[name]]
        advice = "move them or choose another folder"
        manifest.refuse_unlisted(out, other, "`convergebench report` did not write", advice)
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
            manifest.write(out, {name: {} for name in files}, _MANIFEST)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@dataclass(frozen=True)
class Board:
    table: Table
    page: Path
    files: int
    chains: str  # where every chain went: kept, lost, missing, or left out by name

    @property
    def rows(self) -> list[Mapping[str, Any]]:
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
        rows = rows_of({"": self.table}, leaderboard.Row)
        answer = " ".join(answer_and_scope(rows)) if rows else ""
        parts = (answer, capitalised(self.table.title), as_text(self.table, self._columns), self.chains, words)
        return "\n\n".join(filter(None, parts))

    def _repr_html_(self) -> str:
        page = self.page.as_posix()
        return f'{table_html(self.table, self._columns)}<p>The whole report: <a href="{page}">{page}</a></p>'


def write_board(
    dataset: Path,
    out: Path,
    threshold: float,
    framing: float | None = None,
    programs_of: Callable[[str], Sequence[str]] | None = None,
) -> Board:
    """Write the report of a scored dataset; raise UserError if the dataset or `out` cannot be used."""
    for option, value in (("threshold", threshold), ("framing", framing)):
        if value is not None and not 0 < value <= 1:
            raise UserError(f"--{option} must be above 0 and at most 1, got {value:g}")
    reader = open_scored(dataset)
    try:
        with disk_errors_explained(out):
            analysis = read_analysis(reader, threshold, framing, programs_of)
            tables = compute_tables(analysis)
            top = top_strips(analysis, tables, reader)
            del analysis  # frees its cases before the files need as much memory
            files = write_files(tables, out, *top, reader)
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}; choose another folder") from error
    table, facts = headline(tables), facts_of(tables)
    chains = " ".join(filter(None, [where_chains_went(facts), excluded_sentence(facts) if table.rows else ""]))
    return Board(table, out / PAGE, files, chains)


def top_strips(analysis: Analysis, tables: Tables, reader: Reader) -> tuple[Sequence[Strip], Drawing | None]:
    """The strips of a typical test, and the picture that is made of them."""
    board = _headline_rows(tables)
    tested = [row.editor for row in board if row.role == ROLES["editor"]]
    if not tested:
        return (), None
    strips = typical_strips(analysis, analysis.groups[board[0].group], tested, editors_for_strips(board), reader)
    with house_style():
        drawn = draw_hero(analysis, board, strips, looks_of(tables))
    return strips, replace(drawn, stamp=stamp(suites_of(analysis.chains), reader))


def _headline_rows(tables: Tables) -> list[leaderboard.Row]:
    rows = rows_of(tables, leaderboard.Row)
    return [row for row in rows if row.group == rows[0].group]


def headline_with_picture(dataset: Path) -> tuple[str, bytes] | None:
    """For the dataset's card: what the report begins with, and its picture as PNG."""
    reader = Reader(dataset)
    if not reader.files("scores"):
        return None
    analysis = read_analysis(reader)
    tables = {"leaderboard": make_table(leaderboard, leaderboard.rows(analysis))}
    _, hero = top_strips(analysis, tables, reader)
    rows = _headline_rows(tables)
    return (" ".join(answer_and_scope(rows, scored_on(reader))), hero.file("png")) if hero else None


def headline(tables: Tables) -> Table:
    """The first group's leaderboard; without one, a study's table, or an empty one whose title says why."""
    board, other = tables["leaderboard"], stand_in(tables)
    if board.rows:
        return replace(board.where(group=board.rows[0]["group"]), title=board.rows[0]["name"])
    return other["table"] if other else replace(board, title=why_nothing_counts(facts_of(tables)))


def open_scored(dataset: Path) -> Reader:
    reader = Reader(dataset)
    if not reader.files("chains"):
        raise manifest.no_dataset(dataset)
    if not reader.files("scores") and not reader.files("published"):
        raise UserError(f"{dataset} has no scores yet; `convergebench score {dataset}` adds them")
    reader.refuse_unfinished()
    return reader
