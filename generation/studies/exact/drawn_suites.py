"""The exact suites: scenes and the edits that are asked of them, drawn from a seed.

A suite's name ends in the seed, as `exact-seed7`, unless it is the shipped one.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from ... import suites
from ...files import toml_beside
from ...pictures import encode_png, pixel_hash
from ...records import NEXT, Program
from ...sources import catalogue
from .drawing import draw_scene
from .operations import OPERATIONS, Edit, make_edit
from .scenes import GROUNDS, RENDERER, Scene, find_scene, make_scene

GOALS = ("move", "scale", "recolour", "change-word")  # of a simulated user: see steering.py
MOST = 12  # corrections until that user gives up
SEED = 1  # of the shipped scenes; a published comparison draws its own after the editors are named
# Of each suite: its title, pixels a side, rounds, scenes,
# and how many of these each operation is asked of.
_SUITES = {
    "exact": ("Twelve drawn scenes, twenty edits each with one right answer", 1024, 10, tuple(range(12)), 12),
    "exact-mini": ("Twenty edits with one right answer, on four drawn scenes", 1024, 3, (0, 4, 8, 5), 1),
    "demo-exact": ("Four edits with one right answer, on two small drawn scenes", 256, 2, (0, 5), 1),
}
_DEMO = ("move", "add", "recolour", "change-word")
_STEERED = (0, 3, 6, 9)  # scenes in which all kinds differ, so that a thing is named by its kind wherever it is
_STEERERS = ["steerable", "steerable:share=0.5", "steerable:share=1.3", "steerable:meddles=true", "identity"]
NAMES = (*_SUITES, "steer")


@lru_cache
def make_suite(name: str) -> suites.Suite | None:
    shipped, _, seed = name.partition("-seed")
    if shipped not in NAMES or not re.fullmatch(r"\d*", seed):
        return None
    if shipped == "steer":
        goals = [make_edit(make_scene(int(seed or SEED), index), goal) for index in _STEERED for goal in GOALS]
        title = "A simulated user corrects drawn scenes until they are as wanted"
        asked = {steering_program(goal): goal.before for goal in goals}
        return _made(name, title, 512, MOST, asked, _STEERERS)
    title, side, rounds, indices, repeats = _SUITES[shipped]
    scenes = [make_scene(int(seed or SEED), index) for index in indices]
    names = _DEMO if shipped == "demo-exact" else tuple(OPERATIONS)
    # An operation is asked of all scenes, or of one, in turn.
    edits = [
        make_edit(scenes[(place + k) % len(scenes)], op) for place, op in enumerate(names) for k in range(repeats)
    ]
    asked = {_program(edit): edit.before for edit in edits}
    editors = ["solver", "solver:does=half", "solver:does=other", "identity"]
    # The demo has the right answer and half of it, to cost no more than a few seconds.
    return _made(name, title, side, rounds, asked, editors[: 2 if names == _DEMO else None])


def _made(
    name: str, title: str, side: int, rounds: int, asked: Mapping[Program, Scene], editors: list[str]
) -> suites.Suite:
    programs = {program.id: program for program in asked}
    values = {
        "title": title,
        "version": str(RENDERER),
        "short_side": side,
        "rounds": rounds,
        "runs": 1,
        "audit": False,
        "sources": [],
        "programs": list(programs),
        "editors": editors,
        "only": {program.id: [scene.id] for program, scene in asked.items()},
    }
    pictures = {scene.id: _row(scene, side) for scene in dict.fromkeys(asked.values())}
    made = suites.from_values(name, values, programs, pictures)
    return replace(made, draw=lambda row: encode_png(draw_scene(find_scene(row.id), row.width)))


def _program(edit: Edit) -> Program:
    cycle = str(edit.forward), str(edit.backward)
    why = "each instruction has one right answer"
    return Program(edit.id, cycle, f"exact {edit.group}", True, "exact", why, fits=("scene",), small=True)


def steering_program(edit: Edit) -> Program:
    why = "the user stops when the picture is as wanted"
    return Program(f"steer-{edit.id}", (NEXT,), "steering", False, "clear", why, fits=("scene",), small=True)


def _row(scene: Scene, side: int) -> catalogue.Row:
    ground = next(kind for kind, names in GROUNDS.items() if scene.ground in names)
    rights = catalogue.row(scene.ground) if ":" not in scene.ground else None  # whose photograph it is
    return catalogue.Row(
        id=scene.id,
        sha256=_hashes().get(f"{scene.id}@{side}") or pixel_hash(draw_scene(scene, side)),
        width=side,
        height=side,
        kind="scene",
        origin="synthetic",
        licence=rights.licence if rights else "Apache-2.0",
        attribution=rights.attribution if rights else "ConvergeBench",
        scene=f"level {scene.level}, {ground}",
        title=f"Scene {scene.index} of seed {scene.seed}",
        package="drawn",
    )


@lru_cache
def _hashes() -> dict[str, str]:
    """Of the shipped scenes, so that nothing is drawn to list the suites."""
    return toml_beside(__file__, "scenes.toml")
