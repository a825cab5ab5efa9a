"""The benchmark in Inspect; `make inspect` runs these tests where inspect-ai is, in an environment of its own."""

import base64
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from convergebench import dataset_builder, generation, metric_modules
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors, store_reader
from convergebench.generation.records import Chain, UserError

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed here; `make inspect` has it")
from convergebench.harness import inspect_task  # noqa: E402
from inspect_ai.model import ContentImage, get_model  # noqa: E402

METRICS = ["psnr", "ssim", "registration", "edit_applied", "honesty"]


def evaluate(folder, model, **words):
    words = {"suite": "smoke", "out": str(folder / "run"), "metrics": METRICS} | words
    task = inspect_task.round_trip(**words)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(folder / "logs"), display="none", log_level="error")
    return log


@pytest.fixture(scope="module")
def paint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paint")
    return folder, evaluate(folder, "convergebench/paint")


def bytes_of(run):
    """The bytes of every chain that is done, and its steps without what belongs to the moment."""
    found = {}
    for chain in store_reader.find_finished([run]).done.values():
        steps = store_reader.read_steps(chain)
        found[chain.id] = [(step.status, store_reader.read_picture(chain, step)) for step in steps]
    return found


def test_the_numbers_are_those_of_score_and_report(paint):
    from convergebench.spaces_app.reporting.write import read_analysis

    folder, log = paint
    assert log.status == "success"
    dataset_builder.build(folder / "run", folder / "dataset", quiet=True)
    metric_modules.score(folder / "dataset", METRICS, quiet=True)
    reader = Reader(folder / "dataset")
    scores = {(row["chain"], row["step"]): row for row in reader.rows("scores")}
    found = [row for sample in log.samples for row in sample.scores["rounds_kept"].metadata["steps"]]
    assert len(found) == len(scores) == 16
    for row in found:
        assert row == scores[row["chain"], row["step"]]
        assert row["retained_rmse"] is not None
    assert {sample.scores["rounds_kept"].value["rounds_kept"] for sample in log.samples} == {0.0, 2.0}
    outcomes = [each for group in read_analysis(reader).outcomes.values() for each in group["paint"]]
    kept = next(score for score in log.results.scores if score.name == "rounds_kept")
    assert kept.metrics["mean"].value == pytest.approx(sum(each.kept for each in outcomes) / len(outcomes))
    assert "stderr" in kept.metrics


@pytest.mark.parametrize("editor", ["oracle", "jpeg:quality=40"])
def test_the_chains_are_those_of_generate_to_the_byte(editor, tmp_path):
    evaluate(tmp_path, f"convergebench/{editor}", metrics=["psnr"])
    generation.generate(editor, "smoke", tmp_path / "other", quiet=True)
    assert bytes_of(tmp_path / "run") == bytes_of(tmp_path / "other")


def test_the_log_holds_every_picture_as_it_was_received(paint):
    folder, log = paint
    again = inspect_ai.log.read_eval_log(log.location, resolve_attachments=True)
    stored = bytes_of(folder / "run")
    for sample in again.samples:
        parts = [part for message in sample.messages for part in message.content]
        images = [part.image for part in parts if isinstance(part, ContentImage)]
        received = [base64.b64decode(image.partition(",")[2]) for image in images]
        assert received == [data for _, data in stored[sample.scores["rounds_kept"].metadata["chain"]]]
        assert len([event for event in sample.events if event.event == "model"]) == len(received) - 1


def test_every_editor_is_a_model_with_its_options():
    for name in [name for name in editors.names() if editors.trait(editors.load(name), "embedded") is True]:
        assert get_model(f"convergebench/{name}").api.choice.name == name
    assert get_model("convergebench/jpeg", quality=40).api.choice.label == "jpeg:quality=40"
    both = get_model("convergebench/jpeg:quality=40", seed="fixed")
    assert both.api.choice.label == "jpeg:quality=40,seed=fixed"
    with pytest.raises(UserError, match="no editor 'jpg'"):
        get_model("convergebench/jpg")
    with pytest.raises(UserError, match=r"GEMINI_API_KEY|convergebench\[gemini\]"):
        get_model("convergebench/gemini")


def test_refusals_and_foreign_models_are_not_scored(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from convergebench.generation import Refused\n"
        "def edit(image, instruction, seed):\n"
        "    if 'remove' in instruction:\n        raise Refused('rather not')\n    return image\n"
    )
    log = evaluate(tmp_path, f"convergebench/{tmp_path}/mine.py:edit", metrics=["psnr"])
    refused = [sample for sample in log.samples if "remove" in sample.input]
    assert {sample.messages[-1].metadata["status"] for sample in refused} == {"refused"}
    assert {sample.output.completion for sample in refused} == {"rather not"}
    log = evaluate(tmp_path, "mockllm/model", metrics=["psnr"])
    assert log.status == "error"
    assert "is not an editor of the benchmark; give --model convergebench/NAME" in log.error.message


