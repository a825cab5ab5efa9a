"""One case is one chain as the statistics see it: what each round's return kept, and whether its edits were made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
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
    """One chain with its measured rounds. Lists hold one value per planned round; None where there is none."""

    chain: FinishedChain
    group: str
    end_round: int | None
    retained: dict[str, Values]
    registered: dict[str, Values]  # the same once shift and scale are undone, where they were found
    framing: Values  # the share of the frame that was lost with them
    raw: dict[str, Values]
    to_previous: Values  # RMSE to the return before, where the scores hold it
    part_lost: list[bool | None]
    of_causes: dict[str, Values]  # by column: what decides the causes that name a column of the scores
    part_share: Values  # of the picture: the largest part that changed
    redrawn_share: Values  # the largest part in which something else is drawn
    left: Values  # of the edit, where most of any is left
    applied: list[bool | None] | None
    undone: list[bool | None] | None
    not_judged: dict[str, dict[int, str]]  # check -> round -> why nobody can tell
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
        """What two editors have in common when they did the same thing."""
        return self.source, self.program, self.chain.run

    def judged(self, name: str) -> Values:
        """What a verdict rests on: the better of retained quality as it is and once shift and scale are undone."""
        after = self.registered.get(name) or [None] * len(self.retained[name])
        return [
            value if value is None or laid is None else max(value, laid)
            for value, laid in zip(self.retained[name], after, strict=True)
        ]

    @property
    def quality(self) -> Values:
        """The lowest of the retained qualities that were computed for this chain, round by round."""
        lists = [self.judged(name) for name in QUALITIES if any(value is not None for value in self.retained[name])]
        return [None if None in values else min(values) for values in zip(*lists, strict=True)]


# What decides the causes that are no single column of the scores: a case and its checks -> series, one value per round.
SERIES: dict[str, Callable[[Case, Sequence[str]], Sequence[Values | Sequence[bool | None] | None]]] = {
    "applied": lambda case, checks: [case.applied] if "edits" in checks else [],
    "undone": lambda case, checks: [case.undone] if "edits" in checks else [],
    "quality": lambda case, checks: [case.judged(name) for name in QUALITIES if name in checks],
    "part_lost": lambda case, checks: [case.part_lost] if "part_lost" in checks else [],
    "framing": lambda case, checks: [case.framing],
    "meaning": lambda case, checks: [case.judged(name) for name in MEANINGS if name in checks],
}
# Columns of the scores that decide a cause.
CAUSE_COLUMNS = tuple(cause.decided_by for cause in CAUSES.values() if cause.decided_by not in {"", *SERIES})
if unknown := set(CAUSE_COLUMNS) - score_column_names():
    raise TypeError(f"a cause in halflife/causes.py is decided by {unknown.pop()!r}, which no column of the scores is")
# Every column of the scores that a case is made of: no other is read for it.
CASE_COLUMNS = (
    *("chain", "round", "position", "reasons", "rmse_previous", "psnr_registered", "ssim_registered", "framing_loss"),
    *("edit_applied", "edit_undone", "undo_ratio", "part_lost", "part_lost_share", "part_redrawn_share"),
    *CAUSE_COLUMNS,
    *CURVES,
    *(f"retained_{name}" for name in RETAINED),
)
NOT_SCORED = ScoreRow.from_scores({})  # stands for a step without a row


def read_cases(
    scores: Sequence[ScoreRow] | StoredRows[ScoreRow],
    chains: Iterable[FinishedChain],
    floors: Floors,
    calls: Iterable[StepRow] = (),
) -> tuple[list[Case], list[str]]:
    """Every chain that has scores, and the ids of those that count twice or have none.

    Of several chains of one editor, source, program and run (from several datasets) the longest planned counts.
    """
    chosen: dict[tuple[str, str, str, int], FinishedChain] = {}
    left_out = []
    scored = {row.chain for row in narrow(scores, ["chain"])}
    for chain in sorted(chains, key=lambda chain: (-chain.rounds, chain.id)):
        key = (chain.editor, chain.source.id, chain.program.id, chain.run)
        # A chain that failed before anything could be scored is a case all the same: not to be there never helps.
        if key in chosen or (chain.id not in scored and chain.status != "failed"):
            left_out.append(chain.id)
        else:
            chosen[key] = chain
    of_id = {chain.id: chain for chain in chosen.values()}
    answered = {
        name: mean_call([row for row in rows if row.round and row.status == "ok"], of_id[name])
        for name, rows in by_chain(calls)
        if name in of_id
    }
    cases = {
        name: case_of_chain(of_id[name], rows, floors, answered.get(name, (None, None)))
        for name, rows in by_chain(narrow(scores, CASE_COLUMNS))
        if name in of_id
    }
    return [cases.get(one.id) or case_of_chain(one, (), floors, answered.get(one.id, (None, None)))
            for one in chosen.values()], left_out  # fmt: skip


def mean_call(calls: Sequence[StepRow], chain: FinishedChain) -> tuple[float | None, float | None]:
    """What a round of a chain took in seconds and in US dollars."""
    steps = len(chain.program.cycle)
    return mean_per_round([row.latency for row in calls], steps), mean_per_round([row.cost for row in calls], steps)


def case_of_chain(
    chain: FinishedChain,
    scores: Sequence[ScoreRow],
    floors: Floors,
    call: tuple[float | None, float | None] = (None, None),
) -> Case:
    """One chain with what was measured of its rounds; `call` is what a round took in seconds and US dollars."""
    cycle, planned = chain.program.cycle, range(1, chain.rounds + 1)
    kinds = [role.kind for role in roles(cycle, chain.program.closes)]
    at = {(row.round, row.position): row for row in scores}
    returns = [at.get((round, len(cycle)), NOT_SCORED) for round in planned]
    by_round = [[at.get((round, place), NOT_SCORED) for place in range(1, len(cycle) + 1)] for round in planned]
    measured = [round for round, row in enumerate(returns, 1) if any(row.value(name) is not None for name in CURVES)]
    not_judged: dict[str, dict[int, str]] = {}

    def edits_by_round(kind: str, column: str, cause: str) -> list[bool | None] | None:
        positions = [position for position, each in enumerate(kinds, 1) if each == kind]
        if not positions:
            return None
        steps = [[at.get((round, position), NOT_SCORED) for position in positions] for round in planned]
        made = [all_edits(each, column) for each in steps]
        codes = [
            None if value is not None else why_nobody_can_tell(each, column)
            for value, each in zip(made, steps, strict=True)
        ]
        not_judged[cause] = {round: code for round, code in enumerate(codes, 1) if code}
        if measured and all(round in not_judged[cause] for round in measured):
            return None  # the check cannot be made for this case
        return made

    return Case(
        chain,
        group_of_chain(chain),
        end_round=None if chain.status == "complete" else max((row.round for row in scores), default=1),
        retained={name: [row.value(f"retained_{name}") for row in returns] for name in RETAINED},
        registered=registered_qualities(chain, returns, floors),
        framing=[row.framing_loss for row in returns],
        raw={name: [row.value(name) for row in returns] for name in CURVES},
        to_previous=[row.rmse_previous for row in returns],
        part_lost=[part_lost_by(steps) for steps in by_round],
        of_causes={name: [row.value(name) for row in returns] for name in CAUSE_COLUMNS},
        part_share=[row.part_lost_share for row in returns],
        redrawn_share=[row.part_redrawn_share for row in returns],
        left=[most_left(steps) for steps in by_round],
        applied=edits_by_round("forward", "edit_applied", "not applied"),
        undone=edits_by_round("undo", "edit_undone", "not undone"),
        not_judged=not_judged,
        seconds=call[0],
        cost=call[1],
    )


def all_edits(steps: Sequence[ScoreRow], column: str) -> bool | None:
    """Whether all edits of a round were made, or taken back; None where that is not known.

    A step that nobody can judge is left out, unless there is no other.
    """
    values = [step.value(column) for step in steps]
    if False in values:
        return False
    if None not in values:
        return True
    judged = [
        value
        for value, step in zip(values, steps, strict=True)
        if value is not None or not why_nobody_can_tell([step], column)
    ]
    return None if None in judged or not judged else True


def registered_qualities(chain: FinishedChain, returns: Sequence[ScoreRow], floors: Floors) -> dict[str, Values]:
    """Retained quality of each return once shift and scale are undone; LPIPS and CLIP are not computed for that."""
    measured: dict[str, Values] = {
        "rmse": [value_or_none(row.psnr_registered, lambda psnr: 255 / 10 ** (psnr / 20)) for row in returns],
        "ssim": [row.ssim_registered for row in returns],
    }
    found = {}
    for name, values in measured.items():
        ceiling, floor = COLUMNS[name].ceiling or 0.0, floors.floor(chain, name)
        if floor is not None and floor != ceiling:
            found[name] = [
                value_or_none(value, partial(retained_value, floor=floor, ceiling=ceiling)) for value in values
            ]
    return found


def value_or_none(value: float | None, change: Callable[[float], float]) -> float | None:
    return None if value is None else change(value)


def part_lost_by(steps: Sequence[ScoreRow]) -> bool | None:
    """Whether the return of a round, or an undo before it, lost a part."""
    if any(step.part_lost for step in steps):
        return True
    return steps[-1].part_lost


def most_left(steps: Sequence[ScoreRow]) -> float | None:
    """How much of an edit is left after a round; of several edits the one of which most is left."""
    return max((step.undo_ratio for step in steps if step.undo_ratio is not None), default=None)


def checks_left_out(case: Case) -> dict[str, str]:
    """Why an edit could not be judged in some round of the case, by the cause it would have been lost to.

    Where an edit was not made there is nothing to take back; that is no gap.
    """
    found = {}
    for cause, codes in case.not_judged.items():
        reasons = [code for code in codes.values() if code != "not_applied"]
        if reasons:
            found[cause] = reasons[0]
    return found


def why_nobody_can_tell(steps: Sequence[ScoreRow], column: str) -> str:
    """The code of the reason why none of these steps has a value, where that is nobody's fault; or nothing."""
    missing = [step.missing.get(column) for step in steps]
    if any(each is None or each.fault not in (Fault.NOBODY, Fault.NOT_APPLICABLE) for each in missing):
        return ""
    return missing[0].code if missing and missing[0] else ""


