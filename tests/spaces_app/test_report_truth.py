"""What a hostile referee would try: dropped cases, refusals, technical failures. The full counts are slow tests."""

from itertools import product
from types import SimpleNamespace

import numpy
import pytest
from convergebench.metric_modules.halflife.causes import FAILED
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.comparisons import compare_editors, outcomes_by_case, verdict_name
from convergebench.spaces_app.analysis.groups import count_failures
from convergebench.spaces_app.statistics import leaderboard
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import chain_row, dataset, end_chain, finished, floor_rows, kept_rounds, report, score_rows
from test_report import board

ROUNDS = 20
EDITORS = {"better": 2.0, "equal-one": 1.0, "equal-two": 1.0}


def outcome(kept):
    return Outcome(kept) if kept >= ROUNDS else Outcome(kept, kept + 1, "quality lost")


# Cases dropped


def verdicts(kept, share=0.0, generator=None):
    """Of each pair, where this share of every editor's cases is missing by chance."""
    cases = {editor: {} for editor in kept}
    for editor, values in kept.items():
        there = generator.random(values.shape) > share if generator else numpy.ones(values.shape)
        for source, program in numpy.argwhere(there).tolist():
            case = (f"picture-{source}", f"program-{program}", 1)
            cases[editor][case] = (outcome(int(values[source, program])), ROUNDS)
    return {(pair.first, pair.second): verdict_name(pair) for pair in compare_editors(cases, list(cases))}


@pytest.mark.parametrize("simulations", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_dropping_cases_at_random_never_reverses_a_verdict(simulations):
    generator = numpy.random.default_rng(7)
    kept = kept_rounds(generator, EDITORS, 20, 3, ROUNDS)
    full = verdicts(kept)
    assert full["better", "equal-one"] == full["better", "equal-two"] == "better"
    for _ in range(simulations):
        fewer = verdicts(kept, generator.uniform(0.1, 0.6), generator)
        for pair in product(["better"], EDITORS.keys() - {"better"}):
            assert fewer[pair] not in {*pair} - {full[pair]}


# Refusals

RISING = ("rounds_kept", "restricted_mean", "survival", "forward", "quality_kept", "meaning_kept")
CHAINS = {
    "kept": st.lists(st.integers(0, 12), min_size=6, max_size=6),
    "cause": st.sampled_from(["quality lost", "not changed", "not undone"]),
    "which": st.integers(0, 5),
    "round": st.integers(1, 12),
    "position": st.sampled_from([1, 2]),
    "status": st.sampled_from(["refused", "no_image", "shrunk"]),
}


def chains_of(editor, kept, cause):
    """Three pictures by two programs."""
    chains = [chain_row(editor, place // 2, place % 2, 12) for place in range(6)]
    return [(chain, score_rows(chain, own, cause=cause)) for chain, own in zip(chains, kept, strict=True)]


def analysis_of(made):
    scores, chains = [row for _, rows in made for row in rows], [chain for chain, _ in made]
    return Analysis(scores, finished(chains), floor_rows(3))


@settings(max_examples=20, deadline=None)
@given(**CHAINS)
def test_a_refusal_never_raises_an_editors_score(kept, cause, which, round, position, status):
    made = chains_of("one", kept, cause)
    refusing = [*made]
    refusing[which] = end_chain(*made[which], round, position, status)
    [before], [after] = (leaderboard.rows(analysis_of(each)) for each in (made, refusing))
    for name in RISING:
        assert after.cells[name] <= before.cells[name] + 1e-9, name
    assert (after.cells["half_life"] or 99) <= (before.cells["half_life"] or 99)


@settings(max_examples=20, deadline=None)
@given(**CHAINS, failed=st.integers(0, 5))
def test_a_refusal_never_helps_in_a_comparison(kept, cause, which, round, position, status, failed):
    # With technical failures Kaplan and Meier share their weight among the others, so only pairs have this for certain.
    made = chains_of("one", kept, cause)
    if failed != which:
        made[failed] = end_chain(*made[failed], 5, status="failed")
    refusing = [*made]
    refusing[which] = end_chain(*made[which], round, position, status)
    rival = chains_of("two", [5] * 6, "quality lost")
    before, after = (difference(analysis_of([*each, *rival])) for each in (made, refusing))
    assert after <= before + 1e-9


def difference(analysis):
    by_case = outcomes_by_case(analysis.groups["round trips"], analysis.outcomes["round trips"])
    [pair] = compare_editors(by_case, ["one", "two"])
    return pair.difference


# Technical failures count as losses: an editor never gains by not answering


def counted(cases):
    """Outcomes of cases, each with its rounds kept and the round in which it fails, if any."""
    ends = [SimpleNamespace(end="complete" if end is None else "failed", end_round=end) for _, end in cases]
    lost = [outcome(kept) if end is None or end > kept else Outcome(end - 1, failed=True) for kept, end in cases]
    return count_failures(ends, lost)


CASES = st.lists(
    st.tuples(st.integers(0, ROUNDS), st.one_of(st.none(), st.integers(1, ROUNDS))), min_size=1, max_size=60
)


@settings(max_examples=200, deadline=None)
@given(CASES, st.randoms(use_true_random=False))
def test_failures_never_lengthen_a_case_in_any_order(cases, random):
    outcomes = counted(cases)
    for made, (kept, _) in zip(outcomes, cases, strict=True):
        assert not made.failed
        assert made.kept <= kept
        assert made.time <= outcome(kept).time
    order = random.sample(range(len(cases)), len(cases))
    assert counted([cases[place] for place in order]) == [outcomes[place] for place in order]


@pytest.fixture(scope="module")
def rows():
    return dataset({"fails": 1.0, "better": 1.6}, sources=14, rounds=12, seed=5)


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_failing_instead_of_losing_gains_nothing(rows, share):
    scores, chains, floors = rows
    honest, number = board(report(scores, chains, floors)), 0
    new_scores, new_chains = [], []
    for chain in chains:
        own = [row for row in scores if row["chain"] == chain["chain"]]
        lost = [row["round"] for row in own if row["position"] == 2 and row["retained_rmse"] < 0.5]
        if chain["editor"] == "fails" and lost:
            number += 1
            if number % 10 < share * 10:
                chain, own = end_chain(chain, own, lost[0], 1, "failed")
        new_chains.append(chain)
        new_scores += own
    made = report(new_scores, new_chains, floors)
    failing = board(made)
    assert failing["fails"]["failed"] > share / 2
    assert failing["fails"]["rank"] == honest["fails"]["rank"] == 2
    for key in ("rounds_kept", "quality_kept", "survival"):
        assert failing["fails"][key] <= honest["fails"][key] + 1e-9, key
    [pair] = made.tables["pairs"].rows
    assert (pair["left_out"], pair["verdict"]) == (0, "better")
    last = [row for row in made.tables["causes"].rows if row["editor"] == "fails" and row["round"] == 12]
    assert last[0][FAILED] > share / 2


def test_a_chain_that_failed_unscored_is_a_case():
    chains = [chain_row("one", source, 0, 12) for source in range(4)]
    chains[0] |= {"status": "failed", "steps": 1}
    scores = [row for chain in chains[1:] for row in score_rows(chain, 12)]
    row = board(report(scores, chains, floor_rows(4)))["one"]
    assert (row["cases"], row["failed"], row["rounds_kept"]) == (4, 0.25, 9.0)
