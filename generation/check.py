"""Tries an editor with one cheap call and describes its answer."""

from typing import Any

from PIL import Image, ImageDraw

from . import editors, pictures
from .calls import Caller, CallLimits, Rejected
from .editors import trait
from .records import Answer, Turn

_INSTRUCTION = "add a red ball"


def check(spec: str) -> dict[str, Any]:
    """Ask once, on the smallest picture the editor is stable at; raises Unusable if no call can work."""
    choice = editors.choose(spec)
    sizes, price = trait(choice.editor, "sizes")(), trait(choice.editor, "price")()
    size = min(sizes, key=lambda size: size[0] * size[1], default=(512, 512))
    facts: dict[str, Any] = {"editor": choice.label, "sent": "x".join(map(str, size)), "price": price}
    caller = Caller(CallLimits(attempts=2), price=price)

    def ask() -> Answer:
        start = _sample_picture(size)
        if trait(choice.editor, "remembers"):
            return choice.editor.edit(start, _INSTRUCTION, 1, [Turn("", pictures.encode_png(start))])  # type: ignore[call-arg]
        return choice.editor.edit(start, _INSTRUCTION, 1)

    try:
        reply = caller.ask(ask)
    except Rejected as error:
        return {**facts, "status": "failed", "reason": str(error), "cost": error.cost}
    return {**facts, **_describe_answer(reply.answer), "seconds": round(reply.seconds, 2), "attempts": reply.attempts}


def _describe_answer(answer: Answer) -> dict[str, Any]:
    """The answer's status, true size, type and cost."""
    facts: dict[str, Any] = {"status": answer.status, "cost": answer.cost, "details": dict(answer.details)}
    if answer.status != "ok":
        return {**facts, "reason": answer.reason}
    try:
        received = pictures.decode(answer.data)
    except pictures.Undecodable as error:
        return {**facts, "status": "no_image", "reason": f"the answer is {error}"}
    size = f"{received.width}x{received.height}"
    return {**facts, "received": size, "type": pictures.sniff(answer.data), "bytes": len(answer.data)}


def _sample_picture(size: tuple[int, int]) -> Image.Image:
    """A table in front of a wall: easy to understand, cheap to send."""
    width, height = size
    picture = Image.new("RGB", size, (214, 208, 196))
    ImageDraw.Draw(picture).rectangle((0, round(height * 0.6), width, height), fill=(139, 98, 62))
    return picture
