"""The web page of the Space with its scripts and styles; nothing is fetched from another host."""

import hashlib
import html
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..analysis.groups import HALF
from ..analysis.program_groups import program_groups
from ..palette import DARK, MUTED, SERIES
from .served_dataset import Answer, ServedDataset
from .tabs import SPACE, find_tabs, listed_by_tabs

_CODE = "https://huggingface.co/spaces/convergebench/convergebench/tree/main"
_LONGEST_EDIT = 44  # characters that fit on a phone


@cache
def _templates() -> Environment:
    loader = FileSystemLoader(SPACE.parent)
    return Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )


def render(file: Path, **values: Any) -> str:
    """A template filled in; every value is escaped."""
    return _templates().get_template(file.relative_to(SPACE.parent).as_posix()).render(values)


def page_files(dataset: ServedDataset) -> dict[str, bytes]:
    """The page as `index.html`, and its scripts and styles."""
    tabs = find_tabs()
    files = {name: (SPACE / name).read_bytes() for name in ("shared.js", "chart.js", "icon.svg")}
    files |= {f"{id}/tab.js": (folder / "tab.js").read_bytes() for id, (folder, _) in tabs.items()}
    files["page.css"] = _style_sheet([folder for folder, _ in tabs.values()])
    words = {id: tab.words(dataset) if hasattr(tab, "words") else {} for id, (_, tab) in tabs.items()}
    notes = {id: getattr(tab, "NOTE", "") for id, (_, tab) in tabs.items()}
    page = render(
        SPACE / "page.html",
        # Part of every address, so that a browser never mixes the scripts of two versions.
        state=hashlib.sha256(b"".join(files.values())).hexdigest()[:16],
        tabs={id: module.TITLE for id, (_, module) in tabs.items()},
        panels={
            id: render(folder / "tab.html", tabs=tabs.keys(), note=notes[id], **words[id])
            for id, (folder, _) in tabs.items()
        },
        page_data=json.dumps(_page_data(dataset)),
        endpoints={
            function.__name__: (function.__doc__ or "").splitlines()[0] for function in listed_by_tabs("PUBLIC")
        },
        links={"Data": dataset.link, "Code": _CODE} if dataset.link else {"Code": _CODE},
        version=dataset.version,
        view="{title}",
        preview="{address}figures/hero.png",
    )
    return files | {"index.html": page.encode()}


def _style_sheet(tabs: Sequence[Path]) -> bytes:
    styles = [SPACE / "page.css", *(folder / "tab.css" for folder in tabs)]
    series = [
        f".cb-series-{place} {{ --cb-line: light-dark({light}, {DARK[light]}); }}\n"
        for place, light in enumerate((*SERIES, MUTED))
    ]
    return b"".join(file.read_bytes() for file in styles if file.exists()) + "".join(series).encode()


def with_link_preview(index: bytes, view: str, address: str) -> bytes:
    """Fill in what the preview of a link shows: the title of a tab and a picture of the results."""
    title = html.escape(f"{view}: ConvergeBench" if view and view != "Results" else "ConvergeBench")
    return index.replace(b"{title}", title.encode()).replace(b"{address}", html.escape(address).encode())


def _page_data(dataset: ServedDataset) -> Answer:
    programs = {chain.program.id: chain.program.cycle for chain in dataset.chains}
    groups = dataset.groups | dataset.uncounted
    shown = [case for group in groups.values() for case in group.all_cases]
    values = {
        "editors": [
            {"id": name, "name": dataset.display[name], "place": look.place, "baseline": look.is_reference}
            for name, look in dataset.looks.items()
        ],
        "pictures": {name: dataset.title(name) for name in dataset.names["source"]},
        "programs": _program_names(dict(sorted(programs.items()))),
        "groups": list(groups),
        "counted": len(dataset.groups),
        "groupNames": {group.name: group.filter_name for group in program_groups().values() if group.filter_name},
        "kinds": dataset.names["kind"],
        "categories": dataset.names["category"],
        "together": sorted({(case.group, case.kind, case.category) for case in shown}),
        "threshold": HALF,
        "whyNot": "" if groups else dataset.why_nothing_counts,
        "version": dataset.version,
    }
    for _, module in find_tabs().values():
        values |= module.page_data(dataset) if hasattr(module, "page_data") else {}
    return values


def _program_names(programs: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A name for each program, from its first instruction; programs with the same name also show their ids.

    >>> _program_names({"hat": ["add a hat", "remove it"], "rotate": ["rotate it"] * 4, "two": ["a", "b", "c", "d"]})
    {'hat': 'Add a hat', 'rotate': 'Rotate it, 4 times', 'two': 'A, and 3 more'}
    """
    names = {}
    for program, cycle in programs.items():
        ending = "" if len(cycle) <= 2 else f", and {len(cycle) - 1} more"
        first = cycle[0][:1].upper() + cycle[0][1:].rstrip(".")
        first = first if len(first) <= _LONGEST_EDIT else f"{first[:_LONGEST_EDIT].rsplit(' ', 1)[0]} …"
        names[program] = first + (f", {len(cycle)} times" if ending and len(set(cycle)) == 1 else ending)
    counts = Counter(names.values())
    return {program: name if counts[name] == 1 else f"{name} ({program})" for program, name in names.items()}
