"""Tables of statistics: typed rows, written as CSV, JSON, LaTeX or text."""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, dataclass_transform

Row = Mapping[str, Any]
NO_VALUE = "–"
FORMS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "count": lambda value: f"{value:d}",
    "rounds": lambda value: f"{value:.1f}",
    "share": lambda value: "0%" if f"{value:.0%}" == "-0%" else f"{value:.0%}",
    "money": lambda value: f"${value:.3f}",
    "seconds": lambda value: f"{value:.1f} s",
    "factor": lambda value: f"{value:.2f}×",
    "number": lambda value: f"{value:.3g}",
    "rounded": lambda value: f"{value:.0f}",
    "score": lambda value: f"{value:.3f}",
    "change": lambda value: f"{value:+.1f}",
    "rating": lambda value: f"{value:.2f}",
    "signed": lambda value: f"{value:+.2f}",
    "p": lambda value: "<0.001" if value < 0.001 else f"{value:.3f}",
}


class Estimate(NamedTuple):
    """A value with its limits: in files KEY, KEY_low and KEY_high."""

    value: Any = None
    low: float | None = None
    high: float | None = None


def estimate(
    value: Any, interval: Sequence[Any] | None, lowest: float = -math.inf, highest: float = math.inf
) -> Estimate:
    low, high = interval or (None, None)
    return Estimate(
        value, None if low is None else max(low, lowest), None if high is None else min(high, highest)
    )


def mean_of(values: Iterable[float | None]) -> float | None:
    """Of those that there are."""
    measured = [value for value in values if value is not None]
    return sum(measured) / len(measured) if measured else None


def from_summary(summary: Mapping[str, Any], name: str, limits: str = "interval") -> Estimate:
    """A value of `halflife.survival.summarise` with its limits."""
    return estimate(summary.get(name), summary.get(f"{name.removesuffix('_text')}_{limits}"))


class Column(NamedTuple):
    """The key is its name in files, the title its name for readers."""

    key: str
    title: str
    form: str = "text"
    interval: bool = False  # it holds an Estimate
    shown: bool = True
    always: bool = False  # shown even if no row has a value


def column(title: str, form: str = "text", *, shown: bool = True, always: bool = False, **default: Any) -> Any:
    """A column of a TableRow; its name is the key, an Estimate has limits."""
    return field(metadata={"column": Column("", title, form, shown=shown, always=always)}, **default)


def columns_by_key(make: Callable[[str], Column], *, hide_zeros: bool = False) -> Any:
    """A field with a mapping: a column for each key, made by `make(key)`."""
    return field(metadata={"make": make, "hide_zeros": hide_zeros})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column, columns_by_key, field))
class TableRow:
    """A row; the fields made with `column` or `columns_by_key` are its columns."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def columns(cls, rows: Sequence["TableRow"]) -> list[Column]:
        columns: list[Column] = []
        for part in dataclasses.fields(cls):  # type: ignore[arg-type]  # every subclass is a dataclass
            if "column" in part.metadata:
                columns.append(part.metadata["column"]._replace(key=part.name, interval=part.type is Estimate))
            elif "make" in part.metadata:
                values = [getattr(row, part.name) for row in rows]
                for key in dict.fromkeys(key for mapping in values for key in mapping):
                    new_column = part.metadata["make"](key)
                    is_hidden = part.metadata["hide_zeros"] and not any(mapping.get(key) for mapping in values)
                    columns.append(new_column._replace(shown=new_column.shown and not is_hidden))
        return columns

    @property
    def cells(self) -> dict[str, Any]:
        """The values by the keys of the files."""
        cells: dict[str, Any] = {}
        for part in dataclasses.fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, part.name)
            for key, cell in value.items() if "make" in part.metadata else [(part.name, value)]:
                cells[key] = cell
                if isinstance(cell, Estimate):
                    cells |= {key: cell.value, f"{key}_low": cell.low, f"{key}_high": cell.high}
        return cells


T = TypeVar("T", bound=TableRow)


@dataclass(frozen=True)
class Table:
    """`name` names its files, `title` and `note` are for readers."""

    name: str
    title: str
    row_type: type[TableRow]
    typed_rows: Sequence[TableRow]
    note: str = ""

    @cached_property
    def rows(self) -> list[Row]:
        return [row.cells for row in self.typed_rows]

    @cached_property
    def columns(self) -> list[Column]:
        """Those without any value are in the files alone."""
        columns = self.row_type.columns(self.typed_rows)
        listed = {column.key for column in columns if column.always or not self.rows} | self._filled
        return [column._replace(shown=column.shown and column.key in listed) for column in columns]

    @cached_property
    def _filled(self) -> set[str]:
        return {key for row in self.rows for key, value in row.items() if not is_missing(value)}

    @property
    def keys(self) -> list[str]:
        ends = {True: ("", "_low", "_high"), False: ("",)}
        return [f"{column.key}{end}" for column in self.columns for end in ends[column.interval]]

    def where(self, **values: Any) -> "Table":
        pairs = zip(self.typed_rows, self.rows, strict=True)
        return replace(self, typed_rows=[typed for typed, row in pairs if values.items() <= row.items()])

    def shown(self, keys: Sequence[str] = ()) -> list[Column]:
        """Those of `keys` that have a value, or those that the page shows."""
        if not keys:
            return [column for column in self.columns if column.shown]
        return [column for column in self.columns if column.key in keys and column.key in self._filled]


def rows_of(tables: Mapping[str, Table], row_type: type[T]) -> list[T]:
    typed = [table.typed_rows for table in tables.values() if table.row_type is row_type]
    return [row for rows in typed for row in rows if isinstance(row, row_type)]


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def format_value(value: Any, form: str) -> str:
    """A value as a reader sees it; what is missing is a dash.

    >>> format_value(0.516, "share"), format_value(-0.001, "share"), format_value(None, "rounds")
    ('52%', '0%', '–')
    """
    return NO_VALUE if is_missing(value) else FORMS[form](value)


def capitalised(text: str) -> str:
    """Abbreviations keep their capitals."""
    return text[:1].upper() + text[1:]


def format_cell(row: Row, column: Column) -> str:
    value = format_value(row.get(column.key), column.form)
    low, high = (row.get(key) for key in (f"{column.key}_low", f"{column.key}_high"))
    if not column.interval or is_missing(row.get(column.key)) or is_missing(low):
        return value
    form = "count" if column.form == "text" else column.form
    upper = "…" if is_missing(high) else format_value(high, form)
    return f"{value} [{format_value(low, form)}, {upper}]"


def as_csv(table: Table) -> str:
    """Values in full precision, missing ones empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_csv_value, table.keys))
    for row in table.rows:
        writer.writerow([_csv_value(row.get(key)) for key in table.keys])
    return out.getvalue()


