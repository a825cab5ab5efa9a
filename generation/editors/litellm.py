"""Whatever LiteLLM's image edits can drive, in a Python environment of LiteLLM's own."""

import dataclasses
import datetime
import functools
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PIL import Image

from .. import pictures
from ..calls import Transient, Unusable
from ..records import Answer, UserError
from ..vendors import hosted, models, prices, wire
from ..vendors.sizes import GEMINI_3, KONTEXT, MEGAPIXEL, OPENAI, QWEN, Size
from ..vendors.wire import Json

if TYPE_CHECKING:
    import httpx

_INSTALL = "python -m venv litellm-env; litellm-env/bin/pip install litellm; and give python=litellm-env/bin/python"
_FIND = (
    "import importlib.metadata as m; d = m.distribution('litellm'); print(d.version); print(d.locate_file('litellm'))"
)
_MEANINGS = (
    ("refused", "code", ("ContentPolicyViolationError",)),
    ("refused", "message", ("content_policy", "moderation_blocked", "content management policy")),
    ("refused", "message", ("safety system", "image_safety")),
)
_FAMILIES = {
    "gemini": tuple(GEMINI_3.values()),
    "gpt-image": OPENAI,
    "kontext": KONTEXT,
    "qwen": QWEN,
    "flux": MEGAPIXEL,
}


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Any model that LiteLLM can edit pictures with, by LiteLLM's name for it; LiteLLM has a Python of its own.

    LiteLLM needs older releases of libraries that ConvergeBench uses, so it has its own environment, whose interpreter
    is `python`. It reads its keys from the environment variables that LiteLLM documents.
    """

    model: str = "gemini/gemini-nano-banana-2.1"
    base_url: str = wire.base_url_option("LITELLM_BASE_URL")
    quality: str = field(default="", metadata={"identity": "where given"})
    python: str = field(default_factory=lambda: os.environ.get("LITELLM_PYTHON", ""), metadata={"identity": False})
    concurrency: ClassVar[int] = 8
    needs: ClassVar[str] = "a Python with litellm, named by python= or LITELLM_PYTHON, and the vendor's key"
    vendor: ClassVar = hosted.Vendor("litellm", "", "")

    def address(self) -> str:
        return wire.base_address(self.base_url, "LITELLM_BASE_URL", "") if self.base_url else ""

    @property
    def _interpreter(self) -> str:
        return self.python or sys.executable

    def ready(self) -> str | None:
        return None if _installed(self._interpreter) else f"litellm is not installed at {self._interpreter}: {_INSTALL}"

    def identity(self) -> dict[str, str]:
        """LiteLLM's version, which decides what is sent to a model."""
        installed = _installed(self._interpreter)
        return {"litellm": installed[0]} if installed else {}

    def sizes(self) -> tuple[Size, ...]:
        return next((sizes for family, sizes in _FAMILIES.items() if family in self.model.lower()), ())

    def hosted(self) -> models.Model:
        """The model's row in LiteLLM's own table; if the shipped list has a price for it, that price is used."""
        installed = _installed(self._interpreter)
        row = _table(installed[1]).get(self.model, {}) if installed else {}
        ends, price = prices.end_of(row), prices.flat_price(row)
        for model in models.listed():
            if model.facts.get("litellm", "").format(name=model.name) == self.model and model.price is not None:
                price = max(model.price.values()) if isinstance(model.price, dict) else model.price
        facts: Json = {"price": price, "no_price": "LiteLLM's own table has none"}
        facts |= {"ends": datetime.date.fromisoformat(ends)} if ends else {}
        return models.Model("litellm", self.model, bool(row), facts)

    @functools.cached_property
    def client(self) -> "httpx.Client":
        return wire.client("httpx2")

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        if reason := self.ready():
            raise Unusable(reason)
        options = {"size": f"{image.width}x{image.height}", "n": 1, "seed": seed}
        options |= {"output_format": "png", "prompt_upsampling": False}
        request = {
            "model": self.model,
            "prompt": instruction,
            "image": wire.to_base64(pictures.encode_png(image)),
            "given": options | ({"quality": self.quality} if self.quality else {}),
            "asked_for": ["quality"] if self.quality else [],
            "api_base": self.base_url,
            "timeout": self.timeout,
        }
        reply = _run(self._interpreter, request, self.timeout + 30)  # seconds more, for the process to start
        if reply.get("error"):
            return _declined(reply["error"])
        details = {"model": self.model, "provider": reply["provider"], "usage": reply["usage"], "sent": reply["sent"]}
        details["uncontrolled"] = [name for name in ("seed", "size") if name not in reply["sent"]]
        details |= hosted.rewritten(reply["revised_prompt"], instruction)
        with wire.time_limit(self.timeout):
            answer = self.picture_in(reply, details)
        cost = reply["cost"] if isinstance(reply["cost"], int | float) and reply["cost"] > 0 else None
        return dataclasses.replace(answer, cost=cost)


@functools.cache
def _installed(python: str) -> tuple[str, str] | None:
    """LiteLLM's version and folder in another Python's environment; None if it has none."""
    if python == sys.executable:
        try:
            distribution = importlib.metadata.distribution("litellm")
        except importlib.metadata.PackageNotFoundError:
            return None
        return distribution.version, str(distribution.locate_file("litellm"))
    program = shutil.which(python)
    if program is None:
        raise UserError(f"litellm:python must be a Python interpreter, got {python!r}, which is not a program")
    process = subprocess.run([program, "-c", _FIND], capture_output=True, text=True, check=False)
    lines = process.stdout.split("\n")
    return (lines[0], lines[1]) if process.returncode == 0 and len(lines) > 1 else None


@functools.cache
def _table(folder: str) -> prices.Table:
    """LiteLLM's own table of models."""
    path = Path(folder, Path(prices.TABLE).name)
    rows = json.loads(path.read_bytes()) if path.is_file() else {}
    return {name: row for name, row in rows.items() if isinstance(row, dict)}


def _run(python: str, request: Json, timeout: float) -> Json:
    """One call in a process of LiteLLM's Python."""
    command = [python, str(Path(__file__).parents[1] / "vendors" / "litellm_worker.py")]
    try:
        process = subprocess.run(
            command, input=json.dumps(request), capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        raise Transient("no answer in time from LiteLLM's process", charged=True) from None
    if not process.stdout:
        raise Transient(f"LiteLLM's process ended with {process.returncode}", charged=True)
    reply: Json = json.loads(process.stdout)
    return reply


def _declined(error: Json) -> Answer:
    """A refusal as an answer; any other error is raised as the fault that its name and status stand for."""
    import httpx

    kind, message = str(error.get("type")), str(error.get("message")).partition("\nTraceback")[0]
    if kind in ("Timeout", "APIConnectionError"):
        raise Transient(f"{kind}: {message}", charged=True)
    if kind == "Unsupported" or "_KEY is not set" in message:
        raise Unusable(f"{kind}: {message}")
    status, retry_after = error.get("status"), error.get("retry_after")
    response = httpx.Response(
        status if isinstance(status, int) else 200, headers={"retry-after": retry_after} if retry_after else {}
    )
    return wire.declined(response, kind, message, _MEANINGS)
