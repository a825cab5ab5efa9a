"""The editors: one file each, in this folder or in `generation/studies/STUDY/editors/`; nothing is registered.

CONTRIBUTING.md says what a file holds. Editors of a few lines share `_references.py`.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from .. import options
from ..plugins import plugins
from ..records import Answer, EditorInfo, Json, Setting, UserError, one_of
from . import _references


class Edits(Protocol):
    """What every editor must have; everything else is optional, see `trait`."""

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer: ...


@dataclass(frozen=True)
class Choice:
    spec: str
    name: str
    label: str
    settings: Mapping[str, Setting]
    editor: Edits
    rates: Mapping[str, int] = field(default_factory=dict)

    @property
    def concurrency(self) -> int:
        """The most calls in flight."""
        return self.rates.get("concurrency") or int(trait(self.editor, "concurrency"))


_TRAITS: Json = {
    "role": "editor",  # or "baseline" (marks one end of the scale) or "transport" (only re-encodes or degrades)
    "embedded": False,  # runs here, without weights or network
    "audited": False,  # whether the recall audit covers it although it is embedded
    "needs": "nothing",
    "concurrency": 8,  # calls in flight
    "remembers": False,  # wants the chain's history with every call
    "masked": False,  # wants the mask of the edit, if the chain has one: edit(..., mask=picture)
    "told": False,  # a reference editor that is also given the chain and the step's number, to know the right answer
    "varies_size": False,  # its answers change size on purpose, so each call gets the last answer unresized
    "sizes": tuple,  # the (width, height) pairs it is stable at; none means any
    "price": float,  # US dollars per call, None if unknown
    "hosted": lambda: None,  # the vendor's model as a `vendors.models.Model`; None if there is none
    "isolation": None,  # of a user's function, see generation/own/process.py
    "hide": lambda folder: None,  # keeps its process from reading the run's folder
    "identity": dict,  # further settings that shape its answers, looked up when it is chosen
    "ready": lambda: None,  # one sentence on what is missing on this machine, None if nothing is
}


def trait(editor: object, name: str) -> Any:
    """A class attribute that an editor may leave out."""
    return getattr(editor, name, _TRAITS[name])


def names() -> list[str]:
    return sorted({*_modules(), *_references.EDITORS, *plugins("editors")})


def _modules() -> dict[str, str]:
    room, package = Path(__file__).parents[1], __name__.rpartition(".")[0]
    folders = [room / "editors", *sorted(room.glob("studies/*/editors"))]
    return {
        path.stem: ".".join((package, *path.relative_to(room).with_suffix("").parts))
        for folder in folders
        for path in (*folder.glob("*.py"), *(init.parent for init in folder.glob("*/__init__.py")))
        if not path.stem.startswith("_")
    }


def load(name: str) -> type:
    one_of("editor", name, tuple(names()))
    if name in plugins("editors"):
        return plugins("editors")[name].load()
    if name in _references.EDITORS:
        return _references.EDITORS[name]
    module = importlib.import_module(_modules()[name])
    if hasattr(module, "Editor"):
        kind: type = module.Editor
        return kind
    members = {key: vars(module)[key] for key in ("edit", *_TRAITS) if key in vars(module)}
    functions = {key: members.pop(key) for key in [*members] if callable(members[key])}
    return options.class_of(name, module.edit.__doc__, functions, **members)


def choose(spec: str, find_out: bool = True) -> Choice:
    """An editor with the options that the command line gives, such as `jpeg:quality=40,seed=fixed`.

    With `find_out` the Hub or a server may be asked for settings
    that shape its answers; otherwise these are left out.
    """
    if ".py:" in spec or spec.endswith(".py"):  # a function in a file: ./my_editor.py:edit,version=2
        return _own().choose(spec)
    name, _, option_words = spec.partition(":")
    kind = load(name)
    if not isinstance(kind, type):
        words = (word.partition("=") for word in filter(None, option_words.split(",")))
        return own_choice(kind, spec, {"name": name} | {key: value for key, _, value in words})
    values, rates = options.parse_words("editor", name, option_words, kind, ("seed",))
    seed = options.take_seed(name, values)
    editor = kind(**values)
    options.check_limits(name, editor)
    values, label = options.identity_and_label(name, editor, {} if seed == "per-step" else {"seed": seed})
    further = trait(editor, "identity")() if find_out else {}
    return Choice(spec, name, label, {**values, **further, "seed": seed}, editor, rates)


def own_choice(
    function: Callable[..., object], spec: str = "", settings: Mapping[str, Setting] | None = None
) -> Choice:
    """A function as an editor; resuming needs the same name and version."""
    return _own().choose_function(function, spec, settings or {})


def chosen(given: object, settings: Mapping[str, Setting] | None = None) -> list[str | Choice]:
    """Editors as somebody gives them to Python: a function, an `--editor`, or a list of these."""
    each: list[Any] = [given] if isinstance(given, str) or callable(given) else list(given)  # type: ignore[call-overload]
    return [own_choice(editor, "", settings) if callable(editor) else editor for editor in each]


def _own() -> Any:
    """Loaded only if somebody brings a function: a round trip with the editors of this room does without it."""
    return importlib.import_module(f"{__name__.rpartition('.')[0]}.own.choice")


def with_settings(choice: Choice, settings: Mapping[str, Setting]) -> Choice | None:
    """None if the editor has no such option or value."""
    if not settings:
        return choice
    if any(key not in choice.settings for key in settings):
        return None
    name, _, words = choice.spec.partition(":")
    unchanged = [word for word in words.split(",") if word and word.partition("=")[0] not in settings]
    words = ",".join([*unchanged, *(f"{key}={value}" for key, value in settings.items())])
    try:
        return choose(f"{name}:{words}")
    except UserError:
        return None


def alone(choice: Choice) -> Edits:
    editor: Edits = getattr(choice.editor, "editor", choice.editor)
    return editor


def is_own(choice: Choice) -> bool:
    """Whether it is a user's function, in this process or in a separate one."""
    return trait(alone(choice), "isolation") is not None


def editor_info(choice: Choice) -> EditorInfo:
    editor = alone(choice)
    # The first line of a function's own.
    words = str(getattr(editor, "summary", (type(editor).__doc__ or "").strip()))
    return EditorInfo(choice.name, trait(editor, "role"), words.partition("\n")[0])


def describe(name: str) -> Json:
    choice = choose(name, find_out=False)
    info, settings = editor_info(choice), {key: value for key, value in choice.settings.items() if key != "seed"}
    listed: list[str] = [option.name for option in fields(choice.editor)] if is_dataclass(choice.editor) else []
    return {
        "name": name,
        "about": info.about,
        "role": info.role,
        "options": settings,
        "also": [option for option in listed if option not in settings],
        "needs": trait(choice.editor, "needs"),
        "missing": trait(choice.editor, "ready")(),
    }
