"""Whether p, verdicts and ranks move when rows are shuffled, ids renamed, cases doubled, or strangers added."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from convergebench.metric_modules.halflife.comparison import Comparison, judge_alone, rank_intervals
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.comparisons import CaseOutcomes, compare_editors, compare_two

from . import markdown

ROUNDS = 20
EDITORS = 6
SOURCES = (12, 15, 20, 40)
TABLES = 10  # of each size


def made_up(rng: np.random.Generator, sources: int, name: str = "editor") -> dict[str, dict]:
    """Six editors of one half to twice the usual rounds on three programs; 3% of the cases are not there."""
    base = rng.gamma(3, 2, (1, sources, 3))
    factors = 2.0 ** np.linspace(-1, 1, EDITORS)[:, None, None]
    kept = np.minimum(rng.poisson(base * factors * rng.gamma(4, 0.25, (EDITORS, sources, 3))), ROUNDS)
    is_there = rng.random(kept.shape) > 0.03
    return {
        f"{name}-{editor}": {
            (f"picture-{s}", f"program-{p}", 1): (outcome(int(kept[editor, s, p])), ROUNDS)
            for s, p in np.argwhere(is_there[editor]).tolist()
        }
        for editor in range(EDITORS)
    }


def outcome(kept: int) -> Outcome:
    return Outcome(kept) if kept >= ROUNDS else Outcome(kept, kept + 1, "quality lost")


def renamed_and_shuffled(rng: np.random.Generator, table: CaseOutcomes) -> tuple[dict[str, dict], dict[str, str]]:
    """Other names of editors and sources, and another order of everything; with the new names of the editors."""
    editors = dict(zip(table, (f"e{number}" for number in rng.permutation(len(table))), strict=True))
    sources = sorted({key[0] for own in table.values() for key in own})
    pictures = dict(zip(sources, (f"p{number}" for number in rng.permutation(len(sources))), strict=True))
    found = {}
    for name in rng.permutation(list(table)).tolist():
        own = list(table[name].items())
        order = rng.permutation(len(own)).tolist()
        found[editors[name]] = {(pictures[own[n][0][0]], *own[n][0][1:]): own[n][1] for n in order}
    return found, editors


def doubled(table: CaseOutcomes) -> dict[str, dict]:
    """Every case twice: what only repeats the data gives no new evidence."""
    return {editor: own | {(*key[:2], 2): value for key, value in own.items()} for editor, own in table.items()}


def figures(pairs: list[Comparison]) -> dict[frozenset, tuple]:
    """What must not move: p, corrected p, whom the verdict names."""
    return {
        frozenset((pair.first, pair.second)): (
            pair.p_value,
            pair.p_corrected,
            {"first": pair.first, "second": pair.second}.get(pair.verdict, pair.verdict),
        )
        for pair in pairs
    }


def with_names(figures_of_pairs: dict[frozenset, tuple], names: dict[str, str]) -> dict[frozenset, tuple]:
    return {
        frozenset(names[editor] for editor in pair): (*values[:2], names.get(values[2], values[2]))
        for pair, values in figures_of_pairs.items()
    }


def count_changes(tables: int) -> dict[str, list[int]]:
    """What was done -> how many pairs moved and of how many; ranks likewise."""
    rng = np.random.default_rng(5)
    kinds = (
        "rows shuffled, editors and sources renamed",
        "cases doubled",
        "ten strangers: against a fixed baseline",
    )
    moved = {kind: [0, 0, 0, 0] for kind in kinds}
    strangers = [0, 0, 0, 0]  # open pairs decided, of; overlapping rank limits parted, of
    for sources in SOURCES:
        for _ in range(tables):
            table = made_up(rng, sources)
            usual = compare_editors(table, list(table))
            ranks = rank_intervals(list(table), usual)
            other, names = renamed_and_shuffled(rng, table)
            for kind, changed, own in (
                (kinds[0], other, names),
                (kinds[1], doubled(table), {n: n for n in table}),
            ):
                again = compare_editors(changed, list(changed))
                before, after = with_names(figures(usual), own), figures(again)
                later = rank_intervals(list(changed), again)
                add(moved[kind], [before[pair] != after[pair] for pair in before])
                add(moved[kind], [ranks[each] != later[own[each]] for each in table], 2)
            more = table | dict(list((made_up(rng, sources, "one") | made_up(rng, sources, "two")).items())[:10])
            baseline, *others = table
            alone, beside = (
                judge_alone([compare_two(rows, each, baseline) for each in others]) for rows in (table, more)
            )
            add(moved[kinds[2]], [replace(a) != replace(b) for a, b in zip(alone, beside, strict=True)])
            many = compare_editors(more, list(more))
            decided = {key: values[2] for key, values in figures(many).items()}
            was_open = [key for key, values in figures(usual).items() if values[2] == "open"]
            add(strangers, [decided[key] != "open" for key in was_open])
            later = rank_intervals(list(more), many)
            touching = [(a, b) for a, b in combinations(table, 2) if overlap(ranks, a, b)]
            add(strangers, [not overlap(later, a, b) for a, b in touching], 2)
    return moved | {"ten strangers: open pairs decided, overlapping ranks parted": strangers}


def add(counts: list[int], marks: list[bool], place: int = 0) -> None:
    counts[place] += sum(marks)
    counts[place + 1] += len(marks)


def overlap(ranks: dict, one: str, other: str) -> bool:
    return ranks[one][0] <= ranks[other][1] and ranks[other][0] <= ranks[one][1]


def tables(scale: float) -> dict[str, str]:
    rows = [
        [kind, f"{a} of {b}", f"{c} of {d}" if d else "–"]
        for kind, (a, b, c, d) in count_changes(max(int(TABLES * scale), 1)).items()
    ]
    return {"invariance": markdown(["what was done", "pairs that moved", "ranks that moved"], rows)}
