"""A vendor on this machine who takes orders as Black Forest Labs does, bills each when it is accepted, and misbehaves.

It is a process of its own, because whoever asks it is killed again and again. Its till is a file with a line of JSON
for each order that it billed: the key of who ordered, the seed, what became of it, the price.
"""

import base64
import io
import json
import multiprocessing
import os
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

from convergebench.generation import pictures
from PIL import Image
from vendors.loopback import Reply, Request, Server, serving, told

PRICE = 0.045  # what models.toml says of flux-2-pro
FORK = multiprocessing.get_context("fork")
# What may become of an order in bad weather; the rest is answered.
WEATHER = {"busy": 5, "broken": 4, "cut": 4, "html": 3, "slow": 0.1, "unpaid": 1}
TIMEOUT = 20.0  # seconds that a caller waits for an answer, on a busy machine too; a slow one takes longer
REFUSED, NO_PICTURE = 23, 29  # one seed of so many

PLUGIN = '''"""The editor of the campaign: Black Forest Labs' own code, at any size."""

from dataclasses import dataclass

from convergebench.generation.editors import bfl


@dataclass(frozen=True)
class Editor(bfl.Editor):
    """Black Forest Labs' service on this machine."""

    poll: float = 0.01

    def sizes(self):
        return ()
'''


def install(folder: Path) -> None:
    """The editor `till` as an installed package brings it, in a folder for PYTHONPATH."""
    about = folder / "convergebench_faults-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "convergebench_faults.py").write_text(PLUGIN)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: convergebench-faults\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[convergebench.editors]\ntill = convergebench_faults:Editor\n")


def answer(picture: Image.Image, seed: int) -> bytes:
    """What the vendor gives for a picture: the same for the same words, whatever the weather."""
    buffer = io.BytesIO()
    darker = picture.point(lambda level: max(0, level - 1))
    darker.save(buffer, ("PNG", "JPEG", "WEBP")[seed % 3])
    return buffer.getvalue()


class Vendor:
    """The process of the vendor, as the campaign sees it."""

    def __init__(self, folder: Path, seed: int):
        self.till = folder / "till.jsonl"
        self.till.touch()
        self.weather = FORK.Value("i", 0)
        reading, writing = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=serve, args=(self.till, self.weather, seed, writing), daemon=True)
        self.process.start()
        self.address: str = reading.recv()

    def billed(self, key: str, answered: bool = False) -> Counter[int]:
        """How often each seed was billed to a key; or only those orders that were answered."""
        lines = [json.loads(line) for line in self.till.read_text().splitlines()]
        mine = [line for line in lines if line["key"] == key]
        return Counter(line["seed"] for line in mine if line["fate"] == "fine" or not answered)

    def close(self) -> None:
        self.process.kill()
        self.process.join()


def serve(
    till: Path, weather: "multiprocessing.sharedctypes.Synchronized[int]", seed: int, ready: object
) -> None:
    chance, lock = Random(f"vendor {seed}"), threading.Lock()
    tasks: list[dict[str, object]] = []

    def bill(request: Request, seed: int, fate: str) -> None:
        line = json.dumps({"key": request.headers["x-key"], "seed": seed, "fate": fate, "price": PRICE})
        with till.open("a") as file:
            file.write(line + "\n")

    def vendor(server: Server, request: Request) -> Reply:
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

    def once(task: dict[str, object], what: str = "tried") -> bool:
        """Whether this happened before."""
        before = what in task
        task[what] = True
        return before

    def take_order(server: Server, request: Request, bad: bool) -> Reply:
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
        task: dict[str, object] = {"seed": seed}
        if seed % REFUSED == 0:
            task["refused"] = True
        elif seed % NO_PICTURE == 0:
            task["data"] = b"this is no picture"
        else:
            task["data"] = answer(pictures.decode(base64.b64decode(order["input_image"])), seed)
        with lock:
            bill(request, seed, fate)
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
        ready.send(server.base)  # type: ignore[attr-defined]
        while os.getppid() != 1:
            time.sleep(0.5)
