"""Writes the dataset card, README.md, last, so that its counts and digests match the files.

`load_dataset` keys its cache by the folder's name and this card, never by the files: with an unchanged
card it would return the rows of an earlier build, or of another folder of the same name.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from convergebench.generation.files import file_name, write_whole
from convergebench.generation.records import PICTURED, Json, UserError

from ..dataset import manifest
from ..dataset.columns import Config
from ..dataset.manifest import CARD
from ..dataset.reader import Reader
from ..dataset.rows import ChainRow, SourceRow, table_of
from ..dataset.schema import SPLIT, config_of, hash_file, values_digest

REPO = "convergebench/convergebench"
PICTURE = "headline.png"
Headline = tuple[str, bytes]  # of the report, and its picture as PNG
NOT_PUBLISHED = "Not published yet."
VERSIONS = r"this card changed\.\n\n(.*?)\n\n## Cite"
# The Hub's identifiers of licences; any other is "other" on the Hub, and the card's table names it.
_LICENCES = {"apache-2.0", "cc0-1.0", "cc-by-2.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "gpl-2.0", "mit"}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;", "`": "&#96;"})


def write(
    folder: Path,
    tables: Collection[str],
    repo: str | None = None,
    versions: str | None = None,
    reader: Reader | None = None,
    headline: Headline | None = None,
) -> Path:
    """Write README.md after these tables were written; without `versions` it keeps its list of them.

    Give a `reader` if the folder lacks some of the dataset's files.
    """
    import yaml

    refuse_other_folders(folder)
    template = (Path(__file__).parents[2] / "dataset_card.md").read_text(encoding="utf-8")
    _, head, body = template.split("---\n", 2)
    reader = reader or Reader(folder)
    files = [file for name in reader.configs() for file in reader.files(name)]
    entries = {file: _entry(reader, file) for file in files}
    # Files that another command was about to replace stay in this list.
    replacing = {file: entry for file, entry in reader.listing[1].items() if table_of(file) not in tables}
    chains = list(reader.rows_of(ChainRow))
    sources = list(reader.rows_of(SourceRow))
    folders = editor_folders({row.editor for row in chains})
    meta: Json = yaml.safe_load(head)
    repo = repo or search_card(folder, r'load_dataset\("([^"]+/[^"]+)", split') or REPO
    meta |= _licence_fields(sources, repo)
    infos = [_table_info(reader, name, entries) for name in reader.configs()]
    meta["configs"], meta["dataset_info"], sections = (list(part) for part in zip(*infos, strict=True))
    editor = min(folders, default="paint")
    strips = f"![Strips of a typical test]({PICTURE})"
    values = {
        "repo": repo,
        "headline": f"**{escape(headline[0])}**\n\n{strips}\n\n" if headline else "",
        "totals": _totals(reader, chains, len(sources)),
        "editor": editor,
        "editor_files": f"data/steps/{folders.get(editor, editor)}/*.parquet",
        "configs": "\n\n".join(sections),
        "licences": _licences_table(sources),
        "versions": versions or search_card(folder, VERSIONS) or NOT_PUBLISHED,
    }
    text = re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], body)
    front = yaml.safe_dump(meta, sort_keys=False, allow_unicode=True, width=120)
    listing = manifest.encode(entries, replacing)
    if headline:
        write_whole(folder / PICTURE, headline[1])
    write_whole(folder / CARD, manifest.in_card(f"---\n{front}---\n{text}".encode(), listing))
    return folder / CARD


def _table_info(
    reader: Reader, name: str, entries: manifest.Entries
) -> tuple[dict[str, object], dict[str, object], str]:
    """A config's entries under `configs` and `dataset_info` in the YAML, and its section."""
    files = reader.files(name)
    footers = [reader.footer(file) for file in files]
    config, rows = config_of(footers[0], name), sum(footer.num_rows for footer in footers)
    content = config_digest(files, lambda file: entries[file]["sha256"])
    download = sum(map(reader.size, files))
    groups = [footer.row_group(group) for footer in footers for group in range(footer.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    yaml_config = {
        "config_name": name,
        **({"default": True} if name == "steps" else {}),
        "description": f"A row is {config.row}. {rows:,} rows, content sha256 {content}",
        "data_files": [{"split": SPLIT, "path": f"data/{name}/{'*/' if name == 'steps' else ''}*.parquet"}],
    }
    yaml_info = {
        "config_name": name,
        "features": [{"name": column.name, "dtype": column.type} for column in config.columns],
        "splits": [{"name": SPLIT, "num_bytes": size, "num_examples": rows}],
        "download_size": download,
        "dataset_size": size,
    }
    return yaml_config, yaml_info, _config_section(config, rows, len(files), download)


def _entry(reader: Reader, file: str) -> manifest.Entry:
    """A file's entry: it keeps the hash it was written with, so that damage is noticed."""
    reader.digests(file)
    values = values_digest(reader.footer(file))
    listed = [part[file] for part in reader.listing if part.get(file, {}).get("values") == values]
    return listed[-1] if listed else {"sha256": hash_file(reader.folder / file), "values": values}


def config_digest(files: Sequence[str], hash_of: Callable[[str], str]) -> str:
    """One hash for a config: it changes when any of its files does."""
    return sha256("".join(f"{file} {hash_of(file)}\n" for file in files).encode()).hexdigest()


def search_card(folder: Path, pattern: str) -> str | None:
    path = folder / CARD
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    match = re.search(pattern, text, re.DOTALL)
    return match[1].strip() if match else None


def require_dataset(folder: Path) -> None:
    """Raise if a folder is not a dataset of this benchmark."""
    if not Reader(folder).files("chains"):
        raise manifest.no_dataset(folder)
    refuse_other_folders(folder)


def refuse_other_folders(folder: Path) -> None:
    """Raise if a folder holds anything but a dataset of this benchmark."""
    if (folder / "run.json").exists():
        raise UserError(f"{folder} holds a chain store; give another folder for the dataset")
    path, tag = folder / CARD, "\n- convergebench\n"
    if path.exists() and tag not in path.read_text("utf-8", errors="replace").split("\n---\n")[0]:
        raise UserError(f"{path} is not a card of this benchmark; give another folder for the dataset")
    reader, ours = Reader(folder), manifest.listed_files(folder)
    foreign = [file for file in reader.data_files() if file not in ours and not reader.is_ours(file)]
    manifest.refuse_unlisted(
        folder, foreign, "this benchmark did not write", "move them or choose another folder"
    )


# Numbers and tables as Markdown


def size_text(size: float) -> str:
    """A size for readers: 1234567 becomes 1.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def count_text(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def escape(text: str) -> str:
    """Escape text that Markdown would take for HTML, links, pictures or code.

    >>> escape('<img src=x> [a](b) & `c`')
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


def _config_section(config: Config, rows: int, files: int, size: float) -> str:
    columns = [[_code(column.name), column.type, column.meaning] for column in config.columns]
    sizes = f"{count_text(rows, 'row')} in {count_text(files, 'file')}, {size_text(size)}"
    return f"### {config.name}\n\nOne row is {config.row}: {sizes}.\n\n{_table(['column', 'type', 'meaning'], columns)}"


def editor_folders(editors: Iterable[str]) -> dict[str, str]:
    """A folder name for each editor, safe in any file system and any glob."""
    folders: dict[str, str] = {}
    used: set[str] = set()
    for editor in sorted(editors):
        name = file_name(editor, "editor")
        if name.casefold() in used:
            name += "-" + sha256(editor.encode()).hexdigest()[:8]
        used.add(name.casefold())
        folders[editor] = name
    return folders


def _totals(reader: Reader, chains: Sequence[ChainRow], sources: int) -> str:
    steps = reader.table("steps", ["status", "bytes"]).to_pydict()
    counts = {"chain": len(chains), "editor": len({chain.editor for chain in chains}), "source picture": sources}
    counts |= {"step": len(steps["status"]), "picture": sum(status in PICTURED for status in steps["status"])}
    texts = [count_text(count, noun) for noun, count in counts.items()]
    return "{} of {} on {}: {}, {}, {}".format(*texts, size_text(sum(filter(None, steps["bytes"]))))


def _licence_fields(sources: Iterable[SourceRow], repo: str) -> Mapping[str, object]:
    licences = {row.licence or "unknown" for row in sources}
    ids = {licence: licence.lower().removesuffix("-or-later") for licence in licences}
    fields: dict[str, object] = {"license": sorted({id if id in _LICENCES else "other" for id in ids.values()})}
    if unknown := sorted(licence for licence, id in ids.items() if id not in _LICENCES):
        fields["license_name"] = "-".join(re.sub(r"[^a-z0-9.]+", "-", name.lower()) for name in unknown)[:96]
        fields["license_link"] = f"https://huggingface.co/datasets/{repo}#licences-and-attributions"
    return fields


def _licences_table(sources: Iterable[SourceRow]) -> str:
    titles = ["source", "title", "kind", "origin", "licence", "attribution"]
    rows = [[_code(row.source), *(escape(row.values[name] or "") for name in titles[1:])] for row in sources]
    return _table(titles, rows)
