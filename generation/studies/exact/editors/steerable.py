from PIL import Image

from .... import options
from ....pictures import encode_png
from ....records import Answer, Chain
from ..operations import Edit
from ..part_way import part_way
from ..scenes import COLOURS, Scene
from ..steering import find_goal
from .solver import repainted

role = "baseline"
embedded = told = True


def edit(
    image: Image.Image,
    instruction: str,
    seed: int,
    chain: Chain | None = None,
    number: int = 1,
    *,
    share: float = options.number(1.0, above=0, most=1.9),
    meddles: bool = False,  # whether it changes another thing each time
) -> Answer:
    """Answers each correction with a share of what is left: 1 arrives at once, 0.5 halves it, 1.3 overshoots."""
    goal = find_goal(chain.program.id) if chain else None
    if goal:
        scenes = (_scene(goal, corrections, share, meddles) for corrections in (number - 1, number))
        image = repainted(image, *scenes)
    return Answer(encode_png(image))


def _scene(goal: Edit, corrections: int, share: float, meddles: bool) -> Scene:
    scene = part_way(goal, 1 - (1 - share) ** corrections)
    if not meddles or not corrections:
        return scene
    other = next(thing for thing in goal.before.singles if thing in goal.after.things)
    colours = [colour for colour in COLOURS if colour != other.colour]
    return scene.changed(other, colour=colours[corrections % len(colours)])
