"""The page: one file, made of the statistics' tables and figures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader

from ..analysis.display_names import display_names
from ..analysis.groups import ROLES
from ..analysis.reasons import TITLES
from ..analysis.tables import Column, Table, capitalised, format_cell
from ..palette import Look, assign_looks, dark_rules
from ..statistics import EACH_GROUP, OnPage, find_statistics, on_page
from .figures import Drawing, FigureContext, house_style
from .filmstrips import Strip
from .headline import stamp, suites_of
from .sentences import HERE, METHODS, Tables, facts_of, page_sentences, stand_in, template

_BREAKS = ("causes", "slices")  # figures of the second screen
_SURE = "pairs"  # the table of the third
SHORT = ("editor", "rounds_kept", "cost", "cause")  # columns of the first table
_VERDICTS = {"indicative": "too few pictures", "open": "no difference shown"}
_NAMED = ("editor", "first", "second")  # columns that hold an editor
# After the groups. A section that only a statistic names comes before the last.
SECTIONS = ("Where editors fail first", METHODS)
# One table of the page for the template: caption, note, folded, columns, and rows. Of
# a row, whether there is a line above it, and the text, limits and label of each cell.
_Part = dict[str, Any]
# One section for the template: title, id, group, sentences, tables by statistic, drawings and strips.
Section = dict[str, Any]


def make_sections(tables: Tables, reader: Reader | None = None) -> list[Section]:
    statistics, sentences = find_statistics(), page_sentences(tables)
    looks = looks_of(tables)
    groups = list(dict.fromkeys(row["group"] for row in tables["leaderboard"].rows))
    new = dict.fromkeys(statistic.SECTION for statistic in statistics.values())
    titles = [*SECTIONS[:-1], *(title for title in new if title not in (EACH_GROUP, *SECTIONS)), METHODS]
    version = suites_of(reader.chains()) if reader else str(facts_of(tables).get("suite", ""))
    signed, first, sections = stamp(version, reader), next(iter(groups), ""), []
    with house_style():
        for group, title in [
            *((group, capitalised(group)) for group in groups),
            *(("", title) for title in titles),
        ]:
            context = FigureContext(tables, looks, group or first, group in ("", first), signed)
            section: Section = {"id": slug(title), "title": title, "group": group, "tables": [], "drawings": []}
            section |= {"sentences": sentences.get(group or title, []), "strips": []}
            for name, statistic in statistics.items():
                if (EACH_GROUP if group else title) == statistic.SECTION:
                    table = tables[name].where(group=group) if group else tables[name]
                    section["tables"] += filter(None, [_table_parts(table, statistic, group, context)])
                    section["drawings"] += _drawings(table, statistic, group, context)
                    if reader and hasattr(statistic, "strips"):
                        section["strips"] += statistic.strips(table, reader)
            sections.append(section)
    return sections


def looks_of(tables: Tables) -> dict[str, Look]:
    roles = {row["editor"]: row["role"] for row in tables["leaderboard"].rows}
    looks = assign_looks(roles, [name for name, role in roles.items() if role == ROLES["baseline"]])
    return {name: looks[name] for name in roles}


def _drawings(table: Table, statistic: ModuleType, group: str, context: FigureContext) -> list[Drawing]:
    prefix = "" if context.is_first_group else f"{slug(group)}-"
    drawings = statistic.figures(table.typed_rows, context) if hasattr(statistic, "figures") else ()
    return [
        replace(drawing, name=prefix + drawing.name, table=table.name, stamp=context.stamp)
        for drawing in drawings
        if drawing
    ]


def _table_parts(table: Table, statistic: ModuleType, group: str, context: FigureContext) -> list[_Part]:
    page: OnPage = on_page(statistic)
    by_value: dict[Any, list[Mapping[str, Any]]] = {}
    for row in (page.choose(table.rows) if page.choose else table.rows) if page.show else ():
        by_value.setdefault(row.get(page.part_by), []).append(row)
    parts: list[_Part] = []
    for value, rows in by_value.items():
        caption = table.title if value is None or group else f"{table.title}: {value}"
        caption = capitalised(rows[0][page.caption]) if page.caption else caption
        about = {"name": table.name, "folded": page.folded, "note": "" if parts or group else table.note}
        names = display_names(context.looks)
        parts.append(_table_part(caption, table.shown(), rows, names, page.line_where) | about)
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
    return {"caption": caption, "columns": columns, "rows": shown}


def in_words(key: str, value: str, names: Mapping[str, str]) -> str:
    """An editor by its name, a cause and a verdict as the Space says them.

    >>> in_words("cause", "part lost (43%)", {}), in_words("verdict", "jpeg", {"jpeg": "JPEG only"})
    ('one area lost (43%)', 'JPEG only')
    """
    if key in _NAMED or key == "verdict":
        return names.get(value, _VERDICTS.get(value, value))
    cause = next((cause for cause in TITLES if key == "cause" and value.startswith(cause)), None)
    return value if cause is None else TITLES[cause].lower() + value[len(cause) :]


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def render_page(sections: Sequence[Section], tables: Tables, strips: Sequence[Strip], scored: str = "") -> str:
    """The report's page: three screens (the answer, where it breaks, how sure it is), with the rest folded."""
    board, answer, first = tables["leaderboard"], None, None
    top = sections[0] if board.rows else {"drawings": [], "tables": []}
    if board.rows:
        rows = board.where(group=board.rows[0]["group"])
        names = display_names(row["editor"] for row in rows.rows)
        caption = rows.rows[0]["name"].replace("convergence", "Rounds survived until the first failure")
        answer = _table_part(caption, rows.shown(SHORT), rows.rows, names, "role")
        first = next((drawing for drawing in sections[0]["drawings"] if drawing.name == "survival"), None)
    return template("page.html").render(
        sections=[part for part in sections if part["strips"] or part["drawings"] or part["tables"]],
        stand_in=stand_in(tables),
        breaks=[drawing for drawing in top["drawings"] if drawing.name in _BREAKS],
        sure=[part for parts in top["tables"] for part in parts if part["name"] == _SURE],
        lead=page_sentences(tables, scored)["lead"],
        style=(HERE / "page.css").read_text(encoding="utf-8") + dark_rules(),
        strips=strips,
        first=first,
        answer=answer,
    )


def table_html(table: Table, keys: Sequence[str]) -> str:
    names = display_names(row["editor"] for row in table.rows)
    part = _table_part(table.title, table.shown(keys), table.rows, names)
    return str(template("table.html").module.table(part))  # type: ignore[attr-defined]  # a macro of the template
