"""An editor that is somebody's own Python function, given as an object or as ./my_editor.py:edit."""

import asyncio
import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from . import pictures
from .calls import Fault, Refused, Rejected
from .records import Answer, UserError

WORD = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class OwnEditor:
    """Asks a function `edit(image, instruction, seed)`, which gives a PIL picture or the bytes of a file."""

    function: Callable[..., Any]
    concurrency: int = 1  # a model in this process is seldom safe to call from several threads at once

    @property
    def about(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def price(self) -> float:
        return 0.0

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        try:
            given = self.function(image.copy(), instruction, *([seed] if takes_seed(self.function) else []))
            return as_answer(asyncio.run(given) if inspect.iscoroutine(given) else given)
        except Refused as refusal:
            return Answer(status="refused", reason=str(refusal))
        except Fault:
            raise
        except Exception as error:  # the user's own code: whatever it raises fails this step and not the run
            raise Rejected(f"{type(error).__name__}: {error}") from error


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
        file = Path(inspect.getsourcefile(inspect.unwrap(function)) or "")
        source = file.read_bytes() if file.is_file() else inspect.getsource(function).encode()
    except (OSError, TypeError) as error:
        raise UserError("the source of this editor cannot be read; give it a version, such as version='1'") from error
    return hashlib.sha256(source).hexdigest()[:12]
