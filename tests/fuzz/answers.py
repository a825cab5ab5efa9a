"""The doors for what vendors' servers answer: to editors, and to judging models."""

import json
import os
from pathlib import Path
from unittest import mock

import httpx2
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors, loop, records
from convergebench.generation.calls import Caller, Fault
from convergebench.generation.vendors import wire
from convergebench.metric_modules._judges import answers, asks, backends, questions, run
from fuzz import doors
from fuzz.doors import Door, json_list, said
from PIL import Image

KEYS = dict.fromkeys(
    ("BFL_API_KEY", "OPENAI_API_KEY", "ARK_API_KEY", "DASHSCOPE_API_KEY", "XAI_API_KEY", "FAL_KEY",
     "REPLICATE_API_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"), "sentinel-of-the-doors")  # fmt: skip
BASE = "base_url=http://127.0.0.1"
VENDORS = ("bfl", "openai", "seedream", "qwen", "xai", "fal", "replicate", "gemini")


def seeds(name):
    """The right answers of a file beside this one: the vendor's name and the body."""
    return Path(__file__).with_name(name).read_bytes().splitlines()


def refuse_constant(word):
    raise AssertionError(f"{word} in what is stored")


def check_cost(cost):
    if cost is not None and not 0 <= cost < float("inf"):
        raise AssertionError(f"a cost of {cost}")


class Served(Door):
    """What a server answers, as those who ask it get it; `asked` has them by their names."""

    def open(self):
        self.body, self.status, self.left = b"", 200, 0
        transport = httpx2.MockTransport(lambda request: httpx2.Response(self.status, content=self.body))
        self.client = lambda: httpx2.Client(transport=transport)
        self.caller = Caller(attempts=2, first_wait=0.0, longest_wait=0.0, price=0.04)

    def tire(self, seconds):
        self.left -= 1
        if self.left < 0:
            raise wire.Transient("no picture before the time limit", charged=True)

    def use(self, data):
        values = json_list(data)
        if len(values) != 2 or not isinstance(values[0], str) or values[0] not in self.asked:
            return
        self.body, self.left, self.caller._failures = json.dumps(values[1]).encode(), 3, 0
        with (
            mock.patch.object(wire, "client", self.client),
            mock.patch.object(wire, "pause", self.tire),
            mock.patch.dict(os.environ, KEYS),
        ):
            self.ask(self.asked[values[0]], values[1])


class VendorAnswer(Served):
    """What vendors answer to editors: a step that can be stored, or a fault of theirs that says what it is."""

    seeds = seeds("vendor_answers.jsonl")

    def open(self):
        super().open()
        self.asked = {name: editors.choose(f"{name}:{BASE}", find_out=False).editor for name in VENDORS}

    def ask(self, whom, body):
        picture = Image.new("RGB", (32, 32), "olive")
        try:
            reply = self.caller.ask(lambda: whom.edit(picture, "x", 1), lambda answer: loop._judge(answer, 4)[0])
        except Fault as fault:
            said(fault)
            fields = {"reason": str(fault)}
        else:
            fields = {name: getattr(reply, name) for name in ("reason", "text", "cost", "details")}
            check_cost(reply.cost)
        step = records.Step(1, 1, 1, "x", "failed", **fields)
        line = json.loads(records.canonical(step.to_dict()).encode(), parse_constant=refuse_constant)
        if records.Step.from_dict(line) != step:
            raise AssertionError(f"{line} is not {step}")


class Judges(Served):
    """What judging models answer: a judgement with a value or a reason, or a fault that says what it is."""

    seeds = seeds("judge_answers.jsonl")

    def open(self):
        super().open()
        self.asked = {name: backends.choose(f"{name}:{BASE}") for name in ("openai", "gemini")}
        question, reader = questions.load("edit_applied"), Reader(small_dataset.write(self.folder / "dataset"))
        self.first = asks.plan_asks(reader, question, lambda *_: True)[0][0]
        self.shown = backends.Shown(self.first.words, [], question.schema, question.name)

    def ask(self, whom, body):
        self.status = 400 if isinstance(body, dict) and "error" in body else 200
        try:
            answer = self.caller.ask(lambda: whom.answer(self.shown))
        except Fault as fault:
            said(fault)
            return
        check_cost(answer.cost)
        judgement = run._judgement_of(self.first, whom, answer, answer.cost, 0.1)
        line = json.loads(records.canonical(dict(judgement.values)), parse_constant=refuse_constant)
        if answers.Judgement(**line) != judgement:
            raise AssertionError(f"{line} is not {judgement}")
        if judgement.value not in (None, 0.0, 1.0):
            raise AssertionError(f"{judgement.value} is neither yes nor no")


DOORS = {**doors.DOORS, "vendors": VendorAnswer, "judges": Judges}
