"""Chooses a function as an editor, by the words of a command or as an object."""

from collections.abc import Callable, Mapping
from pathlib import Path

from .. import editors, options
from ..editors import Choice, Edits
from ..records import Setting, UserError, one_of
from ..vendors import models
from . import editor as own_editor
from .process import OwnFile


def choose(spec: str) -> Choice:
    """The function of a file, such as `./my_editor.py:edit,version=2`."""
    path, _, function_and_options = spec.partition(".py")
    function, *words = function_and_options.removeprefix(":").split(",")
    given: dict[str, Setting] = {key: value for key, _, value in (word.partition("=") for word in words)}
    asked, concurrency = str(given.pop("env", "")).split("+"), int(given.get("concurrency") or 0)
    editor = own_editor.from_file(Path(path + ".py"), function or "edit", asked, concurrency)
    return choose_function(editor, spec, given)


def choose_function(
    function: Callable[..., object] | OwnFile, spec: str, settings: Mapping[str, Setting]
) -> Choice:
    words = dict(settings)
    allowed = ("name", "version", "seed", *options.RATES)
    for key in words:
        one_of("option of an editor of your own", key, allowed)
    name = own_editor.name_of(function, words.get("name"))
    version = own_editor.version_of(function, words.get("version"))
    if name in editors.names() and name not in editors.plugins("editors"):
        raise UserError(f"{name!r} is already the name of an editor; give yours another with name=")
    if vendor := models.vendor_of(name):
        raise UserError(f"{name!r} is a model of {vendor}; give yours another name with name=")
    rates, seed = options.take_rates(name, words), options.take_seed(name, words)
    label = f"{name}:" + "seed=fixed," * (seed == "fixed") + f"version={version}"
    at_once = rates.get("concurrency")
    editor: Edits = function if isinstance(function, OwnFile) else own_editor.wrap(function, at_once)
    return Choice(spec or name, name, label, {"version": version, "seed": seed}, editor, rates)
