"""Two ways to ask for the same thing, on cases of known truth."""

import json
from itertools import product

import kept_numbers
import numpy as np
import pytest
import simulated
import small_dataset
from convergebench.generation import programs, suites
from convergebench.generation.ledger import Budget
from convergebench.metric_modules._judges import backends, undos
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.statistics import compute_tables
from vendors.loopback import serving, told
from verbs import invoke

ROUNDS = 10


def made(kept, sources=14, roles=None):
    """The report's tables of cases that keep `kept[editor, program]` rounds on every picture."""
    chains, scores = [], []
    for (editor, program), rounds in kept.items():
        for source in range(sources):
            name = small_dataset.identity(editor, program, str(source))
            chain = simulated.chain_row(editor, source, 0, ROUNDS) | {"program": program, "chain": name}
            chains.append(chain)
            scores += simulated.score_rows(chain, rounds + source % 2)
    floors = simulated.floor_rows(sources)
    return compute_tables(Analysis(scores, simulated.finished(chains), floors, roles=roles))


def test_two_ways_are_compared_on_the_same_pictures():
    nested, crossed = "ball-chair-nested", "ball-chair-crossed"
    [row] = made({("one", nested): 7, ("one", crossed): 4, ("two", nested): 5})["two_ways"].rows
    assert (row["editor"], row["first"], row["second"], row["difference"]) == ("one", 7.5, 4.5, 3.0)
    assert (row["verdict"], row["cases"], row["sources"]) == ("nested", 14, 14)
    assert row["p_value"] < 0.001
    tables = made({("one", "hat"): 6, ("one", "hat~m-1"): 4, ("one", "hat~m-2"): 6, ("one", "scarf~m-1"): 9})
    by_ways = {row["ways"]: row for row in tables["two_ways"].rows}
    written = by_ways["m-1 against the suite's"]
    assert (written["difference"], written["verdict"]) == (-2.0, "the suite's")
    assert written["cases"] == 14  # the scarf has no partner
    assert by_ways["m-2 against the suite's"]["verdict"] == "open"
    [row] = made({("one", "replicate"): 6, ("one", "replicate-denoise"): 4})["two_ways"].rows
    assert (row["ways"], row["difference"], row["verdict"]) == ("denoised against plain", -2.0, "plain")


WRITTEN = {"hat": "Take the hat off again.", "glasses": "", "chair-left": "I would rather\nnot say."}


