"""What there is to ask: for one question every step of a dataset that it is about, with its pictures and its words."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode, encode_png
from convergebench.generation.records import FinishedChain, Step, UserError, canonical
from PIL import Image

from ..edit_applied.cycles import roles
from .questions import Question

# Why a step that a question is about is not asked.
NO_PICTURE = "a picture that the question shows is missing"
MIRRORED = "the recall audit had mirrored what this step was given"
NO_SUMMARY = "the editor gave no reasoning summary"
NOT_COUNTED = "the question does not say what is counted in this program"
NOT_KNOWN = "this judge knows nothing of such chains"

Steps = Mapping[int, Step]


@dataclass(frozen=True)
class Ask:
    """One question about one step: which pictures are shown, in their order, and what is said."""

    question: Question = field(repr=False)
    chain: FinishedChain = field(repr=False)
    step: Step
    steps: Steps = field(repr=False)  # of the chain, by number
    shown: tuple[tuple[str, int], ...]  # a word of questions.PICTURES, and the number of the step
    words: str
    things: tuple[str, ...] = ()  # that were added so far, where the question lists them

    @cached_property
    def key(self) -> str:
        """Equal for what is asked in the same words about the same pictures of the same step."""
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
    """Every ask of a question, in the order of the chains; `knows` says of which chains the judge can tell anything."""
    steps: dict[str, dict[int, Step]] = defaultdict(dict)
    for placed in reader.all_steps():
        steps[placed.chain][placed.step.step] = placed.step
    found, left_out = [], Counter[str]()
    for chain in sorted(reader.chains(), key=lambda chain: chain.order):
        own = dict(sorted(steps[chain.id].items()))
        for step in own.values():
            if not is_asked_of(question, chain, step):
                continue
            if not knows(question, chain):
                left_out[NOT_KNOWN] += 1
                continue
            ask = ask_about(question, chain, step, own)
            if isinstance(ask, str):
                left_out[ask] += 1
            else:
                found.append(ask)
    return Asks(found, left_out)


def chooser(editors: Sequence[str], programs: Sequence[str]) -> Callable[[Ask], bool]:
    """Whether an ask is of the editors and programs that were named; all are, where none is."""

    def chosen(ask: Ask) -> bool:
        return (not editors or ask.chain.editor in editors) and (not programs or ask.chain.program.id in programs)

    return chosen


def require_dataset(reader: Reader) -> None:
    """Raise UserError where there is no dataset, or a stranger's files in it, before anything is written beside it."""
    if not reader.files("chains"):
        raise UserError(f"{reader.where} is no dataset: there is no data/chains; `convergebench build` makes one")
    card.refuse_other_folders(reader.folder)


def is_asked_of(question: Question, chain: FinishedChain, step: Step) -> bool:
    """Whether a step is one that the question is about. A step that was not answered has nothing to judge."""
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


def ask_about(question: Question, chain: FinishedChain, step: Step, steps: Steps) -> Ask | str:
    """What is asked about one step, or why nothing is."""
    known = {"instruction": step.instruction, "shows": chain.program.shows}
    if question.asked_of == "thoughts":
        known["reasoning_summary"] = str(step.details.get("thoughts") or "").strip()
        if not known["reasoning_summary"]:
            return NO_SUMMARY
    things: tuple[str, ...] = ()
    if question.things:
        if chain.program.id not in question.things:
            return NOT_COUNTED
        thing = question.things[chain.program.id]
        things = tuple(thing_of(thing, chain, each) for each in steps.values() if 0 < each.step <= step.step)
        known["thing"] = thing
        known["things"] = "\n".join(f"{number}. {each}" for number, each in enumerate(things, 1))
    shown = tuple((name, place_of_picture(name, step)) for name in question.pictures)
    for name, number in shown:
        if number not in steps or not steps[number].has_picture:
            return NO_PICTURE
        if name != "reference" and is_mirrored(steps[number]):
            return MIRRORED
    return Ask(question, chain, step, steps, shown, question.fill(**known), things)


def thing_of(thing: str, chain: FinishedChain, step: Step) -> str:
    """What one step added: the item of its round where the program has items."""
    items = chain.program.items
    return thing.replace("{item}", items[(step.round - 1) % len(items)]) if items else thing


def place_of_picture(name: str, step: Step) -> int:
    return {"original": 0, "reference": 0, "before": step.step - 1, "after": step.step}[name]


def is_mirrored(step: Step) -> bool:
    """Whether the recall audit had mirrored what this step was given, so that its answer is mirrored too."""
    return bool((step.details.get("audit") or {}).get("mirrored"))


def read_pictures(reader: Reader, ask: Ask, side: int | None) -> Iterator[bytes]:
    """The pictures of an ask as PNG, by the one decoder; the longer side has at most `side` pixels."""
    for name, number in ask.shown:
        data = reader.reference(ask.chain.id) if name == "reference" else None
        picture = decode(data) if data else read_step(reader, ask.chain, number)
        if side and max(picture.size) > side:
            picture.thumbnail((side, side), Image.Resampling.LANCZOS)
        yield encode_png(picture)


def read_step(reader: Reader, chain: FinishedChain, number: int) -> Image.Image:
    """The picture of one step, decoded; raises UserError where the dataset is damaged."""
    data = reader.picture(chain.id, number)
    try:
        return decode(data or b"")
    except Undecodable as error:
        raise UserError(f"step {number} of {chain.id} is {error}; `convergebench verify` tells what to do") from error


def in_random_order(asks: Sequence[Ask]) -> list[Ask]:
    """In an order that looks random and is always the same, so that the first few stand for all."""
    return sorted(asks, key=lambda ask: ask.key)


def pixels_of(reader: Reader, chain: FinishedChain, number: int) -> np.ndarray:
    """The picture of one step as an array."""
    return np.asarray(read_step(reader, chain, number))
