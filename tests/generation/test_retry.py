"""A run against a vendor: refusals are asked again only when told so, money counts across runs, rates are kept."""

import dataclasses
import re

import pytest
from convergebench.generation import editors, scheduler, store
from convergebench.generation.calls import Unusable
from convergebench.generation.records import Answer, UserError
from convergebench.generation.status import read_status
from counting import Counting, generate, planned, png


@dataclasses.dataclass(frozen=True)
class Paid(Counting):
    """A remote editor with a price."""

    embedded = False
    dollars: float | None = 0.04

    def price(self):
        return self.dollars


def steps(folder):
    return [step for path in sorted(folder.glob("chains/*")) for step in store.recover_steps(path)]


def test_a_refused_chain_is_asked_again_only_when_told_so(tmp_path):
    moods = {"refuse": True}

    def behave(seed):
        return Answer(status="refused", reason="not today") if moods["refuse"] else None

    editor = Paid(tmp_path / "asked", behave=behave)
    made = planned(editor, 2, 1)
    assert generate(made, tmp_path / "run").ends == {"refused": 4}
    moods["refuse"] = False
    again = generate(made, tmp_path / "run")
    assert (again.already, again.ends) == (4, {})
    assert generate(made, tmp_path / "run", retry=("failed",)).already == 4
    assert generate(made, tmp_path / "run", retry=("refused",)).ends == {"complete": 4}
    first, *others = steps(tmp_path / "run")
    assert all(step.status in ("input", "ok") for step in others)
    assert (first.latency, others[0].latency > 0) == (None, True), "how long a remote editor took"


def test_what_was_taken_back_is_kept_and_its_cost_still_counts(tmp_path):
    made = planned(Paid(tmp_path / "asked", behave=lambda seed: Answer(png()[:50])), 2, 1)
    first = generate(made, tmp_path / "run")
    assert (first.ends, first.spent) == ({"no_image": 4}, 0.16)
    second = generate(made, tmp_path / "run", retry=("no_image",))
    assert (second.before, second.spent) == (pytest.approx(0.16), pytest.approx(0.16))
    folder = next((tmp_path / "run" / "chains").iterdir())
    assert len((folder / ".retried.jsonl").read_text().splitlines()) == 1
    assert store.cost_so_far(tmp_path / "run") == pytest.approx(4 * 0.08)
    assert read_status(tmp_path / "run")["whole"]["spent"] == pytest.approx(4 * 0.08)


def test_a_limit_on_money_holds_over_a_run_that_is_given_again(tmp_path):
    editor = Paid(tmp_path / "asked")
    made = planned(editor, 10, 2)
    for _ in range(2):
        assert "would pass the limit of $0.5" in generate(made, tmp_path / "run", max_cost=0.50).stopped
        assert len(editor.seeds()) == 12
    generate(made, tmp_path / "run", max_cost=1.00)
    assert len(editor.seeds()) == len(set(editor.seeds())) == 25
    assert sum(step.cost or 0 for step in steps(tmp_path / "run")) == pytest.approx(1.00)


def test_a_limit_on_money_needs_a_price(tmp_path):
    editor = Paid(tmp_path / "asked", dollars=None)
    with pytest.raises(UserError, match="--max-cost needs the price of a call"):
        generate(planned(editor, 2, 1), tmp_path / "run", max_cost=1)
    assert editor.seeds() == []


def wrong_key(seed):
    raise Unusable("HTTP 401: no such key")


@pytest.mark.parametrize(
    ("behave", "most", "says", "statuses"),
    [
        (lambda seed: Answer(b"<html>"), 11, r"the last \d calls all failed", {"input", "no_image"}),
        (wrong_key, 3, "no such key", {"input"}),
    ],
)
def test_a_vendor_that_always_fails_is_asked_a_few_times(tmp_path, behave, most, says, statuses):
    editor = Paid(tmp_path / "asked", behave=behave)
    outcome = generate(planned(editor, 2, 60), tmp_path / "run", workers=32)
    assert re.search(says, outcome.stopped)
    assert len(editor.seeds()) <= most
    assert {step.status for step in steps(tmp_path / "run")} == statuses


def test_a_chain_that_died_before_its_end_is_ended_later(tmp_path):
    editor = Paid(tmp_path / "asked", behave=lambda seed: Answer(status="refused", reason="no"))
    made = planned(editor, 2, 1)
    generate(made, tmp_path / "run")
    for path in (tmp_path / "run").glob("chains/*/done.json"):
        path.unlink()
    asked = editor.seeds()
    assert generate(made, tmp_path / "run").ends == {"refused": 4}
    assert editor.seeds() == asked


def test_concurrency_is_that_of_the_editor_or_as_given(tmp_path, monkeypatch):
    choice = editors.choose("bfl:model=flux-kontext-max,requests_a_minute=60")
    caller = scheduler.make_caller(choice, scheduler.Budget())
    assert (caller.concurrency, caller.requests_a_minute) == (6, 60)
    assert scheduler._chains_at_once([choice]) == 12
    given = editors.choose("bfl:concurrency=32")
    assert scheduler.make_caller(given, scheduler.Budget()).concurrency == 32
    assert given.label == "bfl"
    assert given.settings == editors.choose("bfl").settings
