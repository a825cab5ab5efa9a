"""Part of an edit, or more than it, for editors that are nearly right."""

from dataclasses import astuple, replace
from operator import eq

from .drawing import fill_of
from .operations import Edit
from .scenes import Scene, Thing


def part_way(edit: Edit, share: float) -> Scene:
    """The scene when this share of an edit is done; above 1 it overshoots. What has no half is left as it was."""
    gone, new = edit.changed
    scene = edit.before.without(*gone)
    for thing in new:
        old = max(gone, key=lambda other: sum(map(eq, astuple(thing), astuple(other))), default=None)
        gone = [other for other in gone if other != old]
        scene = scene.with_things(_between(old, thing, share))
    return scene.with_things(
        *(replace(thing, size=round(thing.size * (1 - share))) for thing in gone if share < 1)
    )


def _between(old: Thing | None, new: Thing, share: float) -> Thing:
    if old is None:
        return replace(new, size=max(1, round(new.size * share)))
    turn = (new.angle - old.angle + 180) % 360 - 180
    colour, tone, text = new.colour, new.tone, round(share * len(new.text))
    if fill_of(old) != fill_of(new):
        parts = (_mixed(a, b, share) for a, b in zip(fill_of(old), fill_of(new), strict=True))
        colour, tone = "#" + "".join(f"{min(255, max(0, part)):02x}" for part in parts), "full"
    return replace(
        old,
        x=_mixed(old.x, new.x, share),
        y=_mixed(old.y, new.y, share),
        size=_mixed(old.size, new.size, share),
        angle=old.angle + round(share * turn),
        colour=colour,
        tone=tone,
        text=new.text[:text] + old.text[round(share * len(old.text)) :],
    )


def _mixed(first: int, second: int, share: float) -> int:
    return round(first + share * (second - first))
