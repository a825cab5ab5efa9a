"""Finds the metric folders and reads their specs.

`metric_modules/NAME/spec.py` has `SPEC = {...}`: the fields of `Spec`, `columns`
with those of `ScoreColumn`, and `reasons`, {code: [fault, sentence]}. The faults are
FAULTS; {} in the sentence is replaced by the detail. A folder of several metrics has
a list `SPECS`; its `Scorer` and `missing_weights` receive a name as `metric=`.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from convergebench.generation.plugins import plugins

Kind = Literal["picture", "round", "statistic"]
Headline = Literal["quality", "meaning", "edits", "framing"]
Show = Literal["curve", "number", "dataset"]
# Who is to blame for a missing value: the editor, for no picture or an
# unusable one; nobody; we, for damage, missing weights, a metric that was not
# requested, or a failed call; or the question does not arise at this step.
FAULTS = ("editor", "nobody", "ours", "not applicable")


@dataclass(frozen=True)
class ScoreColumn:
    """One column of the scores that a metric fills."""

    name: str
    title: str  # by default its metric's
    meaning: str  # one line, for the card
    type: str = "float64"  # or "bool", or "string" for JSON
    aspect: str = ""  # what it looks at, in a word: pixels, structure, appearance, meaning
    unit: str = ""
    direction: str = ""  # "higher" or "lower" is closer to the reference; "" if neither is
    low: float | None = None  # the range; None if it has no end
    high: float | None = None
    ceiling: float | None = None  # what an untouched picture scores
    floor: bool = False  # unrelated pictures set its floor, and the scores get a column `retained_NAME`
    headline: Headline | None = None  # what the headline checks it for
    # "curve": drawn over rounds in the report and in the Space's tab Curves,
    # and listed like a "number"; "number": listed for each step in the
    # Space's tab Chains; "dataset": only stored, and explained on the card.
    show: Show = "dataset"
    bfloat16_error: float = 0.0  # largest error in bfloat16; a value this near a threshold is computed in float32
    sees: str = ""  # if it differs from the metric's: a separate row in that table
    misses: str = ""
    metric: str = ""  # the metric it belongs to

    @property
    def retained(self) -> str:
        """The column from 1 (untouched) to 0 (an unrelated picture)."""
        return f"retained_{self.name}"


@dataclass(frozen=True)
class Spec:
    name: str  # what `convergebench score --metrics` and the signature call the metric
    title: str  # what readers see
    folder: str
    # "picture": compares each picture with the reference; "round": judges each step from the pictures of
    # its round; "statistic": computes from numbers, as an `evaluate` module only, and has no columns.
    kind: Kind = "picture"
    study: str | None = None  # that the metric belongs to; the core works without such folders
    columns: tuple[ScoreColumn, ...] = ()
    order: int = 1000  # position among the metrics; those that set none come last
    after: tuple[str, ...] = ()  # metrics whose values, or whose networks, this one uses; they run first
    rounds: int | None = None  # kind "round": the number of first rounds that are judged; all by default
    optional: bool = False  # computed only if requested by name, and only then do the scores have its columns
    needs: str = ""  # what has to be fetched before it can be computed, in words
    sees: str = ""  # what it notices ...
    misses: str = ""  # ... and overlooks, in words: a row of the table in the Space's tab Metrics
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)
    is_one_of_several: bool = False  # in its folder: the scorer gets its name
    package: str = ""  # that has its spec and measure

    @property
    def floors(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.floor)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


# Cached: none of this changes while a program runs, and one view of the Space reads it a thousand times.
@cache
def specs() -> dict[str, Spec]:
    """Every metric by its name, in their order, statistics included."""
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/spec.py"))
    packages = {folder: f"convergebench.metric_modules.{folder}" for folder in folders}
    packages |= {name: point.value for name, point in plugins("metrics").items()}
    all_specs = [
        replace(spec, package=package) for name, package in packages.items() for spec in _read(name, package)
    ]
    return {spec.name: spec for spec in sorted(all_specs, key=lambda spec: (spec.order, spec.name))}


def _read(folder: str, package: str) -> list[Spec]:
    module = importlib.import_module(f"{package}.spec")
    if hasattr(module, "SPECS"):
        return [replace(_checked_spec(folder, values), is_one_of_several=True) for values in module.SPECS]
    return [_checked_spec(folder, module.SPEC)]


def _checked_spec(folder: str, data: Mapping[str, Any]) -> Spec:
    values, where = dict(data), f"metric_modules/{folder}/spec.py"
    rows = values.pop("columns", [])
    for row in rows:
        _check(ScoreColumn, row, f"{where}, column {row.get('name')}")
    columns = tuple(ScoreColumn(**{"title": data["title"], **row}, metric=data["name"]) for row in rows)
    reasons = {code: (fault, text) for code, (fault, text) in values.pop("reasons", {}).items()}
    for code, (fault, _) in reasons.items():
        if fault not in FAULTS:
            raise ValueError(f"{where}: the fault of {code} must be one of {', '.join(FAULTS)}, got {fault!r}")
    after = tuple(values.pop("after", ()))
    _check(Spec, values, where)
    return Spec(**values, folder=folder, columns=columns, after=after, reasons=reasons)


def _check(kind: type, values: Mapping[str, object], where: str) -> None:
    """Raise ValueError for a key that is not a field of the class, or a value of another type."""
    fields = get_type_hints(kind)
    for key, value in values.items():
        if key not in fields:
            raise ValueError(f"{where}: no key {key!r}; the keys are {', '.join(fields)}")
        # The types of a union or the values of a Literal; an int is accepted for a float.
        parts = get_args(fields[key]) or (fields[key],)
        allowed = [option for part in parts for option in get_args(part) or (part,)]
        types = tuple(option for option in allowed if isinstance(option, type)) + (int,) * (float in allowed)
        if value not in allowed and not isinstance(value, types):
            names = ", ".join(option.__name__ if isinstance(option, type) else repr(option) for option in allowed)
            raise ValueError(f"{where}: {key} must be one of {names}, got {value!r}")


@cache
def scored_specs() -> dict[str, Spec]:
    return {name: spec for name, spec in specs().items() if spec.columns}


@cache
def optional_columns() -> frozenset[str]:
    """Columns of metrics that are computed only on request."""
    return frozenset(name for spec in specs().values() if spec.optional for name in spec.names)


@cache
def score_columns() -> dict[str, ScoreColumn]:
    return {column.name: column for spec in specs().values() for column in spec.columns}


@cache
def retained_columns() -> dict[str, ScoreColumn]:
    return {name: column for name, column in score_columns().items() if column.floor}


@cache
def ceilings() -> dict[str, float]:
    """What an untouched picture scores in columns with floors."""
    return {name: column.ceiling for name, column in retained_columns().items() if column.ceiling is not None}


@cache
def checked_columns(headline: Headline) -> tuple[str, ...]:
    return tuple(name for name, column in score_columns().items() if column.headline == headline)


@cache
def shown_columns(*shows: Show) -> tuple[str, ...]:
    return tuple(name for name, column in score_columns().items() if column.show in shows)
