"""Plans what to ask: every step of a dataset that a question is about, with its pictures and words."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode, encode_png
from convergebench.generation.records import FinishedChain, Step, UserError, canonical
from PIL import Image

from ..edit_applied.cycles import roles
from .questions import Question

# Why a step is left out although the question is about it.
_NO_PICTURE = "a picture that the question shows is missing"
_NO_SUMMARY = "the editor gave no reasoning summary"
_NOT_COUNTED = "the question does not say what is counted in this program"
_NOT_KNOWN = "this judge knows nothing of such chains"

Steps = Mapping[int, Step]


@dataclass(frozen=True)
class Ask:
    """One question about one step: the pictures in order, and the words."""

    question: Question = field(repr=False)
    chain: FinishedChain = field(repr=False)
    step: Step
    steps: Steps = field(repr=False)  # of the chain, by number
    shown: tuple[tuple[str, int], ...]  # a name of questions.PICTURES, and the number of the step
    words: str
    things: tuple[str, ...] = ()  # added so far, if the question lists them

    @cached_property
    def key(self) -> str:
        """Equal for the same words about the same pictures of the same step."""
        pictures = [
            [name, (self.chain.source.reference or self.chain.id) if name == "reference" else self.steps[step].sha256]
            for name, step in self.shown
        ]
        content = [self.question.sha256, self.chain.id, self.step.step, pictures, self.words]
        return hashlib.sha256(canonical(content).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Asks:
    """All asks of one question, and how many steps are left out for which reason."""

    asks: list[Ask]
    left_out: Counter[str]


def plan_asks(reader: Reader, question: Question, knows: Callable[[Question, FinishedChain], bool]) -> Asks:
    """Every ask of a question, in the order of the chains; `knows` says which chains the judge can judge."""
    steps: dict[str, dict[int, Step]] = defaultdict(dict)
    for placed in reader.all_steps():
        steps[placed.chain][placed.step.step] = placed.step
    asks, left_out = [], Counter[str]()
    for chain in sorted(reader.chains(), key=lambda chain: chain.order):
        chain_steps = dict(sorted(steps[chain.id].items()))
        for step in chain_steps.values():
            if not _is_asked_of(question, chain, step):
                continue
            ask = _ask_about(question, chain, step, chain_steps) if knows(question, chain) else _NOT_KNOWN
            if isinstance(ask, str):
                left_out[ask] += 1
            else:
                asks.append(ask)
    return Asks(asks, left_out)


def chooser(editors: Sequence[str], programs: Sequence[str]) -> Callable[[Ask], bool]:
    """A filter for asks of these editors and programs; an empty sequence allows all."""

    def chosen(ask: Ask) -> bool:
        return (not editors or ask.chain.editor in editors) and (not programs or ask.chain.program.id in programs)

    return chosen


def require_dataset(reader: Reader) -> None:
    """Raise UserError if there is no dataset, or if its folder has files that are not part of it."""
    if not reader.files("chains"):
        raise UserError(f"{reader.where} is not a dataset: it has no data/chains; `convergebench build` makes one")
    card.refuse_other_folders(reader.folder)


def _is_asked_of(question: Question, chain: FinishedChain, step: Step) -> bool:
    """Whether a question is about a step. A step without an answer has nothing to judge."""
    program, kind = chain.program, question.asked_of
    if step.status not in ("input", "ok"):
        return False
    if kind == "additions":
        return not program.closes
    if step.status == "input":
        return False
    if kind in ("all", "thoughts"):
        return True
    if kind == "later additions":
        return not program.closes
    if kind == "restorations":
        return program.category == "restoration"
    if program.category == "restoration" or not 1 <= step.position <= len(program.cycle):
        return False
    role = roles(program.cycle, program.closes)[step.position - 1].kind
    return role in (("forward", "undo") if kind == "changes" else (kind,))


def _ask_about(question: Question, chain: FinishedChain, step: Step, steps: Steps) -> Ask | str:
    """The ask about one step, or the reason why there is none."""
    fields = {"instruction": step.instruction, "shows": chain.program.shows}
    if question.asked_of == "thoughts":
        fields["reasoning_summary"] = str(step.details.get("thoughts") or "").strip()
        if not fields["reasoning_summary"]:
            return _NO_SUMMARY
    things: tuple[str, ...] = ()
    if question.things:
        if chain.program.id not in question.things:
            return _NOT_COUNTED
        thing = question.things[chain.program.id]
        things = tuple(_thing_of(thing, chain, other) for other in steps.values() if 0 < other.step <= step.step)
        fields["thing"] = thing
        fields["things"] = "\n".join(f"{number}. {added}" for number, added in enumerate(things, 1))
    numbers = {"original": 0, "reference": 0, "before": step.step - 1, "after": step.step}
    shown = tuple((name, numbers[name]) for name in question.pictures)
    if any(number not in steps or not steps[number].has_picture for _, number in shown):
        return _NO_PICTURE
    return Ask(question, chain, step, steps, shown, question.fill(**fields), things)


def _thing_of(thing: str, chain: FinishedChain, step: Step) -> str:
    """The name of the thing that one step added: the item of its round if the program has items."""
    items = chain.program.items
    return thing.replace("{item}", items[(step.round - 1) % len(items)]) if items else thing


def read_pictures(reader: Reader, ask: Ask, side: int | None) -> Iterator[bytes]:
    """The pictures of an ask as PNG; the longer side has at most `side` pixels."""
    for name, number in ask.shown:
        data = reader.reference(ask.chain.id) if name == "reference" else None
        picture = decode(data) if data else read_step(reader, ask.chain, number)
        if side and max(picture.size) > side:
            picture.thumbnail((side, side), Image.Resampling.LANCZOS)
        yield encode_png(picture)


def read_step(reader: Reader, chain: FinishedChain, number: int) -> Image.Image:
    """The picture of one step, decoded; raises UserError if the dataset is damaged."""
    data = reader.picture(chain.id, number)
    try:
        return decode(data or b"")
    except Undecodable as error:
        raise UserError(f"step {number} of {chain.id} is {error}; `convergebench verify` says what to do") from error


def in_random_order(asks: Sequence[Ask]) -> list[Ask]:
    """The asks in a fixed pseudo-random order, so that the first few are a sample of all."""
    return sorted(asks, key=lambda ask: ask.key)
