"""The judges: one file each, found by its place.

A file here holds one frozen dataclass named `Judge`: its docstring says what it is, its fields are its options, and
`answer(shown)` answers one ask with a `generation.records.Answer` whose text is what the judge said. Status "refused"
and a reason mean that it declined. Calls that fail raise what editors raise: Transient, Rejected or Unusable.
"""

import importlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from convergebench.generation.options import identity_and_label, parse_words
from convergebench.generation.records import Answer, FinishedChain, Setting, one_of
from convergebench.generation.vendors import models
from PIL import Image

from ..asks import Ask
from ..questions import Question

PICTURE_TOKENS = 2600  # the most that a vendor here counts for a picture of 1024x1024 pixels
LETTERS = 2.0  # in a token at least, in English


@dataclass(frozen=True)
class Shown:
    """One ask as a judge is handed it: the pictures as PNG, and a way to the chain's other pictures."""

    ask: Ask
    pictures: Sequence[bytes]
    read: Callable[[int], Image.Image]  # the picture of a step of the chain, for judges that know more than they see


class Judges(Protocol):
    """What every judge can do; the rest is read with a default, see `trait`."""

    def answer(self, shown: Shown) -> Answer: ...


@dataclass(frozen=True)
class Choice:
    """A judge with all its options: how it is named in tables, and what shapes its answers."""

    name: str
    label: str
    settings: Mapping[str, Setting]
    judge: Judges
    rates: Mapping[str, int]


TRAITS: dict[str, Any] = {
    "needs": "nothing",
    "concurrency": 8,  # calls in flight
    "side": None,  # pixels of the longer side of the pictures that it is shown; None: as they are
    "price": lambda letters, pictures: 0.0,  # US dollars that such a call costs at most, None where unknown
    "knows": lambda question, chain: True,  # of which chains it can tell anything
    "identity": dict,  # what else shapes its answers and is found out when it is chosen
    "drifts": True,  # False: it computes its answers, so that no sample is asked again
    "ready": lambda: None,  # one sentence on what is missing here, None when nothing is
}


def trait(judge: object, name: str) -> Any:
    """A class attribute that a judge may leave out."""
    return getattr(judge, name, TRAITS[name])


def knows(choice: Choice) -> Callable[[Question, FinishedChain], bool]:
    found: Callable[[Question, FinishedChain], bool] = trait(choice.judge, "knows")
    return found


def names() -> list[str]:
    """Every judge there is."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def choose(spec: str) -> Choice:
    """A judge with the options that the command line gives, such as `openai:model=gpt-5.4-mini,temperature=0`."""
    name, _, words = spec.partition(":")
    one_of("judge", name, tuple(names()))
    kind = importlib.import_module(f"{__name__}.{name}").Judge
    given, rates = parse_words("judge", name, words, kind)
    judge = kind(**given)
    values, label = identity_and_label(name, judge, {})
    return Choice(name, label, {**values, **trait(judge, "identity")()}, judge, rates)


@cache
def prices() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))


def token_prices(vendor: str, model: str) -> tuple[float, float] | None:
    """US dollars for a million tokens sent and received; the user's own before those that are known here."""
    own = models.find(vendor, model).tokens
    if own:
        return max(own["text"], own["image"]), own["output"]
    known = prices().get(vendor, {})
    begins = [name for name in known if model == name or model.startswith(f"{name}-20")]
    return tuple(known[max(begins, key=len)]) if begins else None


def most_dollars(rates: tuple[float, float] | None, letters: int, pictures: int, said: int) -> float | None:
    """The most that a call costs with so many letters and pictures sent and so many tokens received."""
    if rates is None:
        return None
    sent = letters / LETTERS + pictures * PICTURE_TOKENS
    return round((sent * rates[0] + said * rates[1]) / 1e6, 6)


def dollars(rates: tuple[float, float] | None, sent: object, said: object) -> float | None:
    """What an answer cost by its own count of tokens; None where it counts none or their price is not known."""
    if rates is None or not isinstance(sent, int) or not isinstance(said, int):
        return None
    return round((sent * rates[0] + said * rates[1]) / 1e6, 6)


def mapping(value: object) -> dict[str, Any]:
    """A part of a reply that should be an object, empty where it is none."""
    return value if isinstance(value, dict) else {}
