"""An editor that is the user's own Python function, given as an object or as ./my_editor.py:edit.

The function may be async, and it may take many pictures at once: as `edit_batch(images, instructions, seeds)`.
"""

import asyncio
import contextlib
import functools
import hashlib
import importlib.util
import inspect
import queue
import re
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from . import pictures
from .calls import Fault, Refused, Rejected
from .records import Answer, UserError

_WORD = re.compile(r"[A-Za-z0-9_.-]+")
_AT_ONCE = 8  # calls of an async function under way, and pictures of a batch
_PAUSE = 0.05  # seconds that a batch waits for one more picture


@dataclass(frozen=True)
class OwnEditor:
    """Asks a function `edit(image, instruction, seed)`, which gives a PIL picture or the bytes of a file."""

    function: Callable[..., object]
    concurrency: int = 1  # a model in this process is seldom safe to call from several threads at once
    batch: "_Batch | None" = None

    @property
    def about(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def price(self) -> float:
        return 0.0

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        try:
            if self.batch:
                return _as_answer(self.batch.ask(image.copy(), instruction, seed))
            given = self.function(image.copy(), instruction, *([seed] if _takes_seed(self.function) else []))
            if inspect.iscoroutine(given):
                given = asyncio.run_coroutine_threadsafe(given, _event_loop()).result()
            return _as_answer(given)
        except Refused as refusal:
            return Answer(status="refused", reason=str(refusal))
        except Fault:
            raise
        except Exception as error:  # the user's own code: whatever it raises fails this step and not the run
            raise Rejected(f"{type(error).__name__}: {error}") from error


_Asked = tuple[Image.Image, str, int, "Future[object]"]


class _Batch:
    """Calls a function of lists with what several chains ask for at the same time, in a thread of its own."""

    def __init__(self, function: Callable[..., Any], size: int):
        self.function, self.size = function, size
        self.waiting: queue.SimpleQueue[_Asked] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="own batches", daemon=True).start()

    def ask(self, image: Image.Image, instruction: str, seed: int) -> object:
        """This picture's answer, or what the function raised."""
        answer: Future[object] = Future()
        self.waiting.put((image, instruction, seed, answer))
        return answer.result()

    def _run(self) -> None:
        while True:
            batch = [self.waiting.get()]
            with contextlib.suppress(queue.Empty):
                while len(batch) < self.size:
                    batch.append(self.waiting.get(timeout=_PAUSE))
            self._call(batch)

    def _call(self, batch: Sequence[_Asked]) -> None:
        """One call of the function. What it raises fails all of its pictures; an exception that it gives, only one."""
        images, instructions, seeds, futures = zip(*batch, strict=True)
        try:
            answers = list(self.function(list(images), list(instructions), list(seeds)))
            if len(answers) != len(batch):
                raise ValueError(f"edit_batch gave {len(answers)} answers for {len(batch)} pictures")
        except Exception as error:  # noqa: BLE001 - it is raised again in every thread that waits for an answer
            answers = [error] * len(batch)
        for future, answer in zip(futures, answers, strict=True):
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def wrap(function: Callable[..., object], concurrency: int | None = None) -> OwnEditor:
    """The editor that asks it; async functions and batches take several calls at once."""
    # The function of lists is one called `edit_batch`, or an object's method of that name.
    named = getattr(function, "__name__", "") == "edit_batch"
    of_lists = function if named else getattr(function, "edit_batch", None)
    is_async = any(map(inspect.iscoroutinefunction, (function, type(function).__call__)))
    at_once = concurrency or (_AT_ONCE if of_lists or is_async else 1)
    return OwnEditor(function, at_once, _Batch(of_lists, at_once) if of_lists else None)


@functools.cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """One loop for all calls of async functions, whose clients often belong to the loop they were first used in."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="own async editors", daemon=True).start()
    return loop


def _as_answer(given: object) -> Answer:
    """What the function gave, as an answer; None is an answer without a picture."""
    if isinstance(given, Answer):
        return given
    if given is None:
        return Answer(status="no_image", reason="the function gave None")
    if isinstance(given, bytes):
        return Answer(given)
    if isinstance(given, Image.Image):
        return Answer(pictures.encode_png(given))
    raise Rejected(f"the function must give a PIL picture, the bytes of a file or None, got {type(given).__name__}")


def _takes_seed(function: Callable[..., object]) -> bool:
    """Whether the function has a place for the seed; one of two arguments has none."""
    try:
        inspect.signature(function).bind(None, "", 0)
    except TypeError:
        return False
    return True


def load(path: Path, name: str) -> Callable[..., object]:
    """The function of that name in a Python file, which may import its neighbours."""
    if not path.is_file():
        raise UserError(f"there is no file {path}; an editor of your own is given as ./my_editor.py:edit")
    module_name = f"convergebench_own_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise UserError(f"{path} is not a Python file")
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


def name_of(function: Callable[..., object], given: object = None) -> str:
    """The name that the results will have: the given one, else the function's."""
    name = str(given or getattr(function, "__name__", type(function).__name__))
    if not _WORD.fullmatch(name):
        raise UserError(f"the editor's name must be letters, digits and . _ -, got {name!r}; give it with name=")
    return name


def version_of(function: Callable[..., object], given: object = None) -> str:
    """The version that resuming goes by: the given one, else a hash of the file that holds the function."""
    if given is not None:
        if not _WORD.fullmatch(str(given)):
            raise UserError(f"the editor's version must be letters, digits and . _ -, got {given!r}")
        return str(given)
    try:
        code = inspect.unwrap(function)
        code = code if inspect.isroutine(code) or inspect.isclass(code) else type(code)
        file = Path(inspect.getsourcefile(code) or "")
        source = file.read_bytes() if file.is_file() else inspect.getsource(code).encode()
    except (OSError, TypeError) as error:
        raise UserError("the source of this editor cannot be read; give it a version, such as version='1'") from error
    return hashlib.sha256(source).hexdigest()[:12]
