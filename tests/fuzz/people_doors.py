"""The doors for what people, judging models and submitters send: labels, answers, questions and submissions."""

import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.studies.labels.label_files import import_labels, read_label_file
from convergebench.dataset_builder.studies.labels.labels import latest
from convergebench.dataset_builder.studies.submissions import submission, submission_checks
from convergebench.generation import records
from convergebench.generation.calls import Caller, CallLimits, Fault
from convergebench.generation.vendors import wire
from convergebench.metric_modules._judges import answers, asks, backends, questions, run
from fuzz.doors import Door

KEYS = dict.fromkeys(("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"), "sentinel-of-the-doors")


class Labels(Door):
    """A file of what people said of pictures: what is taken is in the dataset afterwards."""

    def open(self) -> None:
        import small_dataset

        self.dataset = small_dataset.write(self.folder / "dataset")
        (self.dataset / "README.md").unlink()
        [first, other, *_] = Reader(self.dataset).chains()
        one = {"rater": "anna", "question": "rating", "answer": "3", "chain": first.id, "step": 2, "seconds": 1.5}
        two = {"rater": "ben", "question": "pair", "answer": "first", "chain": first.id, "step": 2, "at": "2026-11-19",
               "other_chain": other.id, "other_step": 2}  # fmt: skip
        table = f"rater,question,answer,chain,step\nanna,failure,count,{first.id},1\nben,applied,yes,{first.id},1\n"
        lines = "".join(json.dumps(each) + "\n" for each in (one, two))
        self.names = {b"{": "labels.json", b"r": "labels.csv", b"\n": "labels.jsonl"}
        self.seeds = [json.dumps({"format": 1, "labels": [one, two]}).encode(), table.encode(), b"\n" + lines.encode()]

    def use(self, data: bytes) -> None:
        path = self.folder / self.names.get(data[:1], "labels.json")
        path.write_bytes(data)
        given, known = latest(read_label_file(path)), self.known()
        done = import_labels([path], self.dataset)
        if done.labels != known + done.new or done.new + done.changed > len(given):
            raise AssertionError("more labels than were given")

    def known(self) -> int:
        return len(list(Reader(self.dataset).rows("labels", ["rater"]))) if Reader(self.dataset).files("labels") else 0


class Judges(Door):
    """What judging models answer: a judgement with a value or a reason, or a fault of theirs that says what it is."""

    def open(self) -> None:
        import httpx
        import small_dataset

        said = [json.dumps({"applied": True}), '```json\n{"applied": false}\n```', "no", json.dumps({"applied": 3})]
        usage = {"prompt_tokens": 30, "completion_tokens": 2}
        self.seeds = [
            json.dumps(["openai", {"id": "1", "model": "m", "usage": usage, "system_fingerprint": "f", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}]).encode()
            for text in said
        ]  # fmt: skip
        counts = {"promptTokenCount": 30, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
        self.seeds += [
            json.dumps(["gemini", {"modelVersion": "m", "responseId": "1", "usageMetadata": counts, "candidates": [
                {"finishReason": "STOP", "content": {"parts": [{"text": text}, {"text": "t", "thought": True}]}}],
                "promptFeedback": {"blockReason": ""}}]).encode()
            for text in said[:2]
        ]  # fmt: skip
        self.seeds += [json.dumps([name, {"error": {"code": "x", "message": "y", "details": [{"retryDelay": "1s"}]}}])
                       .encode() for name in ("openai", "gemini")]  # fmt: skip
        self.reader = Reader(small_dataset.write(self.folder / "dataset"))
        self.question = questions.load("edit_applied")
        self.ask = asks.plan_asks(self.reader, self.question, lambda *_: True).asks[0]
        self.call = run.Call(self.ask, answers.DATASET, 1, 1)
        self.body, self.status = b"", 200
        transport = httpx.MockTransport(lambda request: httpx.Response(self.status, content=self.body))
        with mock.patch.object(wire, "client", side_effect=lambda *words, **more: httpx.Client(transport=transport)):
            base = "base_url=http://127.0.0.1"
            self.judges = {name: backends.choose(f"{name}:{base}") for name in ("openai", "gemini")}
            for choice in self.judges.values():
                choice.judge.client  # noqa: B018 -- it is made once, and kept
        self.caller = Caller(CallLimits(attempts=1, first_wait=0.0, longest_wait=0.0), price=0.04)

    def use(self, data: bytes) -> None:
        try:
            name, reply = json.loads(data)
        except (ValueError, RecursionError, TypeError):
            return
        if not isinstance(name, str) or name not in self.judges:
            return
        choice = self.judges[name]
        self.body = json.dumps(reply).encode()
        self.status = 400 if isinstance(reply, dict) and "error" in reply else 200
        self.caller._failures = 0
        shown = backends.Shown(self.ask.words, [], self.question.schema, self.question.name)
        try:
            with mock.patch.dict(os.environ, KEYS):
                reply = self.caller.ask(lambda: choice.judge.answer(shown), lambda answer: answer)
        except Fault as fault:
            if not str(fault):
                raise AssertionError("nothing is said") from fault
            return
        answer = reply.answer
        if answer.cost is not None and not 0 <= answer.cost < float("inf"):
            raise AssertionError(f"a cost of {answer.cost}")
        made = run.judgement_of(self.call, choice, answer, answer.cost, 0.1)
        line = json.loads(records.canonical(dict(made.values)), parse_constant=self.refuse)
        if answers.Judgement(**line) != made:
            raise AssertionError(f"{line} is not {made}")
        if made.value is not None and made.value not in (0.0, 1.0):
            raise AssertionError(f"{made.value} is neither yes nor no")

    def refuse(self, word: str) -> None:
        raise AssertionError(f"{word} in a judgement")


class Questions(Door):
    """A question of one's own."""

    def open(self) -> None:
        import small_dataset

        self.seeds = [path.read_bytes() for path in sorted(Path(str(questions.__file__)).parent.glob("*.toml"))]
        self.reader = Reader(small_dataset.write(self.folder / "dataset"))

    def use(self, data: bytes) -> None:
        (self.folder / "mine.toml").write_bytes(data)
        question = questions.load(str(self.folder / "mine.toml"))
        for ask in asks.plan_asks(self.reader, question, lambda *_: True).asks[:3]:
            ask.key.encode()
            ask.words.encode()
        for said in ('{"applied": true}', "3", "[]", json.dumps({question.value: 1})):
            questions.read_answer(question, said, 1)


class Submission(Door):
    """What a submission says of itself: other chains, files or signatures than its own are named."""

    def open(self) -> None:
        import scored
        from convergebench.dataset_builder.building import card
        from convergebench.metric_modules._engine import engine

        self.made = scored.built(scored.runs(self.folder / "run"), self.folder / "submission")
        engine.run(engine.prepare(self.made, ["psnr"], "cpu", None))
        card.write(self.made)
        self.truth: dict[str, Any] = submission.write(self.made)
        self.path = self.made / submission.FILE
        self.seeds = [self.path.read_bytes()]

    def use(self, data: bytes) -> None:
        self.path.write_bytes(data)
        with mock.patch.object(submission_checks, "verify_dataset", return_value=[]):  # of files that are the same
            wrong = submission_checks.check(self.made)
        if not all(wrong) or not (wrong or self.is_true()):
            raise AssertionError(f"silent: {wrong}")

    def is_true(self) -> bool:
        about = submission.read(self.made)
        return all(about[part] == self.truth[part] for part in ("chains", "files"))


DOORS: dict[str, type[Door]] = {
    "labels": Labels,
    "judges": Judges,
    "questions": Questions,
    "submission": Submission,
}
