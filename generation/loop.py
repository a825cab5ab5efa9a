"""The core loop: one chain, from its prepared input or its last finished step to its end. It knows no vendor."""

import dataclasses
import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from . import audits, editors, keys, pictures, studies
from .calls import Caller, Rejected
from .editors import trait
from .records import NEXT, Answer, Chain, Json, Step, Turn
from .store import ChainWriter
from .store_reader import read_source_file

Judge = Callable[[Answer], Answer]
Ask = Callable[[Callable[[], Answer], Judge], Answer]
Prepare = Callable[[Chain], tuple[Image.Image, Image.Image | None]]
Report = Callable[[Chain, Step], None]
_Size = tuple[int, int]
_LEAK = "the answer's bytes hold an API key, so they are not kept"


def run_chain(chain: Chain, editor: editors.Edits, run: Path, prepared: Prepare, ask: Ask, report: Report) -> str:
    """Ask for every missing step, each with the picture of the previous one."""
    with ChainWriter.open(run, chain) as writer:
        if not writer.steps:
            writer.begin(*prepared(chain))
        picture = writer.picture(-1) if writer.steps[-1].status in ("input", "ok") else None
        asks = itertools.islice(chain.asks(), len(writer.steps) - 1, None)
        while picture and (asked := next(asks, None)):
            number, round, position, instruction = asked
            if instruction == NEXT and (instruction := _next_words(chain, number, writer)) == "":
                break
            seed = chain.seed(number)
            if not trait(editor, "varies_size"):
                picture = at_chain_size(picture, writer.size)
            disturbed, note = audits.audited_input(chain, number, picture, writer.picture)
            further = _further(editor, chain, number, writer)
            named = {"mask": _mask_of(chain, disturbed.size)} if trait(editor, "masked") else {}
            call = functools.partial(editor.edit, disturbed, instruction, seed, *further, **named)
            answer, picture, latency = _ask_for_answer(editor, call, min(writer.size) / 2, ask)
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


def _further(editor: editors.Edits, chain: Chain, number: int, writer: ChainWriter) -> list[object]:
    """What an editor is given besides the picture, the words and the seed."""
    history = [writer.history()] if trait(editor, "remembers") else []
    return [*history, chain, number] if trait(editor, "told") else [*history]


def _next_words(chain: Chain, number: int, writer: ChainWriter) -> str:
    """What the simulated user of a study says next; empty if satisfied."""
    said = (module.next_words(chain, number, writer.picture) for module in studies.modules("steering"))
    return next(filter(None, said), "")


def _mask_of(chain: Chain, size: _Size) -> Image.Image | None:
    masks = (module.mask_of(chain, size) for module in studies.modules("masks"))
    return next((mask for mask in masks if mask is not None), None)


def _ask_for_answer(
    editor: editors.Edits, call: Callable[[], Answer], shortest: float, ask: Ask
) -> tuple[Answer, Image.Image | None, float | None]:
    received: Image.Image | None = None

    def judge_answer(answer: Answer) -> Answer:
        nonlocal received
        answer, received = _judge(answer, shortest)
        return answer

    try:
        answer = ask(call, judge_answer)
    except Rejected as error:
        return Answer(status="failed", reason=str(error), cost=error.cost), None, None
    return answer, received, None if trait(editor, "embedded") else round(answer.seconds, 3)


def _judge(answer: Answer, shortest: float) -> tuple[Answer, Image.Image | None]:
    """Set the answer's status to ok, shrunk or no_image; also returns the decoded picture."""
    if answer.status != "ok":
        return answer, None
    if keys.is_in(pictures.with_text(answer.data)):
        return dataclasses.replace(answer, data=b"", status="no_image", reason=_LEAK), None
    try:
        picture = pictures.decode(answer.data)
    except pictures.Undecodable as error:
        return dataclasses.replace(answer, status="no_image", reason=f"the answer is {error}"), None
    if min(picture.size) < shortest:
        reason = f"the answer is {picture.width}x{picture.height}, less than half of the input's short side"
        return dataclasses.replace(answer, status="shrunk", reason=reason), picture
    return answer, picture


