"""The judges: one file each in this folder.

A file here holds one frozen dataclass named `Judge`: its docstring says what it is, its fields are its options, and
`answer(shown)` answers one ask with a `generation.records.Answer` whose text is the judge's reply. Status "refused"
with a reason means that it declined. Calls that fail raise what editors raise: Transient, Rejected or Unusable.
"""

import importlib
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from convergebench.generation.options import identity_and_label, parse_words
from convergebench.generation.records import Answer, FinishedChain, Setting, UserError, one_of
from convergebench.generation.requirements import FetchedByFirstCall
from convergebench.generation.vendors import models
from PIL import Image

from ..asks import Ask
from ..questions import Question

_PICTURE_TOKENS = 2600  # the most that any of these vendors counts for a picture of 1024x1024 pixels
_LETTERS = 2.0  # in a token at least, in English


@dataclass(frozen=True)
class Shown:
    """The input of a judge: words, pictures as PNG, and the form of the answer."""

    words: str
    pictures: Sequence[bytes] = ()
    schema: Mapping[str, Any] = field(default_factory=dict)  # JSON; empty if the answer is plain text
    name: str = "answer"  # of the schema
    ask: Ask | None = None  # like `read`, for judges that know more than the pictures show
    read: Callable[[int], Image.Image] | None = None  # the picture of a step of the chain


class BaseJudge(ABC):
    """The base class of all judges, with defaults for free and deterministic ones."""

    concurrency: ClassVar[int] = 8  # calls in flight
    drifts: ClassVar[bool] = True  # False for judges that compute their answers; they need no calibration sample
    side: int | None = None  # largest longer side, in pixels, of the pictures it sees; None: no limit

    def ready(self) -> str | None:
        """A sentence that says what is missing on this machine; None if nothing is."""
        return None

    def price(self, letters: int, pictures: int) -> float | None:
        """US dollars that a call with this many letters and pictures costs at most; None if unknown."""
        return 0.0

    def knows(self, question: Question, chain: FinishedChain) -> bool:
        """Whether it can answer this question about such a chain."""
        return True

    def identity(self) -> dict[str, str]:
        """Further settings that determine its answers and are only known at run time, such as a commit."""
        return {}

    @abstractmethod
    def answer(self, shown: Shown) -> Answer: ...


@dataclass(frozen=True)
class Choice:
    """A judge with all its options: its label in tables, and the settings that determine its answers."""

    name: str
    label: str
    settings: Mapping[str, Setting]
    judge: BaseJudge
    rates: Mapping[str, int]

    def require_ready(self) -> None:
        """Raise UserError if a package or key is missing; weights that the first call fetches may be missing."""
        missing = self.judge.ready()
        if missing and not isinstance(missing, FetchedByFirstCall):
            raise UserError(f"{self.label} cannot judge here: {missing}")


def names() -> list[str]:
    """The names of all judges."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def choose(spec: str) -> Choice:
    """A judge with the options that the command line gives, such as `openai:model=gpt-5.4-mini,temperature=0`."""
    name, _, words = spec.partition(":")
    one_of("judge", name, tuple(names()))
    kind = importlib.import_module(f"{__name__}.{name}").Judge
    options, rates = parse_words("judge", name, words, kind)
    judge = kind(**options)
    values, label = identity_and_label(name, judge, {})
    return Choice(name, label, {**values, **judge.identity()}, judge, rates)


@cache
def _prices() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))


Rates = tuple[float, float] | None  # US dollars for a million tokens sent and received; None if unknown


def token_prices(vendor: str, model: str) -> Rates:
    """The rates of a model; the user's prices take precedence over prices.toml."""
    prices = models.find(vendor, model).tokens
    if prices:
        return max(prices["text"], prices["image"]), prices["output"]
    rates = _prices().get(vendor, {})
    matches = [name for name in rates if model == name or model.startswith(f"{name}-20")]
    return tuple(rates[max(matches, key=len)]) if matches else None


def most_dollars(rates: Rates, letters: int, pictures: int, received: int) -> float | None:
    """The most that a call costs, for this many letters and pictures sent and tokens received."""
    return None if rates is None else _dollars(rates, letters / _LETTERS + pictures * _PICTURE_TOKENS, received)


def dollars(rates: Rates, sent: object, received: object) -> float | None:
    """What an answer cost by its own count of tokens; None if it has no count or the price is unknown."""
    if rates is None or not isinstance(sent, int) or not isinstance(received, int):
        return None
    return _dollars(rates, sent, received)


def _dollars(rates: tuple[float, float], sent: float, received: int) -> float:
    return round((sent * rates[0] + received * rates[1]) / 1e6, 6)


def mapping(value: object) -> dict[str, Any]:
    """A part of a reply that should be an object, empty if it is not."""
    return value if isinstance(value, dict) else {}
