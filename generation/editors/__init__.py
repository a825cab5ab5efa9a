"""The editors: one file each, found by its place, here or in `generation/studies/STUDY/editors/`.

A file holds one frozen dataclass named `Editor`: its docstring says what it is, its fields are its options, and
`edit(image, instruction, seed)` answers one call. Nothing has to be registered.
"""

import functools
import importlib
import importlib.metadata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from .. import options, own_editor
from ..records import Answer, EditorInfo, Setting, UserError, one_of

PLUGINS = "convergebench.editors"


class Edits(Protocol):
    """What every editor can do; the rest is read with a default, see `trait`."""

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer: ...


@dataclass(frozen=True)
class Choice:
    """An editor with all its options: how it is named in tables, and what becomes part of a chain's identity."""

    spec: str
    name: str
    label: str
    settings: Mapping[str, Setting]
    editor: Edits
    rates: Mapping[str, int] = field(default_factory=dict)


_TRAITS: dict[str, Any] = {
    "role": "editor",  # or "baseline", an end of the scale, or "transport", a re-encoding that every answer passes
    "embedded": False,  # runs here, without weights or network
    "audited": False,  # embedded, but the recall audit is for it as for the others
    "needs": "nothing",
    "concurrency": 8,  # calls in flight
    "remembers": False,  # wants the chain's history with every call
    "varies_size": False,  # its answers change size on purpose, so each call is given the last one at its own size
    "sizes": tuple,  # the (width, height) pairs it is stable at; none means any
    "price": float,  # US dollars a call, None where unknown
    "hosted": lambda: None,  # what is known of the vendor's model, as `vendors.models` has it; None if there is none
    "identity": dict,  # what else shapes its answers and is found out when it is chosen, as settings of the chain
    "ready": lambda: None,  # one sentence on what is missing here, None when nothing is
}


def trait(editor: object, name: str) -> Any:
    """A class attribute that an editor may leave out."""
    return getattr(editor, name, _TRAITS[name])


def names() -> list[str]:
    """Every editor there is."""
    return sorted({*_modules(), *plugins()})


def _modules() -> dict[str, str]:
    """The module of each editor that ships with the package: here, or in a study's folder `editors`."""
    room, package = Path(__file__).parents[1], __name__.rpartition(".")[0]
    folders = [room / "editors", *sorted(room.glob("studies/*/editors"))]
    return {
        path.stem: ".".join((package, *path.relative_to(room).with_suffix("").parts))
        for folder in folders
        for path in (*folder.glob("*.py"), *(init.parent for init in folder.glob("*/__init__.py")))
        if not path.stem.startswith("_")
    }


@functools.cache
def plugins() -> dict[str, importlib.metadata.EntryPoint]:
    """The editors of installed packages, which name them as entry points of the group `convergebench.editors`."""
    return {point.name: point for point in importlib.metadata.entry_points(group=PLUGINS)}


def load(name: str) -> type:
    """The class of one editor; importing it needs none of its vendor's packages."""
    one_of("editor", name, tuple(names()))
    if name in plugins():
        return plugins()[name].load()
    return importlib.import_module(_modules()[name]).Editor


def choose(spec: str, find_out: bool = True) -> Choice:
    """An editor with the options that the command line gives, such as `jpeg:quality=40,seed=fixed`.

    With `find_out` a Hub or a server may be asked what shapes its answers: without, the settings lack that.
    """
    if ".py:" in spec or spec.endswith(".py"):  # a function in a file: ./my_editor.py:edit,version=2
        path, _, rest = spec.partition(".py")
        function, *given = rest.removeprefix(":").split(",")
        return own_choice(own_editor.load(Path(path + ".py"), function or "edit"), spec, _split(given))
    name, _, words = spec.partition(":")
    kind = load(name)
    if not isinstance(kind, type):
        return own_choice(kind, spec, {"name": name, **_split(filter(None, words.split(",")))})
    values, rates = options.parse_words("editor", name, words, kind, ("seed",))
    seed = options.take_seed(name, values)
    editor = kind(**values)
    options.check_limits(name, editor)
    values, label = options.identity_and_label(name, editor, {} if seed == "per-step" else {"seed": seed})
    further = trait(editor, "identity")() if find_out else {}
    return Choice(spec, name, label, {**values, **further, "seed": seed}, editor, rates)


def own_choice(
    function: Callable[..., object], spec: str = "", settings: Mapping[str, Setting] | None = None
) -> Choice:
    """A function as an editor. Its name and version are part of a chain's identity, so that resuming goes by them."""
    words = dict(settings or {})
    allowed = ("name", "version", "seed", *options.RATES)
    if unknown := [key for key in words if key not in allowed]:
        raise UserError(f"an editor of your own has no option {unknown[0]!r}; its options are {', '.join(allowed)}")
    name = own_editor.name_of(function, words.get("name"))
    version = own_editor.version_of(function, words.get("version"))
    if name in names() and name not in plugins():
        raise UserError(f"{name!r} is the name of an editor that is here already; give yours another with name=")
    rates, seed = options.take_rates(name, words), options.take_seed(name, words)
    label = f"{name}:" + "seed=fixed," * (seed == "fixed") + f"version={version}"
    editor = own_editor.wrap(function, rates.get("concurrency"))
    return Choice(spec or name, name, label, {"version": version, "seed": seed}, editor, rates)


def _split(words: Iterable[str]) -> dict[str, Setting]:
    return {key: value for key, _, value in (word.partition("=") for word in words)}


def with_settings(choice: Choice, settings: Mapping[str, Setting]) -> Choice | None:
    """The same editor under other settings; None if it has no such option or value."""
    if not settings:
        return choice
    if any(key not in choice.settings for key in settings):
        return None
    name, _, words = choice.spec.partition(":")
    others = [word for word in words.split(",") if word and word.partition("=")[0] not in settings]
    words = ",".join([*others, *(f"{key}={value}" for key, value in settings.items())])
    try:
        return choose(f"{name}:{words}")
    except UserError:
        return None


def editor_info(choice: Choice) -> EditorInfo:
    """What the editor says of itself, as a run records it."""
    own = isinstance(choice.editor, own_editor.OwnEditor)
    words = choice.editor.about if own else (type(choice.editor).__doc__ or "").strip()  # type: ignore[attr-defined]
    return EditorInfo(choice.name, trait(choice.editor, "role"), words.partition("\n")[0])


def describe(name: str) -> dict[str, Any]:
    """What a reader wants to know of an editor: its sentence, options, needs, and what is missing here."""
    choice = choose(name, find_out=False)
    info, settings = editor_info(choice), {key: value for key, value in choice.settings.items() if key != "seed"}
    every: list[str] = [option.name for option in fields(choice.editor)] if is_dataclass(choice.editor) else []
    return {
        "name": name,
        "about": info.about,
        "role": info.role,
        "options": settings,
        "also": [option for option in every if option not in settings],
        "needs": trait(choice.editor, "needs"),
        "missing": trait(choice.editor, "ready")(),
    }
