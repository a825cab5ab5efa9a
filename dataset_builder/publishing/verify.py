"""Checks a dataset or a run, and what publishing needs besides."""

import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.generation import pictures
from convergebench.generation.files import locked
from convergebench.generation.pictures import Undecodable, decode, pixel_hash
from convergebench.generation.records import PICTURED, UserError, spellings
from convergebench.generation.store import read_answer
from convergebench.generation.store_reader import (
    LEDGER,
    check_unfinished,
    files_of_run,
    read_chain,
    read_reference,
    read_source,
    read_steps,
)

from ..building.card import CARD, config_digest
from ..dataset import manifest
from ..dataset.columns import Config, Values
from ..dataset.reader import Reader
from ..dataset.rows import BUILT, EDITORS, SourceRow, configs, table_of
from ..dataset.schema import arrow, hash_file
from .beside import changed_files

SET_ASIDE = ".set-aside"
# Never set aside: README.md is rewritten with every change, a run
# needs its run.json, and a person must check the ledger's money.
_STAY = (CARD, "run.json", LEDGER)
_SECRETS = re.compile(
    r"\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|r8_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|AKIA[A-Z0-9]{16}|eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{10,}\.)|\bBearer\s+[A-Za-z0-9._-]{16,}"
)
_SECRET_NAMES = re.compile(r"(_|^)(TOKEN|KEY|SECRET|PASSWORD)$")
_LOCAL_PATHS = re.compile(
    r"(?<![\w:/.])(/(?:home|Users|root|tmp|mnt|media|private|var/folders)/[\w.-]+|[A-Z]:\\[\w.-]+)"
)


class Finding(NamedTuple):
    path: str  # inside the folder
    what: str
    depends: str

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.what}; affected: {self.depends}"


def verify(folder: Path) -> list[Finding]:
    """Find everything that is broken in a dataset or a run."""
    if (folder / "run.json").exists() or (folder / "chains").is_dir():
        return list(_verify_run(folder))
    if not (folder / "data").is_dir():
        raise UserError(f"{folder} is neither a run nor a dataset: it has no run.json and no data folder")
    return list(verify_dataset(folder))


def _verify_run(run: Path) -> Iterator[Finding]:
    for file, read, depends in files_of_run(run):
        try:
            read()
        except (UserError, OSError) as error:
            yield Finding(file, str(error), depends)
    for folder in sorted((run / "chains").glob("[!.]*")):
        try:
            if (folder / "done.json").exists():
                chain = read_chain(folder, "", "")
                for step in read_steps(chain):
                    if step.file:  # a picture, or what was answered in its place
                        read_answer(chain.folder, step)
                read_reference(chain)
                read_source(chain)
            elif folder.is_dir():
                check_unfinished(folder)
        except (UserError, OSError) as error:
            yield Finding(f"chains/{folder.name}", str(error), "the datasets that are built from it")


def verify_dataset(folder: Path) -> Iterator[Finding]:
    """Each broken file, and each row that refers to something missing."""
    reader, damaged = Reader(folder), False
    (written, replacing), files = reader.listing, reader.data_files()
    for file in sorted({*written, *replacing} - {*files}):
        damaged = True
        yield _finding(file, "it is missing")
    for file in files:
        try:
            _check_file(reader, file)
            if hash_file(folder / file) != written.get(file, {}).get("sha256", hash_file(folder / file)):
                raise UserError("it is not the file that was written: its sha256 differs")
            if file in replacing:
                raise UserError("the command that was replacing it stopped")
        except (UserError, OSError) as error:
            damaged = True
            yield _finding(file, str(error))
    for file in changed_files(folder):
        depends = "what evaluate.load computes from the dataset's metric folders"
        yield Finding(file, "it is not the file that was written", depends)
    if not damaged and {*reader.configs()} >= {table.name for table in BUILT if table != EDITORS}:
        yield from _verify_references(reader)
        try:
            _check_card(folder, reader)
        except (UserError, OSError) as error:
            yield Finding(CARD, str(error), "what load_dataset takes from its cache")