def _csv_value(value: Any) -> Any:
    """Prefix text that a spreadsheet would read as a formula with an apostrophe.

    >>> _csv_value("=HYPERLINK(1)"), _csv_value("paint"), _csv_value(-0.5), _csv_value(None)
    ("'=HYPERLINK(1)", 'paint', -0.5, '')
    """
    if is_missing(value):
        return ""
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # a reader would begin a new line
    return f"'{text}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def as_json(table: Table) -> str:
    data = _as_data(table)
    return json.dumps(data | {"rows": [*data["rows"]]}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def all_as_json(tables: Iterable[Table]) -> str:
    """A line for each table: with indents, json is written three times slower."""
    encode, lines = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode, []
    for data in map(_as_data, tables):
        rows = ", ".join(map(encode, data.pop("rows")))  # one at a time: a dictionary takes more than its text
        lines.append(f'"{data["name"]}": {encode(data)[:-1]}, "rows": [{rows}]}}')
    return "{" + ",\n".join(lines) + "}\n"


def _as_data(table: Table) -> dict[str, Any]:
    keys, titles = table.keys, {column.key: column.title for column in table.columns}
    rows = ({key: None if is_missing(row.get(key)) else row[key] for key in keys} for row in table.rows)
    return {"name": table.name, "title": table.title, "note": table.note, "columns": titles, "rows": rows}


_LATEX_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "<": "$<$",
    ">": "$>$",
    "≥": r"$\geq$",
    "−": "$-$",
    "×": r"$\times$",
    "²": "$^2$",
    "χ": r"$\chi$",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\dots{}",
}
_LATIN = 0x180  # LaTeX can typeset every letter up to here


def latex_text(text: str) -> str:
    r"""A character of another script, which would stop LaTeX, becomes its number.

    >>> latex_text("χ², 50%"), latex_text("模")
    ('$\\chi$$^2$, 50\\%', '[U+6A21]')
    """
    return "".join(
        _LATEX_SIGNS.get(sign, sign if ord(sign) < _LATIN else f"[U+{ord(sign):04X}]") for sign in text
    )


def as_latex(table: Table, keys: Sequence[str] = (), rule_where: str = "") -> str:
    """A tabular with a rule where the value of `rule_where` changes."""
    shown, body, before = table.shown(keys), [], None
    for row in table.rows:
        if rule_where and before is not None and row[rule_where] != before:
            body.append("\\midrule")
        before = row.get(rule_where)
        body.append(" & ".join(latex_text(format_cell(row, column)) for column in shown) + r" \\")
    lines = [
        f"% {table.title}. Needs \\usepackage{{booktabs}}.".replace("\n", " "),
        f"\\begin{{tabular}}{{{''.join('l' if column.form == 'text' else 'r' for column in shown)}}}",
        "\\toprule",
        " & ".join(latex_text(column.title) for column in shown) + r" \\",
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def as_text(table: Table, keys: Sequence[str] = ()) -> str:
    shown = table.shown(keys)
    lines = [
        [column.title for column in shown],
        *([format_cell(row, column) for column in shown] for row in table.rows),
    ]
    widths = [max(len(line[place]) for line in lines) for place in range(len(shown))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if column.form == "text" else text.rjust(width)
            for text, width, column in zip(line, widths, shown, strict=True)
        ).rstrip()
        for line in lines
    )
