"""The numbers of plans, prices and the ledger, and each limit of money exactly where it is."""

import datetime
import hashlib
import shutil
from types import SimpleNamespace

import kept_numbers
import pytest
from convergebench.generation import ledger, plan, suites
from convergebench.generation.ledger import Budget
from convergebench.generation.records import UserError
from convergebench.generation.vendors import models

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


def test_what_is_no_amount_of_money_is_refused():
    for amount in (True, -0.01, float("inf"), "1", None):
        with pytest.raises(ValueError, match="is not an amount of money"):
            ledger._amount(amount)
    assert ledger._amount(0) == 0
    assert ledger._checksum({"opening": 0.12}) == hashlib.sha256(b'{"opening":0.12}').hexdigest()[:8]


def test_a_budget_may_be_spent_to_its_last_cent(tmp_path):
    budget = Budget(0.12, tmp_path, 0.04)
    budget.hold(0.04)
    budget.pay(budget.hold(0.04), 0.04)
    assert (budget.spent, float(budget.held)) == (0.08, 0.04)
    budget.hold(0.0)  # what costs nothing needs no line
    with pytest.raises(UserError, match=r"\$0.08 is spent|pass the limit of \$0.12"):
        Budget(0.12, tmp_path).hold(0.01)
    assert len((tmp_path / ledger.PLACE).read_text().splitlines()) == 4
    assert Budget(run=tmp_path, check_only=True).spent == 0.12


def test_an_answer_needs_room(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=63_999_999))
    budget = Budget(1, tmp_path)
    with pytest.raises(UserError, match="only 63 MB are free for answers"):
        budget.hold(0.5)
    assert (budget.held, len((tmp_path / ledger.PLACE).read_text().splitlines())) == (0, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=64_000_000))
    assert budget.hold(0.5)[0] > 0