# --- the size of pictures


def at_chain_size(picture: Image.Image, size: _Size) -> Image.Image:
    """The picture at the chain's size, or at that size on its side. A larger canvas could hide the original."""
    if (picture.width - picture.height) * (size[0] - size[1]) < 0:
        size = size[::-1]
    return picture if picture.size == size else picture.resize(size, Image.Resampling.LANCZOS)


def prepare(picture: Image.Image, short_side: int, sizes: tuple[_Size, ...] = ()) -> Image.Image:
    """Resize and crop evenly, once: otherwise the first round's crop would count as decay."""
    return pictures.fit_to(picture, prepared_size(picture.size, short_side, sizes))


@functools.cache  # the chains of a plan have few sizes
def prepared_size(size: _Size, short_side: int, sizes: tuple[_Size, ...]) -> _Size:
    """The declared size of the nearest shape, then area; else that of the short side."""

    def distance(goal: _Size) -> tuple[float, int]:
        """The distance of the aspect ratios, rounded so that size settles near ties."""
        ratio = float(np.log(goal[0] / goal[1] * size[1] / size[0]))
        return round(abs(ratio), 3), abs(min(goal) - short_side)

    if sizes:
        return min(sizes, key=distance)
    scale = short_side / min(size)
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def prepare_from(run: Path, choices: Sequence[editors.Choice]) -> Prepare:
    sizes = {choice.label: trait(choice.editor, "sizes")() for choice in choices}
    one_at_a_time = threading.Lock()  # or all chains of a source would prepare it at once

    @functools.lru_cache(maxsize=8)
    def picture(sha256: str, short_side: int, goals: tuple[_Size, ...]) -> Image.Image:
        return prepare(pictures.decode(read_source_file(run, sha256)[1]), short_side, goals)

    def prepared(chain: Chain) -> tuple[Image.Image, Image.Image | None]:
        goal = (int(chain.settings["short_side"] or 0), sizes[chain.editor])
        reference = chain.source.reference
        with one_at_a_time:
            return picture(chain.source.sha256, *goal), picture(reference, *goal) if reference else None

    return prepared


# --- trying an editor


def check(spec: str) -> Json:
    """One cheap call on the smallest picture at which the editor is stable; raises Unusable if no call can work."""
    choice = editors.choose(spec)
    sizes = trait(choice.editor, "sizes")()
    size = min(sizes, key=lambda size: size[0] * size[1], default=(512, 512))
    start = Image.new("RGB", size, (214, 208, 196))
    start.paste((139, 98, 62), (0, round(size[1] * 0.6), *size))  # a table in front of a wall
    return try_once(choice, start, "add a red ball")


def try_once(choice: editors.Choice, start: Image.Image, instruction: str, seed: int = 1) -> Json:
    """How one call ended whose answer is not stored."""
    price = trait(choice.editor, "price")()
    history = [[Turn("", pictures.encode_png(start))]] if trait(choice.editor, "remembers") else []
    facts: Json = {"editor": choice.label, "sent": f"{start.width}x{start.height}", "price": price}
    caller = Caller(attempts=2, price=price or 0.0)
    try:
        answer = caller.ask(lambda: choice.editor.edit(start, instruction, seed, *history))
    except Rejected as error:
        return {**facts, "status": "failed", "reason": str(error), "cost": error.cost}
    answer, picture = _judge(answer, 0)
    facts |= {"status": answer.status, "reason": answer.reason, "cost": answer.cost}
    facts["details"] = dict(answer.details)
    if picture:
        facts |= {"received": f"{picture.width}x{picture.height}", "type": pictures.sniff(answer.data)}
    return {**facts, "bytes": len(answer.data), "seconds": round(answer.seconds, 2)}