def test_a_failed_sample_ends_the_evaluation(tmp_path, monkeypatch):
    def score(run, chain):
        raise UserError("no numbers")

    def too_late(number, frame):
        raise TimeoutError

    monkeypatch.setattr(inspect_task._Run, "score", score)
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(60)
    try:
        log = evaluate(tmp_path, "convergebench/paint")
    finally:
        signal.alarm(0)
    assert (log.status, "no numbers" in log.error.message) == ("error", True)


def test_a_suite_with_variants_is_refused():
    with pytest.raises(UserError, match="suite 'banana100' has variants"):
        inspect_task.round_trip(suite="banana100")


SUITE = """
title = "for killing"
rounds = 8
short_side = 64
sources = ["astronaut", "coffee", "rocket"]
programs = ["glasses", "red-ball"]
"""
PAID = """
import time
from pathlib import Path
def edit(image, instruction, seed):
    with Path(__file__).with_name("calls").open("a") as log:
        log.write(f"{seed}\\n")
    time.sleep(0.05)
    return image.point(lambda value: min(255, value + seed % 2))
"""
EVALUATE = """
import os, signal, sys
from convergebench.harness import inspect_task
from inspect_ai import eval_set
tell = inspect_task._as_output
def tell_or_die(*words):  # Inspect is about to be told of an answer
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return tell(*words)
left = int(os.environ.get("DIES_AT", "0"))
inspect_task._as_output = tell_or_die
if __name__ == "__main__":
    done, logs = eval_set(
        "convergebench/round_trip", log_dir="logs", model="convergebench/./paid.py:edit", display="none",
        task_args={"suite": "killing.toml", "out": "run", "metrics": ["psnr"]}, log_dir_allow_dirty=True,
        retry_attempts=0, log_level="error", max_samples=int(os.environ.get("SAMPLES", "3")),
    )
    sys.exit(0 if done else 1)
"""


class Evaluation:
    """An evaluation of calls that cost money, in a process that is killed and begun again."""

    def __init__(self, folder):
        for name, text in (("killing.toml", SUITE), ("paid.py", PAID), ("evaluate.py", EVALUATE)):
            (folder / name).write_text(text)
        self.folder, self.log = folder, folder / "calls"
        self.log.touch()

    def begin(self, **more):
        words = [sys.executable, "evaluate.py"]
        return subprocess.Popen(words, cwd=self.folder, env={**os.environ, **more}, start_new_session=True)

    def calls_so_far(self):
        """The seed of each call, which no other step has."""
        return [int(seed) for seed in self.log.read_text().split()]

    def stored(self):
        """The seeds of the steps that are on disk whole."""
        found = set()
        for path in (self.folder / "run" / "chains").glob("*/steps.jsonl"):
            chain = Chain.from_dict(json.loads((path.parent / "chain.json").read_bytes()))
            found |= {chain.seed(number) for number in range(1, path.read_bytes().count(b"\n"))}
        return found

    def end(self):
        """Let it run to its end; how many steps it is of."""
        assert self.begin().wait(timeout=300) == 0
        finished = store_reader.find_finished([self.folder / "run"]).done
        assert len(finished) == 3
        [*_, log] = sorted((self.folder / "logs").glob("*.eval"))
        log = inspect_ai.log.read_eval_log(str(log))
        assert log.status == "success"
        assert len({json.dumps(sample.id) for sample in log.samples}) == len(finished)
        return sum(chain.calls for chain in finished.values())


@pytest.mark.slow
def test_twenty_kills_repay_only_calls_in_flight(tmp_path):
    evaluation, random_number = Evaluation(tmp_path), random.Random(7)
    lost, stored = [], set()  # calls in flight at each kill
    for _ in range(20):
        before = evaluation.calls_so_far()
        process, wanted = evaluation.begin(), len(before) + random_number.randint(1, 3)
        while process.poll() is None and len(evaluation.calls_so_far()) < wanted:
            time.sleep(0.005)
        time.sleep(random_number.uniform(0, 0.05))
        assert process.poll() is None, "it ended before it was killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        made = evaluation.calls_so_far()[len(before) :]
        assert not stored & set(made), "a step was paid for whose answer was stored"
        stored = evaluation.stored()
        lost.append(len(set(made) - stored))
    needed, paid = evaluation.end(), len(evaluation.calls_so_far())
    assert paid <= needed + sum(lost)
    assert max(lost) <= 3  # chains that are under way at once


@pytest.mark.slow
def test_an_answer_that_inspect_never_saw_is_not_paid_twice(tmp_path):
    evaluation = Evaluation(tmp_path)
    for number in (1, 2, 3, 5, 8):
        process = evaluation.begin(DIES_AT=str(number), SAMPLES="1")
        assert process.wait(timeout=300) == -signal.SIGKILL
        assert sorted(evaluation.calls_so_far()) == sorted(evaluation.stored())
    assert evaluation.end() == len(evaluation.calls_so_far()) == 48
