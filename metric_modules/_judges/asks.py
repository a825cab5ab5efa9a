"""Plans what to ask: every step that a question is about, with pictures and words."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.pictures import Undecodable, decode, encode_png
from convergebench.generation.records import PICTURED, FinishedChain, Step, UserError, canonical
from PIL import Image

from ..edit_applied.cycles import roles
from .answers import DATASET
from .questions import Question

Steps = Mapping[int, Step]


@dataclass(frozen=True)
class Ask:
    question: Question = field(repr=False)
    chain: FinishedChain = field(repr=False)
    step: Step
    steps: Steps = field(repr=False)  # of the chain, by number
    shown: tuple[tuple[str, int], ...]  # a name of questions.PICTURES, and the number of the step
    words: str
    things: tuple[str, ...] = ()  # added so far, if the question lists them
    purpose: str = DATASET
    session: int = 0
    repeat: int = 1

    def __str__(self) -> str:
        return f"{self.chain.id}, step {self.step.step}"

    @cached_property
    def key(self) -> str:
        """Equal for the same words about the same pictures."""
        reference = self.chain.source.reference or self.chain.id
        pictures = [
            [name, reference if name == "reference" else self.steps[step].sha256] for name, step in self.shown
        ]
        content = [self.question.sha256, self.chain.id, self.step.step, pictures, self.words]
        return hashlib.sha256(canonical(content).encode()).hexdigest()[:20]


def plan_asks(
    reader: Reader, question: Question, knows: Callable[[Question, FinishedChain], bool]
) -> tuple[list[Ask], Counter[str]]:
    """All asks of a question in order, and how many steps are left out and why."""
    steps: dict[str, dict[int, Step]] = defaultdict(dict)
    for placed in reader.all_steps():
        steps[placed.chain][placed.step.step] = placed.step
    asks, left_out = [], Counter[str]()
    for chain in sorted(reader.chains(), key=lambda chain: chain.order):
        chain_steps = dict(sorted(steps[chain.id].items()))
        for step in chain_steps.values():
            if not _is_asked_of(question, chain, step):
                continue
            if not knows(question, chain):
                left_out["this judge knows nothing of such chains"] += 1
            elif isinstance(ask := _ask_about(question, chain, step, chain_steps), str):
                left_out[ask] += 1
            else:
                asks.append(ask)
    return asks, left_out


def _is_asked_of(question: Question, chain: FinishedChain, step: Step) -> bool:
    program, kind = chain.program, question.asked_of
    if step.status not in ("input", "ok") or (step.status == "input" and kind != "additions"):
        return False
    if kind in ("additions", "later additions"):
        return not program.closes
    is_restored = program.category == "restoration"
    if kind in ("all", "thoughts", "restorations"):
        return is_restored or kind != "restorations"
    if is_restored or not 1 <= step.position <= len(program.cycle):
        return False
    role = roles(program.cycle, program.closes)[step.position - 1].kind
    return role in (("forward", "undo") if kind == "changes" else (kind,))


def _ask_about(question: Question, chain: FinishedChain, step: Step, steps: Steps) -> Ask | str:
    fields = {"instruction": step.instruction, "shows": chain.program.shows}
    if question.asked_of == "thoughts":
        fields["reasoning_summary"] = str(step.details.get("thoughts") or "").strip()
        if not fields["reasoning_summary"]:
            return "the editor gave no reasoning summary"
    things: tuple[str, ...] = ()
    if question.things:
        if chain.program.id not in question.things:
            return "the question does not say what is counted in this program"
        fields["thing"] = question.things[chain.program.id]
        items = chain.program.items or ("{item}",)
        added = [items[(other.round - 1) % len(items)] for other in steps.values() if 0 < other.step <= step.step]
        things = tuple(fields["thing"].replace("{item}", item) for item in added)
        fields["things"] = "\n".join(f"{number}. {thing}" for number, thing in enumerate(things, 1))
    numbers = {"original": 0, "reference": 0, "before": step.step - 1, "after": step.step}
    shown = tuple((name, numbers[name]) for name in question.pictures)
    if any(number not in steps or steps[number].status not in PICTURED for _, number in shown):
        return "a picture that the question shows is missing"
    return Ask(question, chain, step, steps, shown, question.fill(**fields), things)


def read_pictures(reader: Reader, ask: Ask, side: int | None) -> Iterator[bytes]:
    """As PNG; the longer side has at most `side` pixels."""
    for name, number in ask.shown:
        data = reader.reference(ask.chain.id) if name == "reference" else None
        picture = decode(data) if data else read_step(reader, ask.chain, number)
        if side and max(picture.size) > side:
            picture.thumbnail((side, side), Image.Resampling.LANCZOS)
        yield encode_png(picture)


def read_step(reader: Reader, chain: FinishedChain, number: int) -> Image.Image:
    data = reader.picture(chain.id, number)
    try:
        return decode(data or b"")
    except Undecodable as error:
        raise UserError(
            f"step {number} of {chain.id} is {error}; `convergebench verify` says what to do"
        ) from error
