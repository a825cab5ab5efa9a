"""An editor that is somebody's own Python function, given as an object or as ./my_editor.py:edit.

The function may be async, and it may take many pictures at once: as `edit_batch(images, instructions, seeds)`.
"""

import asyncio
import functools
import hashlib
import importlib.util
import inspect
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from . import pictures
from .calls import Fault, Refused, Rejected
from .records import Answer, UserError

WORD = re.compile(r"[A-Za-z0-9_.-]+")
AT_ONCE = 8  # calls of an async function under way, and pictures of a batch
PAUSE = 0.05  # seconds that a batch waits for one more picture


@dataclass(frozen=True)
class OwnEditor:
    """Asks a function `edit(image, instruction, seed)`, which gives a PIL picture or the bytes of a file."""

    function: Callable[..., Any]
    concurrency: int = 1  # a model in this process is seldom safe to call from several threads at once
    batch: "Batch | None" = None

    @property
    def about(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def price(self) -> float:
        return 0.0

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        try:
            if self.batch:
                return as_answer(self.batch.ask(image.copy(), instruction, seed))
            given = self.function(image.copy(), instruction, *([seed] if takes_seed(self.function) else []))
            if inspect.iscoroutine(given):
                given = asyncio.run_coroutine_threadsafe(given, event_loop()).result()
            return as_answer(given)
        except Refused as refusal:
            return Answer(status="refused", reason=str(refusal))
        except Fault:
            raise
        except Exception as error:  # the user's own code: whatever it raises fails this step and not the run
            raise Rejected(f"{type(error).__name__}: {error}") from error


@dataclass
class Request:
    """One picture that waits for its batch; then what the function gave for it, or raised."""

    image: Image.Image
    instruction: str
    seed: int
    answer: Any = None
    done: bool = False


class Batch:
    """Calls a function of lists with what several chains ask for at the same time."""

    def __init__(self, function: Callable[..., Any], size: int):
        self.function, self.size = function, size
        self.changed = threading.Condition()
        self.waiting: list[Request] = []
        self.running = False

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Any:
        """This picture's answer. Whoever comes while no batch runs makes the next one, of all that wait by then."""
        mine = Request(image, instruction, seed)
        with self.changed:
            self.waiting.append(mine)
            self.changed.notify_all()
        while True:
            with self.changed:
                while self.running and not mine.done:
                    self.changed.wait()
                if mine.done:
                    break
                self.running = True
                while len(self.waiting) < self.size and self.changed.wait(PAUSE):
                    pass
                taken = self.waiting[: self.size]
                del self.waiting[: self.size]
            self.call(taken)
            with self.changed:
                self.running = False
                self.changed.notify_all()
        if isinstance(mine.answer, Exception):
            raise mine.answer
        return mine.answer

    def call(self, requests: list[Request]) -> None:
        """One call of the function. What it raises fails all of its pictures; an exception that it gives, only one."""
        images, instructions, seeds = zip(
            *((each.image, each.instruction, each.seed) for each in requests), strict=True
        )
        try:
            answers = list(self.function(list(images), list(instructions), list(seeds)))
            if len(answers) != len(requests):
                raise ValueError(f"edit_batch gave {len(answers)} answers for {len(requests)} pictures")
        except Exception as error:  # noqa: BLE001 - it is raised again in every thread that waits for an answer
            answers = [error] * len(requests)
        for request, answer in zip(requests, answers, strict=True):
            request.answer, request.done = answer, True


def wrap(function: Any, concurrency: int | None = None) -> OwnEditor:
    """The editor that asks it; async functions and batches take several calls at once."""
    batched = batch_function(function)
    at_once = concurrency or (AT_ONCE if batched or is_async(function) else 1)
    return OwnEditor(function, at_once, Batch(batched, at_once) if batched else None)


def batch_function(function: Any) -> Callable[..., Any] | None:
    """The function of lists: one called `edit_batch`, or an object's method of that name."""
    return function if getattr(function, "__name__", "") == "edit_batch" else getattr(function, "edit_batch", None)


def is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


@functools.cache
def event_loop() -> asyncio.AbstractEventLoop:
    """One loop for all calls of async functions, whose clients often belong to the loop they were first used in."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="own async editors", daemon=True).start()
    return loop


def as_answer(given: object) -> Answer:
    """What the function gave, as an answer; None is an answer without a picture."""
    if isinstance(given, Answer):
        return given
    if given is None:
        return Answer(status="no_image", reason="the function gave None")
    if isinstance(given, bytes):
        return Answer(given)
    if isinstance(given, Image.Image):
        return Answer(pictures.encode_png(given))
    raise Rejected(f"the function gave {type(given).__name__}; it gives a PIL picture, the bytes of a file, or None")


def takes_seed(function: Callable[..., Any]) -> bool:
    """Whether the function has a place for the seed; one of two arguments has none."""
    try:
        inspect.signature(function).bind(None, "", 0)
    except TypeError:
        return False
    return True


def load(path: Path, name: str) -> Callable[..., Any]:
    """The function of that name in a Python file, which may import its neighbours."""
    if not path.is_file():
        raise UserError(f"there is no file {path}; an editor of your own is given as ./my_editor.py:edit")
    module_name = f"convergebench_own_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise UserError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        sys.path.insert(0, str(path.resolve().parent))
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UserError(f"{path} has no function {name!r}; it is one of edit(image, instruction, seed)")
    return function


def name_of(function: Callable[..., Any], given: str | None) -> str:
    """The name that the results will have: the given one, else the function's."""
    name = given or str(getattr(function, "__name__", type(function).__name__))
    if not WORD.fullmatch(name):
        raise UserError(f"the editor's name is {name!r}; give a name of letters, digits and . _ -")
    return name


def version_of(function: Callable[..., Any], given: str | None) -> str:
    """The version that resuming goes by: the given one, else a hash of the file that holds the function."""
    if given is not None:
        if not WORD.fullmatch(given):
            raise UserError(f"the editor's version is {given!r}; give one of letters, digits and . _ -")
        return given
    try:
        code = inspect.unwrap(function)
        code = code if inspect.isroutine(code) or inspect.isclass(code) else type(code)
        file = Path(inspect.getsourcefile(code) or "")
        source = file.read_bytes() if file.is_file() else inspect.getsource(code).encode()
    except (OSError, TypeError) as error:
        raise UserError("the source of this editor cannot be read; give it a version, such as version='1'") from error
    return hashlib.sha256(source).hexdigest()[:12]
