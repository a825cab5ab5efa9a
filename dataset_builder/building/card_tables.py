"""The card's numbers and tables, counted from the dataset itself, as Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from convergebench.generation.records import PICTURED

from ..dataset.columns import Config
from ..dataset.reader import Reader
from ..dataset.rows import ChainRow, SourceRow

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
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;", "`": "&#96;"})


def size_text(size: float) -> str:
    """A size for readers: 1234567 becomes 1.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def count_text(count: int, noun: str) -> str:
    """A count with its noun: 1234 and chain become 1,234 chains."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain(text: str) -> str:
    """Escape text that Markdown would take for HTML, links, pictures or code.

    >>> plain('<img src=x> [a](b) & `c`')
    '&lt;img src=x&gt; &#91;a&#93;(b) &amp; &#96;c&#96;'
    """
    return text.translate(_ESCAPES)


def _code(text: str) -> str:
    """Text as inline code; a backtick, which would end it, becomes an apostrophe."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def _table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [titles, ["---"] * len(titles)]
    lines += [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def config_section(config: Config, rows: int, files: int, size: float) -> str:
    """A Markdown section of a config: its size, and its columns with their meanings."""
    columns = [[_code(column.name), column.type, column.meaning] for column in config.columns]
    sizes = f"{count_text(rows, 'row')} in {count_text(files, 'file')}, {size_text(size)}"
    return f"### {config.name}\n\nOne row is {config.row}: {sizes}.\n\n{_table(['column', 'type', 'meaning'], columns)}"


def editor_folders(editors: Iterable[str]) -> dict[str, str]:
    """A folder name for each editor, safe in any file system and any glob."""
    folders: dict[str, str] = {}
    used: set[str] = set()
    for editor in sorted(editors):
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", editor).strip(".-") or "editor"
        if name.casefold() in used:
            name += "-" + sha256(editor.encode()).hexdigest()[:8]
        used.add(name.casefold())
        folders[editor] = name
    return folders


def totals(reader: Reader, chains: Sequence[ChainRow], sources: int) -> tuple[int, str]:
    """The number of steps, and a summary in one line."""
    steps = reader.table("steps", ["status", "bytes"]).to_pydict()
    counts = {"chain": len(chains), "editor": len({chain.editor for chain in chains}), "source picture": sources}
    counts |= {"step": len(steps["status"]), "picture": sum(status in PICTURED for status in steps["status"])}
    texts = [count_text(count, noun) for noun, count in counts.items()]
    size = size_text(sum(filter(None, steps["bytes"])))
    return counts["step"], "{} of {} on {}: {}, {}, {}".format(*texts, size)


def licence_fields(sources: Iterable[SourceRow], repo: str) -> Mapping[str, object]:
    """The licence fields of the card's YAML."""
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
