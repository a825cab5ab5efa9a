"""What a hostile referee would try: simulated editors, dropped cases, refusals. The full counts are slow tests."""

import numpy
import pytest
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.comparisons import compare_editors, outcomes_by_case, verdict_name
from convergebench.spaces_app.statistics import leaderboard
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import chain_row, end_chain, finished, floor_rows, kept_rounds, score_rows

ROUNDS = 20
EDITORS = {"better": 2.0, "equal-one": 1.0, "equal-two": 1.0}


def fated(kept, there=None):
    """Every editor's cases as the comparison takes them, without those that are not there."""
    cases = {editor: {} for editor in kept}
    for editor, values in kept.items():
        for (source, program), value in numpy.ndenumerate(values):
            if there is None or there[editor][source, program]:
                case = (f"picture-{source}", f"program-{program}", 1)
                cases[editor][case] = (outcome(int(value)), ROUNDS)
    return cases


def outcome(kept):
    return Outcome(kept) if kept >= ROUNDS else Outcome(kept, kept + 1, "quality lost")


def verdicts(outcomes):
    return {(pair.first, pair.second): verdict_name(pair) for pair in compare_editors(outcomes, list(outcomes))}


def reversals(simulations):
    """How often dropping cases turns a significant verdict around, and how often it loses one."""
    generator = numpy.random.default_rng(7)
    kept = kept_rounds(generator, EDITORS, 20, 3, ROUNDS)
    full = verdicts(fated(kept))
    assert full["better", "equal-one"] == full["better", "equal-two"] == "better"
    turned = lost = asked = 0
    for _ in range(simulations):
        share = generator.uniform(0.1, 0.6)
        there = {editor: generator.random((20, 3)) > share for editor in kept}
        for pair, verdict in verdicts(fated(kept, there)).items():
            if full[pair] in pair:
                asked += 1
                turned += verdict in pair and verdict != full[pair]
                lost += verdict not in pair
    return turned, lost, asked


@pytest.mark.parametrize("simulations", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_dropping_cases_at_random_never_reverses_a_verdict(simulations):
    turned, lost, asked = reversals(simulations)
    print(f"\n{turned} of {asked} verdicts reversed, {lost / asked:.1%} lost significance")
    assert (turned, asked) == (0, 2 * simulations)


def headline(scores, chains, floors):
    """One editor's row, as the report makes it."""
    [row] = leaderboard.rows(Analysis(scores, finished(chains), floors))
    return row.cells


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


def rows_of(made):
    return [row for _, rows in made for row in rows], [chain for chain, _ in made], floor_rows(3)


@settings(max_examples=20, deadline=None)
@given(**CHAINS)
def test_a_refusal_never_raises_an_editors_score(kept, cause, which, round, position, status):
    made = chains_of("one", kept, cause)
    refusing = [*made]
    refusing[which] = end_chain(*made[which], round, position, status)
    before, after = headline(*rows_of(made)), headline(*rows_of(refusing))
    for name in RISING:
        assert after[name] <= before[name] + 1e-9, name
    assert (after["half_life"] or 99) <= (before["half_life"] or 99)


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
    before, after = (difference(*rows_of([*each, *rival])) for each in (made, refusing))
    assert after <= before + 1e-9


def difference(scores, chains, floors):
    analysis = Analysis(scores, finished(chains), floors)
    by_case = outcomes_by_case(analysis.groups["round trips"], analysis.outcomes["round trips"])
    [pair] = compare_editors(by_case, ["one", "two"])
    return pair.difference