def model(server, request):
    """Writes, says nothing, or says something that is no instruction."""
    words = request.json()["messages"][0]["content"]
    [text] = [text for id, text in WRITTEN.items() if f'"{programs.get(id).cycle[0]}"' in words]
    return told({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


def undo_words(base, out):
    words = ["undos", "--suite", "demo", "--judge", f"openai:base_url={base}/v1,model=m-1", "--json"]
    return [*words, "--out", out, *(f"--program={id}" for id in WRITTEN)]


@pytest.fixture
def priced(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    prices = tmp_path / "prices.toml"
    prices.write_text('openai_tokens."m-1" = { text = 1000.0, image = 0.0, output = 1000.0 }\n')
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(prices))


def run(*words, code=0):
    """What a command says at its end."""
    done = invoke(*words)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout.splitlines()[-1])


def test_a_suite_runs_both_wordings_of_an_undo(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    out = tmp_path / "undos.toml"
    with serving(model) as server:
        words = undo_words(server.base, out)
        assert run(*words, "--plan")["calls"] == 3
        first, asked = run(*words, code=1), len(server.requests)
        second = run(*words, code=1)
    assert (first["written"], second["written"], asked) == (1, 1, 3)
    assert first["without"]["chair-left"].startswith("not an instruction")
    assert len(server.requests) == 5  # the one that is there is not asked again
    suite = suites.load(str(out))
    assert suite.programs == ("glasses", "hat", "hat~m-1", "chair-left")  # the others keep the suite's own undo
    assert suite.program("hat~m-1").cycle == (programs.get("hat").cycle[0], "Take the hat off again.")
    assert (suite.rounds, suite.short_side) == (10, 512)
    assert suite.fits("astronaut", suite.program("hat~m-1"))


def test_undos_stop_at_the_budget_and_pay_once(tmp_path, priced, monkeypatch):
    out = tmp_path / "undos.toml"
    said = {"hat": "Take the hat off.", "glasses": "Take the glasses off.", "chair-left": "Take the chair away."}
    monkeypatch.setattr(f"{__name__}.WRITTEN", said)
    with serving(model) as server:
        words = undo_words(server.base, out)
        plan = run(*words, "--plan")
        one = plan["dollars"] / 3
        assert plan["calls"] == 3
        stopped = run(*words, "--max-cost", one * 1.5, code=1)
        assert len(server.requests) == 1
        assert (stopped["written"], stopped["dollars"]) == (1, pytest.approx(one))
        assert "would pass the limit" in stopped["stopped"]
        out.unlink()  # as where the process died before it could write the suite
        assert run(*words, "--plan")["calls"] == 2
        whole = run(*words, "--max-cost", one * 3.5)
    assert len(server.requests) == 3
    assert (whole["written"], whole["dollars_before"]) == (3, pytest.approx(one))
    assert whole["dollars"] == pytest.approx(2 * one, rel=0.2)
    assert suites.load(str(out)).program("hat~m-1").cycle[1] == said["hat"]


def test_an_undo_of_a_dead_process_is_settled(tmp_path, priced, monkeypatch):
    out, hat = tmp_path / "undos.toml", [programs.get("hat")]
    with serving(model) as server:
        judge = backends.choose(f"openai:base_url={server.base}/v1,model=m-1")
        real = Budget.pay
        monkeypatch.setattr(Budget, "pay", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            undos.write_undos(judge, hat, out)
        monkeypatch.setattr(Budget, "pay", real)
        words, reasons, again = undos.write_undos(judge, hat, out)
    assert len(server.requests) == 1
    assert (words, reasons, again.spent) == ({"hat": WRITTEN["hat"]}, {}, 0.0)
    ledger = Budget(run=undos._kept_folder(out, judge))
    assert (ledger.unsettled, ledger.spent) == ({}, pytest.approx(again.before))


@pytest.mark.parametrize("more", [[], ["--plan"]])
def test_a_handwritten_suite_is_not_overwritten(tmp_path, more):
    out = tmp_path / "mine.toml"
    out.write_text('programs = ["hat"]\n')
    words = undo_words("http://127.0.0.1:9", out)
    done = invoke(*words, *more)
    assert (done.exit_code, "mine.toml was not written by this benchmark" in done.output) == (2, True)
    assert out.read_text() == 'programs = ["hat"]\n'


def test_only_one_edit_and_one_undo_are_written_for():
    fit = {id for id, program in programs.load().items() if undos.has_one_undo(program)}
    assert "hat" in fit
    assert not fit & {"replicate", "ball-chair-nested", "restore-s1", "add-apples"}
    judge = backends.choose("openai:base_url=http://h/v1,model=org/m 1")
    assert undos._program_id(programs.get("hat"), judge) == "hat~m-1"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('```json\n{"undo": "Remove the hat."}\n```', "Remove the hat."),
        ("Undo: **remove the hat**", "remove the hat"),
        ('{"instruction": "Remove the hat.", "why": "it was added"}', None),
        ('["Remove the hat."]', None),
        ("The hat should be removed.", None),
        ("Which hat do you mean?", None),
        ("Remove the hat.\nRemove the scarf.", None),
    ],
)
def test_only_an_instruction_is_taken_from_an_answer(answer, words):
    assert undos._find_instruction(answer) == words


def test_the_numbers_of_every_table():
    programs = ("ball-chair-nested", "ball-chair-crossed", "hat", "hat~m-1", "scarf~m-1")
    kept = {("one", name): 2 + place for place, name in enumerate(programs)}
    kept |= {("two", name): 3 + rounds for (_, name), rounds in kept.items()}
    kept_numbers.check("two ways", kept_numbers.rows_of(made(kept)))


def test_the_numbers_of_policies():
    rng, factors = np.random.default_rng(7), {"one": 1.0, "one+paste": 1.6, "one+align": 1.1, "three+paste": 1.0}
    missing = {"one": 0.1, "two+paste": 0.3}
    scores, chains, floors = simulated.dataset(factors | {"two": 1.0, "two+paste": 0.6}, missing=missing)
    chains = [row | {"settings": json.dumps({"policy": row["editor"].partition("+")[2]})} for row in chains]
    for row in scores:
        row["edit_changed"] = row["edit_changed"] and rng.random() > 0.02
    notes = ('{"model": "m", "paste": {"seam": %.3f}, "align": {"moved": 2}}', None)
    calls = []
    for row, round in product(chains, (1, 2)):
        call = {"chain": row["chain"], "round": round, "status": "ok"}
        call |= {"latency": rng.gamma(2, 2), "cost": rng.gamma(2, 0.1)}
        note = notes[rng.random() < 0.2]
        calls.append(call | {"details": note and note % rng.gamma(2, 2)})
    kept_numbers.check_study("policies", simulated.report(scores, chains, floors, calls).tables, "policies")
