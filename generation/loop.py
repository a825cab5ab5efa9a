"""The core loop: one chain, from its last finished step to its end. It knows no vendor."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from . import audit
from . import pictures as images
from .calls import Rejected, Reply
from .editors import Edits, trait
from .records import Answer, Chain, Step
from .store import Kept

Judge = Callable[[Answer], Answer]
Ask = Callable[[Callable[[], Answer], Judge], Reply]
Pictures = Callable[[Chain], tuple[Image.Image, Image.Image | None]]
Report = Callable[[Chain, Step], None]


def run_chain(chain: Chain, editor: Edits, run: Path, prepared: Pictures, ask: Ask, report: Report) -> str:
    """Ask the editor for every step that is not there yet, each from the pixels of the one before."""
    with Kept.open(run, chain) as kept:
        if not kept.steps:
            kept.begin(*prepared(chain))
        status = kept.steps[-1].status
        picture = kept.picture() if status in ("input", "ok") else None
        for number, round, position, instruction in chain.asks():
            if number < len(kept.steps):
                continue
            if picture is None:
                break
            seed = chain.seed(number)
            answer, picture, latency = answered(
                editor, audit.given(chain, number, picture), instruction, seed, kept, ask
            )
            answer, status = audit.noted(chain, number, answer), answer.status
            report(chain, kept.append(number, round, position, instruction, seed, status, answer, picture, latency))
            if status != "ok":
                break
        end = "complete" if status in ("input", "ok") else status
        kept.finish(end)
        return end


def answered(
    editor: Edits, picture: Image.Image, instruction: str, seed: int, kept: Kept, ask: Ask
) -> tuple[Answer, Image.Image | None, float | None]:
    """One call and its picture; what cannot work, however often it is tried, becomes a typed answer with its reason."""
    shortest = min(kept.steps[0].width or 0, kept.steps[0].height or 0) / 2
    seen: Image.Image | None = None

    def call() -> Answer:
        if trait(editor, "remembers"):
            return editor.edit(picture, instruction, seed, kept.history())  # type: ignore[call-arg]
        return editor.edit(picture, instruction, seed)

    def worth(answer: Answer) -> Answer:
        nonlocal seen
        answer, seen = judge(answer, shortest)
        return answer

    try:
        reply = ask(call, worth)
    except Rejected as error:
        return Answer(status="failed", reason=str(error), cost=error.cost), None, None
    return reply.answer, seen, None if trait(editor, "embedded") else round(reply.seconds, 3)


def judge(answer: Answer, shortest: float) -> tuple[Answer, Image.Image | None]:
    """What the answer is worth: a whole picture, a shrunk one, or none, and then why."""
    if answer.status != "ok":
        return answer, None
    try:
        picture = images.decode(answer.data)
    except images.Broken as error:
        return dataclasses.replace(answer, status="failed", reason=f"the answer is {error}"), None
    if min(picture.size) < shortest:
        reason = f"the answer is {picture.width}x{picture.height}, less than half of the input's short side"
        return dataclasses.replace(answer, status="shrunk", reason=reason), picture
    return answer, picture
