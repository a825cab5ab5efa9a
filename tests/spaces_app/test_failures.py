"""Technical failures count as losses: an editor never gains by not answering, and a retry counts as its answer."""

from types import SimpleNamespace

import pytest
from convergebench.metric_modules.halflife.causes import FAILED
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.groups import count_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import chain_row, dataset, end_chain, floor_rows, report, score_rows

ROUNDS = 10


def lasted(kept):
    return Outcome(kept) if kept >= ROUNDS else Outcome(kept, kept + 1, "quality lost")


def with_failure(kept, fails_in):
    """The outcome with a technical failure in a round; a failure after the loss changes nothing."""
    return lasted(kept) if fails_in is None or fails_in > kept else Outcome(fails_in - 1, failed=True)


def counted(kept, fails_in):
    cases = [SimpleNamespace(end="complete" if end is None else "failed", end_round=end) for end in fails_in]
    return count_failures(cases, [with_failure(*case) for case in zip(kept, fails_in, strict=True)])


CASES = st.lists(
    st.tuples(st.integers(0, ROUNDS), st.one_of(st.none(), st.integers(1, ROUNDS))), min_size=1, max_size=60
)


@settings(max_examples=200, deadline=None)
@given(CASES, st.randoms(use_true_random=False))
def test_failures_never_lengthen_a_case_in_any_order(cases, random):
    kept, fails_in = zip(*cases, strict=True)
    outcomes = counted(kept, fails_in)
    assert not any(outcome.failed for outcome in outcomes)
    for outcome, rounds in zip(outcomes, kept, strict=True):
        assert outcome.kept <= rounds
        assert outcome.time <= lasted(rounds).time
    order = list(range(len(cases)))
    random.shuffle(order)
    reordered = counted([kept[place] for place in order], [fails_in[place] for place in order])
    assert reordered == [outcomes[place] for place in order]


def with_failures(scores, chains, share, editor="fails"):
    """A share of the editor's chains fail to answer in the round in which they would have been lost."""
    new_scores, new_chains = [], []
    number = 0
    for chain in chains:
        chain_scores = [row for row in scores if row["chain"] == chain["chain"]]
        lost = [row["round"] for row in chain_scores if row["position"] == 2 and row["retained_rmse"] < 0.5]
        if chain["editor"] == editor and lost:
            number += 1
            if number % 10 < share * 10:
                chain, chain_scores = end_chain(chain, chain_scores, lost[0], 1, "failed")
        new_chains.append(chain)
        new_scores += chain_scores
    return new_scores, new_chains


@pytest.fixture(scope="module")
def rows():
    return dataset({"fails": 1.0, "better": 1.6}, sources=14, rounds=12, seed=5)


def board(made):
    return {row["editor"]: row for row in made.tables["leaderboard"].rows}


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_failing_instead_of_losing_gains_nothing(rows, share):
    scores, chains, floors = rows
    honest = board(report(scores, chains, floors))
    made = report(*with_failures(scores, chains, share), floors)
    failing = board(made)
    assert failing["fails"]["rounds_kept"] <= honest["fails"]["rounds_kept"]
    assert failing["fails"]["failed"] > share / 2
    assert failing["fails"]["rank"] == honest["fails"]["rank"] == 2
    assert failing["better"]["rank"] == 1
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
