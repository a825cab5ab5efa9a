"""The core loop: one chain, from its last finished step to its end. It knows no vendor."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from . import images
from .calls import Rejected, Reply
from .editors import Edits, trait
from .records import Answer, Chain, Step
from .store import Kept

Ask = Callable[[Callable[[], Answer]], Reply]
Pictures = Callable[[Chain], tuple[Image.Image, Image.Image | None]]
Report = Callable[[Chain, Step], None]


def run_chain(chain: Chain, editor: Edits, run: Path, prepared: Pictures, ask: Ask, report: Report) -> str:
    """Ask the editor for every step that is not there yet, each from the pixels of the one before."""
    with Kept.open(run, chain) as kept:
        if not kept.steps:
            kept.begin(*prepared(chain))
        picture, status = kept.picture(), kept.steps[-1].status
        shortest = min(kept.steps[0].width or 0, kept.steps[0].height or 0) / 2
        for number, round, position, instruction in chain.asks():
            if number < len(kept.steps):
                continue
            if status not in ("input", "ok"):
                break
            seed = chain.seed(number)
            answer, latency = answered(editor, picture, instruction, seed, kept, ask)
            answer, status, picture = judge(answer, picture, shortest)
            seen = picture if status in ("ok", "shrunk") else None
            report(chain, kept.append(number, round, position, instruction, seed, status, answer, seen, latency))
        end = "complete" if status in ("input", "ok") else status
        kept.finish(end)
        return end


def answered(
    editor: Edits, picture: Image.Image, instruction: str, seed: int, kept: Kept, ask: Ask
) -> tuple[Answer, float | None]:
    """One call; what cannot work, however often it is tried, becomes a typed answer with its reason."""

    def call() -> Answer:
        if trait(editor, "remembers"):
            return editor.edit(picture, instruction, seed, kept.history())  # type: ignore[call-arg]
        return editor.edit(picture, instruction, seed)

    try:
        reply = ask(call)
    except Rejected as error:
        return Answer(status="failed", reason=str(error)), None
    return reply.answer, None if trait(editor, "embedded") else round(reply.seconds, 3)


def judge(answer: Answer, before: Image.Image, shortest: float) -> tuple[Answer, str, Image.Image]:
    """What the answer is worth: a whole picture, a shrunk one, or none, and then why."""
    if answer.status != "ok":
        return answer, answer.status, before
    try:
        picture = images.decode(answer.data)
    except images.Broken as error:
        return dataclasses.replace(answer, reason=f"the answer is {error}"), "failed", before
    if min(picture.size) < shortest:
        reason = f"the answer is {picture.width}x{picture.height}, less than half of the input's short side"
        return dataclasses.replace(answer, reason=reason), "shrunk", picture
    return answer, "ok", picture
