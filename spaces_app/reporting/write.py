"""Writes the report's folder: the page, the figures, the tables and the methods."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import StepRow
from convergebench.generation.files import locked
from convergebench.metric_modules.scores import FloorRow, ScoreRow

from ..analysis import stored_rows
from ..analysis.analysis import Analysis, Options
from ..analysis.groups import ROLES
from ..analysis.stored_rows import StoredRows
from ..analysis.tables import Table, all_as_json, as_csv, as_json, as_latex, rows_of
from ..analysis.typical import case_at, typical_cases
from ..statistics import compute_tables, find_statistics, leaderboard, on_page
from .filmstrips import Strip, typical_strip
from .page import make_sections, render_page, slug, take_answer
from .sentences import methods_paragraph, page_sentences, stand_in

PAGE = "index.html"
MANIFEST = ".report-manifest"  # lists the report's files: only those are replaced or removed
_READ_OTHERWISE = ("steps", "chains", "sources", "editors", "scores", "floors")
CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")


@dataclass(frozen=True)
class Report:
    """All tables by their names, and what they were made from."""

    analysis: Analysis
    tables: dict[str, Table]


@dataclass(frozen=True)
class _WrittenReport:
    """A report that was written, with the path of its page."""

    report: Report
    page: Path
    files: int
    strips: Sequence[Strip]


def read_analysis(reader: Reader, options: Options = Options(), steps: bool = True) -> Analysis:  # noqa: B008 - frozen
    """Everything that the statistics need of a dataset; without `steps` neither time nor cost."""
    scores, floors = StoredRows(reader, ScoreRow), reader.rows_of(FloorRow)
    calls = StoredRows(reader, StepRow, CALLS) if steps and reader.files("steps") else ()
    roles = {label: editor.role for label, editor in reader.editors().items()}
    tables = {name: list(reader.rows(name)) for name in reader.configs() if name not in _READ_OTHERWISE}
    return Analysis(scores, reader.chains(), floors, calls, roles, options, tables)


def make_report(analysis: Analysis) -> Report:
    return Report(analysis, compute_tables(analysis))


def write_report(dataset: Path, out: Path, options: Options = Options()) -> _WrittenReport:  # noqa: B008 - frozen
    """The whole report of a dataset folder."""
    reader = Reader(dataset)
    report = make_report(read_analysis(reader, options))
    strips = {
        name: statistic.strips(report.tables[name], reader)
        for name, statistic in find_statistics().items()
        if hasattr(statistic, "strips")
    }
    return write_files(report, out, strips, _typical_strips(report, reader))


def _typical_strips(report: Report, reader: Reader) -> list[Strip]:
    """One typical case of the first group, of its best editor and its last."""
    analysis = report.analysis
    group = next(iter(analysis.groups.values()), None)
    board = rows_of(report.tables, leaderboard.Row)
    tested = [row.editor for row in board if group and row.group == group.name and row.role == ROLES["editor"]]
    if group is None or not tested:
        return []
    outcomes = analysis.outcomes[group.name]
    shown = list(dict.fromkeys([tested[0], tested[-1]]))
    key = typical_cases(group, outcomes, tested, shown)[0]
    strips = []
    for editor in shown:
        if case := case_at(group, editor, key):
            outcome = outcomes[editor][group.cases[editor].index(case)]
            scores = {row.step: row for row in stored_rows.rows_of(analysis.scores, {case.chain.id})}
            threshold = analysis.options.threshold
            strips.append(typical_strip(case, outcome, group.checks_of(editor), threshold, scores, reader))
    return strips


def write_files(
    report: Report, out: Path, strips: Mapping[str, Sequence[Strip]] | None = None, top: Sequence[Strip] = ()
) -> _WrittenReport:
    """Make all files first, then replace an earlier report with them."""
    files = make_files(report, strips, top)
    replace_files(out, files)
    return _WrittenReport(report, out / PAGE, len(files), (strips or {}).get("worst", ()))


def make_files(
    report: Report, strips: Mapping[str, Sequence[Strip]] | None = None, top: Sequence[Strip] = ()
) -> dict[str, bytes]:
    """The content of every file by its name; `strips` has the pictures of statistics that show some, by name."""
    strips = strips or {}
    sections = make_sections(report.tables, list(report.analysis.groups), strips)
    files: dict[str, bytes] = {}
    tables = [table for table in report.tables.values() if table.rows]  # empty tables get no files
    for table in tables:
        files[f"{table.name}.csv"] = as_csv(table).encode()
    files["tables.json"] = all_as_json(tables).encode()
    shown = {name: on_page(statistic).show for name, statistic in find_statistics().items()}
    files["tables.tex"] = "\n".join(as_latex(table) for table in tables if shown[table.name]).encode()
    board = report.tables["leaderboard"]
    files["leaderboard.json"] = as_json(board).encode()  # what `convergebench publish results` reads
    for group in report.analysis.groups:
        rows = [row for row in board.rows if row["group"] == group]
        files[f"leaderboard-{slug(group)}.tex"] = leaderboard.latex(replace(board, rows=rows)).encode()
    for drawing in [drawing for section in sections for drawing in section.drawings]:
        files[f"figures/{drawing.name}.svg"] = drawing.svg().encode()
        files[f"figures/{drawing.name}.pdf"] = drawing.pdf()
        files[f"figures/{drawing.name}.png"] = drawing.png()
    files["methods.md"] = methods_paragraph(report.tables).encode()
    sentences = page_sentences(report.tables)
    groups = list(report.analysis.groups)
    for section in sections:
        section.sentences = sentences.get(groups[sections.index(section)] if section.is_group else section.title, [])
    answer = take_answer(sections, board, top)
    return files | {PAGE: render_page(sections, sentences["lead"], answer, stand_in(report.tables)).encode()}


def replace_files(out: Path, files: Mapping[str, bytes]) -> None:
    """Write the files next to an earlier report's, then swap them; other files in the folder stay.

    The page is removed first and put back last, so that it never shows figures of another dataset.
    """
    with locked(out):
        before = manifest.listed(out, MANIFEST)
        foreign = [name for name, data in files.items() if name not in before and not _is_free(out / name, data)]
        advice = "move them or choose another folder"
        manifest.refuse(out, foreign, "`convergebench report` did not write", advice)
        draft = out / ".report-draft"
        try:
            for name, data in files.items():
                for folder in (out, draft):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (draft / name).write_bytes(data)
            manifest.expect(out, {name: {} for name in files}, MANIFEST)
            (out / PAGE).unlink(missing_ok=True)
            for name in sorted(files, key=lambda name: name == PAGE):
                (draft / name).replace(out / name)
            for name in before - files.keys():
                (out / name).unlink(missing_ok=True)
            manifest.record(out, {name: {} for name in files}, MANIFEST)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _is_free(path: Path, data: bytes) -> bool:
    """Whether the file does not exist, or has exactly what would be written."""
    return not path.exists() or (path.is_file() and path.read_bytes() == data)
