"""Writes the report's folder: the page, the figures, the tables and the methods."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import StepRow
from convergebench.generation.files import locked
from convergebench.metric_modules.scores import FloorRow, ScoreRow

from ..analysis.analysis import Analysis, Options
from ..analysis.stored_rows import StoredRows
from ..analysis.tables import Table, all_as_json, as_csv, as_json, as_latex
from ..statistics import compute_tables, find_statistics, leaderboard, on_page
from .filmstrips import Strip
from .page import make_sections, render_page, slug
from .sentences import methods_paragraph, page_sentences, stand_in

PAGE = "index.html"
_MANIFEST = ".report-manifest"  # lists the report's files: only those are replaced or removed
_READ_OTHERWISE = ("steps", "chains", "sources", "editors", "scores", "floors")
CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")


@dataclass(frozen=True)
class Report:
    """All tables by their names, and what they were made from."""

    analysis: Analysis
    tables: dict[str, Table]


def read_analysis(reader: Reader, options: Options = Options()) -> Analysis:  # noqa: B008 - frozen
    calls = StoredRows(reader, StepRow, CALLS) if reader.files("steps") else ()
    roles = {label: editor.role for label, editor in reader.editors().items()}
    tables = {name: list(reader.rows(name)) for name in reader.configs() if name not in _READ_OTHERWISE}
    scores, floors = StoredRows(reader, ScoreRow), reader.rows_of(FloorRow)
    return Analysis(scores, reader.chains(), floors, calls, roles, options, tables)


def make_report(analysis: Analysis) -> Report:
    return Report(analysis, compute_tables(analysis))


def write_files(
    report: Report, out: Path, strips: Mapping[str, Sequence[Strip]] | None = None, top: Sequence[Strip] = ()
) -> int:
    """Make all files, then replace an earlier report with them; how many there are.

    `strips` has the pictures of statistics that show some, by name; the page begins with those of `top`.
    """
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
    """Write the files next to an earlier report's, then swap them; other files in the folder stay.

    The page is removed first and put back last, so that it never shows figures of another dataset.
    """
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
