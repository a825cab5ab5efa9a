"""Declares a table as a row type, whose fields are the columns.

Columns hold pictures and plain values only; nested values
are JSON strings, which older `datasets` can load too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args, get_origin

Values = Mapping[str, Any]  # of a row, by column
Picture = Annotated[dict[str, Any], "image"]  # its bytes and path, as `datasets.Image` stores it
Int64 = Annotated[int, "int64"]  # any other int is an int32
_TYPES = {str: "string", int: "int32", float: "float64", bool: "bool"}


class Column(NamedTuple):
    """One column; `type` is image, string, int32, int64, float64 or bool."""

    name: str
    type: str
    meaning: str
    required: bool = False  # whether every row has a value


@dataclass(frozen=True)
class Config:
    """One table, under data/NAME."""

    name: str
    row: str = ""
    columns: tuple[Column, ...] = ()  # empty if only the file itself knows them
    made_by: str = "build"  # the command that makes it
    depends: str = "those who read it"  # what else is wrong if the table is
    may_have_more: bool = False  # whether a file may have columns besides these


class Row:
    """A row; reading a column that was not loaded is an AttributeError.

    A subclass is a frozen dataclass; each of its fields is `Annotated[type, "what the column means"]`.
    """

    TABLE: ClassVar[str]
    ROW: ClassVar[str]  # what a row is

    @classmethod
    @cache
    def columns(cls) -> tuple[Column, ...]:
        """The table's columns, from the fields; a picture is the first."""
        columns = [_column(field.name, field.type) for field in fields(cls)]  # type: ignore[arg-type]  # a dataclass
        return tuple(sorted(columns, key=lambda column: column.type != "image"))

    @classmethod
    def config(cls, **attributes: Any) -> Config:
        return Config(cls.TABLE, cls.ROW, cls.columns(), **attributes)

    @classmethod
    def from_values(cls, values: Values) -> Self:
        row = cls.__new__(cls)
        # Not through __init__, so that columns that were not read stay unset and fail loudly.
        row.__dict__.update(values)
        return row

    @property
    def values(self) -> Values:
        """The values by column, for columns named only at run time."""
        return vars(self)


def _column(name: str, hint: Any) -> Column:
    kind, *notes = get_args(hint)
    *types, meaning = notes
    required = NoneType not in get_args(kind)
    for part in get_args(kind):  # of `X | None`
        kind = kind if part is NoneType else part
    if get_origin(kind) is Annotated:
        kind, *types = get_args(kind)
    return Column(name, types[0] if types else _TYPES[kind], meaning, required)


@dataclass(frozen=True, kw_only=True)
class ChainPlace(Row):
    """The columns that identify a chain, shared by several tables."""

    chain: Annotated[str, "id of the chain, a hash of its source, program, editor, settings, run and rounds"]
    editor: Annotated[str, "the editor as a reader names it, with the options that differ from its defaults"]
    source: Annotated[str, "id of the starting picture"]
    program: Annotated[str, "id of the program: what is asked in one round"]
    run: Annotated[int, "1 for the first time this editor takes this source through this program"]


@dataclass(frozen=True, kw_only=True)
class StepPlace(ChainPlace):
    """The columns that identify a step, shared by several tables."""

    step: Annotated[int, "number of the step in its chain; 0 is the input as prepared for the editor"]
    round: Annotated[int, "round of the chain, from 1; 0 for the input"]
    position: Annotated[int, "place in the round's cycle of instructions, from 1; 0 for the input"]
