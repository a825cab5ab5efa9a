"""The doors for what vendors' servers answer: to editors, and to judging models."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import httpx2
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors, loop, records
from convergebench.generation.calls import Caller, Fault
from convergebench.generation.records import Answer
from convergebench.generation.vendors import wire
from convergebench.metric_modules._judges import answers, asks, backends, questions, run
from fuzz import doors
from fuzz.doors import Door, OfADataset, json_list, said
from PIL import Image

KEYS = dict.fromkeys(
    ("BFL_API_KEY", "OPENAI_API_KEY", "ARK_API_KEY", "DASHSCOPE_API_KEY", "XAI_API_KEY", "FAL_KEY",
     "REPLICATE_API_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"), "sentinel-of-the-doors")  # fmt: skip
BASE = "base_url=http://127.0.0.1"
VENDORS = ("bfl", "openai", "seedream", "qwen", "xai", "fal", "replicate", "gemini")


def seeds(name: str) -> list[bytes]:
    """The right answers of a file beside this one: the vendor's name and the body."""
    return Path(__file__).with_name(name).read_bytes().splitlines()


def refuse_constant(word: str) -> None:
    raise AssertionError(f"{word} in what is stored")


def check_cost(cost: float | None) -> None:
    if cost is not None and not 0 <= cost < float("inf"):
        raise AssertionError(f"a cost of {cost}")


class VendorAnswer(Door):
    """What vendors answer to editors: a step that can be stored, or a fault of theirs that says what it is."""

    seeds = seeds("vendor_answers.jsonl")

    def open(self) -> None:
        self.body, self.left = b"", 0
        self.editors = {name: editors.choose(f"{name}:{BASE}", find_out=False).editor for name in VENDORS}
        self.caller = Caller(attempts=2, first_wait=0.0, longest_wait=0.0, price=0.04)

    def client(self) -> httpx2.Client:
        return httpx2.Client(
            transport=httpx2.MockTransport(lambda request: httpx2.Response(200, content=self.body))
        )

    def tire(self, seconds: float) -> None:
        self.left -= 1
        if self.left < 0:
            raise wire.Transient("no picture before the time limit", charged=True)

    def use(self, data: bytes) -> None:
        values = json_list(data)
        if len(values) != 2 or not isinstance(values[0], str):
            return
        name, self.body, self.left = values[0], json.dumps(values[1]).encode(), 3
        edit = self.edit(name)
        if edit is None:
            return
        self.caller._failures = 0
        try:
            with (
                mock.patch.object(wire, "client", self.client),
                mock.patch.object(wire, "pause", self.tire),
                mock.patch.dict(os.environ, KEYS),
            ):
                reply = self.caller.ask(edit, lambda answer: loop._judge(answer, 4)[0])
        except Fault as fault:
            said(fault)
            fields: dict[str, Any] = {"reason": str(fault)}
        else:
            fields = {name: getattr(reply, name) for name in ("reason", "text", "cost", "details")}
            check_cost(reply.cost)
        step = records.Step(1, 1, 1, "x", "failed", **fields)
        line = json.loads(records.canonical(step.to_dict()).encode(), parse_constant=refuse_constant)
        if records.Step.from_dict(line) != step:
            raise AssertionError(f"{line} is not {step}")

    def edit(self, name: str) -> Callable[[], Answer] | None:
        editor, picture = self.editors.get(name), Image.new("RGB", (32, 32), "olive")
        return None if editor is None else lambda: editor.edit(picture, "x", 1)


class Judges(OfADataset):
    """What judging models answer: a judgement with a value or a reason, or a fault that says what it is."""

    seeds = seeds("judge_answers.jsonl")

    def made(self) -> None:
        self.question = questions.load("edit_applied")
        self.ask = asks.plan_asks(Reader(self.dataset), self.question, lambda *_: True)[0][0]
        self.body, self.status = b"", 200
        transport = httpx2.MockTransport(lambda request: httpx2.Response(self.status, content=self.body))
        self.client = httpx2.Client(transport=transport)
        self.judges = {name: backends.choose(f"{name}:{BASE}") for name in ("openai", "gemini")}
        self.caller = Caller(attempts=1, first_wait=0.0, longest_wait=0.0, price=0.04)

    def use(self, data: bytes) -> None:
        values = json_list(data)
        if len(values) != 2 or not isinstance(values[0], str) or values[0] not in self.judges:
            return
        judge, body = self.judges[values[0]], values[1]
        self.body = json.dumps(body).encode()
        self.status = 400 if isinstance(body, dict) and "error" in body else 200
        self.caller._failures = 0
        shown = backends.Shown(self.ask.words, [], self.question.schema, self.question.name)
        try:
            with mock.patch.dict(os.environ, KEYS), mock.patch.object(wire, "client", return_value=self.client):
                answer = self.caller.ask(lambda: judge.answer(shown))
        except Fault as fault:
            said(fault)
            return
        check_cost(answer.cost)
        judgement = run._judgement_of(self.ask, judge, answer, answer.cost, 0.1)
        line = json.loads(records.canonical(dict(judgement.values)), parse_constant=refuse_constant)
        if answers.Judgement(**line) != judgement:
            raise AssertionError(f"{line} is not {judgement}")
        if judgement.value not in (None, 0.0, 1.0):
            raise AssertionError(f"{judgement.value} is neither yes nor no")


DOORS: dict[str, type[Door]] = {**doors.DOORS, "vendors": VendorAnswer, "judges": Judges}
