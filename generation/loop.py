"""The core loop: one chain, from its last finished step to its end. It knows no vendor."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from . import audits, pictures
from .calls import Rejected
from .editors import Edits, trait
from .records import Answer, Chain, Step
from .store import ChainWriter

Judge = Callable[[Answer], Answer]
Ask = Callable[[Callable[[], Answer], Judge], Answer]
Prepare = Callable[[Chain], tuple[Image.Image, Image.Image | None]]
Report = Callable[[Chain, Step], None]


def run_chain(chain: Chain, editor: Edits, run: Path, prepared: Prepare, ask: Ask, report: Report) -> str:
    """Ask for every step that is not there yet, each from the pixels of the one before."""
    with ChainWriter.open(run, chain) as writer:
        if not writer.steps:
            writer.begin(*prepared(chain))
        picture = writer.picture(-1) if writer.steps[-1].status in ("input", "ok") else None
        for number, round, position, instruction in chain.asks():
            if number < len(writer.steps):
                continue
            if picture is None:
                break
            seed = chain.seed(number)
            if not trait(editor, "varies_size"):
                picture = at_chain_size(picture, writer.size)
            disturbed, note = audits.audited_input(chain, number, picture, writer.picture)
            answer, picture, latency = _ask_for_answer(editor, disturbed, instruction, seed, writer, ask)
            step = Step(
                number,
                round,
                position,
                instruction,
                answer.status,
                seed,
                latency=latency,
                cost=answer.cost,
                reason=answer.reason or None,
                text=answer.text or None,
                details=answer.details if note is None else {**answer.details, "audit": note},
            )
            report(chain, writer.append(step, answer.data, picture.size if picture else None))
            if answer.status != "ok":
                break
        return writer.finish()


def at_chain_size(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture at the chain's size, turned as it is: a larger canvas could hide the original."""
    if (picture.width - picture.height) * (size[0] - size[1]) < 0:
        size = size[::-1]
    return picture if picture.size == size else picture.resize(size, Image.Resampling.LANCZOS)


def _ask_for_answer(
    editor: Edits, picture: Image.Image, instruction: str, seed: int, writer: ChainWriter, ask: Ask
) -> tuple[Answer, Image.Image | None, float | None]:
    received: Image.Image | None = None
    history = [writer.history()] if trait(editor, "remembers") else []

    def judge_answer(answer: Answer) -> Answer:
        nonlocal received
        answer, received = judge(answer, min(writer.size) / 2)
        return answer

    try:
        answer = ask(lambda: editor.edit(picture, instruction, seed, *history), judge_answer)
    except Rejected as error:
        return Answer(status="failed", reason=str(error), cost=error.cost), None, None
    return answer, received, None if trait(editor, "embedded") else round(answer.seconds, 3)


def judge(answer: Answer, shortest: float) -> tuple[Answer, Image.Image | None]:
    """Set the answer's status to ok, shrunk or no_image; also returns the decoded picture."""
    if answer.status != "ok":
        return answer, None
    try:
        picture = pictures.decode(answer.data)
    except pictures.Undecodable as error:
        return dataclasses.replace(answer, status="no_image", reason=f"the answer is {error}"), None
    if min(picture.size) < shortest:
        reason = f"the answer is {picture.width}x{picture.height}, less than half of the input's short side"
        return dataclasses.replace(answer, status="shrunk", reason=reason), picture
    return answer, picture