def _verify_references(reader: Reader) -> Iterator[Finding]:
    """Rows that lack the chain, steps or source that they refer to."""
    chains, sources = {chain.id: chain for chain in reader.chains()}, set(reader.sources())
    counts = Counter(placed.chain for placed in reader.all_steps())
    for name in sorted(counts.keys() - chains):
        yield _finding("data/steps", f"it has {counts[name]} steps of chain {name}, which is not there")
    for chain in chains.values():
        if counts[chain.id] != chain.calls + 1:
            found = f"{counts[chain.id]} steps instead of {chain.calls + 1}"
            yield _finding("data/steps", f"chain {chain.id} has {found}")
        if chain.source.id not in sources:
            yield _finding(
                "data/chains", f"chain {chain.id} has the source {chain.source.id}, which is not there"
            )
    for config, column, ids in (("scores", "chain", set(chains)), ("floors", "source", sources)):
        if reader.files(config):
            for name in sorted({*reader.table(config, [column])[column].to_pylist()} - ids):
                yield _finding(f"data/{config}", f"it has rows of {column} {name}, which is not there")


def _finding(path: str, what: str) -> Finding:
    """Of a file, or of the folder of a table."""
    table = configs().get(table_of(path) or path.removeprefix("data/"), Config(""))
    return Finding(path, what, table.depends)


def set_aside(folder: Path, findings: list[Finding]) -> list[str]:
    """Move broken files away, so that they are made again; deletes nothing."""
    moved = []
    with locked(folder):
        for path in dict.fromkeys(finding.path for finding in findings):
            broken = folder / path
            if path in manifest.listed_files(folder):
                manifest.expect(folder, {path: {}})  # only the command that makes it takes it for whole again
            if path in _STAY or not (broken.is_file() or (path.startswith("chains/") and broken.exists())):
                continue
            places = (folder / SET_ASIDE / str(number) / path for number in itertools.count(1))
            target = next(place for place in places if not place.exists())
            target.parent.mkdir(parents=True, exist_ok=True)
            broken.replace(target)
            moved.append(path)
    return moved


def _check_file(reader: Reader, file: str, secrets: Mapping[str, str] | None = None) -> None:
    """Raise UserError for the first value or picture that is not as written, or that holds one of some secrets."""
    table = table_of(file)
    check = {"steps": _check_step, "sources": _check_source}.get(table)
    if check or secrets is not None:
        for row in reader.file_rows(file):
            if secrets is not None:
                _check_row(file, row, secrets)
            if check:
                check(file, row)
    else:
        reader.file_table(file)
    for place in reader.places(table) if table == "chains" else ():
        if place.file == file:
            reader.picture_at(place, "reference")


def _check_row(file: str, row: Values, secrets: Mapping[str, str]) -> None:
    for name, value in row.items():
        place, text = f"{file}, column {name}", value
        if isinstance(value, dict):
            _check_bytes(place, pictures.with_text(value["bytes"] or b""), secrets)
            text = value.get("path")
        if isinstance(text, str):
            check_text(place, text, secrets)


def _check_step(file: str, row: Values) -> None:
    image, step = row["image"], f"{file}: step {row['step']} of chain {row['chain']}"
    if (image is None) == (row["status"] in PICTURED):
        raise UserError(f"{step} is {row['status']!r} but {'has no' if image is None else 'has a'} picture")
    if image and sha256(image["bytes"]).hexdigest() != row["sha256"]:
        raise UserError(f"{step} is not the picture of its sha256")


def _check_source(file: str, row: Values) -> None:
    data = row["image"]["bytes"] if row["image"] else b""
    if sha256(data).hexdigest() == row["sha256"]:
        return
    try:
        is_same = pixel_hash(decode(data)) == row["sha256"]
    except Undecodable:
        is_same = False
    if not is_same:
        raise UserError(f"{file}: source {row['source']} is not the picture of its sha256")


# Further requirements for publishing


