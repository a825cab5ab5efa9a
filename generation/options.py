"""The options of editors, policies and judges, written as name=value: parsed, checked and labelled."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields, make_dataclass
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from .records import Setting, UserError, one_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# They set how fast calls are made, not what is asked, so they are not part of a chain's identity.
RATES = ("concurrency", "requests_a_minute")
WHERE_GIVEN = "where given"  # part of the identity only with a value


def number(
    default: float | None,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    identity: bool | str = True,
) -> Any:
    """A field that holds a number within limits; None is allowed if it is the default."""
    return field(default=default, metadata={"limits": (above, least, most), "identity": identity})


def choice(default: str, allowed: Sequence[str], *, identity: bool = True) -> Any:
    return field(default=default, metadata={"allowed": allowed, "identity": identity})


def class_of(
    name: str, about: str | None, functions: Mapping[str, Callable[..., object]], **attributes: object
) -> type:
    """A class with these functions as methods; their keyword-only parameters are its fields, which are options."""
    options: dict[str, tuple[str, object, object]] = {}
    methods: dict[str, Callable[..., object]] = {}
    for method, function in functions.items():
        parameters = inspect.signature(function).parameters.values()
        keywords = [option for option in parameters if option.kind is option.KEYWORD_ONLY]
        options |= {option.name: (option.name, option.annotation, option.default) for option in keywords}
        methods[method] = _with_options(function, [option.name for option in keywords])
    namespace = {"__doc__": about, **methods, **attributes}
    return make_dataclass(name, options.values(), frozen=True, namespace=namespace)


def _with_options(function: Callable[..., object], options: Sequence[str]) -> Callable[..., object]:
    def method(self: object, *call: object, **further: object) -> object:
        return function(*call, **further, **{name: getattr(self, name) for name in options})

    return method


def parse_words(
    what: str, name: str, words: str, kind: "type[DataclassInstance]", also: Sequence[str] = ()
) -> tuple[dict[str, Setting], dict[str, int]]:
    """The options of a class, one for each of its fields and each name in `also`; and the rates."""
    allowed, hints = [*(option.name for option in fields(kind)), *also, *RATES], get_type_hints(kind)
    options: dict[str, Setting] = {}
    for word in filter(None, words.split(",")):
        key, equals, text = word.partition("=")
        if not equals or key not in allowed:
            choices = ", ".join(allowed)
            raise UserError(f"{what} {name!r} has no option {word!r}; its options are {choices}, as name=value")
        if key in options:
            raise UserError(f"{what} {name!r} is given the option {key!r} twice; give it once")
        options[key] = text if key in RATES else _parse(f"{name}:{key}", text, hints.get(key, str))
    return options, take_rates(name, options)


def take_rates(name: str, options: dict[str, Setting]) -> dict[str, int]:
    rates = {key: str(options.pop(key)) for key in RATES if key in options}
    for key, rate in rates.items():
        if not rate.isdecimal() or int(rate) < 1:
            raise UserError(f"{name}:{key} must be a whole number of at least 1, got {rate}")
    return {key: int(rate) for key, rate in rates.items()}


def take_seed(name: str, options: dict[str, Setting]) -> str:
    """Remove the option `seed`, which says how seeds are drawn, and return it."""
    seed = str(options.pop("seed", "per-step"))
    one_of(f"{name}:seed", seed, ("per-step", "fixed"))
    return seed


def check_limits(name: str, instance: "DataclassInstance") -> None:
    for option in fields(instance):
        limits, value = option.metadata.get("limits"), getattr(instance, option.name)
        if words := option.metadata.get("allowed"):
            one_of(f"{name}:{option.name}", value, words)
        if limits is None or value is None:
            continue
        above, least, most = limits
        if not (math.isfinite(value) and above < value and least <= value <= most):
            bounds = (("above", above), ("at least", least), ("at most", most))
            allowed = " and ".join(f"{words} {bound:g}" for words, bound in bounds if math.isfinite(bound))
            raise UserError(f"{name}:{option.name} must be {allowed}, got {value:g}")


def identity_and_label(
    name: str, instance: "DataclassInstance", extra: Mapping[str, Setting]
) -> tuple[dict[str, Setting], str]:
    """The options that shape answers; and the label, with those that are not defaults."""
    values, shown = {}, dict(extra)
    for option in fields(instance):
        rule, value = option.metadata.get("identity", True), getattr(instance, option.name)
        if rule and not (rule == WHERE_GIVEN and value in (None, "")):
            values[option.name] = value
            if value != (option.default if option.default_factory is MISSING else option.default_factory()):
                shown[option.name] = value
    return values, name + ":" * bool(shown) + ",".join(f"{key}={value}" for key, value in sorted(shown.items()))


def _parse(name: str, text: str, hint: object) -> Setting:
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
    raise UserError(f"{name} must be {allowed}, got {text!r}")
