"""The card's numbers and tables, counted from the dataset itself."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dataset.columns import Config
from ..dataset.reader import Reader

# The Hub's own names of licences; whatever has none is "other", and the table says what it is.
LICENCES = {
    "Apache-2.0": "apache-2.0",
    "CC0-1.0": "cc0-1.0",
    "CC-BY-2.0": "cc-by-2.0",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-SA-3.0": "cc-by-sa-3.0",
    "CC-BY-SA-4.0": "cc-by-sa-4.0",
    "GPL-2.0-or-later": "gpl-2.0",
    "MIT": "mit",
}
SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;", "`": "&#96;"}


@dataclass(frozen=True)
class Counts:
    """What is in the dataset."""

    steps: int
    chains: int
    pictures: int
    bytes: int
    editors: Mapping[str, Mapping[str, Any]]  # by label: chains, calls, statuses, types, cost
    folders: Mapping[str, str]  # where each editor's steps lie
    categories: Mapping[tuple[str, str], int]  # chains by category and kind of source
    suites: Mapping[str, int]
    sources: list[dict[str, Any]]
    programs: Mapping[str, list[str]]  # the cycle of each program


def count_dataset(reader: Reader) -> Counts:
    """Count everything once, without reading a picture."""
    steps = reader.table("steps", ["editor", "step", "status", "type", "bytes"]).to_pydict()
    chains = reader.table("chains").to_pylist()
    editors: dict[str, dict[str, Any]] = {}
    for label in sorted({row["editor"] for row in chains}):
        editors[label] = {"chains": 0, "calls": 0, "statuses": Counter(), "types": Counter(), "costs": []}
    for row in chains:
        editors[row["editor"]]["chains"] += 1
        editors[row["editor"]]["costs"].append(row["cost"])
    pictured = total = 0
    for label, step, status, kind, size in zip(*steps.values(), strict=True):
        if status in ("input", "ok", "shrunk"):
            pictured += 1
            total += size or 0
        if step:
            editors[label]["calls"] += 1
            editors[label]["statuses"][status] += 1
            if kind:
                editors[label]["types"][kind] += 1
    return Counts(
        steps=len(steps["step"]),
        chains=len(chains),
        pictures=pictured,
        bytes=total,
        editors=editors,
        folders=editor_folders(reader),
        categories=Counter((row["category"], row["kind"]) for row in chains),
        suites=Counter(f"{row['suite']} {row['suite_version']}".strip() for row in chains),
        sources=reader.table("sources").to_pylist(),
        programs={row["program"]: json.loads(row["cycle"]) for row in sorted(chains, key=lambda row: row["program"])},
    )


def editor_folders(reader: Reader) -> dict[str, str]:
    """The folder of each editor's steps, from the files themselves."""
    folders = {}
    for file in reader.files("steps"):
        with reader.open(file) as opened:
            label = opened.read_row_group(0, columns=["editor"]).column(0)[0].as_py()
        folders[label] = file.split("/")[2]
    return folders