def mean_per_round(values: Sequence[float | None], steps: int) -> float | None:
    """The mean over the steps that have a value, times the steps in a round."""
    known = [value for value in values if value is not None]
    return steps * sum(known) / len(known) if known else None


def spread_rounds(last: int, count: int) -> list[int]:
    """Rounds from the first to the last, evenly."""
    if last <= count:
        return list(range(1, last + 1))
    return sorted({round(1 + place * (last - 1) / (count - 1)) for place in range(count)})


def column_range(metric: str) -> tuple[float, float]:
    """The smallest and the largest value that a curve can have; shares of something lie between 0 and 1."""
    column = COLUMNS.get(metric)
    if column is None:
        return 0.0, 1.0
    return -inf if column.low is None else column.low, inf if column.high is None else column.high


def panel_title(name: str) -> str:
    """What a metric looks at, with its name: meaning (CLIP)."""
    column = COLUMNS[name]
    return f"{column.aspect} ({column.title})" if column.aspect else column.title


def retained_title(name: str) -> str:
    column = COLUMNS[name]
    return f"retained {panel_title(name)}" if column.headline == "meaning" else f"retained {column.title}"


TITLES = {
    "kept": "tests that survive",
    "quality": f"retained quality (lowest of {', '.join(COLUMNS[name].title for name in QUALITIES)})",
    **{f"retained {name}": retained_title(name) for name in RETAINED},
    **{name: COLUMNS[name].title for name in CURVES},
}
