"""Whether p, verdicts and ranks move when rows are shuffled, ids renamed, cases doubled, or strangers added."""

from collections.abc import Mapping
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
KINDS = (
    "rows shuffled, editors and sources renamed",
    "cases doubled",
    "ten strangers: against a fixed baseline",
    "ten strangers: open pairs decided, overlapping ranks parted",
)


def made_up(rng: np.random.Generator, sources: int, name: str = "editor") -> dict[str, dict]:
    """Six editors of one half to twice the usual rounds on three programs; 3% of the cases are not there."""
    base = rng.gamma(3, 2, (1, sources, 3))
    factors = 2.0 ** np.linspace(-1, 1, EDITORS)[:, None, None]
    kept = np.minimum(rng.poisson(base * factors * rng.gamma(4, 0.25, (EDITORS, sources, 3))), ROUNDS)
    table: dict[str, dict] = {f"{name}-{editor}": {} for editor in range(EDITORS)}
    for editor, s, p in np.argwhere(rng.random(kept.shape) > 0.03).tolist():
        rounds = int(kept[editor, s, p])
        outcome = Outcome(rounds) if rounds >= ROUNDS else Outcome(rounds, rounds + 1, "quality lost")
        table[f"{name}-{editor}"][f"picture-{s}", f"program-{p}", 1] = (outcome, ROUNDS)
    return table


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


def figures(pairs: list[Comparison], names: Mapping[str, str]) -> dict[frozenset, tuple]:
    """What must not move, with the editors' new names: p, corrected p, whom the verdict names."""
    found = {}
    for pair in pairs:
        first, second = names[pair.first], names[pair.second]
        winner = {"first": first, "second": second}.get(pair.verdict, pair.verdict)
        found[frozenset((first, second))] = (pair.p_value, pair.p_corrected, winner)
    return found


def count_changes(tables: int) -> dict[str, list[int]]:
    """What was done -> how many pairs moved and of how many; ranks likewise."""
    rng = np.random.default_rng(5)
    shuffled, twice, against_fixed, strangers = moved = [[0, 0, 0, 0] for _ in KINDS]
    for sources in SOURCES:
        for _ in range(tables):
            table = made_up(rng, sources)
            usual = compare_editors(table, list(table))
            ranks = rank_intervals(list(table), usual)
            same = {name: name for name in table}
            # What only repeats the data gives no new evidence.
            doubled = {name: own | {(*key[:2], 2): own[key] for key in own} for name, own in table.items()}
            changes = ((shuffled, *renamed_and_shuffled(rng, table)), (twice, doubled, same))
            for counts, changed, names in changes:
                again = compare_editors(changed, list(changed))
                before, after = figures(usual, names), figures(again, {name: name for name in changed})
                later = rank_intervals(list(changed), again)
                add(counts, [before[pair] != after[pair] for pair in before])
                add(counts, [ranks[each] != later[names[each]] for each in table], 2)
            more = table | dict(list((made_up(rng, sources, "one") | made_up(rng, sources, "two")).items())[:10])
            baseline, *others = table
            alone, beside = (
                judge_alone([compare_two(rows, each, baseline) for each in others]) for rows in (table, more)
            )
            add(against_fixed, [replace(a) != replace(b) for a, b in zip(alone, beside, strict=True)])
            many = compare_editors(more, list(more))
            decided = {pair: values[2] for pair, values in figures(many, {name: name for name in more}).items()}
            was_open = [pair for pair, values in figures(usual, same).items() if values[2] == "open"]
            add(strangers, [decided[pair] != "open" for pair in was_open])
            later = rank_intervals(list(more), many)
            touching = [(a, b) for a, b in combinations(table, 2) if overlap(ranks, a, b)]
            add(strangers, [not overlap(later, a, b) for a, b in touching], 2)
    return dict(zip(KINDS, moved, strict=True))


def add(counts: list[int], marks: list[bool], place: int = 0) -> None:
    counts[place] += sum(marks)
    counts[place + 1] += len(marks)


def overlap(ranks: dict, one: str, other: str) -> bool:
    return ranks[one][0] <= ranks[other][1] and ranks[other][0] <= ranks[one][1]


def tables(scale: float) -> dict[str, str]:
    counts = count_changes(max(int(TABLES * scale), 1))
    rows = [[kind, f"{a} of {b}", f"{c} of {d}" if d else "–"] for kind, (a, b, c, d) in counts.items()]
    return {"invariance": markdown(["what was done", "pairs that moved", "ranks that moved"], rows)}
