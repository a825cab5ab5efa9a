"""Whatever LiteLLM's image edits can drive, in a Python environment of LiteLLM's own."""

import datetime
import functools
import importlib.metadata
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image

from .. import pictures
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from ..vendors import models, prices, wire
from ..vendors.sizes import GEMINI_3, KONTEXT, MEGAPIXEL, OPENAI, QWEN, Size

PYTHON = "LITELLM_PYTHON"
INSTALL = "python -m venv litellm-env; litellm-env/bin/pip install litellm; and give python=litellm-env/bin/python"
FIND = (
    "import importlib.metadata as m; d = m.distribution('litellm'); print(d.version); print(d.locate_file('litellm'))"
)
REFUSALS = ("ContentPolicyViolationError",)
WORDS = ("content_policy", "moderation_blocked", "content management policy", "safety system", "image_safety")
CONCURRENT = 8


@dataclass(frozen=True)
class Editor:
    """Any model that LiteLLM can edit pictures with, by LiteLLM's name for it; LiteLLM has a Python of its own.

    LiteLLM needs older releases of libraries that stand here, so it is installed apart, and `python` names the
    interpreter there. It takes its keys from the environment, by its own names for them.
    """

    model: str = "gemini/gemini-nano-banana-2.1"
    quality: str = field(default="", metadata={"identity": "where given"})
    python: str = field(default_factory=lambda: os.environ.get(PYTHON, ""), metadata={"identity": False})
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("LITELLM_BASE_URL")
    concurrency: ClassVar[int] = CONCURRENT
    needs: ClassVar[str] = "a Python with litellm, named by python= or LITELLM_PYTHON, and the vendor's key"

    def __post_init__(self) -> None:
        if self.timeout <= 0:
            raise UserError(f"litellm:timeout is {self.timeout}; it is a number of seconds above 0")
        if self.base_url:
            wire.base_address(self.base_url, "LITELLM_BASE_URL", "")

    @property
    def interpreter(self) -> str:
        return self.python or sys.executable

    def ready(self) -> str | None:
        return None if found(self.interpreter) else f"litellm is not installed at {self.interpreter}: {INSTALL}"

    def identity(self) -> dict[str, str]:
        """LiteLLM's version: it decides how a model is asked."""
        there = found(self.interpreter)
        return {"litellm": there[0]} if there else {}

    def sizes(self) -> tuple[Size, ...]:
        families = {"gemini": tuple(GEMINI_3.values()), "gpt-image": OPENAI, "kontext": KONTEXT, "qwen": QWEN}
        families["flux"] = MEGAPIXEL
        return next((sizes for family, sizes in families.items() if family in self.model.lower()), ())

    def hosted(self) -> models.Model:
        """What LiteLLM's own table says of the model, but for the price of one that the shipped list has."""
        there = found(self.interpreter)
        row = table(there[1]).get(self.model, {}) if there else {}
        ends, price = prices.end_of(row), prices.flat_price(row)
        for model in models.listed():
            if model.facts.get("litellm", "").format(name=model.name) == self.model and model.price is not None:
                price = max(model.price.values()) if isinstance(model.price, dict) else model.price
        facts: dict[str, Any] = {"price": price, "no_price": "LiteLLM's own table has none"}
        facts |= {"ends": datetime.date.fromisoformat(ends)} if ends else {}
        return models.Model("litellm", self.model, bool(row), facts)

    def price(self) -> float | None:
        return self.hosted().price

    @functools.cached_property
    def worker(self) -> "Worker":
        if reason := self.ready():
            raise Unusable(reason)
        return Worker(self.interpreter)

    @functools.cached_property
    def client(self) -> Any:
        return wire.client("httpx2")

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        given = {"size": f"{image.width}x{image.height}", "n": 1, "seed": seed}
        given |= {"output_format": "png", "prompt_upsampling": False}
        asked = {
            "model": self.model,
            "prompt": instruction,
            "image": wire.to_base64(pictures.encode_png(image)),
            "given": given | ({"quality": self.quality} if self.quality else {}),
            "asked_for": ["quality"] if self.quality else [],
            "api_base": self.base_url,
            "timeout": self.timeout,
        }
        reply = self.worker.ask(asked, self.timeout + 30)
        if reply.get("error"):
            return declined(reply["error"])
        about = {"model": self.model, "provider": reply["provider"], "usage": reply["usage"], "sent": reply["sent"]}
        about["uncontrolled"] = [name for name in ("seed", "size") if name not in reply["sent"]]
        if reply["revised_prompt"] not in (None, "", instruction):
            about["revised_prompt"] = reply["revised_prompt"]
        cost = reply["cost"] if isinstance(reply["cost"], int | float) and reply["cost"] > 0 else None
        inside = reply["b64_json"] or (reply["url"] if str(reply["url"]).startswith("data:") else None)
        if inside:
            return Answer(wire.from_base64(inside), cost=cost, details=about)
        if isinstance(reply["url"], str):
            with wire.time_limit(self.timeout):
                data, declared = wire.download(self.client, reply["url"], self.base_url)
            return Answer(data, cost=cost, details={**about, "declared": declared})
        return Answer(status="no_image", reason="an answer without a picture", cost=cost, details=about)


