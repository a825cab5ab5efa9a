import numpy as np
from PIL import Image, ImageFilter

from .... import editors
from ....options import choice
from ....pictures import encode_png
from ....records import Answer, Chain
from ..drawing import draw_scene
from ..operations import OPERATIONS, Edit, find_edit, make_edit
from ..part_way import part_way
from ..scenes import Scene

WEARS = ("none", "jpeg", "webp", "noise", "resize", "blur", "tint")  # what re-encodes or degrades each answer

role = "baseline"
embedded = told = True


def edit(
    image: Image.Image,
    instruction: str,
    seed: int,
    chain: Chain | None = None,
    number: int = 1,
    *,
    does: str = choice("all", ("all", "half", "other")),  # of the edit; or the next of the twenty edits instead
    wear: str = choice("none", WEARS),
) -> Answer:
    """Draws the one right answer to an edit of a scene, which it is told: the ceiling."""
    asked = find_edit(chain.program.id) if chain else None
    if asked:
        scenes = asked.before, _after(asked, does)
        image = repainted(image, *(scenes if number % 2 else scenes[::-1]))
    if wear == "none":
        return Answer(encode_png(image))
    return editors.choose(wear).editor.edit(image, instruction, seed)


def _after(edit: Edit, does: str) -> Scene:
    names = [*OPERATIONS]
    if does == "other":
        return make_edit(edit.before, names[(names.index(edit.name) + 1) % len(names)]).after
    return part_way(edit, 0.5) if does == "half" else edit.after


def repainted(image: Image.Image, before: Scene, after: Scene) -> Image.Image:
    """The picture with what differs between two scenes drawn anew."""
    old, new = (draw_scene(scene, min(image.size)).resize(image.size) for scene in (before, after))
    changed = Image.fromarray((np.asarray(old) != np.asarray(new)).any(axis=2))
    soft = changed.convert("L").filter(ImageFilter.MaxFilter(5))
    return Image.composite(new, image, soft)
