"""Which cases run: filters that say what there is, and a balanced few that are the same for every editor."""

from collections import Counter

import pytest
from convergebench import generation
from convergebench.generation import plan, suites
from convergebench.generation.plan import case_of
from convergebench.generation.records import UserError
from vendors import openai
from vendors.loopback import picture, serving


def planned(suite="v1-mini", specs=("identity",), **selected):
    return plan.make_plan(suites.load(suite), specs, **selected)


def test_each_filter_leaves_what_it_names_or_is_refused():
    some = planned().chains[0]
    for option, value, read in (
        ("programs", some.program.id, lambda chain: chain.program.id),
        ("categories", some.program.category, lambda chain: chain.program.category),
        ("kinds", some.source.kind, lambda chain: chain.source.kind),
        ("sources", some.source.id, lambda chain: chain.source.id),
    ):
        chosen = planned(**{option: [value]}).chains
        assert {read(chain) for chain in chosen} == {value}
        assert len(chosen) == sum(read(chain) == value for chain in planned().chains)
    with pytest.raises(UserError, match=r"--kind 'faces' is in none of the remaining cases; they have face, "):
        planned(kinds=["faces"])
    with pytest.raises(UserError, match="--limit must be"):
        planned(limit=0)


def test_a_limit_is_balanced_and_grows_with_its_cases():
    both = planned(specs=("identity", "jpeg:quality=40"), limit=24).chains
    mine, theirs = (
        [case_of(chain) for chain in both if chain.editor.startswith(name)] for name in ("identity", "jpeg")
    )
    assert set(mine) == set(theirs) == {case_of(chain) for chain in planned(limit=24).chains}
    assert len(set(mine)) == 24
    whole, few = planned().chains, planned(limit=24).chains
    categories = Counter(chain.program.category for chain in {case_of(chain): chain for chain in few}.values())
    assert set(categories) == {chain.program.category for chain in whole}
    assert max(categories.values()) - min(categories.values()) <= 1
    kinds = Counter(chain.source.kind for chain in {case_of(chain): chain for chain in few}.values())
    assert set(kinds) == {chain.source.kind for chain in whole}
    small, large = ({case_of(chain) for chain in planned(limit=limit).chains} for limit in (12, 36))
    assert small < large


def test_limits_on_cases_and_money_hold_with_a_bad_vendor(tmp_path, monkeypatch):
    monkeypatch.setenv(openai.KEY, "sentinel-key-1234567890")
    calls = iter(range(10**6))

    def vendor(server, request):
        number = next(calls)
        return openai.error(500) if number % 7 == 3 else openai.shown(server, picture((1024, 1024)))

    with serving(vendor) as server:
        spec = openai.SPEC.format(base=server.base, timeout=20) + ",quality=high"
        outcome = generation.generate(spec, suite="demo", out=tmp_path, rounds=1, limit=4, max_cost=0.2)
    assert 0 < outcome.spent <= 0.2
    assert "would pass the limit" in outcome.stopped or set(outcome.ends) == {"complete"}
