"""A judge on this machine, and runs that ask it: as it answers, as it fails, and as the runs are killed.

`judging.py FOLDER KILLS` kills a run so many times at random moments, starts it again each time, and prints what came
of it. In a light process of its own: a fork of one that holds torch takes longer than a run.
"""

import base64
import hashlib
import json
import multiprocessing
import os
import random
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.ledger import Budget
from convergebench.metric_modules._judges import backends, questions, run
from vendors.loopback import serving, told, wait_until_idle

USAGE = {"prompt_tokens": 3000, "completion_tokens": 20}
PRICE = Decimal("0.0062")
REFUSAL = "I had rather not say."
dataset = small_dataset.write
SENTINEL = "sentinel-key-0123456789"


def prices(folder):
    path = folder / "prices.toml"
    path.write_text('openai_tokens."judge-1" = { text = 2.0, image = 2.0, output = 10.0 }\n')
    os.environ["CONVERGEBENCH_PRICES"] = str(path)


class Vendor:
    """Answers yes or no by the pictures it is shown; `answer` may change that, `fail` may answer in its place."""

    def __init__(self, answer=None, fail=None, model="judge-1-2026"):
        self.answer, self.fail, self.model = answer, fail, model
        self.lock, self.number = threading.Lock(), 0
        self.bills = {}  # by request id
        self.billed_without_answer = Decimal(0)

    def __call__(self, server, request):
        assert request.path == "/v1/chat/completions"
        asked = hashlib.sha256(request.body).hexdigest()
        with self.lock:
            self.number += 1
            number = self.number
        if self.fail and (reply := self.fail(self, number, request)):
            return reply
        said = self.answer(request, asked, number) if self.answer else truth(request)
        text = said if isinstance(said, str) else json.dumps({"applied": said})
        reply = {"id": f"req-{number}", "model": self.model, "usage": USAGE}
        message = {"role": "assistant", "content": text}
        with self.lock:
            self.bills[f"req-{number}"] = PRICE
        return told({**reply, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})


def truth(request):
    """The judge's answer without drift or noise."""
    return int(item_of(request)[:8], 16) % 2 == 0


def item_of(request):
    """Names the pictures and words that are shown."""
    return hashlib.sha256(json.dumps(request.json()["messages"]).encode()).hexdigest()


def pictures_of(request):
    content = request.json()["messages"][0]["content"]
    addresses = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return [base64.b64decode(address.partition(",")[2]) for address in addresses]


def spec(base, **options):
    words = {"base_url": f"{base}/v1", "model": "judge-1", "concurrency": 4, **options}
    return "openai:" + ",".join(f"{key}={value}" for key, value in words.items())


def choose(base, **options):
    return backends.choose(spec(base, **options))


def judge(folder, base, question="edit_applied", sample=0, **words):
    return run.judge(folder, spec(base), question, calibration=sample, quiet=True, **words)


def ask(folder, vendor=None, times=1, **words):
    """The outcomes of so many runs, one after the other."""
    with serving(vendor or Vendor()) as server:
        return [judge(folder, server.base, **words) for _ in range(times)]


def planned_run(folder, base, question="edit_applied", sample=0):
    return run.Run(folder, choose(base), questions.load(question), calibration=sample)


def rows_of(folder):
    return [dict(row) for row in Reader(folder).table("judgements").to_pylist()]


def ledger_of(folder):
    [path] = (folder / run.FOLDER).glob("*/ledger")
    return Budget(run=path.parent)


def under_kills(folder, kills):
    prices(folder)
    chance, done = random.Random(1), 0
    data = dataset(folder / "convergebench", editors={"steady": 0.02, "fading": 0.16, "third": 0.1})

    def fail(vendor, number, request):
        threading.Event().wait(0.004)
        if number % 11 == 0:
            return told({"error": {"message": "slow down", "code": "rate_limit"}}, 429, retry_after="0.01")
        return None

    def answer(request, asked, number):
        return REFUSAL if int(asked[:8], 16) % 9 == 0 else truth(request)

    vendor, context = Vendor(answer, fail), multiprocessing.get_context("fork")
    with serving(vendor) as server:
        calls = len(planned_run(data, server.base, sample=10).calls)
        while True:
            wait_until_idle(server.base)
            child = context.Process(target=judge, args=(data, server.base), kwargs={"sample": 10})
            child.start()
            until = vendor.number + chance.randint(0, 8)  # mostly in a call, now and then before the first
            while child.is_alive() and done < kills and vendor.number < until:
                time.sleep(0.001)
            child.join(chance.uniform(0, 0.01) if done < kills else 120)
            if child.exitcode is None:
                child.kill()
                child.join()
                done += 1
            elif child.exitcode == 0:
                break
    rows, ledger = rows_of(data), ledger_of(data)
    billed = [vendor.bills[json.loads(row["details"])["request_id"]] for row in rows]
    return {
        "kills": done,
        "planned": calls,
        "rows": len(rows),
        "identities": len({(row["purpose"], row["key"], row["session"], row["repeat"]) for row in rows}),
        "sessions": sorted({row["session"] for row in rows}),
        "delivered": len(vendor.bills),
        "without value": sorted({row["reason"] for row in rows if row["value"] is None}),
        "wrong": [
            row["key"] for row in rows if json.dumps({"applied": row["value"] == 1.0}) != row["raw"] != REFUSAL
        ],
        "cost of rows": str(sum(Decimal(str(row["cost"])) for row in rows)),
        "billed for rows": str(sum(billed)),
        "settled": str(ledger.settled),
        "in flight": len(ledger.unsettled),
    }


if __name__ == "__main__":
    print(json.dumps(under_kills(Path(sys.argv[1]), int(sys.argv[2]))))
