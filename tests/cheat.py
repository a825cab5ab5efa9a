"""What the recall audit is there to catch: an editor that gives back what it remembers, by hash or by likeness."""

from convergebench.generation import editors
from red_team.editors import ByHash, Cheat


def choice(by: str = "hash") -> editors.Choice:
    editor = ByHash() if by == "hash" else Cheat()
    return editors.Choice("cheat", "cheat", "cheat", {"by": by, "seed": "per-step"}, editor)
