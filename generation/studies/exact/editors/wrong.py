"""Does another edit than the one that was asked for."""

from dataclasses import dataclass

from ..operations import OPERATIONS, Edit, make_edit
from ..scenes import Scene
from .solver import Editor as Solver


@dataclass(frozen=True)
class Editor(Solver):
    """Does the next of the twenty edits of a scene, whichever is asked."""

    def states(self, edit: Edit) -> tuple[Scene, Scene]:
        names = [*OPERATIONS]
        return edit.before, make_edit(edit.before, names[(names.index(edit.name) + 1) % len(names)]).after
