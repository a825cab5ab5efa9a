"""The page: one file that needs nothing else, made of the statistics' tables and figures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jinja2

from ..analysis.display_names import display_names
from ..analysis.groups import ROLES
from ..analysis.reasons import TITLES
from ..analysis.tables import Column, Table, capitalised, format_cell
from ..palette import Look, assign_looks, dark_rules
from ..statistics import EACH_GROUP, find_statistics, on_page
from .figures import Drawing, FigureContext, fit_to_phone, house_style
from .filmstrips import Strip

HERE = Path(__file__).parent
SHORT = ("editor", "rounds_kept", "cost", "cause")  # columns of the table that the page begins with
# What the page calls columns that have another name in files.
WORDS = {
    "rounds_kept": "Rounds survived",
    "rounds_kept_two_way": "Rounds survived, any program",
    "survival": "Survived all rounds",
    "survived": "Survived all rounds",
    "quality_text": "Rounds until quality halves",
    "meaning_text": "Rounds until meaning halves",
    "forward": "Edits carried out",
    "cause": "Main cause of failure",
    "cases": "Tests",
    "sources": "Pictures",
}
_VERDICTS = {"indicative": "too few pictures", "open": "no difference shown"}
_NAMED = ("editor", "first", "second")  # columns that hold an editor
STRIPS = 3  # of pictures below a table in a notebook
WORST_CASES, METHODS = "Worst cases", "Methods"
# The sections in their order, with their ids. A section that only a statistic names comes before the appendix.
SECTIONS = {
    EACH_GROUP: "",
    WORST_CASES: "worst",
    "Where editors fail first": "where",
    "How stable is the ranking?": "sensitivity",
    "Published scores": "published",
    "Appendix: contraction and growth": "appendix",
    METHODS: "methods",
}
Rows = Sequence[Mapping[str, Any]]


class _Cell(NamedTuple):
    value: str
    limits: str
    is_number: bool
    label: str = ""  # the editor's label, if its name is shown


class _PageRow(NamedTuple):
    cells: list[_Cell]
    line_above: bool


class _TablePart(NamedTuple):
    """One table of the page: a part of a statistic's."""

    caption: str
    columns: list[Column]
    rows: list[_PageRow]


class _ShownTable(NamedTuple):
    """A statistic's table in a section."""

    note: str
    heading: str
    folded: bool
    parts: list[_TablePart]


@dataclass
class Section:
    """One section of the page."""

    id: str
    title: str
    is_group: bool = False
    sentences: list[str] = field(default_factory=list)
    tables: list[_ShownTable] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    strips: Sequence[Strip] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but notes to show. The worst cases are pictures, and their table is not shown."""
        return not (self.strips or self.drawings or any(table.parts for table in self.tables))


def make_sections(
    tables: Mapping[str, Table], groups: Sequence[str], strips: Mapping[str, Sequence[Strip]] | None = None
) -> list[Section]:
    """Every statistic's tables and figures in the sections that they name; those without content are not shown."""
    statistics = find_statistics()
    looks = editor_looks(tables["leaderboard"].rows)
    names = display_names(looks)
    new = [statistic.SECTION for statistic in statistics.values() if statistic.SECTION not in SECTIONS]
    titles = [title for title in SECTIONS if title != EACH_GROUP]
    titles[-2:-2] = dict.fromkeys(new)
    sections = []
    with house_style():
        for place, group in enumerate(groups):
            section = Section(slug(group), capitalised(group), is_group=True)
            prefix = "" if place == 0 else f"{slug(group)}-"
            for name, statistic in statistics.items():
                if statistic.SECTION == EACH_GROUP:
                    context = FigureContext(tables, looks, group, place == 0)
                    _add_statistic(section, statistic, tables[name].of_group(group), context, names, prefix)
            sections.append(section)
        for title in titles:
            section = Section(SECTIONS.get(title) or slug(title), title)
            for name, statistic in statistics.items():
                if title == statistic.SECTION:
                    context = FigureContext(tables, looks, groups[0] if groups else "", True)
                    _add_statistic(section, statistic, tables[name], context, names)
                    section.strips = (strips or {}).get(name) or section.strips
            sections.append(section)
    return sections


def _add_statistic(
    section: Section,
    statistic: ModuleType,
    table: Table,
    context: FigureContext,
    names: Mapping[str, str],
    prefix: str = "",
) -> None:
    """The statistic's table, if the page shows it, and its figures."""
    if on_page(statistic).show:
        section.tables.append(_show_table(statistic, table, "" if section.is_group else table.note, names))
    if hasattr(statistic, "figures"):
        drawings = [drawing for drawing in statistic.figures(table.own_rows, context) if drawing]
        narrow = _narrow_figures(statistic, table.own_rows, context)
        section.drawings += [
            replace(drawing, name=prefix + drawing.name, table=table.name, narrow=narrow.get(drawing.name))
            for drawing in drawings
        ]


def _narrow_figures(statistic: ModuleType, rows: Sequence[Any], context: FigureContext) -> dict[str, Any]:
    """A statistic's figures drawn again for phones, by name."""
    with house_style(narrow=True):
        drawings = [drawing for drawing in statistic.figures(rows, context) if drawing]
        for drawing in drawings:
            fit_to_phone(drawing.figure)
    return {drawing.name: drawing.figure for drawing in drawings}


