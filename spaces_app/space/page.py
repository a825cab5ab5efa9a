"""The page as it is first sent, and the files that it asks for; nothing is fetched from another host."""

import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..analysis.display_names import program_names
from ..analysis.groups import HALF
from ..analysis.program_groups import program_groups
from ..palette import MUTED, SERIES
from .served_dataset import Answer, ServedDataset
from .tabs import SPACE, Tab, find_tabs

if TYPE_CHECKING:
    from jinja2 import Environment

STRIP = "/strip.jpg"  # the picture of a link preview, made on request
_DESCRIPTION = "We ask an image editor for a change, then ask to undo it. How many rounds before the picture breaks?"
_CODE = "https://huggingface.co/spaces/convergebench/convergebench/tree/main"


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(SPACE.parent)
    return Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)


def render(file: Path, **values: Any) -> str:
    """A template filled in; every value is escaped."""
    return _templates().get_template(file.relative_to(SPACE.parent).as_posix()).render(values)


class Site:
    """The page over one dataset: its HTML, and scripts and styles by their names."""

    def __init__(self, dataset: ServedDataset):
        tabs = find_tabs()
        self.files = {name: (SPACE / name).read_bytes() for name in ("shared.js", "chart.js", "icon.svg")}
        self.files |= {f"{tab.id}/tab.js": (tab.folder / "tab.js").read_bytes() for tab in tabs.values()}
        self.files["page.css"] = _css().encode()
        # Part of every address, so that a browser never mixes the scripts of two versions.
        state = hashlib.sha256(b"".join(self.files.values())).hexdigest()[:16]
        body = render(
            SPACE / "page.html",
            state=state,
            tabs={tab.id: tab.module.TITLE for tab in tabs.values()},
            panels={tab.id: _panel(tab, dataset) for tab in tabs.values()},
            known=json.dumps(_known_to_the_page(dataset)),
            endpoints=_endpoints(),
            links={"Data": dataset.link, "Code": _CODE} if dataset.link else {"Code": _CODE},
            version=dataset.version,
        )
        self._before, self._after = body.split("<!-- link preview -->")

    def html(self, address: str) -> str:
        """The page, with the description that search engines and link previews show."""
        tags = {"og:title": "ConvergeBench", "og:description": _DESCRIPTION, "og:image": f"{address}{STRIP}",
                "og:type": "website"}  # fmt: skip
        meta = "".join(f'<meta property="{name}" content="{html.escape(value)}">' for name, value in tags.items())
        card = '<meta name="twitter:card" content="summary_large_image">'
        description = f'<meta name="description" content="{html.escape(_DESCRIPTION)}">'
        return f"{self._before}{description}{meta}{card}{self._after}"


def _css() -> str:
    """The style sheets of the page and its tabs, with the palette's colours by number."""
    files = [SPACE / "page.css", *(tab.folder / "tab.css" for tab in find_tabs().values())]
    series = [
        f".cb-series-{place} {{ --cb-line: light-dark({colour.light}, {colour.dark}); }}"
        for place, colour in enumerate((*SERIES, MUTED))
    ]
    return "\n".join([*(file.read_text(encoding="utf-8") for file in files if file.exists()), *series])


def _panel(tab: Tab, dataset: ServedDataset) -> str:
    words = tab.module.words(dataset) if hasattr(tab.module, "words") else {}
    return render(tab.folder / "tab.html", **words)


def _endpoints() -> Mapping[str, str]:
    """The endpoints for programs, each with the first line of its documentation."""
    modules = [tab.module for tab in find_tabs().values()]
    functions = [
        function for module in modules for name in ("PUBLIC", "QUEUED") for function in getattr(module, name, ())
    ]
    return {function.__name__: (function.__doc__ or "").splitlines()[0] for function in functions}


def _known_to_the_page(dataset: ServedDataset) -> Answer:
    """Editors with names and looks, pictures, programs, which filters go together, and what each tab adds."""
    programs = {chain.program.id: chain.program.cycle for chain in dataset.chains.values()}
    together = {
        (case.group, case.kind, case.category)
        for group in dataset.counted.values()
        for cases in group.cases.values()
        for case in cases
    }
    common = {
        "editors": [
            {
                "id": name,
                "name": dataset.display[name],
                "place": dataset.looks[name].place,
                "baseline": not dataset.is_tested(name),
            }
            for name in dataset.looks
        ],
        "pictures": {name: dataset.title(name) for name in dataset.names["source"]},
        "programs": program_names(dict(sorted(programs.items()))),
        "groups": list(dataset.counted),
        "groupNames": {group.name: group.filter_name for group in program_groups().values() if group.filter_name},
        "kinds": dataset.names["kind"],
        "categories": dataset.names["category"],
        "together": sorted(together),
        "threshold": HALF,
        "version": dataset.version,
    }
    for tab in find_tabs().values():
        if hasattr(tab.module, "known"):
            common |= tab.module.known(dataset)
    return common
