"""A vendor on this machine who takes orders as Black Forest Labs does, bills each when it is accepted, and misbehaves.

It is a process of its own, because whoever asks it is killed again and again. Its till is a file with a line of JSON
for each order that it billed: the key of who ordered, the seed, what became of it.
"""

import base64
import json
import multiprocessing
import os
import threading
import time
from collections import Counter
from random import Random

from convergebench.generation import pictures
from counting import darker
from vendors.loopback import Reply, serving, told

PRICE = 0.045  # what models.toml says of flux-2-pro
FORK = multiprocessing.get_context("fork")
# What may become of an order in bad weather; the rest is answered.
WEATHER = {"busy": 5, "broken": 4, "cut": 4, "html": 3, "slow": 0.1, "unpaid": 1}
TIMEOUT = 20.0  # seconds that a caller waits for an answer, on a busy machine too; a slow one takes longer
REFUSED, NO_PICTURE = 23, 29  # one seed of so many


class Vendor:
    """The process of the vendor, as the campaign sees it."""

    def __init__(self, folder, seed):
        self.till = folder / "till.jsonl"
        self.till.touch()
        self.weather = FORK.Value("i", 0)
        reading, writing = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=serve, args=(self.till, self.weather, seed, writing), daemon=True)
        self.process.start()
        self.address = reading.recv()

    def billed(self, key, answered=False):
        """How often each seed was billed to a key; or only those orders that were answered."""
        lines = [json.loads(line) for line in self.till.read_text().splitlines()]
        mine = [line for line in lines if line["key"] == key]
        return Counter(line["seed"] for line in mine if line["fate"] == "fine" or not answered)


def serve(till, weather, seed, ready):
    chance, lock = Random(f"vendor {seed}"), threading.Lock()
    tasks = []

    def vendor(server, request):
        server.requests.clear()
        bad = bool(weather.value)
        time.sleep(0.004)
        if request.method == "POST":
            return take_order(server, request, bad)
        with lock:
            trouble = bad and chance.random() < 0.06
        if trouble:
            return told({"detail": "try again"}, 503)
        task = tasks[int(request.path.rpartition("/" if "/delivery/" in request.path else "-")[2])]
        if request.path.startswith("/delivery/"):
            return Reply(
                body=task["data"], type="image/png", cut=bad and task["seed"] % 7 == 0 and not once(task)
            )
        if not once(task, "asked"):
            return told({"status": "Pending"})
        if "refused" in task:
            return told({"status": "Content Moderated", "details": "not this one"})
        number = tasks.index(task)
        return told(
            {"status": "Ready", "result": {"sample": f"{server.base}/delivery/{number}", "seed": task["seed"]}}
        )

    def once(task, what="tried"):
        """Whether this happened before."""
        before = what in task
        task[what] = True
        return before

    def take_order(server, request, bad):
        order = request.json()
        with lock:
            fate = chance.choices([*WEATHER, "fine"], [*WEATHER.values(), 80])[0] if bad else "fine"
        if fate == "busy":
            return told({"detail": "too many"}, 429, retry_after="0.01")
        if fate == "broken":
            return told({"detail": "an error of ours"}, 500)
        if fate == "unpaid":
            return told({"detail": "no such size"}, 422)
        seed = order["seed"]
        task = {"seed": seed}
        if seed % REFUSED == 0:
            task["refused"] = True
        elif seed % NO_PICTURE == 0:
            task["data"] = b"this is no picture"
        else:
            task["data"] = darker(pictures.decode(base64.b64decode(order["input_image"])), seed)
        with lock, till.open("a") as file:
            file.write(json.dumps({"key": request.headers["x-key"], "seed": seed, "fate": fate}) + "\n")
            tasks.append(task)
            number = len(tasks) - 1
        if fate == "html":
            return Reply(body=b"<html>a page of the proxy</html>", type="text/html")
        if fate == "slow":
            time.sleep(TIMEOUT + 0.5)
        about = told({"id": f"task-{number}", "polling_url": f"{server.base}/v1/get_result?id=task-{number}"})
        about.cut = fate == "cut"
        return about

    os.environ["no_proxy"] = "127.0.0.1"
    with serving(vendor) as server:
        ready.send(server.base)
        while os.getppid() != 1:
            time.sleep(0.5)
