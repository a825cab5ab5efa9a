"""Plans: their numbers, prices and limits of money; which cases; and chains that mean the same anywhere."""

import dataclasses
import datetime
import shutil
from collections import Counter
from types import SimpleNamespace

import kept_numbers
import pytest
from convergebench.generation import ledger, plan, shares, suites
from convergebench.generation.ledger import Budget
from convergebench.generation.loop import prepared_size
from convergebench.generation.plan import case_of
from convergebench.generation.records import Chain, Program, Source, UserError
from convergebench.generation.vendors import models
from counting import SUITE

HOSTED = ("gemini", "openai:quality=low", "seedream:model=seedream-5-5-261028,resolution=2K", "identity")
PLANS = {
    "smoke": ({"specs": HOSTED}, {}),
    "of two runs": ({"specs": HOSTED[:2], "rounds": 3, "runs": 2, "audit": False}, {"limit": 3}),
    "salted": ({"specs": HOSTED[:1], "salt": b"salt", "rounds": 10_000}, {"limit": 5}),
    "under a policy": ({"specs": HOSTED[1:], "stacks": ("align", "none")}, {"limit": 1}),
    "demo": ({"specs": HOSTED[:2]}, {"limit": 9}),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_numbers_of_plans(name):
    options, selection = PLANS[name]
    made = plan.make_plan(suites.load("demo" if name == "demo" else "smoke"), **options, **selection)
    rows = plan.summary(made)
    cost = sum(row["dollars"] or 0.0 for row in rows)
    fits = [plan.what_fits(made, round(cost * share, 4)) for share in (0, 0.3, 0.5, 0.99, 1, 2)]
    chains = [
        [chain.rounds, chain.run, chain.calls, *chain.settings.values(), *plan.case_of(chain)]
        for chain in made.chains
    ]
    others = {"chains": chains, "fits": fits, "said": plan.warnings(made)}
    tables = {"summary": rows} | {table: [{"": values}] for table, values in others.items()}
    kept_numbers.check(f"plan, {name}", tables)


def test_the_numbers_of_models():
    days = [models.shipped()["read"] + datetime.timedelta(days) for days in (0, 45, 200, 600)]
    found = {}
    for model in models.all_models():
        said = [model.warning(day) or "" for day in days]
        like_it = models.find(model.vendor, f"{model.name}-x").facts | {"source": ""}
        found[f"{model.vendor} {model.name}"] = [model.price, model.tokens, model.listed, *said, like_it]
    kept_numbers.check("models", {"models": [found]})
    assert models.vendor_of("gpt-image-1-mini") == "openai"


def test_an_answer_needs_room(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=63_999_999))
    budget = Budget(1, tmp_path)
    with pytest.raises(UserError, match="only 63 MB are free for answers"):
        budget.hold(0.5)
    assert (budget.held, len((tmp_path / ledger.PLACE).read_text().splitlines())) == (0, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=64_000_000))
    assert budget.hold(0.5)[0] > 0


def test_shards_share_every_chain_once_and_evenly():
    made = plan.make_plan(suites.load("demo"), ["identity", "jpeg", "noise"])
    facts = (made.chains, lambda chain: chain.calls, lambda chain: chain.id)
    parts = [shares.share(*facts, index, 4) for index in range(4)]
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


def test_a_variant_is_for_the_editors_with_its_options():
    variants = [
        {"name": "default"},
        {"name": "fixed", "settings": {"seed": "fixed"}, "programs": ["replicate"], "rounds": 2},
        {"name": "low", "settings": {"quality": 20, "seed": "fixed"}},
        {"name": "no such quality", "settings": {"quality": 2000}},
    ]
    shared = ("title", "version", "short_side", "rounds", "sources", "programs")
    shared = {name: getattr(SUITE, name) for name in shared}
    suite = suites.from_values("test", {**shared, "runs": 1, "variants": variants})
    made = plan.make_plan(suite, ["identity", "jpeg"])
    labels = [choice.label for choice in made.choices]
    assert labels == ["identity", "identity:seed=fixed", "jpeg", "jpeg:seed=fixed", "jpeg:quality=20,seed=fixed"]
    assert made.chains[-1].settings == {"quality": 20, "seed": "fixed", "short_side": SUITE.short_side}
    fixed = [chain for chain in made.chains if chain.editor.endswith(":seed=fixed")]
    assert {chain.program.id for chain in fixed} == {"replicate"}
    assert {chain.rounds for chain in fixed} == {2}


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


def test_a_source_takes_the_short_side_or_the_nearest_size():
    assert prepared_size((32, 24), 12, ()) == (16, 12)
    assert prepared_size((32, 24), 24, ()) == (32, 24)
    assert prepared_size((32, 24), 24, SIZES) == (1536, 1024)
    assert prepared_size((24, 32), 24, SIZES) == (1024, 1536)
    assert prepared_size((640, 640), 512, ((1024, 1024), (512, 512))) == (512, 512)


# Which cases: filters, and a balanced few that are the same for every editor


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
    whole, cases = planned().chains, {case_of(chain): chain for chain in planned(limit=24).chains}
    both = planned(specs=("identity", "jpeg:quality=40"), limit=24).chains
    for name in ("identity", "jpeg"):
        assert {case_of(chain) for chain in both if chain.editor.startswith(name)} == cases.keys()
    assert len(cases) == 24
    categories = Counter(chain.program.category for chain in cases.values())
    assert set(categories) == {chain.program.category for chain in whole}
    assert max(categories.values()) - min(categories.values()) <= 1
    assert {chain.source.kind for chain in cases.values()} == {chain.source.kind for chain in whole}
    small, large = ({case_of(chain) for chain in planned(limit=limit).chains} for limit in (12, 36))
    assert small < large


# Records: equal content has equal ids

SOURCE = Source("dot", "0" * 64, 8, 8, "object", "synthetic", "CC0-1.0", "painted")
PROGRAM = Program("hat", ("add hat", "remove hat"), "accessories", True, "clear")
CHAIN = Chain(SOURCE, PROGRAM, "paint", {"seed": "per-step", "short_side": 8}, 1, 3)


def test_a_chains_id_is_the_same_anywhere_and_of_all_its_fields():
    assert CHAIN.id == "b1116202f18f6ccd"
    renamed = dataclasses.replace(SOURCE, title="A dot", attribution="painted by us")
    assert dataclasses.replace(CHAIN, source=renamed).id == CHAIN.id
    changes = [{"editor": "jpeg"}, {"settings": {"seed": "fixed", "short_side": 8}}, {"run": 2}, {"rounds": 4}]
    changes += [{"program": dataclasses.replace(PROGRAM, cycle=("add hat", "take the hat off"))}]
    changes += [{"source": dataclasses.replace(SOURCE, **{name: "1" * 64})} for name in ("sha256", "reference")]
    assert len({dataclasses.replace(CHAIN, **change).id for change in ({}, *changes)}) == 8


def test_each_round_can_have_an_item_of_its_own():
    fruits = Program("fruits", ("Add one {item}.",), "addition", False, "clear", items=("apple", "fig"))
    asked = [words for *_, words in dataclasses.replace(CHAIN, program=fruits).asks()]
    assert asked == ["Add one apple.", "Add one fig.", "Add one apple."]
