"""Each file of this folder and of studies/*/statistics is a statistic.

A statistic has
    TITLE           what its table is called
    SECTION         the section of the page it belongs to: one of those in reporting.page.SECTIONS, or a new one
    Row             its row, a TableRow: the fields are the table's columns
    rows(analysis)  the table's rows
and may have
    NOTE                    a sentence above the table
    note(analysis, rows)    the same, if it depends on the rows; called if there are any
    ON_PAGE                 an `OnPage`: how the page shows the table
    figures(rows, context)  its figures, drawn with reporting.figures; `context` is a FigureContext
    strips(table, reader)   strips of pictures for its section: a list of reporting.filmstrips.Strip
    alarms(rows)            sentences that the page begins with

Its file's name names the table. What statistics share is in spaces_app/analysis.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ..analysis.analysis import Analysis
from ..analysis.tables import Table, TableRow
from ..studies import statistics_packages

Rows = Sequence[Mapping[str, Any]]
EACH_GROUP = "Each group of programs"  # a section of the page
REQUIRED = ("TITLE", "SECTION", "Row", "rows")


class OnPage(NamedTuple):
    order: int = 50  # place in its section
    show: bool = True  # False: only its files and figures
    folded: bool = False  # collapsed until a reader opens it
    part_by: str = "group"  # one part of the table for each value of this column
    line_where: str = ""  # a double line where this column's value changes
    caption: str = ""  # the column that holds the caption; otherwise the title is shown
    choose: Callable[[Rows], Rows] | None = None  # the rows that the page shows, if not all


def find_statistics() -> dict[str, ModuleType]:
    """By name, in their order on the page."""
    modules = [
        importlib.import_module(f"{package}.{info.name}")
        for package in (__name__, *statistics_packages())
        for info in pkgutil.iter_modules(importlib.import_module(package).__path__)
    ]
    statistics: dict[str, ModuleType] = {}
    for module in modules:
        name = _name_of(module)
        if missing := [attribute for attribute in REQUIRED if not hasattr(module, attribute)]:
            raise ValueError(f"{module.__file__} is not a statistic: it has no {', '.join(missing)}")
        if name in statistics:
            raise ValueError(
                f"{module.__file__} and {statistics[name].__file__} have the same name; rename one of them"
            )
        statistics[name] = module
    return dict(sorted(statistics.items(), key=lambda item: (on_page(item[1]).order, item[0])))


def _name_of(statistic: ModuleType) -> str:
    return statistic.__name__.rpartition(".")[2]


def on_page(statistic: ModuleType) -> OnPage:
    return getattr(statistic, "ON_PAGE", OnPage())


def make_table(statistic: ModuleType, rows: Iterable[TableRow], note: str = "") -> Table:
    return Table(_name_of(statistic), statistic.TITLE, statistic.Row, list(rows), note)


def compute_tables(analysis: Analysis) -> dict[str, Table]:
    tables = {}
    for name, statistic in find_statistics().items():
        rows: list[TableRow] = list(statistic.rows(analysis))
        note = statistic.note(analysis, rows) if rows and hasattr(statistic, "note") else ""
        tables[name] = make_table(statistic, rows, note or getattr(statistic, "NOTE", ""))
    return tables
