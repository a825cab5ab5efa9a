"""A case is a chain as the statistics see it: what each round kept."""

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, nan
from operator import attrgetter

from convergebench.dataset_builder.dataset.rows import StepRow
from convergebench.generation.records import FinishedChain, UserError
from convergebench.metric_modules._engine.floors import retained_value
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.scores import ScoreRow, score_column_names
from convergebench.metric_modules.specs import checked_columns, retained_columns, score_columns, shown_columns

from .floors import Floors
from .program_groups import group_of_chain
from .stored_rows import StoredRows
from .tables import mean_of

COLUMNS = score_columns()
CURVES = shown_columns("curve")  # drawn over rounds, each in its own unit
RETAINED = tuple(retained_columns())  # on the scale from 1, untouched, to 0
QUALITIES = checked_columns("quality")
MEANINGS = checked_columns("meaning")

Values = Sequence[float | None]
CaseKey = tuple[str, str, int]  # source, program, run
_shared = cache(lambda verdicts: verdicts)  # equal ones are one object


def _pack(columns: Iterable[Values]) -> tuple["array[float]", tuple[int | Values, ...]]:
    """All floats in one array, a tenth of what they take as objects; for each column its start there, or its values."""
    floats, places = array("d"), list[int | Values]()
    for values in columns:
        is_floats = {type(value) for value in values if value is not None} == {float}
        places.append(len(floats) if is_floats else tuple(values))
        floats.extend(nan if value is None else value for value in values if is_floats)
    return floats, _shared(tuple(places))


@dataclass(frozen=True, slots=True)
class Case:
    """One chain. Lists hold a value, or None, for each planned round."""

    chain: FinishedChain
    group: str
    end_round: int | None
    packed: tuple["array[float]", tuple[int | Values, ...]]  # of the columns in _PLACES
    changed: tuple[bool | None, ...] | None
    as_asked: tuple[bool | None, ...] | None  # where the words were checked
    undone: tuple[bool | None, ...] | None
    not_judged: dict[str, dict[int, str]]  # cause -> round -> why, as a code
    seconds: float | None  # per round
    cost: float | None  # US dollars per round

    # Named like the columns of tables: source and program are ids.
    editor = property(attrgetter("chain.editor"))
    source = property(attrgetter("chain.source.id"))
    program = property(attrgetter("chain.program.id"))
    kind = property(attrgetter("chain.source.kind"))
    category = property(attrgetter("chain.program.category"))
    reversibility = property(attrgetter("chain.program.reversibility"))
    rounds = property(attrgetter("chain.rounds"))
    end = property(attrgetter("chain.status"))  # complete, shrunk, refused, no_image or failed

    @property
    def key(self) -> CaseKey:
        """Two editors with the same key were asked the same on the same picture."""
        return self.source, self.program, self.chain.run

    def values(self, name: str) -> Values:
        """Of a column of the scores or of _MADE."""
        floats, places = self.packed
        place = places[_PLACES[name]]
        if not isinstance(place, int):
            return place
        return [None if value != value else value for value in floats[place : place + self.rounds]]

    def judged(self, name: str) -> Values:
        """The retained values before or after undoing shift and scale, whichever are better."""
        return self.values(f"judged_{name}" if f"judged_{name}" in _MADE else f"retained_{name}")

    def quality(self, checks: Container[str] | None = None) -> Values:
        """The lowest of those that are checked, or of all that were computed."""
        if checks is None:
            checks = [name for name in QUALITIES if any(value is not None for value in self.judged(name))]
        lists = [self.judged(name) for name in QUALITIES if name in checks]
        return [None if None in values else min(values) for values in zip(*lists, strict=True)]


# Causes that no single column decides: a case and its checks -> values by round.
SERIES: dict[str, Callable[[Case, Sequence[str]], Sequence[Sequence[float | None]]]] = {
    "changed": lambda case, checks: [case.changed] if case.changed and "edits" in checks else [],
    "as_asked": lambda case, checks: [case.as_asked] if case.as_asked and "edits" in checks else [],
    "undone": lambda case, checks: [case.undone] if case.undone and "edits" in checks else [],
    "quality": lambda case, checks: [case.judged(name) for name in QUALITIES if name in checks],
    "part": lambda case, checks: [case.values("damage")] if "part" in checks else [],
    "framing": lambda case, checks: [case.values("framing_loss")],
    "meaning": lambda case, checks: [case.judged(name) for name in MEANINGS if name in checks],
}
# Columns of the scores that decide a cause.
CAUSE_COLUMNS = tuple(cause.decided_by for cause in CAUSES.values() if cause.decided_by not in {"", *SERIES})
if _UNKNOWN := set(CAUSE_COLUMNS) - score_column_names():
    raise TypeError(f"halflife/causes.py has a cause decided by {_UNKNOWN.pop()!r}, which is not a score column")