def size_text(size: float) -> str:
    """1234567 as 1.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def markdown_table(titles: list[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, with bars inside a cell escaped."""
    cells = [[escape_cell(str(cell)) for cell in row] for row in rows]
    lines = [titles, ["---"] * len(titles), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plain(text: str) -> str:
    """Text as text, where Markdown would take signs of it for HTML, links, pictures or code.

    >>> plain('<img src=x> [a](b) & `c`')
    '&lt;img src=x&gt; &#91;a&#93;(b) &amp; &#96;c&#96;'
    """
    return "".join(SIGNS.get(sign, sign) for sign in text)


def code(text: str) -> str:
    """Text as code, which has no further signs; a backtick, which would end it, becomes an apostrophe."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def escape_cell(text: str) -> str:
    """Text as a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def count_text(count: int, noun: str) -> str:
    """1234 and chain as 1,234 chains."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def totals_text(counts: Counts) -> str:
    """What is in the dataset, in one line."""
    editors, sources = count_text(len(counts.editors), "editor"), count_text(len(counts.sources), "source picture")
    steps, pictures = count_text(counts.steps, "step"), count_text(counts.pictures, "picture")
    chains, size = count_text(counts.chains, "chain"), size_text(counts.bytes)
    return f"{chains} of {editors} on {sources}: {steps}, {pictures}, {size}"


def configs_table(configs: Iterable[tuple[Config, int, int, int]]) -> str:
    """Each config with its rows, files and bytes."""
    rows = [
        [f"`{config.name}`", f"one row is {config.row}", f"{count:,}", files, size_text(download)]
        for config, count, files, download in configs
    ]
    titles = ["config", "what a row is", "rows", "files", "download"]
    return markdown_table(titles, rows) + "\n\nEach has one split, `test`."


def columns_table(configs: Iterable[Config]) -> str:
    """The columns of each config, with their meanings."""
    parts = []
    for config in configs:
        rows = [[code(column.name), column.type, column.meaning] for column in config.columns]
        parts.append(f"### {config.name}\n\n" + markdown_table(["column", "type", "meaning"], rows))
    return "\n\n".join(parts)


def statistics_tables(counts: Counts) -> str:
    """Chains and answers by editor, category and program."""

    def listed(counter: Counter[str]) -> str:
        return ", ".join(f"{count:,} {plain(name)}" for name, count in sorted(counter.items())) or "none"

    def cost(values: list[float | None]) -> str:
        paid = [value for value in values if value is not None]
        return f"{sum(paid):.2f}" if paid else "not stated"

    editors: list[list[object]] = [
        [
            code(name),
            f"{of['chains']:,}",
            f"{of['calls']:,}",
            listed(of["statuses"]),
            listed(of["types"]),
            cost(of["costs"]),
        ]
        for name, of in counts.editors.items()
    ]
    kinds = sorted({kind for _, kind in counts.categories})
    by_category: dict[str, list[object]] = defaultdict(list)
    for category in sorted({category for category, _ in counts.categories}):
        by_category[category] = [
            plain(category),
            *(f"{counts.categories.get((category, kind), 0):,}" for kind in kinds),
        ]
    programs: list[list[object]] = [
        [code(name), plain(" → ".join(cycle[:4])) + (" → ..." if len(cycle) > 4 else "")]
        for name, cycle in counts.programs.items()
    ]
    return "\n\n".join(
        (
            "Suites: " + listed(Counter(counts.suites)) + " (chains).",
            markdown_table(["editor", "chains", "calls", "answers by status", "by type", "US dollars"], editors),
            "Chains by category of program and kind of source:",
            markdown_table(["category", *map(plain, kinds)], list(by_category.values())),
            "Programs:",
            markdown_table(["program", "cycle"], programs),
        )
    )


def licence_fields(counts: Counts, repo: str) -> dict[str, Any]:
    """The licences as the Hub's card has them; those that it has no word for are named beside the word "other"."""
    unknown = sorted({row["licence"] or "unknown" for row in counts.sources if row["licence"] not in LICENCES})
    fields: dict[str, Any] = {"license": sorted({LICENCES.get(row["licence"], "other") for row in counts.sources})}
    if unknown:
        fields |= {"license_name": "-".join(re.sub(r"[^a-z0-9.]+", "-", name.lower()) for name in unknown)[:96]}
        fields |= {"license_link": f"https://huggingface.co/datasets/{repo}#licences-and-attributions"}
    return fields


def licences_table(counts: Counts) -> str:
    rows: list[list[object]] = [
        [
            code(row["source"]),
            *(plain(row[name] or "") for name in ("title", "kind", "origin", "licence", "attribution")),
        ]
        for row in counts.sources
    ]
    return markdown_table(["source", "title", "kind", "origin", "licence", "attribution"], rows)
