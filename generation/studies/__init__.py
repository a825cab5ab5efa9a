"""The studies, a folder each. The core finds these files of a study by their place:

suites/NAME.toml, programs.toml    suites, and programs that only these use
composed_programs.py               compose(): the rows of more programs
editors/NAME.py                    editors
drawn_suites.py                    NAMES and make_suite(name): suites whose pictures and programs are drawn from a seed
steering.py                        next_words(chain, number, picture): what a simulated user says in place of NEXT
masks.py                           mask_of(chain, size): white where a chain's edit may change the picture, or None
degradations.py                    sources made from others: see `sources.catalogue`
audit.py                           chains that are disturbed between calls: see `audits`
"""

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).parent


def paths(pattern: str) -> list[Path]:
    """The files of this pattern in the folders of all studies."""
    return sorted(_HERE.glob(f"*/{pattern}"))


@cache
def modules(name: str) -> tuple[ModuleType, ...]:
    """The module of this name of every study that has one."""
    return tuple(importlib.import_module(f"{__name__}.{path.parent.name}.{name}") for path in paths(f"{name}.py"))
