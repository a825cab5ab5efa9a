"""The page: one file, made of the statistics' tables and figures."""

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
from ..statistics import EACH_GROUP, OnPage, find_statistics, on_page
from .figures import Drawing, FigureContext, house_style
from .filmstrips import Strip

HERE = Path(__file__).parent
SHORT = ("editor", "rounds_kept", "cost", "cause")  # columns of the first table
_VERDICTS = {"indicative": "too few pictures", "open": "no difference shown"}
_NAMED = ("editor", "first", "second")  # columns that hold an editor
METHODS = "Methods"
# After the groups. A section that only a statistic names comes before the last.
SECTIONS = ("Where editors fail first", METHODS)


class StandIn(NamedTuple):
    """What a study's page says if no headline counts a case."""

    title: str
    how_to_read: Sequence[str]
    lead: list[str]
    table: Table  # the headline for a terminal


# One table of the page for the template: caption, note, folded, columns, and rows. Of a row, whether there is a line
# above it, and the text, limits and label of each cell.
_Part = dict[str, Any]


@dataclass
class Section:
    """One section of the page."""

    id: str
    title: str
    group: str = ""  # of programs
    sentences: list[str] = field(default_factory=list)
    tables: list[list[_Part]] = field(default_factory=list)  # by statistic
    drawings: list[Drawing] = field(default_factory=list)
    strips: Sequence[Strip] = ()


def make_sections(
    tables: Mapping[str, Table], groups: Sequence[str], strips: Mapping[str, Sequence[Strip]]
) -> list[Section]:
    statistics = find_statistics()
    looks = _editor_looks(tables["leaderboard"])
    new = dict.fromkeys(statistic.SECTION for statistic in statistics.values())
    titles = [*SECTIONS[:-1], *(title for title in new if title not in (EACH_GROUP, *SECTIONS)), METHODS]
    sections = [Section(slug(group), capitalised(group), group) for group in groups]
    sections += [Section(slug(title), title) for title in titles]
    with house_style():
        for section in sections:
            group = section.group or next(iter(groups), "")
            context = FigureContext(tables, looks, group, section.group in ("", *groups[:1]))
            for name, statistic in statistics.items():
                if (EACH_GROUP if section.group else section.title) == statistic.SECTION:
                    table = tables[name].where(group=group) if section.group else tables[name]
                    _add_statistic(section, statistic, table, context)
                    section.strips = strips.get(name) or section.strips
    return sections


def _add_statistic(section: Section, statistic: ModuleType, table: Table, context: FigureContext) -> None:
    page = on_page(statistic)
    if page.show and table.rows:
        parts = _table_parts(table, page, bool(section.group), display_names(context.looks))
        parts[0]["note"] = "" if section.group else table.note
        section.tables.append(parts)
    if hasattr(statistic, "figures"):
        prefix = "" if context.is_first_group else f"{section.id}-"
        section.drawings += [
            replace(drawing, name=prefix + drawing.name, table=table.name)
            for drawing in statistic.figures(table.typed_rows, context)
            if drawing
        ]


def _table_parts(table: Table, page: OnPage, in_group: bool, names: Mapping[str, str]) -> list[_Part]:
    by_value: dict[Any, list[Mapping[str, Any]]] = {}
    for row in page.choose(table.rows) if page.choose else table.rows:
        by_value.setdefault(row.get(page.part_by), []).append(row)
    parts = []
    for value, rows in by_value.items():
        caption = table.title if value is None or in_group else f"{table.title}: {value}"
        caption = capitalised(rows[0][page.caption]) if page.caption else caption
        part = _table_part(caption, table.shown(), rows, names, page.line_where)
        parts.append(part | {"folded": page.folded})
    return parts


def _table_part(
    caption: str,
    columns: list[Column],
    rows: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    line_where: str = "",
) -> _Part:
    shown, before = [], rows[0] if rows else {}
    for row in rows:
        cells = []
        for column in columns:
            text = format_cell(row, column)
            value, bracket, limits = text.partition(" [") if column.interval else (text, "", "")
            text = in_words(column.key, value, names)
            label = value if column.key in _NAMED and text != value else ""
            cells.append((text, f"[{limits}" if bracket else "", label))
        shown.append((bool(line_where) and row.get(line_where) != before.get(line_where), cells))
        before = row
    columns = [column._replace(title=names.get(column.key, column.title)) for column in columns]
    return {"caption": caption, "columns": columns, "rows": shown, "note": "", "folded": False}


def in_words(key: str, value: str, names: Mapping[str, str]) -> str:
    """An editor by its name, a cause and a verdict as the Space says them.

    >>> in_words("cause", "part lost (43%)", {}), in_words("verdict", "jpeg", {"jpeg": "JPEG only"})
    ('one area lost (43%)', 'JPEG only')
    """
    if key in _NAMED or key == "verdict":
        return names.get(value, _VERDICTS.get(value, value))
    cause = next((cause for cause in TITLES if key == "cause" and value.startswith(cause)), None)
    return value if cause is None else TITLES[cause].lower() + value[len(cause) :]


def _editor_looks(leaderboard: Table) -> dict[str, Look]:
    roles = {row["editor"]: row["role"] for row in leaderboard.rows}
    looks = assign_looks(roles, [name for name, role in roles.items() if role == ROLES["baseline"]])
    return {name: looks[name] for name in roles}


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def template(name: str) -> jinja2.Template:
    """In HTML, everything that comes from a table is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def render_page(
    sections: Sequence[Section],
    lead: Sequence[str],
    tables: Mapping[str, Table],
    strips: Sequence[Strip],
    stand_in: StandIn | None = None,
) -> str:
    board, answer, drawing = tables["leaderboard"], None, None
    if board.rows and sections[0].group:
        rows = board.where(group=board.rows[0]["group"])
        names = display_names(row["editor"] for row in rows.rows)
        answer = _table_part(capitalised(rows.rows[0]["name"]), rows.shown(SHORT), rows.rows, names, "role")
        drawing = next((drawing for drawing in sections[0].drawings if drawing.name == "survival"), None)
        sections[0].drawings = [other for other in sections[0].drawings if other is not drawing]
    return template("page.html").render(
        sections=[section for section in sections if section.strips or section.drawings or section.tables],
        stand_in=stand_in,
        lead=lead,
        style=(HERE / "page.css").read_text(encoding="utf-8") + dark_rules(),
        strips=strips,
        drawing=drawing,
        answer=answer,
    )


def table_html(table: Table, keys: Sequence[str]) -> str:
    """To stand inside another page, such as a notebook."""
    names = display_names(row["editor"] for row in table.rows)
    part = _table_part(table.title, table.shown(keys), table.rows, names)
    return str(template("table.html").module.table(part))  # type: ignore[attr-defined]  # a macro of the template
