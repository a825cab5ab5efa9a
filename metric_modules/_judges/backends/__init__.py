"""The judges: one file each, found by its place.

A file here holds one frozen dataclass named `Judge`: its docstring says what it is, its fields are its options, and
`answer(shown)` answers one ask with a `generation.records.Answer` whose text is what the judge said. Status "refused"
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

_PICTURE_TOKENS = 2600  # the most that a vendor here counts for a picture of 1024x1024 pixels
_LETTERS = 2.0  # in a token at least, in English


@dataclass(frozen=True)
class Shown:
    """What a judge is asked: words, pictures as PNG, and the form of the answer."""

    words: str
    pictures: Sequence[bytes] = ()
    schema: Mapping[str, Any] = field(default_factory=dict)  # JSON; empty if the answer is plain text
    name: str = "answer"  # of the schema
    ask: Ask | None = None  # for judges that know more than they see, as is `read`
    read: Callable[[int], Image.Image] | None = None  # the picture of a step of the chain


class BaseJudge(ABC):
    """What every judge has; a file's `Judge` overrides what differs."""

    concurrency: ClassVar[int] = 8  # calls in flight
    drifts: ClassVar[bool] = True  # False: it computes its answers, so that no sample is asked again
    side: int | None = None  # pixels of the longer side of the pictures that it is shown; None: as they are

    def ready(self) -> str | None:
        """One sentence on what is missing here; None if nothing is."""
        return None

    def price(self, letters: int, pictures: int) -> float | None:
        """US dollars that a call with this many letters and pictures costs at most; None if unknown."""
        return 0.0

    def knows(self, question: Question, chain: FinishedChain) -> bool:
        """Whether it can tell anything of such a chain."""
        return True

    def identity(self) -> dict[str, str]:
        """What else shapes its answers and is only known when it is chosen."""
        return {}

    @abstractmethod
    def answer(self, shown: Shown) -> Answer: ...


@dataclass(frozen=True)
class Choice:
    """A judge with all its options: how it is named in tables, and what shapes its answers."""

    name: str
    label: str
    settings: Mapping[str, Setting]
    judge: BaseJudge
    rates: Mapping[str, int]

    def require_ready(self) -> None:
        """Raise UserError if it lacks a package or a key here; what its first call fetches may be missing."""
        missing = self.judge.ready()
        if missing and not isinstance(missing, FetchedByFirstCall):
            raise UserError(f"{self.label} cannot judge here: {missing}")


def names() -> list[str]:
    """Every judge there is."""
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
    """The rates of a model; the user's own come before those of prices.toml."""
    own = models.find(vendor, model).tokens
    if own:
        return max(own["text"], own["image"]), own["output"]
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
