"""A table as data: typed columns and plain rows, written as CSV, JSON, LaTeX or text."""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

Row = Mapping[str, Any]
NO_VALUE = "–"
FORMATS: dict[str, Callable[[Any], str]] = {
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


class Column(NamedTuple):
    """One column: what it is called in files and to a reader, how it is written, and whether the page shows it.

    With `interval`, the columns KEY_low and KEY_high hold its limits; a null upper limit lies past the end.
    """

    key: str
    title: str
    form: str = "text"
    interval: bool = False
    shown: bool = True
    always: bool = False  # shown even where no row has a value


@dataclass(frozen=True)
class Table:
    """`name` is the file's, `title` the reader's; a table without rows says in `note` why it has none."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    note: str = ""

    @property
    def keys(self) -> list[str]:
        return [key for column in self.columns for key in column_keys(column)]


def hide_empty_columns(table: Table) -> Table:
    """The same table; columns without a single value are kept in the files and not shown."""
    empty = {column.key for column in table.columns if all(is_missing(row.get(column.key)) for row in table.rows)}
    columns = tuple(
        column._replace(shown=column.shown and (column.always or column.key not in empty)) for column in table.columns
    )
    return replace(table, columns=columns) if table.rows else table


def column_keys(column: Column) -> list[str]:
    return [column.key, f"{column.key}_low", f"{column.key}_high"] if column.interval else [column.key]


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def format_value(value: Any, form: str) -> str:
    """A value as a reader sees it; what is missing is a dash.

    >>> format_value(0.516, "share"), format_value(-0.001, "share"), format_value(None, "rounds")
    ('52%', '0%', '–')
    """
    return NO_VALUE if is_missing(value) else FORMATS[form](value)


def capitalised(text: str) -> str:
    """With a capital first letter; abbreviations keep theirs."""
    return text[:1].upper() + text[1:]


def format_cell(row: Row, column: Column) -> str:
    """The value, with its limits in brackets where it has them."""
    value = format_value(row.get(column.key), column.form)
    low, high = (row.get(key) for key in (f"{column.key}_low", f"{column.key}_high"))
    if not column.interval or is_missing(row.get(column.key)) or is_missing(low):
        return value
    form = "count" if column.form == "text" else column.form
    upper = "…" if is_missing(high) else format_value(high, form)
    return f"{value} [{format_value(low, form)}, {upper}]"


def as_csv(table: Table) -> str:
    """All values in full; what is missing is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.keys)
    for row in table.rows:
        writer.writerow([csv_value(row.get(key)) for key in table.keys])
    return out.getvalue()


def csv_value(value: Any) -> Any:
    """The value of one cell; text that a spreadsheet would take for a formula stands behind an apostrophe.

    >>> csv_value("=HYPERLINK(1)"), csv_value("paint"), csv_value(-0.5), csv_value(None)
    ("'=HYPERLINK(1)", 'paint', -0.5, '')
    """
    if is_missing(value):
        return ""
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # the writer would leave it bare, and a reader begin a new line
    return f"'{text}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def as_json(table: Table) -> str:
    """The same values, with the table's title and what its columns are called."""
    rows = [{key: None if is_missing(row.get(key)) else row[key] for key in table.keys} for row in table.rows]
    titles = {column.key: column.title for column in table.columns}
    about = {"name": table.name, "title": table.title, "note": table.note, "columns": titles, "rows": rows}
    return json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


LATEX_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "–": "--",
    "…": r"\dots{}",
    "×": r"$\times$",
    "−": "$-$",
    "½": r"$\frac{1}{2}$",
    "²": "$^2$",
    "τ": r"$\tau$",
    "χ": r"$\chi$",
    "σ": r"$\sigma$",
    "Δ": r"$\Delta$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
}
LATIN = 0x180  # up to here LaTeX knows every letter by itself


def latex_text(text: str) -> str:
    r"""Text that LaTeX takes as it stands; a sign of another script, at which it would stop, is told by its number.

    >>> latex_text("Kendall's τ, 50%"), latex_text("模")
    ("Kendall's $\\tau$, 50\\%", '[U+6A21]')
    """
    known = (LATEX_SIGNS.get(sign, sign if ord(sign) < LATIN else f"[U+{ord(sign):04X}]") for sign in text)
    return "".join(known)


def as_latex(table: Table, keys: Sequence[str] = (), rule_where: str = "") -> str:
    """A booktabs tabular to paste into a paper: the columns that the page shows, or those of `keys`.

    A rule stands before each row that has another value of `rule_where`.
    """
    shown = [column for column in table.columns if (column.key in keys if keys else column.shown)]
    body, before = [], None
    for row in table.rows:
        if rule_where and before is not None and row.get(rule_where) != before:
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


def as_text(table: Table, columns: Sequence[str] | None = None) -> str:
    """For a terminal: aligned columns, without colours."""
    shown = [column for column in table.columns if (column.shown if columns is None else column.key in columns)]
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
