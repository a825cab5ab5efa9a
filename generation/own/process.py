"""Runs a user's function in a separate process, which receives pixels, words and a seed, and nothing else.

The process has no environment but what `env=` names. On Linux it is also kept
from reading the run's folder and what /proc says of other processes (Landlock,
from kernel 5.13 on); where that is missing, run.json says "process".
"""

import base64
import ctypes
import importlib.util
import json
import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from PIL import Image

from .. import calls, pictures
from ..records import Answer, Json, UserError

# What finds a program's libraries and caches; everything else must be asked for by env=.
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "HF_HOME")
_FAULTS = {kind.__name__: kind for kind in (calls.Transient, calls.Rejected, calls.Unusable)}
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on every architecture
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_BENEATH, _VERSION, _NO_NEW_PRIVILEGES = 1, 1, 38


@dataclass(eq=False)
class OwnFile:
    """The editor that sends each call to a process of the user's file; a process has one call at a time."""

    path: Path
    function: str
    summary: str
    concurrency: int
    environment: Sequence[str] = ()
    hidden: Path | None = None  # the run's folder
    _idle: "queue.LifoQueue[_Process]" = field(default_factory=queue.LifoQueue)

    @property
    def isolation(self) -> str:
        return "sandboxed process" if _landlock_version() else "process"

    def hide(self, folder: Path) -> None:
        self.hidden = folder

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        try:
            process = self._idle.get_nowait()
        except queue.Empty:
            process = _Process(self)
        try:
            answer = process.ask({"instruction": instruction, "seed": seed}, pictures.encode_png(image))
        except (OSError, ValueError) as error:
            raise calls.Rejected(f"the process of {self.path.name} ended: {process.end()}") from error
        self._idle.put(process)
        return answer


class _Process:
    def __init__(self, editor: OwnFile):
        self.temporary = tempfile.TemporaryDirectory()
        names = (*_ENVIRONMENT, *editor.environment)
        environment = {name: os.environ[name] for name in names if name in os.environ}
        hidden = [str(editor.hidden.resolve())] if editor.hidden else []
        words = ["-m", __name__, str(editor.path.resolve()), editor.function, *hidden]
        self.process = subprocess.Popen(
            [sys.executable, "-B", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment, "TMPDIR": self.temporary.name},
        )

    def ask(self, message: Json, data: bytes) -> Answer:
        if self.process.stdin is None or self.process.stdout is None:
            raise ValueError("no pipes")
        _send(self.process.stdin, message, data)
        values, data = _receive(self.process.stdout)
        if fault := _FAULTS.get(values.pop("fault", "")):
            raise fault(**values)
        return Answer(data=data, **values)

    def end(self) -> str:
        self.process.kill()
        self.temporary.cleanup()
        return f"status {self.process.wait()}"


def _send(file: IO[bytes], message: Json, data: bytes) -> None:
    file.write(json.dumps({**message, "data": base64.b64encode(data).decode()}).encode() + b"\n")
    file.flush()


def _receive(file: IO[bytes]) -> tuple[Json, bytes]:
    message: Json = json.loads(file.readline())
    return message, base64.b64decode(message.pop("data"))


def _serve(path: str, function: str, hidden: str | None = None) -> None:
    """Answer calls from standard input; the user's own prints go to standard error."""
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    from . import editor as own_editor

    sys.path.insert(0, str(Path(path).parent))
    if hidden:
        # This lists every folder of modules; those around a hidden run cannot be listed later.
        importlib.util.find_spec("convergebench_no_such_module")
        _hide(hidden)
    editor = None
    while line := given.readline():
        message = json.loads(line)
        image = pictures.decode(base64.b64decode(message["data"]))
        try:
            if editor is None:
                editor = own_editor.wrap(own_editor.load(Path(path), function))
            values = asdict(editor.edit(image, message["instruction"], message["seed"]))
            _send(answers, values, values.pop("data"))
        except calls.Fault as fault:
            description = {"message": str(fault), "charged": fault.charged, "cost": fault.cost}
            _send(answers, {"fault": type(fault).__name__, **description, "retry_after": fault.retry_after}, b"")
        except UserError as error:  # the file cannot be imported
            _send(answers, {"fault": "Unusable", "message": str(error)}, b"")


def _call(number: int, *words: object) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *words))


def _landlock_version() -> int:
    return max(0, _call(_CREATE, None, ctypes.c_size_t(0), _VERSION)) if sys.platform == "linux" else 0


def _hide(folder: str) -> None:
    """Keep this process and its children from reading the folder, and what /proc has of other processes."""
    if not _landlock_version():
        return
    handled = ctypes.c_uint64(_READ_FILE | _READ_FOLDER)
    rules = _call(_CREATE, ctypes.byref(handled), ctypes.c_size_t(8), 0)
    for path in _allowed("/", Path(folder)):
        try:
            place = os.open(path, os.O_PATH)
        except OSError:
            continue
        rights = handled.value if Path(path).is_dir() else _READ_FILE
        rule = rights.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
        _call(_ADD, rules, _BENEATH, rule, 0)
        os.close(place)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if _call(_RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "Landlock refused")


def _allowed(root: str, hidden: Path) -> Iterator[str]:
    """The largest folders and files that hold nothing hidden."""
    for entry in os.scandir(root):
        place = Path(entry.path).resolve()
        is_process = root == "/proc" and entry.name.isdigit() and int(entry.name) != os.getpid()
        if place == Path("/proc") or (place in hidden.parents and not entry.is_symlink()):
            yield from _allowed(entry.path, hidden)
        elif not is_process and place != hidden and place not in hidden.parents:
            yield entry.path


if __name__ == "__main__":
    _serve(*sys.argv[1:])