def _show_table(statistic: ModuleType, table: Table, note: str, names: Mapping[str, str] | None = None) -> _ShownTable:
    """A table in the parts that the page shows; without rows, the note alone."""
    page = on_page(statistic)
    chosen = page.choose(table.rows) if page.choose else table.rows
    by_value: dict[Any, list[Mapping[str, Any]]] = {}
    for row in chosen:
        by_value.setdefault(row.get(page.part_by), []).append(row)
    parts = []
    for value, rows in by_value.items():
        title = table.title if value is None else f"{table.title}: {value}"
        parts.append(_table_part(table, page.caption(rows) if page.caption else title, rows, page.line_where, names))
    return _ShownTable(note, page.heading, page.folded, parts)


def _table_part(
    table: Table,
    caption: str = "",
    rows: Rows | None = None,
    line_where: str = "",
    names: Mapping[str, str] | None = None,
) -> _TablePart:
    """The columns that the page shows, in a reader's words; editors go by their `names`.

    A line is drawn above rows with another value of `line_where`.
    """
    names = names or {}
    columns = [column for column in table.columns if column.shown]
    shown: list[_PageRow] = []
    before: Mapping[str, Any] | None = None
    for row in table.rows if rows is None else rows:
        cells = []
        for column in columns:
            text = format_cell(row, column)
            value, bracket, limits = text.partition(" [") if column.interval else (text, "", "")
            named = in_words(column.key, value, names)
            label = value if column.key in _NAMED and named != value else ""
            cells.append(_Cell(named, f"[{limits}" if bracket else "", column.form != "text", label))
        changed = bool(line_where and before is not None and row.get(line_where) != before.get(line_where))
        shown.append(_PageRow(cells, changed))
        before = row
    titles = {**WORDS, **names}
    columns = [column._replace(title=titles.get(column.key, column.title)) for column in columns]
    return _TablePart(caption or table.title, columns, shown)


def in_words(key: str, value: str, names: Mapping[str, str]) -> str:
    """An editor by its name, a cause and a verdict as the Space says them.

    >>> in_words("cause", "part lost (43%)", {}), in_words("verdict", "jpeg", {"jpeg": "JPEG only"})
    ('one area lost (43%)', 'JPEG only')
    """
    if key in _NAMED or key == "verdict":
        return names.get(value, _VERDICTS.get(value, value))
    cause = next((cause for cause in TITLES if key == "cause" and value.startswith(cause)), None)
    return value if cause is None else TITLES[cause].lower() + value[len(cause) :]


def editor_looks(leaderboard: Rows) -> dict[str, Look]:
    """One look for each editor; they come in the order of the leaderboard."""
    names = list(dict.fromkeys(row["editor"] for row in leaderboard))
    baselines = {row["editor"] for row in leaderboard if row["role"] == ROLES["baseline"]}
    looks = assign_looks(names, baselines)
    return {name: looks[name] for name in names}


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def _templates() -> jinja2.Environment:
    """The page's templates; everything that comes from a table is escaped."""
    return jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined)


@dataclass
class Answer:
    """What the page begins with: a typical case in pictures, how many tests survive each round, and a short table."""

    strips: Sequence[Strip] = ()
    drawing: Drawing | None = None
    table: _TablePart | None = None


def take_answer(sections: Sequence[Section], board: Table, strips: Sequence[Strip]) -> Answer:
    """The answer of the first group; its survival curves move out of the group's section."""
    first = next((section for section in sections if section.is_group), None)
    if first is None or not board.rows:
        return Answer(strips)
    survival = [drawing for drawing in first.drawings if drawing.name == "survival"]
    first.drawings = [drawing for drawing in first.drawings if drawing.name != "survival"]
    rows = [row for row in board.rows if row["group"] == board.rows[0]["group"]]
    short = [column for column in board.columns if column.key in SHORT and any(row.get(column.key) for row in rows)]
    names = display_names(row["editor"] for row in rows)
    caption = capitalised(str(rows[0]["name"]))
    part = _table_part(replace(board, columns=tuple(short)), caption, rows, "role", names)
    return Answer(strips, survival[0] if survival else None, part)


class PageWords(NamedTuple):
    """What the page begins with, and how it is to be read."""

    title: str
    how: tuple[str, ...]


ROUNDS = PageWords(
    "Edit, undo, repeat: how many rounds before the picture breaks?",
    (
        "We ask an editor for a change, then ask to undo it, over and over; a perfect editor returns the original "
        "every time.",
        "A test is one picture with one edit. It stops at the first failure: no edit, no undo, too much quality lost, "
        "one area destroyed, or a refusal.",
        "Retained quality is 100% for an identical picture and 0% for an unrelated one; brackets hold 95% confidence "
        "intervals.",
    ),
)


class StandIn(NamedTuple):
    """What a study's page says if no case of the dataset is counted by a headline."""

    words: PageWords
    lead: list[str]
    table: Table  # the headline for a terminal


def render_page(
    sections: Sequence[Section], lead: Sequence[str], answer: Answer, stand_in: StandIn | None = None
) -> str:
    style = (HERE / "page.css").read_text(encoding="utf-8") + dark_rules()
    shown = [section for section in sections if not section.is_empty]
    words = stand_in.words if stand_in else ROUNDS
    page = _templates().get_template("page.html")
    return page.render(sections=shown, lead=lead, style=style, answer=answer, words=words)


def render_board(table: Table, strips: Sequence[Strip], page: Path) -> str:
    """One table and a few strips of pictures, to stand inside another page such as a notebook."""
    template = _templates().get_template("board.html")
    return template.render(
        part=_table_part(table, names=display_names(row["editor"] for row in table.rows)),
        strips=strips[:STRIPS],
        page=page.as_posix(),
        sections=[],
        lead=[],
        style="",
        answer=Answer(),
        words=ROUNDS,
    )
