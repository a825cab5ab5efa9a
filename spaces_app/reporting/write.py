"""Writes the report's folder: the page, the figures, the tables and the methods."""

from dataclasses import dataclass
from pathlib import Path

from convergebench.dataset_builder.dataset.reader import Reader

from ..statistics import compute_tables
from ..study.study import Options, Study
from ..study.tables import Table, as_csv, as_json, as_latex
from .filmstrips import Strip, make_strips
from .page import WORST_CASES, make_sections, render_page
from .sentences import methods_paragraph, page_sentences

CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")


@dataclass(frozen=True)
class Report:
    """All tables by their names, and what they were made from."""

    study: Study
    tables: dict[str, Table]


@dataclass(frozen=True)
class WrittenReport:
    """What came of it."""

    report: Report
    page: Path
    files: int


def read_study(reader: Reader, options: Options = Options(), steps: bool = True) -> Study:  # noqa: B008 - frozen
    """Everything that the statistics need of a dataset; without `steps` neither time nor cost."""
    scores, floors, published = (list(reader.rows(config)) for config in ("scores", "floors", "published"))
    calls = reader.table("steps", CALLS).to_pylist() if steps and reader.files("steps") else []
    roles = {label: editor.role for label, editor in reader.editors().items()}
    return Study(scores, reader.chains(), floors, calls, published, roles, options)


def make_report(study: Study) -> Report:
    return Report(study, compute_tables(study))


def write_report(dataset: Path, out: Path, options: Options = Options()) -> WrittenReport:  # noqa: B008 - frozen
    """The whole report of a dataset folder."""
    reader = Reader(dataset)
    report = make_report(read_study(reader, options))
    lengths = {chain.id: len(chain.program.cycle) for chain in reader.chains()}
    return write_files(report, out, make_strips(report.tables["worst"], reader, lengths))


def write_files(report: Report, out: Path, strips: list[Strip]) -> WrittenReport:
    """The files, the page last: where it is, everything is."""
    (out / "figures").mkdir(parents=True, exist_ok=True)
    sections = make_sections(report.tables, list(report.study.groups))
    count = 0
    for table in report.tables.values():
        for ending, text in (("csv", as_csv(table)), ("json", as_json(table)), ("tex", as_latex(table))):
            (out / f"{table.name}.{ending}").write_text(text, encoding="utf-8")
            count += 1
    for drawing in [drawing for section in sections for drawing in section.drawings]:
        (out / "figures" / f"{drawing.name}.svg").write_text(drawing.svg(), encoding="utf-8")
        (out / "figures" / f"{drawing.name}.png").write_bytes(drawing.png())
        count += 2
    (out / "methods.md").write_text(methods_paragraph(report.tables["facts"]), encoding="utf-8")
    sentences = page_sentences(report.tables)
    groups = list(report.study.groups)
    for section in sections:
        section.sentences = sentences.get(groups[sections.index(section)] if section.is_group else section.title, [])
        section.strips = strips if section.title == WORST_CASES else ()
    (out / "index.html").write_text(render_page(sections, sentences["lead"]), encoding="utf-8")
    return WrittenReport(report, out / "index.html", count + 2)
