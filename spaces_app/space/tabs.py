"""The tabs of the Space, found by path: `space/TAB/tab.py`, and `studies/STUDY/tab/tab.py` for the tab of a study.

A tab is a folder of three files. `tab.py` has
    TITLE           the tab's title
    ORDER           its place in the row of tabs
and may have
    PUBLIC          endpoints for programs: functions of a dataset and plain values; an endpoint has its function's name
    FOR_THE_PAGE    endpoints that only the page's own script calls
    CONFIDENTIAL    those endpoints whose arguments the server must not keep
    FIGURES         functions whose drawings can be downloaded, by the file name in the address
    NOTE            a sentence for `tab.html`, as `note`
    words(dataset)  other values that fill in `tab.html`
    page_data(dataset)  values that `tab.js` finds in `pageData` as soon as the page is loaded
`tab.html` is the content of the panel. `tab.js` is a module that exports `open()`, called whenever the tab is shown.
A `tab.css` is added to the style sheet.
"""

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

SPACE = Path(__file__).parent
_SPACES_APP = SPACE.parent
_PACKAGE = __name__.rsplit(".", 2)[0]


@cache
def find_tabs() -> dict[str, tuple[Path, ModuleType]]:
    """Every tab's folder and module, by its id in the page's address."""
    tabs = {}
    for file in (*SPACE.glob("*/tab.py"), *_SPACES_APP.glob("studies/*/tab/tab.py")):
        folder = file.parent
        id = (folder.parent if folder.name == "tab" else folder).name.replace("_", "-")
        name = ".".join((_PACKAGE, *file.with_suffix("").relative_to(_SPACES_APP).parts))
        tabs[id] = folder, importlib.import_module(name)
    return dict(sorted(tabs.items(), key=lambda tab: (tab[1][1].ORDER, tab[0])))


def listed_by_tabs(name: str) -> list[Any]:
    """The items that all tabs list under this name, such as PUBLIC."""
    return [item for _, module in find_tabs().values() for item in getattr(module, name, ())]
