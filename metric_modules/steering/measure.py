"""How far each step of a steered chain is from what the simulated user wants."""

import math
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from convergebench.generation.studies.exact import steering
from convergebench.generation.studies.exact.scenes import RENDERER
from convergebench.generation.studies.exact.steering import DAMAGE, SIDE, TOLERANCES

from .._shared.scoring import Program, Signature, Value

_COLUMNS = ("steer_arrived", "steer_before", "steer_distance", "steer_damage")


class Scorer:
    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object]):
        limits: Signature = {"side": SIDE, "damage": DAMAGE}
        limits |= {goal.replace("-", "_"): value for goal, value in TOLERANCES.items()}
        self.signature = {"version": 1, "renderer": RENDERER} | limits

    def prepare(self, picture: np.ndarray) -> None:
        return None  # the goal is drawn, not read from the reference

    def reduce(self, picture: np.ndarray) -> np.ndarray:
        return cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)

    def judge(
        self, program: Program, position: int, pictures: Sequence[np.ndarray | None], reference: None
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
