"""The editors: one file each, found by its place, here or in `generation/studies/STUDY/editors/`.

A file holds one frozen dataclass named `Editor`: its docstring says what it is, its fields are its options, and
`edit(image, instruction, seed)` answers one call. Nothing has to be registered.
"""

import functools
import importlib
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol, get_args, get_type_hints

from PIL import Image

from .. import own_editor
from ..records import Answer, EditorInfo, Setting, UserError, one_of

PLUGINS = "convergebench.editors"
_SEEDS = ("per-step", "fixed")
# How fast to ask, not what to ask for: no part of a chain's identity.
_RATES = ("concurrency", "requests_a_minute", "images_a_minute")


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
    "hosted": lambda: None,  # what is known of the vendor's model, as `vendors.models` has it; None where there is none
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
    if ".py:" in spec or spec.endswith(".py"):
        return _choose_file(spec)
    name, _, words = spec.partition(":")
    kind = load(name)
    if not isinstance(kind, type):
        return own_choice(kind, spec, {"name": name, **dict(map(_split_word, filter(None, words.split(","))))})
    given, rates = parse_words("editor", name, words, kind, ("seed",))
    seed = given.pop("seed", "per-step")
    one_of(f"{name}:seed", str(seed), _SEEDS)
    editor = kind(**given)
    values, label = identity_and_label(name, editor, {} if seed == "per-step" else {"seed": seed})
    found = trait(editor, "identity")() if find_out else {}
    return Choice(spec, name, label, {**values, **found, "seed": seed}, editor, rates)


def parse_words(
    what: str, name: str, words: str, kind: type, also: Sequence[str] = ()
) -> tuple[dict[str, Setting], dict[str, int]]:
    """Options given as name=value for a class whose fields they are (or that are named in `also`), and the rates."""
    allowed, hints = [*(field.name for field in fields(kind)), *also, *_RATES], get_type_hints(kind)
    given: dict[str, Setting] = {}
    for word in filter(None, words.split(",")):
        key, equals, text = word.partition("=")
        if not equals or key not in allowed:
            known = ", ".join(allowed)
            raise UserError(f"{what} {name!r} has no option {word!r}; its options are {known}, as name=value")
        if key in given:
            raise UserError(f"{what} {name!r} is given the option {key!r} twice; give it once")
        given[key] = _parse_option(f"{name}:{key}", text, int if key in _RATES else hints.get(key, str))
    rates = {key: int(given.pop(key) or 0) for key in _RATES if key in given}
    if low := [key for key, value in rates.items() if value < 1]:
        raise UserError(f"{name}:{low[0]} is {rates[low[0]]}; it is a whole number from 1")
    return given, rates


def identity_and_label(name: str, made: Any, more: Mapping[str, Setting]) -> tuple[dict[str, Setting], str]:
    """The options that shape answers, and the name with those that differ from their defaults, and with `more`."""
    options = {field.name: field for field in fields(made)}
    values = {key: value for key in options if _is_identity(options[key], value := getattr(made, key))}
    changed = {key: value for key, value in values.items() if value != _default_of(options[key])} | dict(more)
    return values, name + ":" * bool(changed) + ",".join(f"{key}={value}" for key, value in sorted(changed.items()))


def _choose_file(spec: str) -> Choice:
    """A function in a file: ./my_editor.py:edit, with name=, version=, seed= and the rates after a comma."""
    path, _, rest = spec.partition(".py")
    function, *words = rest.removeprefix(":").split(",")
    options = dict(map(_split_word, words))
    return own_choice(own_editor.load(Path(path + ".py"), function or "edit"), spec, options)


def own_choice(function: Callable[..., Any], spec: str = "", options: Mapping[str, str] | None = None) -> Choice:
    """A function as an editor. Its name and version are part of a chain's identity, so that resuming goes by them."""
    given = dict(options or {})
    if unknown := [key for key in given if key not in ("name", "version", "seed", *_RATES)]:
        allowed = ", ".join(("name", "version", "seed", *_RATES))
        raise UserError(f"an editor of your own has no option {unknown[0]!r}; its options are {allowed}")
    name, version = (
        own_editor.name_of(function, given.get("name")),
        own_editor.version_of(function, given.get("version")),
    )
    if name in names() and name not in plugins():
        raise UserError(f"{name!r} is the name of an editor that is here already; give yours another with name=")
    seed = given.get("seed", "per-step")
    one_of(f"{name}:seed", seed, _SEEDS)
    rates = {key: int(_parse_option(f"{name}:{key}", given[key], int) or 0) for key in _RATES if key in given}
    if low := [key for key, value in rates.items() if value < 1]:
        raise UserError(f"{name}:{low[0]} is {rates[low[0]]}; it is a whole number from 1")
    label = f"{name}:" + "seed=fixed," * (seed == "fixed") + f"version={version}"
    settings: dict[str, Setting] = {"version": version, "seed": seed}
    return Choice(spec or name, name, label, settings, own_editor.wrap(function, rates.get("concurrency")), rates)


def _split_word(word: str) -> tuple[str, str]:
    key, _, value = word.partition("=")
    return key, value


def with_settings(choice: Choice, settings: Mapping[str, Setting]) -> Choice | None:
    """The same editor under other settings; None where it has no such option or value."""
    if not settings:
        return choice
    if any(key not in choice.settings for key in settings):
        return None
    name, _, words = choice.spec.partition(":")
    kept = [word for word in words.split(",") if word and word.partition("=")[0] not in settings]
    words = ",".join([*kept, *(f"{key}={value}" for key, value in settings.items())])
    try:
        return choose(f"{name}:{words}")
    except UserError:
        return None


def _is_identity(option: Field[Any], value: Any) -> bool:
    """Whether an option shapes the answers, as most do; a time limit does not and stays out.

    One that says "where given" is part of the identity only with a value.
    """
    rule = option.metadata.get("identity", True)
    return value not in (None, "") if rule == "where given" else bool(rule)


def _default_of(option: Field[Any]) -> Any:
    return option.default_factory() if option.default_factory is not MISSING else option.default


def _parse_option(name: str, text: str, hint: Any) -> Setting:
    """One option's value, by the type that the editor declares for it."""
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds and text in ("", "none", "null"):
        return None
    if bool in kinds and text.lower() in ("true", "false", "yes", "no"):
        return text.lower() in ("true", "yes")
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds:
        return text
    allowed = " or ".join(kind.__name__ for kind in kinds if kind is not type(None))
    raise UserError(f"{name} is given {text!r}; it takes {allowed}")


def editor_info(choice: Choice) -> EditorInfo:
    """What the editor says of itself, as a run records it."""
    own = isinstance(choice.editor, own_editor.OwnEditor)
    words = choice.editor.about if own else (type(choice.editor).__doc__ or "").strip()  # type: ignore[attr-defined]
    return EditorInfo(choice.name, trait(choice.editor, "role"), words.partition("\n")[0])


def describe(name: str) -> dict[str, Any]:
    """What a reader wants to know of an editor: its sentence, options, needs, and what is missing here."""
    choice = choose(name, find_out=False)
    options = {key: value for key, value in choice.settings.items() if key != "seed"}
    every: list[str] = [option.name for option in fields(choice.editor)] if is_dataclass(choice.editor) else []
    missing = trait(choice.editor, "ready")()
    return {
        "name": name,
        "about": editor_info(choice).about,
        "role": editor_info(choice).role,
        "options": options,
        "also": [name for name in every if name not in options],
        "needs": trait(choice.editor, "needs"),
        "missing": missing,
    }