def check_publishable(folder: Path, progress: Callable[[str], None] = lambda file: None) -> None:
    """Raise for the first reason why a dataset cannot be published."""
    for name in ("steps", "chains", "sources"):
        if not list((folder / "data" / name).rglob("*.parquet")):
            raise UserError(f"{folder} has no data/{name}; `convergebench build` makes a dataset")
    if not (folder / CARD).exists():
        raise UserError(f"{folder} has no card; `convergebench build` writes it")
    reader = Reader(folder)
    _check_schema(reader)
    _check_card(folder, reader)
    for row in reader.rows_of(SourceRow, ["source", "licence", "attribution"]):
        for name in ("licence", "attribution"):
            if (row.values[name] or "").strip() in ("", "unknown"):
                raise UserError(f"source {row.source!r} has no known {name}; `build --{name}` says it")
    secrets = known_secrets()
    check_text(CARD, (folder / CARD).read_text(encoding="utf-8"), secrets)
    for file in reader.data_files():
        _check_file(reader, file, secrets)
        progress(file)
    reader.refuse_unfinished()
    for finding in _verify_references(reader):
        raise UserError(finding.sentence)


def _check_schema(reader: Reader) -> None:
    for name in reader.configs():
        table = configs().get(name, Config(name, may_have_more=True))
        wanted = list(arrow(table.columns))
        schemas = [reader.footer(file).schema.to_arrow_schema() for file in reader.files(name)]
        for file, schema in zip(reader.files(name), schemas, strict=True):
            if schema != schemas[0]:
                raise UserError(f"{file} has other columns than the first file of {name}; build or score again")
            if list(schema)[: len(wanted)] != wanted or (len(schema) > len(wanted) and not table.may_have_more):
                problem = f"{file} does not have the columns of {name} in this version"
                raise UserError(f"{problem}; build or score again")


def _check_card(folder: Path, reader: Reader) -> None:
    meta = front_matter(folder / CARD)[0]
    described = {config["config_name"]: config for config in meta.get("configs", [])}
    infos = {info["config_name"]: info for info in meta.get("dataset_info", [])}
    present = reader.configs()
    if sorted(described) != sorted(present) or sorted(infos) != sorted(present):
        files_there = f"there are files of {sorted(present)}"
        raise UserError(f"the card describes {sorted(described)} but {files_there}; build again")
    for name in present:
        files = reader.files(name)
        rows = sum(reader.footer(file).num_rows for file in files)
        if infos[name]["splits"][0]["num_examples"] != rows:
            raise UserError(f"the card counts other rows of {name} than the {rows:,} in its files; build again")
        content = "content sha256 " + config_digest(files, lambda file: hash_file(folder / file))
        if not described[name]["description"].endswith(content):
            raise UserError(f"the files of {name} are not those the card was written for; build again")


def front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """A card's YAML and the text after it."""
    import yaml

    parts = path.read_text(encoding="utf-8", errors="replace").split("---\n", 2)
    try:
        meta = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else None
    except yaml.YAMLError:
        meta = None
    if not isinstance(meta, dict):
        raise UserError(f"{path} does not begin with YAML between two lines of ---; build again")
    return meta, parts[2]


def check_text(place: str, text: str, secrets: Mapping[str, str]) -> None:
    """Raise, without repeating it, if a text holds a secret or a local path."""
    if _SECRETS.search(text):
        raise UserError(f"{place} holds what looks like an access token; take it out before it is published")
    _check_bytes(place, text.encode(errors="replace"), secrets)
    if path := _LOCAL_PATHS.search(text):
        raise UserError(f"{place} holds the local path {path[0]!r}; take it out before it is published")


def _check_bytes(place: str, data: bytes, secrets: Mapping[str, str]) -> None:
    """As `check_text`, of the secrets that are known."""
    for name, value in secrets.items():
        if any(spelling.encode() in data for spelling in spellings(value)):
            raise UserError(f"{place} holds the value of {name}; take it out before it is published")


def known_secrets() -> dict[str, str]:
    """The secrets of this environment by name: its variables and the Hub token."""
    from huggingface_hub import get_token

    secrets = {
        name: value for name, value in os.environ.items() if _SECRET_NAMES.search(name) and len(value) >= 12
    }
    token = get_token()
    return secrets | ({"the Hub token": token} if token else {})
