"""The user's own Python function as an editor, passed as an object or named as ./my_editor.py:edit.

The function may be async, and may take no seed. A file's function runs in a process
of its own (process.py); a function that is passed as an object runs in this one.
"""

import ast
import asyncio
import functools
import hashlib
import importlib.util
import inspect
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..calls import Fault, Rejected
from ..records import Answer, Refused, UserError
from .process import OwnFile

_WORD = re.compile(r"[A-Za-z0-9_.-]+")
_CONCURRENCY = 8  # calls of an async function in flight
_starting = threading.Lock()


@dataclass(frozen=True)
class OwnEditor:
    """Calls a function that returns a PIL picture or the bytes of a file."""

    function: Callable[..., object]
    concurrency: int
    takes_seed: bool
    summary: str  # the first line of the user's docstring
    isolation: ClassVar[str] = "none"  # it could read the chain off the call stack

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        try:
            seeds = [seed] if self.takes_seed else []
            result = self.function(image.copy(), instruction, *seeds)
            if inspect.iscoroutine(result):
                result = asyncio.run_coroutine_threadsafe(result, _event_loop()).result()
            return _as_answer(result)
        except Refused as refusal:
            return Answer(status="refused", reason=str(refusal))
        except Fault:
            raise
        except Exception as error:  # the user's own code: an exception fails this step, not the run
            raise Rejected(f"{type(error).__name__}: {error}") from error


def wrap(function: Callable[..., object], concurrency: int | None = None) -> OwnEditor:
    # A model in this process is seldom safe to call from several threads at once.
    is_async = any(map(inspect.iscoroutinefunction, (function, type(function).__call__)))
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    takes_seed = _takes(function, None, "", 0)
    if not takes_seed and not _takes(function, None, ""):
        given = f"{getattr(function, '__name__', 'the editor')}{inspect.signature(function)}"
        raise UserError(f"an editor must take (image, instruction, seed), or the first two of these; got {given}")
    return OwnEditor(function, concurrency or (_CONCURRENCY if is_async else 1), takes_seed, summary)


def _takes(function: Callable[..., object], *arguments: object) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a built-in function may have no signature
        return True
    return True


def _event_loop() -> asyncio.AbstractEventLoop:
    with _starting:  # two first calls at once would each start a loop, but a client belongs to one
        return _started_loop()


@functools.cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="own async editors", daemon=True).start()
    return loop


def _as_answer(result: object) -> Answer:
    if isinstance(result, Answer):
        return result
    if result is None:
        return Answer(status="no_image", reason="the function returned None")
    if isinstance(result, bytes):
        return Answer(result)
    if isinstance(result, Image.Image):
        return Answer(pictures.encode_png(result))
    kind = type(result).__name__
    raise Rejected(f"the function must return a PIL picture, the bytes of a file or None, got {kind}")


def from_file(path: Path, name: str, environment: Sequence[str], concurrency: int) -> OwnFile:
    """The editor for a function in a file, which is parsed here and run in another process."""
    if not path.is_file():
        raise UserError(f"{path} does not exist; name your own editor as ./my_editor.py:edit")
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    functions = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    definition, stored = functions.get(name), {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {alias.asname or alias.name for node in ast.walk(tree) for alias in getattr(node, "names", ())
                if isinstance(alias, ast.alias)}  # fmt: skip
    if definition is None and name not in stored | imported:
        raise UserError(f"{path} has no function {name!r}; write one that takes (image, instruction, seed)")
    summary = (ast.get_docstring(definition) or "" if definition else "").partition("\n")[0]
    calls_at_once = concurrency or (_CONCURRENCY if isinstance(definition, ast.AsyncFunctionDef) else 1)
    return OwnFile(path, name, summary, calls_at_once, environment)


def load(path: Path, name: str) -> Callable[..., object]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a Python file")
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UserError(f"{path} has no function {name!r}; write one that takes (image, instruction, seed)")
    return function


def name_of(function: Callable[..., object] | OwnFile, chosen: object = None) -> str:
    """The editor's name in the results: the one the user chose, else the function's."""
    function_name = function.function if isinstance(function, OwnFile) else getattr(function, "__name__", None)
    return _checked_word("name", chosen or function_name or type(function).__name__)


def version_of(function: Callable[..., object] | OwnFile, chosen: object = None) -> str:
    """The user's version, else a hash of the function's file; resuming needs the same."""
    if chosen is not None:
        return _checked_word("version", chosen)
    if isinstance(function, OwnFile):
        return hashlib.sha256(function.path.read_bytes()).hexdigest()[:12]
    try:
        code = inspect.unwrap(function)
        code = code if inspect.isroutine(code) or inspect.isclass(code) else type(code)
        file = Path(inspect.getsourcefile(code) or "")
        source = file.read_bytes() if file.is_file() else inspect.getsource(code).encode()
    except (OSError, TypeError) as error:
        function = inspect.unwrap(function)
        code_object = getattr(function, "__code__", getattr(type(function).__call__, "__code__", None))
        if code_object is None:
            advice = "give it a version, such as version='1'"
            raise UserError(f"this editor has no code to tell it by; {advice}") from error
        source = _code_as_text(code_object).encode()
    return hashlib.sha256(source).hexdigest()[:12]


def _code_as_text(code: CodeType) -> str:
    """A text that is the same in every process, unlike `marshal` output and the order of a set."""
    constants = [
        _code_as_text(value)
        if isinstance(value, CodeType)
        else str(sorted(map(repr, value)))
        if isinstance(value, frozenset)
        else repr(value)
        for value in code.co_consts
    ]
    return repr((code.co_code.hex(), code.co_names, code.co_varnames, constants))


def _checked_word(what: str, word: object) -> str:
    if not _WORD.fullmatch(str(word)):
        raise UserError(f"the editor's {what} must be letters, digits and . _ -, got {word!r}")
    return str(word)
