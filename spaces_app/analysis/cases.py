"""One case is one chain as the statistics see it: what each round's return kept, and whether its edits were made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

from convergebench.dataset_builder.dataset.rows import StepRow
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.retained.floors import retained_value
from convergebench.metric_modules.scores import Fault, ScoreRow, score_column_names
from convergebench.metric_modules.specs import (
    curve_columns,
    meaning_columns,
    quality_columns,
    retained_columns,
    score_columns,
)

from .floors import Floors
from .program_groups import group_of_chain
from .stored_rows import StoredRows, by_chain, narrow

COLUMNS = score_columns()
CURVES = curve_columns()  # drawn over rounds, each in its own unit
RETAINED = tuple(retained_columns())  # on the scale from 1, untouched, to 0
QUALITIES = quality_columns()
MEANINGS = meaning_columns()

Values = list[float | None]
CaseKey = tuple[str, str, int]  # source, program, run


@dataclass(frozen=True)
class Case:
    """One chain with its measured rounds. Lists hold one value per planned round; None if it has no value."""

    chain: FinishedChain
    group: str
    end_round: int | None
    retained: dict[str, Values]
    registered: dict[str, Values]  # the same once shift and scale are undone, if they were found
    framing: Values  # the share of the frame that was lost with them
    raw: dict[str, Values]
    to_previous: Values  # RMSE to the return before
    part_lost: list[bool | None]
    of_causes: dict[str, Values]  # by column: what decides the causes that name a column of the scores
    part_share: Values  # of the picture: the largest part that changed
    redrawn_share: Values  # the largest part in which something else is drawn
    left: Values  # the share of the edit that remains; of several edits, the largest
    applied: list[bool | None] | None
    undone: list[bool | None] | None
    not_judged: dict[str, dict[int, str]]  # cause -> round -> the code of the reason it could not be judged
    seconds: float | None  # per round
    cost: float | None  # US dollars per round

    # Views of the chain, named like the columns of tables: source and program are ids.

    @property
    def editor(self) -> str:
        return self.chain.editor

    @property
    def source(self) -> str:
        return self.chain.source.id

    @property
    def program(self) -> str:
        return self.chain.program.id

    @property
    def kind(self) -> str:
        return self.chain.source.kind

    @property
    def category(self) -> str:
        return self.chain.program.category

    @property
    def reversibility(self) -> str:
        return self.chain.program.reversibility

    @property
    def rounds(self) -> int:
        return self.chain.rounds

    @property
    def end(self) -> str:
        """How the chain ended: complete, shrunk, refused, no_image or failed."""
        return self.chain.status

    @property
    def key(self) -> CaseKey:
        """Identifies the task: two editors with the same key were asked the same on the same picture."""
        return self.source, self.program, self.chain.run

    def judged(self, name: str) -> Values:
        """The values that a verdict uses: retained quality before or after undoing shift and scale, the better one."""
        registered = self.registered.get(name) or [None] * len(self.retained[name])
        return [
            value if value is None or aligned is None else max(value, aligned)
            for value, aligned in zip(self.retained[name], registered, strict=True)
        ]

    @property
    def quality(self) -> Values:
        """The lowest of the retained qualities that were computed for this chain, round by round."""
        lists = [self.judged(name) for name in QUALITIES if any(value is not None for value in self.retained[name])]
        return [None if None in values else min(values) for values in zip(*lists, strict=True)]


# For causes that no single column of the scores decides: a case and its checks -> series, one value per round.
SERIES: dict[str, Callable[[Case, Sequence[str]], Sequence[Sequence[float | None] | None]]] = {
    "applied": lambda case, checks: [case.applied] if "edits" in checks else [],
    "undone": lambda case, checks: [case.undone] if "edits" in checks else [],
    "quality": lambda case, checks: [case.judged(name) for name in QUALITIES if name in checks],
    "part_lost": lambda case, checks: [case.part_lost] if "part_lost" in checks else [],
    "framing": lambda case, checks: [case.framing],
    "meaning": lambda case, checks: [case.judged(name) for name in MEANINGS if name in checks],
}
# Columns of the scores that decide a cause.
_CAUSE_COLUMNS = tuple(cause.decided_by for cause in CAUSES.values() if cause.decided_by not in {"", *SERIES})
if _UNKNOWN := set(_CAUSE_COLUMNS) - score_column_names():
    raise TypeError(f"a cause in halflife/causes.py is decided by {_UNKNOWN.pop()!r}, which is not a score column")
# The only columns of the scores that are read to make a case.
_CASE_COLUMNS = (
    *("chain", "round", "position", "reasons", "rmse_previous", "psnr_registered", "ssim_registered", "framing_loss"),
    *("edit_applied", "edit_undone", "undo_ratio", "part_lost", "part_lost_share", "part_redrawn_share"),
    *_CAUSE_COLUMNS,
    *CURVES,
    *(f"retained_{name}" for name in RETAINED),
)
_NOT_SCORED = ScoreRow.from_scores({})  # for a step without a row


def read_cases(
    scores: Sequence[ScoreRow] | StoredRows[ScoreRow],
    chains: Iterable[FinishedChain],
    floors: Floors,
    calls: Iterable[StepRow] = (),
) -> tuple[list[Case], list[str]]:
    """Every chain that has scores, and the ids of those that count twice or have none.

    If several datasets have a chain of the same editor, source, program and run, the longest planned one counts.
    """
    chosen: dict[tuple[str, str, str, int], FinishedChain] = {}
    left_out = []
    scored = {row.chain for row in narrow(scores, ["chain"])}
    for chain in sorted(chains, key=lambda chain: (-chain.rounds, chain.id)):
        key = (chain.editor, chain.source.id, chain.program.id, chain.run)
        # A chain that failed before anything could be scored is still a case: a missing chain must never help.
        if key in chosen or (chain.id not in scored and chain.status != "failed"):
            left_out.append(chain.id)
        else:
            chosen[key] = chain
    by_id = {chain.id: chain for chain in chosen.values()}
    means = {name: _mean_call(rows, by_id[name]) for name, rows in by_chain(calls) if name in by_id}
    no_calls = (None, None)
    cases = {
        name: case_of_chain(by_id[name], rows, floors, means.get(name, no_calls))
        for name, rows in by_chain(narrow(scores, _CASE_COLUMNS))
        if name in by_id
    }
    return [
        cases.get(chain.id) or case_of_chain(chain, (), floors, means.get(chain.id, no_calls))
        for chain in chosen.values()
    ], left_out


def _mean_call(calls: Sequence[StepRow], chain: FinishedChain) -> tuple[float | None, float | None]:
    """The mean seconds and US dollars per round of a chain, from its answered calls."""
    answered = [call for call in calls if call.round and call.status == "ok"]
    latencies = [call.latency for call in answered if call.latency is not None]
    costs = [call.cost for call in answered if call.cost is not None]
    steps = len(chain.program.cycle)
    return (
        steps * sum(latencies) / len(latencies) if latencies else None,
        steps * sum(costs) / len(costs) if costs else None,
    )


def case_of_chain(
    chain: FinishedChain,
    scores: Sequence[ScoreRow],
    floors: Floors,
    call: tuple[float | None, float | None] = (None, None),
) -> Case:
    """The case of one chain, from the scores of its steps; `call` holds seconds and US dollars per round."""
    by_round = _steps_by_round(chain, scores)
    returns = [steps[-1] for steps in by_round]
    kinds = [role.kind for role in roles(chain.program.cycle, chain.program.closes)]
    applied, not_applied = _edits(by_round, kinds, "forward", "edit_applied")
    undone, not_undone = _edits(by_round, kinds, "undo", "edit_undone")

    def column(name: str) -> Values:
        return [row.value(name) for row in returns]

    return Case(
        chain,
        group_of_chain(chain),
        end_round=None if chain.status == "complete" else max((row.round for row in scores), default=1),
        retained={name: column(f"retained_{name}") for name in RETAINED},
        registered=_registered_qualities(chain, returns, floors),
        framing=[row.framing_loss for row in returns],
        raw={name: column(name) for name in CURVES},
        to_previous=[row.rmse_previous for row in returns],
        # An undo may lose a part before the round's return is made.
        part_lost=[any(step.part_lost for step in steps) or steps[-1].part_lost for steps in by_round],
        of_causes={name: column(name) for name in _CAUSE_COLUMNS},
        part_share=[row.part_lost_share for row in returns],
        redrawn_share=[row.part_redrawn_share for row in returns],
        left=[_most_left(steps) for steps in by_round],
        applied=applied,
        undone=undone,
        not_judged={"not applied": not_applied, "not undone": not_undone},
        seconds=call[0],
        cost=call[1],
    )


def _steps_by_round(chain: FinishedChain, scores: Sequence[ScoreRow]) -> list[list[ScoreRow]]:
    """The rows of every planned round, position by position."""
    row_at = {(row.round, row.position): row for row in scores}
    positions = range(1, len(chain.program.cycle) + 1)
    return [
        [row_at.get((round, position), _NOT_SCORED) for position in positions] for round in range(1, chain.rounds + 1)
    ]


def _edits(
    by_round: Sequence[Sequence[ScoreRow]], kinds: Sequence[str], kind: str, column: str
) -> tuple[list[bool | None] | None, dict[int, str]]:
    """Whether each round's edits were made (or undone), and the rounds that could not be judged, with the reason.

    The first is None if the program asks for no such edit or no measured round could be judged.
    """
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
    return (None if is_unknown and all(is_unknown) else verdicts), codes


def _all_edits(steps: Sequence[ScoreRow], column: str) -> bool | None:
    """Whether all edits of a round were made (or undone); None if unknown.

    Steps that could not be judged are ignored, unless there are no others.
    """
    values = [step.value(column) for step in steps]
    if False in values:
        return False
    if None not in values:
        return True
    judged = [
        value
        for value, step in zip(values, steps, strict=True)
        if value is not None or not _why_not_judged([step], column)
    ]
    return None if None in judged or not judged else True


def _registered_qualities(chain: FinishedChain, returns: Sequence[ScoreRow], floors: Floors) -> dict[str, Values]:
    """Retained quality of each return once shift and scale are undone; LPIPS and CLIP are not computed for that."""
    measured = {
        "rmse": [
            psnr if psnr is None else 255 / 10 ** (psnr / 20) for psnr in (row.psnr_registered for row in returns)
        ],
        "ssim": [row.ssim_registered for row in returns],
    }
    registered = {}
    for name, values in measured.items():
        ceiling, floor = COLUMNS[name].ceiling or 0.0, floors.floor(chain, name)
        if floor is not None and floor != ceiling:
            registered[name] = [
                value if value is None else retained_value(value, floor=floor, ceiling=ceiling) for value in values
            ]
    return registered


def _most_left(steps: Sequence[ScoreRow]) -> float | None:
    """The share of the edit that remains after a round; of several edits, the largest."""
    return max((step.undo_ratio for step in steps if step.undo_ratio is not None), default=None)


def checks_left_out(case: Case) -> dict[str, str]:
    """Why some round's edits could not be judged, by the cause for which the case could have been lost.

    An edit that was not made leaves nothing to undo, so its undo does not count as unjudged.
    """
    reasons = {
        cause: [code for code in codes.values() if code != "not_applied"] for cause, codes in case.not_judged.items()
    }
    return {cause: codes[0] for cause, codes in reasons.items() if codes}


def _why_not_judged(steps: Sequence[ScoreRow], column: str) -> str:
    """The first reason's code if no step could be judged and nothing failed; otherwise empty."""
    missing = [step.missing.get(column) for step in steps]
    if any(reason is None or reason.fault not in (Fault.NOBODY, Fault.NOT_APPLICABLE) for reason in missing):
        return ""
    return missing[0].code if missing and missing[0] else ""


def spread_rounds(last: int, count: int) -> list[int]:
    """At most `count` rounds, evenly spread from the first to the last."""
    if last <= count:
        return list(range(1, last + 1))
    return sorted({round(1 + place * (last - 1) / (count - 1)) for place in range(count)})


def column_range(metric: str) -> tuple[float, float]:
    """The smallest and the largest value that a curve can have; shares are between 0 and 1."""
    column = COLUMNS.get(metric)
    if column is None:
        return 0.0, 1.0
    return -inf if column.low is None else column.low, inf if column.high is None else column.high


def panel_title(name: str) -> str:
    """A metric's aspect with its name, such as 'meaning (CLIP)'."""
    column = COLUMNS[name]
    return f"{column.aspect} ({column.title})" if column.aspect else column.title


TITLES = {
    "kept": "tests that survive",
    "quality": f"retained quality (lowest of {', '.join(COLUMNS[name].title for name in QUALITIES)})",
    **{
        f"retained {name}": f"retained {panel_title(name) if name in MEANINGS else COLUMNS[name].title}"
        for name in RETAINED
    },
    **{name: COLUMNS[name].title for name in CURVES},
}
