"""The leaderboard under a visitor's own choice of programs, pictures, metric and threshold."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..statistics import leaderboard, pairs, recall
from ..statistics.cases import RETAINED, Case
from ..statistics.fates import HALF, Field, converged, fields, of_curve, quality
from ..statistics.report import standing
from ..statistics.table import Table
from .store import Store, Unknown

ALL = "all"
METRICS = {
    "convergence": "All that is checked",
    "quality": "Quality: the lowest of the three",
    "rmse": "Pixels (RMSE)",
    "ssim": "Structure (SSIM)",
    "lpips": "Appearance (LPIPS)",
    "clip": "Meaning (CLIP)",
}
KEPT = 256  # answers that are remembered


@dataclass(frozen=True)
class Choice:
    """What a visitor asked for."""

    group: str = ""
    kind: str = ALL
    category: str = ALL
    metric: str = "convergence"
    threshold: float = HALF
    editors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Board:
    """The answer: the table, the comparisons, and the cases behind them."""

    table: Table
    versus: Table
    field: Field | None
    fates: dict[str, list[Any]]


def groups(store: Store) -> list[str]:
    """The groups of programs that a headline counts."""
    if "groups" not in store.kept:
        store.kept["groups"] = list(fields(store.cases, store.excluded))
    return store.kept["groups"]


def metrics(store: Store) -> dict[str, str]:
    """The metrics that this dataset has values for, with their titles."""
    if "metrics" not in store.kept:
        there = {name for case in store.cases for name in RETAINED if any(v is not None for v in case.retained[name])}
        store.kept["metrics"] = {
            name: title for name, title in METRICS.items() if name not in RETAINED or name in there
        }
    return store.kept["metrics"]


def checked(store: Store, choice: Choice) -> Choice:
    """The choice with its defaults filled in, or one sentence that says what is allowed."""
    known = groups(store)
    if not known:
        raise Unknown("there is no case to count in these scores")
    choice = replace(choice, group=choice.group or known[0], editors=tuple(choice.editors))
    for what, value, allowed in (
        ("group", choice.group, known),
        ("kind", choice.kind, [ALL, *store.names["kind"]]),
        ("category", choice.category, [ALL, *store.names["category"]]),
        ("metric", choice.metric, list(metrics(store))),
        *(("editor", editor, store.names["editor"]) for editor in choice.editors),
    ):
        if value not in allowed:
            raise Unknown(f"no {what} {str(value)[:40]!r}; it is one of {', '.join(allowed)}")
    if not isinstance(choice.threshold, int | float) or not 0 < choice.threshold <= 1:
        raise Unknown(f"the threshold is {str(choice.threshold)[:40]}; it lies above 0 and at most at 1")
    return choice


def board(store: Store, choice: Choice = Choice()) -> Board:
    """The headline table for a choice; asked again, it is remembered."""
    choice = checked(store, choice)
    known: OrderedDict[Choice, Board] = store.kept.setdefault("boards", OrderedDict())
    if choice not in known:
        known[choice] = made(store, choice)
        while len(known) > KEPT:
            known.popitem(last=False)
    return known[choice]


def made(store: Store, choice: Choice) -> Board:
    own = chosen(store, choice)
    if own is None:
        none = "No chain of these programs is on such pictures."
        return Board(Table("leaderboard", "Convergence", leaderboard.COLUMNS, [], none), pairs.table([]), None, {})
    fates = {editor: [fate(case, own, choice) for case in cases] for editor, cases in own.cases.items()}
    rows, versus = standing(own, fates, recalling(store), choice.threshold)
    if choice.metric != "convergence":
        rows = [row | {"name": METRICS[choice.metric]} for row in rows]
    return Board(leaderboard.table(rows), pairs.table(versus), own, fates)


def chosen(store: Store, choice: Choice) -> Field | None:
    """The cases of the choice, as the headline counts them."""
    cases = [
        case
        for case in store.cases
        if choice.kind in (ALL, case.kind)
        and choice.category in (ALL, case.category)
        and (not choice.editors or case.editor in choice.editors)
    ]
    return fields(cases, store.excluded).get(choice.group)


def fate(case: Case, own: Field, choice: Choice) -> Any:
    """What became of one case by the chosen measure."""
    if choice.metric == "convergence":
        return converged(case, own.checks, choice.threshold)
    values = quality(case, own.checks) if choice.metric == "quality" else case.retained[choice.metric]
    own_fate = of_curve(case, values, choice.threshold)
    lost_to = "meaning lost" if choice.metric == "clip" else "quality lost"
    return replace(own_fate, cause=lost_to) if own_fate.cause == "below the threshold" else own_fate


def recalling(store: Store) -> list[str]:
    """The editors that are listed apart."""
    if "recalling" not in store.kept:
        audited = [chain for chain, row in store.chains.items() if '"audit"' in (row["settings"] or "")]
        scores = [row for chain in audited for row in store.rows_of(chain)]
        store.kept["recalling"] = recall.confirmed(recall.table(scores, [store.chains[chain] for chain in audited]))
    return store.kept["recalling"]


def sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the comparisons say, one sentence each."""
    return [row["sentence"] for row in rows]
