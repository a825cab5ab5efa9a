"""Writes the report's folder: the page, the figures, the tables and the methods."""

import json
from dataclasses import dataclass
from pathlib import Path

from convergebench.dataset_builder.dataset.reader import Reader

from ..statistics import methods
from ..statistics.report import Options, Report, report
from ..study.tables import Table, as_csv, as_json, as_latex
from . import filmstrips, sentences
from .figures import Drawing, looks, styled
from .page import page

CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")


@dataclass(frozen=True)
class Written:
    """What came of it."""

    report: Report
    page: Path
    files: int


def write(dataset: Path, out: Path, options: Options = Options()) -> Written:  # noqa: B008 - frozen
    """The whole report of a dataset folder."""
    reader = Reader(dataset)
    chains = reader.table("chains").to_pylist()
    calls = reader.table("steps", CALLS).to_pylist() if reader.files("steps") else []
    scores, floors, published = (list(reader.rows(config)) for config in ("scores", "floors", "published"))
    made = report(scores, chains, floors, calls, published, options)
    lengths = {row["chain"]: len(json.loads(row["cycle"])) for row in chains}
    first = next(iter(made.groups), None)
    strips = []
    if first:
        worst = filmstrips.worst(made.groups[first], made.outcomes[first])
        made.tables["worst"] = worst
        strips = filmstrips.strips(worst, reader, lengths)
    return lay(made, out, strips)


def lay(made: Report, out: Path, strips: list[filmstrips.Strip]) -> Written:
    """The files, the page last: where it is, everything is."""
    (out / "figures").mkdir(parents=True, exist_ok=True)
    drawn = draw(made)
    count = 0
    for table in made.tables.values():
        count += save_table(table, out)
    for drawing in [drawing for each in drawn.values() for drawing in each]:
        (out / "figures" / f"{drawing.name}.svg").write_text(drawing.svg(), encoding="utf-8")
        (out / "figures" / f"{drawing.name}.png").write_bytes(drawing.png())
        count += 2
    text = methods.paragraph(made.tables["facts"])
    (out / "methods.md").write_text(text, encoding="utf-8")
    whole = page(made.tables, drawn, strips, sentences.all_of(made.tables), text)
    (out / "index.html").write_text(whole, encoding="utf-8")
    return Written(made, out / "index.html", count + 2)


def save_table(table: Table, out: Path) -> int:
    for ending, text in (("csv", as_csv(table)), ("json", as_json(table)), ("tex", as_latex(table))):
        (out / f"{table.name}.{ending}").write_text(text, encoding="utf-8")
    return 3


def draw(made: Report) -> dict[str, list[Drawing]]:
    """Every figure by the part of the page it belongs to."""
    from . import drawings

    board = made.tables["leaderboard"].rows
    names = list(dict.fromkeys(row["editor"] for row in board))
    apart = {row["editor"] for row in board if row["role"] == "reference rows"}
    chosen = looks([name for name in names if name not in apart], [name for name in names if name in apart])
    tables, first = made.tables, next(iter(made.groups), "")
    with styled():
        found: dict[str, list[Drawing | None]] = {
            group: [*drawings.of_group(tables, group, chosen, place == 0)] for place, group in enumerate(made.groups)
        }
        found["sensitivity"] = [drawings.sensitivity(tables["sensitivity"], first, chosen)]
        found["growth"] = [drawings.growth(tables["growth"], first, chosen)]
        names = list(dict.fromkeys(row["table"] for row in tables["published"].rows))
        found["published"] = [*drawings.published(tables["curves"], names)]
    return {part: [drawing for drawing in each if drawing] for part, each in found.items()}
