"""How far each step of a steered chain is from what the simulated user wants."""

import math
from collections.abc import Sequence

import cv2
import numpy as np
from convergebench.generation.studies.exact import steering
from convergebench.generation.studies.exact.scenes import RENDERER
from convergebench.generation.studies.exact.steering import DAMAGE, SIDE, TOLERANCES

from .._shared.scoring import Program, Signature, Value

_COLUMNS = ("steer_arrived", "steer_before", "steer_distance", "steer_damage")

signature: Signature = {"version": 1, "renderer": RENDERER, "side": SIDE, "damage": DAMAGE}
signature |= {goal.replace("-", "_"): value for goal, value in TOLERANCES.items()}


def reduce(picture: np.ndarray) -> np.ndarray:
    return cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)


def judge(
    program: Program, position: int, pictures: Sequence[np.ndarray | None], reference: None
) -> dict[str, Value]:
    goal = steering.find_goal(program["program"])
    if goal is None:
        return dict.fromkeys(_COLUMNS, "no_goal")
    earlier, later = pictures[position - 1], pictures[position]
    if earlier is None or later is None:
        return dict.fromkeys(_COLUMNS, "no_step")
    before, after = steering.look(goal, earlier), steering.look(goal, later)
    distances: list[Value] = [
        distance / TOLERANCES[goal.name] if math.isfinite(distance) else "thing_gone"
        for distance in (steering.distance(goal, before), steering.distance(goal, after))
    ]
    values = (steering.is_satisfied(goal, after), *distances, after.damage)
    return dict(zip(_COLUMNS, values, strict=True))
