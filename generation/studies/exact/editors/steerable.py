from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .... import options
from ....pictures import encode_png
from ....records import Answer, Chain
from ..operations import Edit
from ..part_way import part_way
from ..scenes import COLOURS, Scene
from ..steering import find_goal
from .solver import repainted


@dataclass(frozen=True)
class Editor:
    """Answers each correction with a share of what is left: 1 arrives at once, 0.5 halves it, 1.3 overshoots."""

    role: ClassVar[str] = "baseline"
    embedded: ClassVar[bool] = True
    told: ClassVar[bool] = True
    share: float = options.number(1.0, above=0, most=1.9)
    meddles: bool = False  # whether it changes another thing each time

    def edit(
        self, image: Image.Image, instruction: str, seed: int, chain: Chain | None = None, number: int = 1
    ) -> Answer:
        goal = find_goal(chain.program.id) if chain else None
        if goal:
            image = repainted(image, self._scene(goal, number - 1), self._scene(goal, number))
        return Answer(encode_png(image))

    def _scene(self, goal: Edit, corrections: int) -> Scene:
        scene = part_way(goal, 1 - (1 - self.share) ** corrections)
        if not self.meddles or not corrections:
            return scene
        other = next(thing for thing in goal.before.singles if thing in goal.after.things)
        colours = [colour for colour in COLOURS if colour != other.colour]
        return scene.changed(other, colour=colours[corrections % len(colours)])
