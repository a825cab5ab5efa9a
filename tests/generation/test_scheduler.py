"""A run: it resumes by itself, repeats no paid step, asks again only when told so, and says what it left alone."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors, loop, pictures, plan, scheduler, store
from convergebench.generation.calls import Rejected, Unusable
from convergebench.generation.files import locked
from convergebench.generation.records import Answer, UserError
from convergebench.generation.status import read_status
from convergebench.metric_modules._engine import engine
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.statistics import compute_tables
from counting import SUITE, Counting, choose, digest, generate, planned, png
from PIL import Image, ImageOps


def test_a_run_fills_every_chain_and_again_asks_nothing(tmp_path):
    editor = Counting(tmp_path / "asked")
    made = planned(editor)
    outcome = generate(made, tmp_path / "run")
    assert outcome.ends == {"complete": 8}
    before, asked = digest(tmp_path / "run"), editor.seeds()
    assert len(asked) == sum(chain.calls for chain in made.chains) == len(set(asked))
    with locked(tmp_path / "run" / "chains" / made.chains[0].id):  # it waits for no one, for all is done
        again = generate(made, tmp_path / "run")
    assert (again.already, again.ends) == (8, {})
    assert editor.seeds() == asked
    assert digest(tmp_path / "run") == before
    files = [path for path in (tmp_path / "run" / "chains").rglob("*") if path.is_file()]
    written = {path: path.stat().st_mtime_ns for path in files}
    larger = generate(planned(editor, runs=3), tmp_path / "run")
    assert (larger.already, larger.ends) == (8, {"complete": 4})
    assert {path: path.stat().st_mtime_ns for path in files} == written, "a larger plan touches no done chain"


def test_a_killed_run_repeats_no_step_and_ends_identical(tmp_path):
    words = [sys.executable, str(Path(__file__).parents[1] / "killing.py"), "kill", str(tmp_path), "20"]
    facts = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert facts["kills"] >= 20
    assert facts["repeated"] == []
    assert facts["stores"] == [facts["store"]] * len(facts["stores"])
    assert facts["datasets"] == [facts["dataset"]] * len(facts["datasets"])


def raising(error):
    def behave(seed):
        raise error

    return behave


TORN = png()[:60]


@pytest.mark.parametrize(
    ("behave", "status", "reason", "data"),
    [
        (lambda seed: Answer(status="refused", reason="not that"), "refused", "not that", None),
        (raising(Rejected("the vendor answers 400")), "failed", "the vendor answers 400", None),
        (lambda seed: Answer(TORN), "no_image", "the answer is a png that cannot be decoded", TORN),
        (lambda seed: Answer(png((20, 20))), "shrunk", "the answer is 20x20", png((20, 20))),
    ],
)
def test_an_answer_that_ends_a_chain_is_a_typed_step(tmp_path, behave, status, reason, data):
    outcome = generate(planned(Counting(tmp_path / "asked", behave=behave), runs=1), tmp_path / "run")
    assert outcome.ends == {status: 4}
    folder = next((tmp_path / "run" / "chains").iterdir())
    step = store.recover_steps(folder)[-1]
    assert (step.step, step.status) == (1, status)
    assert step.reason.startswith(reason)
    assert (data is None) == (step.file is None)
    assert data is None or (folder / step.file).read_bytes() == data


def test_each_call_is_given_the_chains_own_size(tmp_path):
    """Also when it resumes: on a larger canvas an editor can carry the original along beside its answer."""
    given = []

    class Growing(Counting):
        def edit(self, image, instruction, seed):
            given.append((image.size, type(image), image.info))
            if len(given) == 2:
                raise Unusable("the power goes")
            return Answer(png((image.width * 2, image.height * 2)))

    [chain, *_] = planned(Growing(tmp_path / "asked")).chains
    made = dataclasses.replace(planned(Growing(tmp_path / "asked")), chains=(chain,))
    assert not generate(made, tmp_path / "run").clean
    assert generate(made, tmp_path / "run").clean
    first, *steps = store.recover_steps(tmp_path / "run" / "chains" / chain.id)
    assert set(map(str, given)) == {str(((first.width, first.height), Image.Image, {}))}
    assert len(given) == len(steps) + 1
    assert {(step.width, step.height) for step in steps} == {(first.width * 2, first.height * 2)}


def test_a_picture_that_was_turned_stays_turned():
    lying = Image.new("RGB", (64, 48))
    assert loop.at_chain_size(lying, (64, 48)) is lying
    assert loop.at_chain_size(Image.new("RGB", (48, 64)), (64, 48)).size == (48, 64)
    assert loop.at_chain_size(Image.new("RGB", (96, 128)), (64, 48)).size == (48, 64)
    assert loop.at_chain_size(Image.new("RGB", (100, 100)), (64, 48)).size == (64, 48)
    assert loop.at_chain_size(Image.new("RGB", (100, 90)), (50, 50)).size == (50, 50)


def test_an_editor_that_varies_size_gets_its_answers_unchanged(tmp_path):
    sizes = []

    class Scheduled(Counting):
        varies_size = True

        def edit(self, image, instruction, seed):
            sizes.append(image.size)
            return Answer(png((48, 48) if len(sizes) % 2 else (96, 96)))

    made = planned(Scheduled(tmp_path / "asked"))
    generate(dataclasses.replace(made, chains=made.chains[:1]), tmp_path / "run")
    assert sizes[1:4] == [(48, 48), (96, 96), (48, 48)]
    model = "gemini:model=gemini-3-pro-image,resolution="
    several, one = (editors.choose(f"{model}{resolutions}") for resolutions in ("1K/2K", "2K"))
    assert (several.editor.varies_size, one.editor.varies_size) == (True, False)


def test_two_processes_given_the_same_run_share_its_chains(tmp_path):
    words = [sys.executable, str(Path(__file__).parents[1] / "killing.py"), "share", str(tmp_path)]
    pair = [subprocess.Popen(words) for _ in range(2)]
    assert [process.wait(60) for process in pair] == [0, 0]
    editor = Counting(tmp_path / "asked")
    assert generate(planned(editor), tmp_path / "run").clean
    assert len(editor.seeds()) == len(set(editor.seeds())) == sum(chain.calls for chain in planned(editor).chains)


def test_a_degraded_picture_is_compared_with_the_clean_one(tmp_path):
    damaged = {"sources": ("painted-text~motion-blur",), "programs": ("restore-s1",)}
    suite = dataclasses.replace(SUITE, variants=(), **damaged)
    choice = choose(Counting(tmp_path / "asked"))
    [chain] = plan._variant_chains(suite, suite.variants[0], choice, 1, 1, True, b"")
    generate(plan.Plan(suite, (choice,), (chain,)), tmp_path / "run")
    folder = tmp_path / "run" / "chains" / chain.id
    degraded, clean = (pictures.decode((folder / name).read_bytes()) for name in ("0000.png", "reference.png"))
    assert degraded.size == clean.size
    assert degraded.tobytes() != clean.tobytes()
    assert (tmp_path / "run" / "sources" / f"{chain.source.reference}.png").exists()


def test_an_editor_that_is_not_ready_is_refused_before_the_run(tmp_path, monkeypatch):
    editor = Counting(tmp_path / "asked")
    made = planned(editor, runs=1)
    monkeypatch.setattr(Counting, "ready", lambda self: "its package is not installed", raising=False)
    with pytest.raises(UserError, match="cannot run here: its package is not installed"):
        generate(made, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(Counting, "ready", lambda self: None)
    assert generate(made, tmp_path / "run").ends == {"complete": 4}
    monkeypatch.setattr(Counting, "ready", lambda self: "its package is not installed")
    assert generate(made, tmp_path / "run").already == 4  # nothing is left to ask


def test_no_call_is_made_from_a_source_whose_file_was_altered(tmp_path):
    editor = Counting(tmp_path / "asked")
    made = planned(editor, runs=1)
    generate(made, tmp_path / "run")
    [chain, *_] = made.chains
    path = next((tmp_path / "run" / "sources").glob(f"{chain.source.sha256}.*"))
    path.write_bytes(pictures.encode_png(ImageOps.invert(pictures.decode(path.read_bytes()))))
    asked, more = editor.seeds(), planned(editor, runs=2)
    outcome = generate(more, tmp_path / "run")
    mine = [each for each in more.chains if each.source == chain.source and each.run == 2]
    assert (sorted(outcome.left), outcome.clean) == (sorted(each.id for each in mine), False)
    assert all("is not the picture its name says" in reason for reason in outcome.left.values())
    calls, left = (sum(chain.calls for chain in chains) for chains in (more.chains, mine))
    assert len(editor.seeds()) - len(asked) == calls // 2 - left


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
    for path in (tmp_path / "run").glob("chains/*/done.json"):
        path.unlink()
    asked = editor.seeds()
    assert generate(made, tmp_path / "run").ends == {"refused": 4}, "what died before its end is ended"
    assert editor.seeds() == asked
    moods["refuse"] = False
    again = generate(made, tmp_path / "run")
    assert (again.already, again.ends) == (4, {})
    assert generate(made, tmp_path / "run", retry=("failed",)).already == 4
    taken_back = generate(made, tmp_path / "run", retry=("refused",))
    assert taken_back.ends == {"complete": 4}
    assert (taken_back.before, taken_back.spent) == (pytest.approx(0.16), pytest.approx(0.48))
    for spent in (store.cost_so_far(tmp_path / "run"), read_status(tmp_path / "run")["whole"]["spent"]):
        assert spent == pytest.approx(0.64), "the cost of what was taken back still counts"
    folder = next((tmp_path / "run" / "chains").iterdir())
    assert len((folder / ".retried.jsonl").read_text().splitlines()) == 1
    first, *others = steps(tmp_path / "run")
    assert all(step.status in ("input", "ok") for step in others)
    assert (first.latency, others[0].latency > 0) == (None, True), "how long a remote editor took"


def test_a_failed_chain_that_is_retried_counts_in_the_report(tmp_path):
    def one_fails(seed):
        if seed == moods["broken"]:
            raise Rejected("HTTP 400: no")

    made, moods = planned(Paid(tmp_path / "asked", behave=one_fails), 3, 1), {}
    third = next(chain for chain in made.chains if chain.program.id == "flip-horizontally").seed(3)
    failed = {"complete": 3, "failed": 1}, (0.5, "technical failure (1 of 2)", 2.0)
    for broken, (ends, headline) in ((third, failed), (None, ({"complete": 1}, (0.0, None, 3.0)))):
        moods["broken"] = broken
        assert generate(made, tmp_path / "run", retry=("failed",)).ends == ends
        out = stores.built(tmp_path / "out", tmp_path / "run")
        engine.run(engine.prepare(out, ["psnr"], "cpu", None))
        row = compute_tables(read_analysis(Reader(out)))["leaderboard"].rows[0]
        assert (row["failed"], row["cause"], row["rounds_kept"]) == headline


def test_a_limit_on_money_needs_a_price_and_holds_over_a_run_given_again(tmp_path):
    editor = Paid(tmp_path / "asked")
    made = planned(editor, 10, 2)
    for _ in range(2):
        assert "would pass the limit of $0.5" in generate(made, tmp_path / "run", max_cost=0.50).stopped
        assert len(editor.seeds()) == 12
    generate(made, tmp_path / "run", max_cost=1.00)
    assert len(editor.seeds()) == len(set(editor.seeds())) == 25
    assert sum(step.cost or 0 for step in steps(tmp_path / "run")) == pytest.approx(1.00)
    with pytest.raises(UserError, match="--max-cost needs the price of a call"):
        generate(planned(dataclasses.replace(editor, dollars=None), 10, 3), tmp_path / "run", max_cost=2)
    assert len(editor.seeds()) == 25


@pytest.mark.parametrize(
    ("behave", "most", "says", "statuses"),
    [
        (lambda seed: Answer(b"<html>"), 11, r"the last \d calls all failed", {"input", "no_image"}),
        (raising(Unusable("HTTP 401: no such key")), 3, "no such key", {"input"}),
    ],
)
def test_a_vendor_that_always_fails_is_asked_a_few_times(tmp_path, behave, most, says, statuses):
    editor = Paid(tmp_path / "asked", behave=behave)
    outcome = generate(planned(editor, 2, 60), tmp_path / "run", workers=32)
    assert re.search(says, outcome.stopped)
    assert len(editor.seeds()) <= most
    assert {step.status for step in steps(tmp_path / "run")} == statuses


def test_concurrency_is_that_of_the_editor_or_as_given(tmp_path, monkeypatch):
    choice = editors.choose("bfl:model=flux-kontext-max,requests_a_minute=60")
    caller = scheduler.make_caller(choice, scheduler.Budget())
    assert (caller.concurrency, caller.requests_a_minute) == (6, 60)
    assert scheduler._chains_at_once([choice]) == 12
    given = editors.choose("bfl:concurrency=32")
    assert scheduler.make_caller(given, scheduler.Budget()).concurrency == 32
    assert given.label == "bfl"
    assert given.settings == editors.choose("bfl").settings
