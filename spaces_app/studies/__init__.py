"""What each study adds to the report and the Space: a folder STUDY/, found by its place and named nowhere else.

A folder may hold any of these; deleting it removes its study and nothing else:

    statistics/*.py     statistics as in spaces_app/statistics, with the sections of the page that they name
    groups.py           GROUPS: groups of programs of its own (see analysis.program_groups)
    answers.py          answers(analysis): what judges or people answered about steps, as step_answers.StepAnswer
    apart.py            reasons(analysis) -> {editor: reasons}: why editors are listed apart in every table
    curves.py           curves(analysis): more rows for the table of curves
    tab/                a tab of the Space (see space.tabs)
    metric_lines.py     metric_lines(columns): more lines on the Space's tab of metrics
    page.py             stand_in(tables, facts): the page's title, how_to_read, lead and a table for the terminal, for a
                        dataset without a case that counts, and for the Space's first tab; or None

Files beside the folders are what several studies share.
"""

import importlib
from functools import lru_cache
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).parent


@lru_cache
def study_modules(name: str) -> tuple[ModuleType, ...]:
    """The modules of this name, one for each study that has one, in the order of the studies' names."""
    files = sorted(_HERE.glob(f"*/{name}.py"))
    return tuple(importlib.import_module(f"{__name__}.{file.parent.name}.{name}") for file in files)


def statistics_packages() -> list[str]:
    """The packages in which studies keep their statistics."""
    return [f"{__name__}.{folder.parent.name}.statistics" for folder in sorted(_HERE.glob("*/statistics"))]
