"""The card's numbers and tables, counted from the dataset itself, as Markdown."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from convergebench.generation.records import PICTURED

from ..dataset.columns import Config
from ..dataset.reader import Reader
from ..dataset.rows import ChainRow, SourceRow, StepRow

# The Hub's identifiers of licences; any other licence is "other" there, and the table of licences names it.
_LICENCES = {
    "Apache-2.0": "apache-2.0",
    "CC0-1.0": "cc0-1.0",
    "CC-BY-2.0": "cc-by-2.0",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-SA-3.0": "cc-by-sa-3.0",
    "CC-BY-SA-4.0": "cc-by-sa-4.0",
    "GPL-2.0-or-later": "gpl-2.0",
    "MIT": "mit",
}
_SIGNS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;", "`": "&#96;"})


def size_text(size: float) -> str:
    """1234567 as 1.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def count_text(count: int, noun: str) -> str:
    """1234 and chain as 1,234 chains."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain(text: str) -> str:
    """Escape text that Markdown would take for HTML, links, pictures or code.

    >>> plain('<img src=x> [a](b) & `c`')
    '&lt;img src=x&gt; &#91;a&#93;(b) &amp; &#96;c&#96;'
    """
    return text.translate(_SIGNS)


def _code(text: str) -> str:
    """Text as inline code; a backtick, which would end it, becomes an apostrophe."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def _table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [titles, ["---"] * len(titles)]
    lines += [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def columns_table(config: Config) -> str:
    """A Markdown section with the columns of a config and their meanings."""
    rows = [[_code(column.name), column.type, column.meaning] for column in config.columns]
    return f"### {config.name}\n\n" + _table(["column", "type", "meaning"], rows)


def configs_table(configs: Iterable[tuple[Config, int, int, int]]) -> str:
    """Each config with its rows, files and bytes."""
    rows = [
        [f"`{config.name}`", f"one row is {config.row}", f"{count:,}", files, size_text(download)]
        for config, count, files, download in configs
    ]
    return _table(["config", "what a row is", "rows", "files", "download"], rows) + "\n\nEach has one split, `test`."


def editor_folders(editors: Iterable[str]) -> dict[str, str]:
    """A folder name for each editor that is safe in any file system and any glob."""
    folders: dict[str, str] = {}
    used: set[str] = set()
    for editor in sorted(editors):
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", editor).strip(".-") or "editor"
        if name.casefold() in used:
            name += "-" + sha256(editor.encode()).hexdigest()[:8]
        used.add(name.casefold())
        folders[editor] = name
    return folders


class Contents:
    """What the dataset holds, read once and without pictures."""

    def __init__(self, reader: Reader) -> None:
        self.chains = list(reader.rows_of(ChainRow))
        self.sources = list(reader.rows_of(SourceRow))
        self.folders = editor_folders({row.editor for row in self.chains})
        self.statuses: dict[str, Counter[str]] = defaultdict(Counter)  # of each editor's calls
        self.types: dict[str, Counter[str]] = defaultdict(Counter)
        self.steps = self.pictures = self.bytes = 0
        for row in reader.rows_of(StepRow, ["editor", "step", "status", "type", "bytes"]):
            self.steps += 1
            if row.status in PICTURED:
                self.pictures += 1
                self.bytes += row.bytes or 0
            if row.step:
                self.statuses[row.editor][row.status] += 1
                self.types[row.editor][row.type or ""] += 1

    def totals(self) -> str:
        """Everything in one line."""
        editors, sources = (
            count_text(len(self.folders), "editor"),
            count_text(len(self.sources), "source picture"),
        )
        steps, pictures = count_text(self.steps, "step"), count_text(self.pictures, "picture")
        chains, size = count_text(len(self.chains), "chain"), size_text(self.bytes)
        return f"{chains} of {editors} on {sources}: {steps}, {pictures}, {size}"

    def statistics(self) -> str:
        """Chains and answers by editor, category and program."""
        costs: dict[str, list[float]] = {editor: [] for editor in sorted(self.folders)}
        for row in self.chains:
            costs[row.editor] += [] if row.cost is None else [row.cost]
        chains = Counter(row.editor for row in self.chains)
        editors = [
            [
                _code(editor),
                f"{chains[editor]:,}",
                f"{self.statuses[editor].total():,}",
                _counted(self.statuses[editor]),
                _counted(self.types[editor]),
                f"{sum(paid):.2f}" if paid else "not stated",
            ]
            for editor, paid in costs.items()
        ]
        by_category = Counter((row.category, row.kind) for row in self.chains)
        kinds = sorted({kind for _, kind in by_category})
        categories = [
            [plain(category), *(f"{by_category[category, kind]:,}" for kind in kinds)]
            for category in sorted({category for category, _ in by_category})
        ]
        cycles = {row.program: json.loads(row.cycle) for row in sorted(self.chains, key=lambda row: row.program)}
        programs = [
            [_code(name), plain(" → ".join(cycle[:4])) + (" → ..." if len(cycle) > 4 else "")]
            for name, cycle in cycles.items()
        ]
        suites = Counter(f"{row.suite} {row.suite_version}".strip() for row in self.chains)
        return "\n\n".join(
            (
                f"Suites: {_counted(suites)} (chains).",
                _table(["editor", "chains", "calls", "answers by status", "by type", "US dollars"], editors),
                "Chains by category of program and kind of source:",
                _table(["category", *map(plain, kinds)], categories),
                "Programs:",
                _table(["program", "cycle"], programs),
            )
        )


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {plain(name)}" for name, count in sorted(counter.items()) if name) or "none"


def licence_fields(sources: Iterable[SourceRow], repo: str) -> Mapping[str, object]:
    """The licence fields of the card's YAML; licences without a Hub identifier are "other", with their names."""
    licences = {row.licence or "unknown" for row in sources}
    fields: dict[str, object] = {"license": sorted({_LICENCES.get(licence, "other") for licence in licences})}
    if unknown := sorted(licences - _LICENCES.keys()):
        fields["license_name"] = "-".join(re.sub(r"[^a-z0-9.]+", "-", name.lower()) for name in unknown)[:96]
        fields["license_link"] = f"https://huggingface.co/datasets/{repo}#licences-and-attributions"
    return fields


def licences_table(sources: Iterable[SourceRow]) -> str:
    """Each source with its licence and attribution."""
    titles = ["source", "title", "kind", "origin", "licence", "attribution"]
    return _table(
        titles, [[_code(row.source), *(plain(row.values[name] or "") for name in titles[1:])] for row in sources]
    )
