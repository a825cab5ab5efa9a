"""What a run would do is known before it runs, and the same words mean the same chains anywhere."""

import subprocess
import sys

import pytest
from convergebench.generation import plan, shares, suites
from convergebench.generation.loop import prepared_size
from convergebench.generation.records import UserError
from counting import SUITE


def test_the_same_words_give_the_same_chains_in_another_process():
    code = (
        "from convergebench.generation import plan, suites;"
        "print(*[chain.id for chain in plan.make_plan(suites.load('smoke'), ['jpeg:quality=40', 'identity']).chains])"
    )
    here = [chain.id for chain in plan.make_plan(suites.load("smoke"), ["jpeg:quality=40", "identity"]).chains]
    for seed in ("1", "2"):
        told = subprocess.check_output([sys.executable, "-c", code], text=True, env={"PYTHONHASHSEED": seed})
        assert told.split() == here
    assert len(set(here)) == len(here) > 0


def test_shards_share_every_chain_once_and_evenly():
    made = plan.make_plan(suites.load("demo"), ["identity", "jpeg", "noise"])
    parts = [
        shares.share(made.chains, lambda chain: chain.calls, lambda chain: chain.id, index, 4)
        for index in range(4)
    ]
    assert sorted(chain.id for part in parts for chain in part) == sorted(chain.id for chain in made.chains)
    loads = [sum(chain.calls for chain in part) for part in parts]
    assert max(loads) - min(loads) <= max(chain.calls for chain in made.chains)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"specs": ["nope"]}, "no editor 'nope'; it must be one of"),
        ({"specs": ["jpeg:shine=3"]}, "editor 'jpeg' has no option 'shine=3'; its options are quality"),
        ({"specs": ["jpeg:quality=much"]}, "jpeg:quality must be int, got 'much'"),
        ({"specs": ["jpeg:quality=3,quality=4"]}, "given the option 'quality' twice"),
        ({"specs": ["jpeg:seed=some"]}, "no jpeg:seed 'some'; it must be one of per-step, fixed"),
        ({"specs": ["jpeg", "jpeg:quality=75"]}, "editor 'jpeg' is given twice"),
        ({"specs": ["jpeg"], "rounds": 0}, "--rounds must be a whole number from 1"),
        ({"specs": ["jpeg"], "rounds": 10_001}, "--rounds must be a whole number from 1 to"),
        ({"specs": ["jpeg"], "runs": 10_001}, "--runs must be a whole number from 1 to"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_sentence(words, sentence):
    with pytest.raises(UserError, match=sentence):
        plan.make_plan(suites.load("smoke"), **words)


def test_options_are_in_the_settings_and_changed_ones_in_labels():
    made = plan.make_plan(suites.load("smoke"), ["jpeg:quality=40,seed=fixed", "jpeg"])
    assert [choice.label for choice in made.choices] == ["jpeg:quality=40,seed=fixed", "jpeg"]
    assert made.chains[0].settings == {
        "quality": 40,
        "seed": "fixed",
        "short_side": suites.load("smoke").short_side,
    }


def test_a_variant_is_for_the_editors_with_its_options():
    shared = ("title", "version", "short_side", "rounds", "sources", "programs")
    suite = suites.from_values(
        "test",
        {
            **{name: getattr(SUITE, name) for name in shared},
            "runs": 1,
            "variants": [
                {"name": "default"},
                {"name": "fixed", "settings": {"seed": "fixed"}, "programs": ["replicate"], "rounds": 2},
                {"name": "low", "settings": {"quality": 20}},
                {"name": "no such quality", "settings": {"quality": 2000}},
            ],
        },
    )
    made = plan.make_plan(suite, ["identity", "jpeg"])
    labels = [choice.label for choice in made.choices]
    assert labels == ["identity", "identity:seed=fixed", "jpeg", "jpeg:seed=fixed", "jpeg:quality=20"]
    fixed = [chain for chain in made.chains if "fixed" in chain.editor]
    assert {chain.program.id for chain in fixed} == {"replicate"}
    assert {chain.rounds for chain in fixed} == {2}


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), -1.0])
def test_what_fits_an_amount_that_is_none_is_not_said(limit):
    with pytest.raises(UserError, match="--max-cost must be a number of US dollars from 0"):
        plan.what_fits(plan.make_plan(suites.load("smoke"), ["identity"]), limit)


NO_TABLE = ["[[bfl]]\nflux-2-pro = 9", "flux-2-pro = 9", "[blf]\nflux-2-pro = 9", "bfl = 9"]
NO_AMOUNT = ["-0.04", "nan", "inf", '"cheap"', "true", "[1]", "{ 1K = -1 }"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((text, r"must have tables named after editors, .*\[bfl\]") for text in NO_TABLE),
        *((f"[bfl]\nflux-2-pro = {price}", "bfl flux-2-pro must have a price from 0") for price in NO_AMOUNT),
    ],
)
def test_a_file_of_prices_that_gives_none_is_refused(tmp_path, monkeypatch, text, says):
    path = tmp_path / "prices.toml"
    path.write_text(f'read = "2026-06"\nday = 2026-06-01\n{text}\n')
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(path))
    with pytest.raises(UserError, match=says):
        plan.summary(plan.make_plan(suites.load("demo"), ["bfl:model=flux-2-pro"]))


SIZES = ((1024, 1024), (1536, 1024), (1024, 1536))


@pytest.mark.parametrize(
    ("size", "short_side", "sizes", "goal"),
    [
        ((32, 24), 12, (), (16, 12)),
        ((32, 24), 24, (), (32, 24)),
        ((32, 24), 24, SIZES, (1536, 1024)),
        ((24, 32), 24, SIZES, (1024, 1536)),
        ((640, 640), 512, ((1024, 1024), (512, 512)), (512, 512)),
    ],
)
def test_a_source_takes_the_short_side_or_the_nearest_size(size, short_side, sizes, goal):
    assert prepared_size(size, short_side, sizes) == goal