_STORED = ("rmse_previous", "framing_loss", *CAUSE_COLUMNS, *CURVES, *(f"retained_{name}" for name in RETAINED))
_MADE = ("judged_rmse", "judged_ssim", "left")  # left: the share of the edit that remains, of several the largest
_PLACES = {name: place for place, name in enumerate((*_STORED, *_MADE))}
# The only columns of the scores that are read to make a case.
_CASE_COLUMNS = (
    *("chain", "round", "position", "reasons", "psnr_registered", "ssim_registered"),
    *("edit_changed", "edit_as_asked", "edit_undone", "undo_ratio", *_STORED),
)
_CALL_COLUMNS = ("chain", "round", "status", "latency", "cost")
_NOT_SCORED = ScoreRow.from_scores({})  # for a step without a row


def read_cases(
    scores: StoredRows[ScoreRow], chains: Sequence[FinishedChain], floors: Floors, calls: StoredRows[StepRow]
) -> list[Case]:
    """Of all chains but those without scores or with a longer twin."""
    chosen: dict[tuple[str, str, str, int], FinishedChain] = {}
    scored = scores.counts
    refuse_orphans(scored, chains)
    for chain in sorted(chains, key=lambda chain: (-chain.rounds, chain.id)):
        key = (chain.editor, chain.source.id, chain.program.id, chain.run)
        # A chain that failed before it was scored is a case: missing must not help.
        if chain.id in scored or chain.status == "failed":
            chosen.setdefault(key, chain)
    by_id = {chain.id: chain for chain in chosen.values()}
    means = {name: _mean_call(rows, by_id[name]) for name, rows in calls.by_chain(_CALL_COLUMNS) if name in by_id}
    cases = {
        name: case_of_chain(by_id[name], rows, floors, *means.get(name, ()))
        for name, rows in scores.by_chain(_CASE_COLUMNS)
        if name in by_id
    }
    return [
        cases.get(name) or case_of_chain(chain, (), floors, *means.get(name, ())) for name, chain in by_id.items()
    ]


def refuse_orphans(scored: Iterable[str], chains: Iterable[FinishedChain]) -> None:
    """Raise if there are scores of a chain that is not there: without it, its editor may seem to last longer."""
    if orphans := sorted({*scored} - {chain.id for chain in chains}):
        what = f"has rows of chain {orphans[0]}, which data/chains does not have"
        raise UserError(f"data/scores {what}; restore data/chains, or build and score again")


def _mean_call(calls: Sequence[StepRow], chain: FinishedChain) -> tuple[float | None, float | None]:
    answered = [call for call in calls if call.round and call.status == "ok"]
    means = (mean_of(getattr(call, name) for call in answered) for name in ("latency", "cost"))
    latency, cost = (mean and len(chain.program.cycle) * mean for mean in means)
    return latency, cost


def case_of_chain(
    chain: FinishedChain,
    scores: Sequence[ScoreRow],
    floors: Floors,
    seconds: float | None = None,
    cost: float | None = None,
) -> Case:
    row_at = {(row.round, row.position): row for row in scores}
    positions = range(1, len(chain.program.cycle) + 1)
    rounds = range(1, chain.rounds + 1)
    by_round = [[row_at.get((round, place), _NOT_SCORED) for place in positions] for round in rounds]
    returns = [steps[-1] for steps in by_round]
    kinds = [role.kind for role in roles(chain.program.cycle, chain.program.closes)]
    changed, not_changed = _edits(by_round, kinds, "forward", "edit_changed")
    undone, not_undone = _edits(by_round, kinds, "undo", "edit_undone")
    left_out = {"not changed": not_changed, "not undone": not_undone}
    left = [
        max((row.undo_ratio for row in rows if row.undo_ratio is not None), default=None) for rows in by_round
    ]
    stored = [[row.value(name) for row in returns] for name in _STORED]
    return Case(
        chain,
        group_of_chain(chain),
        end_round=None if chain.status == "complete" else max((row.round for row in scores), default=1),
        packed=_pack([*stored, *_judged(chain, returns, floors), left]),
        changed=changed,
        as_asked=_shared(tuple(_as_asked(steps, kinds) for steps in by_round)) if "forward" in kinds else None,
        undone=undone,
        not_judged={cause: codes for cause, codes in left_out.items() if codes},
        seconds=seconds,
        cost=cost,
    )


