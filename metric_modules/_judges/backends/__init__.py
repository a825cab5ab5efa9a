"""The judges: one file each in this folder.

A file holds one frozen dataclass `Judge`: its docstring says what it is, its fields
are its options, and `answer(shown)` gives an Answer whose text is the judge's reply.
Status "refused" means that it declined. Calls that fail raise what editors raise.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from convergebench.generation import local_models
from convergebench.generation.files import toml_beside
from convergebench.generation.options import identity_and_label, number, parse_words
from convergebench.generation.plugins import plugins
from convergebench.generation.records import Answer, FinishedChain, Refused, Setting, UserError, one_of
from convergebench.generation.vendors import models, wire
from convergebench.generation.vendors.hosted import HostedModel
from convergebench.generation.vendors.wire import Json
from PIL import Image

from ..asks import Ask
from ..questions import Question

_PICTURE_TOKENS = 2600  # the most that any of these vendors counts for a picture of 1024x1024 pixels
_LETTERS = 2.0  # in a token at least, in English


@dataclass(frozen=True)
class Shown:
    words: str
    pictures: Sequence[bytes] = ()
    schema: Mapping[str, Any] = field(default_factory=dict)  # JSON; empty if the answer is plain text
    name: str = "answer"  # of the schema
    ask: Ask | None = None  # like `read`, for judges that know more than the pictures show
    read: Callable[[int], Image.Image] | None = None  # the picture of a step of the chain


class BaseJudge:
    """The base class of judges; its defaults suit free, deterministic ones."""

    label: str = ""  # its name in tables: with the options that differ from their defaults
    settings: Mapping[str, Setting] = MappingProxyType({})  # every option that shapes answers
    concurrency: int = 8  # calls in flight
    requests_a_minute: int | None = None
    drifts: bool = True  # False for judges that compute their answers; they need no calibration sample
    side: int | None = None  # largest longer side, in pixels, of the pictures it sees; None: no limit

    def answer(self, shown: Shown) -> Answer:
        raise NotImplementedError

    def ready(self) -> str | None:
        return local_models.missing_packages("judges", "jsonschema")

    def most_dollars(self, letters: int, pictures: int) -> float | None:
        """What a call costs at most; None if unknown."""
        return 0.0

    def knows(self, question: Question, chain: FinishedChain) -> bool:
        return True

    def require_ready(self) -> None:
        if missing := self.ready():
            raise UserError(f"{self.label} cannot judge here: {missing}")


@dataclass(frozen=True)
class HostedJudge(HostedModel, BaseJudge):
    """A model that is asked over HTTP, like hosted editors."""

    temperature: float | None = None
    side: int = number(1024, least=64)
    max_tokens: int = number(4000, least=1)

    def ready(self) -> str | None:
        return local_models.missing_requirements("judges", ("jsonschema",), *self.key_names)

    def most_dollars(self, letters: int, pictures: int) -> float | None:
        return _dollars(self.rates(), letters / _LETTERS + pictures * _PICTURE_TOKENS, self.max_tokens)

    def rates(self) -> tuple[float, float] | None:
        """US dollars for a million tokens sent and received."""
        if prices := models.find(self.vendor, self.model).tokens:
            return max(prices["text"], prices["image"]), prices["output"]
        rates = _prices().get(self.vendor, {})
        matches = [name for name in rates if self.model == name or self.model.startswith(f"{name}-20")]
        return tuple(rates[max(matches, key=len)]) if matches else None

    def answer(self, shown: Shown) -> Answer:
        try:
            with wire.one_call(self.timeout):
                reply = self.post(self.path.format(self.model), self.body(shown))
                text, refusal, tokens, facts = self.read(reply)
        except Refused as declined:
            return declined.args[0]
        details = {key: value for key, value in facts.items() if value}
        cost, status = _dollars(self.rates(), *tokens), "refused" if refusal else "ok"
        return Answer(status=status, reason=refusal, text=text, cost=cost, details=details)

    def body(self, shown: Shown) -> Json:
        """The request. Words without pictures are sent unchanged, with nothing around them."""
        raise NotImplementedError

    def read(self, reply: Json) -> tuple[str, str, tuple[object, object], Json]:
        """The text, the reason of a refusal or "", the tokens sent and received, and further facts."""
        raise NotImplementedError


def names() -> tuple[str, ...]:
    files = (path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    return tuple(sorted({*files, *plugins("judges")}))


def choose(spec: str) -> BaseJudge:
    """A judge by words such as `openai:model=gpt-5.4-mini,temperature=0`."""
    name, _, words = spec.partition(":")
    one_of("judge", name, names())
    point = plugins("judges").get(name)
    kind = point.load() if point else importlib.import_module(f"{__name__}.{name}").Judge
    options, rates = parse_words("judge", name, words, kind)
    judge = kind(**options)
    settings, label = identity_and_label(name, judge, {})
    for key, value in {"settings": settings, "label": label, **rates}.items():  # no fields: they shape no answers
        object.__setattr__(judge, key, value)
    return cast(BaseJudge, judge)


@cache
def _prices() -> dict[str, Any]:
    return toml_beside(__file__, "prices.toml")


def _dollars(rates: tuple[float, float] | None, sent: object, received: object) -> float | None:
    if rates is None or not isinstance(sent, int | float) or not isinstance(received, int):
        return None
    return round((sent * rates[0] + received * rates[1]) / 1e6, 6)
