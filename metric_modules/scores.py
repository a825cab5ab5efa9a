"""The columns of a dataset's scores, the reasons for missing values, and signatures.

The column `reasons` holds JSON, {column: code or [code,
detail]}, and `signature` {"engine": {...}, METRIC: {...}}.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

from convergebench.dataset_builder.dataset.columns import Column, Config, StepPlace

from ._shared.scoring import signature_text
from .specs import specs

CHANGED_SIZE = "changed_size"  # computed by the engine from the pictures' sizes, not by a metric
_CHANGED_SIZE_ORDER = 60  # its position among the metrics
# By code, the fault and a sentence, as in the specs; {} is replaced by the detail.
OF_THE_ENGINE = {
    "refused": ("editor", "refused"),
    "no_image": ("editor", "no_image"),
    "shrunk": ("editor", "shrunk"),
    "failed": ("ours", "failed"),
    "unpublished": ("nobody", "this picture of an imported chain is not published"),
    "missing": ("ours", "missing: its file is not in the dataset"),
    "unreadable": ("ours", "unreadable"),
    "not_a_number": ("ours", "not a number"),
    "absent": ("ours", "{}"),
    "not_asked": ("ours", "not asked for; `convergebench score --metrics {}` adds it"),
    "no_floor": ("ours", "there is no floor: the suite has no unrelated source"),
    "previous_missing": ("ours", "the picture before is missing"),
    "no_clean_picture": ("nobody", "the degraded picture has no clean one to compare with"),
    "ends_no_round": ("not applicable", "this step ends no round"),
    "later_round": ("not applicable", "only the first rounds are looked at"),
}
_DAMAGE = ("missing", "unreadable", "not_a_number")  # reported, and tried again by the next run


@cache
def _reasons() -> dict[str, tuple[str, str]]:
    return OF_THE_ENGINE | {code: reason for spec in specs().values() for code, reason in spec.reasons.items()}


class Missing(NamedTuple):
    """Why a value is missing; it takes the value's place."""

    code: str
    detail: str = ""

    @property
    def fault(self) -> str:
        """One of specs.FAULTS; nobody's for an undeclared code."""
        return self._reason[0]

    @property
    def is_damage(self) -> bool:
        """Whether the dataset or a metric is damaged."""
        return self.code in _DAMAGE

    @property
    def _reason(self) -> tuple[str, str]:
        return _reasons().get(self.code, ("nobody", self.code))

    @property
    def sentence(self) -> str:
        text = self._reason[1]
        if "{}" in text:
            return text.replace("{}", self.detail)
        return f"{text}: {self.detail}" if self.detail else text


Value = float | bool | dict[str, Any] | Missing  # a dictionary is stored as JSON
Values = dict[str, Value]
_Signature = dict[str, dict[str, Any]]  # by metric, and "engine": what the numbers depend on


def missing_values(row: Mapping[str, Any]) -> dict[str, Missing]:
    reasons = json.loads(row.get("reasons") or "{}")
    return {
        name: Missing(reason) if isinstance(reason, str) else Missing(*reason) for name, reason in reasons.items()
    }


def reasons_json(values: Mapping[str, Value]) -> str:
    missing = {name: value for name, value in values.items() if isinstance(value, Missing)}
    reasons = {name: [*reason] if reason.detail else reason.code for name, reason in missing.items()}
    return json.dumps(reasons, sort_keys=True, ensure_ascii=False)


def signature_of(row: Mapping[str, Any]) -> _Signature:
    """What a row's numbers depend on, by metric; empty if the row has no valid JSON."""
    try:
        signature = json.loads(row.get("signature") or "{}")
    except ValueError:
        return {}
    return signature if isinstance(signature, dict) else {}


def signature_texts(signature: _Signature) -> list[str]:
    return [signature_text(name, part) for name, part in signature.items()]


_STATUSES = "of the step: ok, shrunk, refused, no_image, failed, unpublished, or missing where its file is gone"
_PLACE = (
    *StepPlace.columns(),
    Column("status", "string", _STATUSES),
    Column("sha256", "string", "of the picture the numbers belong to"),
)


def scores_config(optional: Collection[str] = ()) -> Config:
    """The table's columns; metrics that are computed only on request have some if named in `optional`."""
    included = [spec for spec in specs().values() if not spec.optional or spec.name in optional]
    measured = [column for spec in included for column in spec.columns]
    columns = [Column(column.name, column.type, column.meaning) for column in measured]
    place = sum(len(spec.columns) for spec in included if spec.order < _CHANGED_SIZE_ORDER)
    columns.insert(place, Column(CHANGED_SIZE, "bool", "whether the answer's size differs from its input's"))
    for column in [column for column in measured if column.floor]:
        meaning = f"{column.name} on the scale from 1, untouched, to 0, another picture altogether"
        if column.headline:
            meaning = f"retained {column.headline} by {column.name}: 1 untouched, 0 another picture altogether"
        columns.append(Column(column.retained, "float64", meaning))
    columns += [
        Column(
            "reasons", "string", "JSON: for each value that could not be computed a code, with a detail or not"
        ),
        Column("signature", "string", "JSON: versions, weights, dtype, size and resize rule behind the numbers"),
    ]
    return Config("scores", "the numbers of one step against its chain's reference", (*_PLACE, *columns))


SCORES = scores_config()


@cache
def score_column_names() -> frozenset[str]:
    return frozenset(column.name for column in ScoreRow.columns())


@dataclass(frozen=True, kw_only=True)
class ScoreRow(StepPlace):
    """One step's scores. Columns that the core reads are attributes; all others are read with `value`."""

    TABLE: ClassVar = "scores"
    ROW: ClassVar = SCORES.row

    status: str
    sha256: str | None
    changed_size: bool | None
    psnr_registered: float | None
    ssim_registered: float | None
    edit_changed: bool | None
    edit_as_asked: bool | None
    asked_by: str | None
    edit_undone: bool | None
    undo_ratio: float | None
    damage: float | None
    damage_outline: str | None
    reasons: str | None
    signature: str | None

    @classmethod
    @cache
    def columns(cls) -> tuple[Column, ...]:
        return scores_config([*specs()]).columns

    @classmethod
    def from_scores(cls, values: Mapping[str, Any]) -> Self:
        return cls.from_values(dict.fromkeys(score_column_names()) | dict(values))

    def value(self, column: str) -> Any:
        """The value in a column; KeyError if there is none or it was not read."""
        if column in self.__dict__:
            return self.__dict__[column]
        if column in score_column_names():
            raise KeyError(f"the column {column!r} of the scores was not read")
        near = get_close_matches(column, score_column_names())
        raise KeyError(f"the scores have no column {column!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    @property
    def missing(self) -> dict[str, Missing]:
        return missing_values(self.__dict__)
