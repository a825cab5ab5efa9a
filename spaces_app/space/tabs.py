"""The tabs of the Space, found by their place: `space/TAB/tab.py`, and `studies/STUDY/tab/tab.py` for a study's.

A tab is a folder of three files. `tab.py` has
    TITLE           the tab's title
    ORDER           its place in the row of tabs
and may have
    PUBLIC          endpoints for programs: functions of a dataset and plain values; the name is the endpoint's
    QUEUED          the same for endpoints that take long and go through the queue
    FOR_THE_PAGE    endpoints that only the page's own script calls
    CONFIDENTIAL    those of these endpoints whose arguments the server must not keep
    FIGURES         functions whose drawings can be downloaded, by the file's name in the address
    words(dataset)  the values that fill in `tab.html`
    known(dataset)  the values that `tab.js` has from the start, as `known`
`tab.html` is what is inside the panel. `tab.js` is a module that exports `open()`, called whenever the tab is shown.
A `tab.css` is added to the style sheet.
"""

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

SPACE = Path(__file__).parent
_ROOM = SPACE.parent
_PACKAGE = __name__.rsplit(".", 2)[0]


class Tab(NamedTuple):
    id: str  # in the page's address
    folder: Path
    module: ModuleType


@cache
def find_tabs() -> dict[str, Tab]:
    """Every tab by its id, in the order in which the page shows them."""
    tabs = []
    for file in (*SPACE.glob("*/tab.py"), *_ROOM.glob("studies/*/tab/tab.py")):
        folder = file.parent
        id = (folder.parent if folder.name == "tab" else folder).name.replace("_", "-")
        name = ".".join((_PACKAGE, *file.with_suffix("").relative_to(_ROOM).parts))
        tabs.append(Tab(id, folder, importlib.import_module(name)))
    return {tab.id: tab for tab in sorted(tabs, key=lambda tab: (tab.module.ORDER, tab.id))}