def _edits(
    by_round: Sequence[Sequence[ScoreRow]], kinds: Sequence[str], kind: str, column: str
) -> tuple[tuple[bool | None, ...] | None, dict[int, str]]:
    if kind not in kinds:
        return None, {}
    verdicts, codes, is_unknown = [], {}, []
    for round, steps in enumerate(by_round, 1):
        edits = [step for step, step_kind in zip(steps, kinds, strict=True) if step_kind == kind]
        verdicts.append(_all_edits(edits, column))
        if verdicts[-1] is None and (code := _why_not_judged(edits, column)):
            codes[round] = code
        if any(steps[-1].value(name) is not None for name in CURVES):
            is_unknown.append(round in codes)
    return (None if is_unknown and all(is_unknown) else _shared(tuple(verdicts))), codes


def _as_asked(steps: Sequence[ScoreRow], kinds: Sequence[str]) -> bool | None:
    answers = [step.edit_as_asked for step, kind in zip(steps, kinds, strict=True) if kind == "forward"]
    return False if False in answers else None if None in answers else True


def _all_edits(steps: Sequence[ScoreRow], column: str) -> bool | None:
    values = [
        step.value(column)
        for step in steps
        if step.value(column) is not None or not _why_not_judged([step], column)
    ]
    if False in values:
        return False
    return None if None in values or not values else True


def _why_not_judged(steps: Sequence[ScoreRow], column: str) -> str:
    missing = [step.missing.get(column) for step in steps]
    if any(reason is None or reason.fault not in ("nobody", "not applicable") for reason in missing):
        return ""
    return next((reason.code for reason in missing if reason), "")


def _judged(chain: FinishedChain, returns: Sequence[ScoreRow], floors: Floors) -> Iterator[Values]:
    """LPIPS and CLIP are not computed once shift and scale are undone."""
    decibels = [row.psnr_registered for row in returns]
    registered = {
        "rmse": [psnr if psnr is None else 255 / 10 ** (psnr / 20) for psnr in decibels],
        "ssim": [row.ssim_registered for row in returns],
    }
    for name, values in registered.items():
        ceiling, floor = COLUMNS[name].ceiling or 0.0, floors.floor(chain, name)
        yield [
            kept
            if None in (kept, value, floor) or floor == ceiling
            else max(kept, retained_value(value, floor=floor, ceiling=ceiling))  # type: ignore[arg-type]  # none is None
            for kept, value in zip([row.value(f"retained_{name}") for row in returns], values, strict=True)
        ]


def checks_left_out(case: Case) -> dict[str, str]:
    """By cause; an edit that was not made leaves nothing to undo."""
    reasons = {
        cause: [code for code in codes.values() if code != "not_changed"]
        for cause, codes in case.not_judged.items()
    }
    return {cause: codes[0] for cause, codes in reasons.items() if codes}


def spread_rounds(last: int, count: int) -> list[int]:
    """At most `count` rounds, evenly spread."""
    if last <= count:
        return list(range(1, last + 1))
    return sorted({round(1 + place * (last - 1) / (count - 1)) for place in range(count)})


def column_range(metric: str) -> tuple[float, float]:
    """The limits of a curve's axis; shares are between 0 and 1."""
    column = COLUMNS.get(metric)
    if column is None:
        return 0.0, 1.0
    return -inf if column.low is None else column.low, inf if column.high is None else column.high


def panel_title(name: str) -> str:
    column = COLUMNS[name]
    return f"{column.aspect} ({column.title})" if column.aspect else column.title


TITLES = {
    "kept": "tests that survive",
    "quality": f"retained quality (lowest of {', '.join(COLUMNS[name].title for name in QUALITIES)})",
    **{name: COLUMNS[name].title for name in CURVES},
}