@functools.cache
def found(python: str) -> tuple[str, str] | None:
    """LiteLLM's version and folder in another Python's environment; None where it has none."""
    if python == sys.executable:
        try:
            here = importlib.metadata.distribution("litellm")
        except importlib.metadata.PackageNotFoundError:
            return None
        return here.version, str(here.locate_file("litellm"))
    program = shutil.which(python)
    if program is None:
        raise UserError(f"litellm:python is {python!r}, where there is no program")
    done = subprocess.run([program, "-c", FIND], capture_output=True, text=True, check=False)
    lines = done.stdout.split("\n")
    return (lines[0], lines[1]) if done.returncode == 0 and len(lines) > 1 else None


@functools.cache
def table(folder: str) -> Mapping[str, Any]:
    """LiteLLM's own table of models."""
    path = Path(folder, Path(prices.TABLE).name)
    rows = json.loads(path.read_bytes()) if path.is_file() else {}
    return {name: row for name, row in rows.items() if isinstance(row, dict)}


class Worker:
    """A process of LiteLLM's Python that answers calls as they end; started anew where it has ended."""

    def __init__(self, python: str):
        self.python = python
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        self.waiting: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.process: subprocess.Popen[str] | None = None

    def ask(self, asked: dict[str, Any], patience: float) -> dict[str, Any]:
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        with self.lock:
            process, number = self.running(), next(self.numbers)
            self.waiting[number] = answers
            try:
                process.stdin.write(json.dumps({"id": number, **asked}) + "\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
            except OSError as error:
                self.waiting.pop(number, None)
                raise Transient(f"LiteLLM's process has ended ({error})") from error
        try:
            return answers.get(timeout=patience)
        except queue.Empty:
            raise Transient("no answer in time from LiteLLM's process", charged=True) from None
        finally:
            self.waiting.pop(number, None)

    def running(self) -> "subprocess.Popen[str]":
        if self.process is None or self.process.poll() is not None:
            script = Path(__file__).parent.parent / "vendors" / "litellm_worker.py"
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen([self.python, str(script), str(CONCURRENT)], text=True, **pipes)
            threading.Thread(target=self.listen, args=(self.process,), daemon=True).start()
        return self.process

    def listen(self, process: "subprocess.Popen[str]") -> None:
        for line in process.stdout or ():
            reply = json.loads(line)
            if answers := self.waiting.get(reply["id"]):
                answers.put(reply)
        ended = {"error": {"type": "Ended", "message": f"LiteLLM's process ended with {process.wait()}"}}
        for answers in list(self.waiting.values()):
            answers.put(ended)


def declined(error: Mapping[str, Any]) -> Answer:
    """A refusal, or a fault by LiteLLM's name and status for it."""
    kind, said = str(error.get("type")), str(error.get("message")).partition("\nTraceback")[0]
    message = f"{kind}: {said}"
    if kind in REFUSALS or any(word in message.lower() for word in WORDS):
        return wire.refusal(message, 0.0)
    if kind == "Unsupported" or "_KEY is not set" in said:
        raise Unusable(message)
    if kind in ("Ended", "Timeout", "APIConnectionError"):
        raise Transient(message, charged=True)
    if isinstance(status := error.get("status"), int):
        raise wire.status_error(status, message, error.get("retry_after"))
    raise Rejected(message)
