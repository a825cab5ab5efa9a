"""Tries an editor with one cheap call and describes its answer."""

from typing import Any

from PIL import Image

from . import editors, pictures
from .calls import Caller, Rejected
from .editors import trait
from .loop import judge
from .records import Answer, Turn

_INSTRUCTION = "add a red ball"


def check(spec: str) -> dict[str, Any]:
    """Ask once, on the smallest picture the editor is stable at; raises Unusable if no call can work."""
    choice = editors.choose(spec)
    sizes, price = trait(choice.editor, "sizes")(), trait(choice.editor, "price")()
    size = min(sizes, key=lambda size: size[0] * size[1], default=(512, 512))
    start = Image.new("RGB", size, (214, 208, 196))
    start.paste((139, 98, 62), (0, round(size[1] * 0.6), *size))  # a table in front of a wall
    history = [[Turn("", pictures.encode_png(start))]] if trait(choice.editor, "remembers") else []

    def ask() -> Answer:
        return choice.editor.edit(start, _INSTRUCTION, 1, *history)

    facts: dict[str, Any] = {"editor": choice.label, "sent": f"{size[0]}x{size[1]}", "price": price}
    try:
        answer = Caller(attempts=2, price=price or 0.0).ask(ask)
    except Rejected as error:
        return {**facts, "status": "failed", "reason": str(error), "cost": error.cost}
    answer, picture = judge(answer, 0)
    facts |= {"status": answer.status, "reason": answer.reason, "cost": answer.cost, "details": dict(answer.details)}
    if picture:
        facts |= {"received": f"{picture.width}x{picture.height}", "type": pictures.sniff(answer.data)}
    return {**facts, "bytes": len(answer.data), "seconds": round(answer.seconds, 2)}
