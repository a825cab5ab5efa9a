"""What must hold before a dataset is published: schema, hashes, licences, card, no secrets, no local paths."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError

from ..building.card import digest, front_matter
from ..building.card_tables import code, escape_cell
from ..dataset.columns import Config
from ..dataset.damage import check_file
from ..dataset.reader import Reader
from ..dataset.rows import configs
from ..dataset.schema import UNEXPLAINED, arrow, config_of, hash_file

SECRETS = re.compile(
    r"\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|r8_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|AKIA[A-Z0-9]{16}|eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{10,}\.)|\bBearer\s+[A-Za-z0-9._-]{16,}"
)
SECRET_NAMES = re.compile(r"(_|^)(TOKEN|KEY|SECRET|PASSWORD)$")
LOCAL_PATHS = re.compile(
    r"(?<![\w:/.])(/(?:home|Users|root|tmp|mnt|media|private|var/folders)/[\w.-]+|[A-Z]:\\[\w.-]+)"
)


def check(folder: Path, progress: Callable[[str], None] = lambda file: None) -> None:
    """Raise one UserError with the first thing that does not hold; `progress` is told each file once it is read."""
    for name in ("steps", "chains", "sources"):
        if not list((folder / "data" / name).rglob("*.parquet")):
            raise UserError(f"{folder} has no data/{name}; `convergebench build` makes a dataset")
    if not (folder / "README.md").exists():
        raise UserError(f"{folder} has no card; `convergebench build` writes it")
    reader = Reader(folder)
    check_schema(reader)
    check_card(folder, reader)
    check_sources(reader)
    secrets = known_secrets()
    check_text("README.md", (folder / "README.md").read_text(encoding="utf-8"), secrets)
    for config in reader.configs():
        for file in reader.files(config):
            check_rows(reader, file, secrets)
            progress(file)


def check_schema(reader: Reader) -> None:
    """The files of a config have the same columns: its own of this version. Published scores may have more."""
    for name in reader.configs():
        first = None
        for file in reader.files(name):
            found = reader.footer(file).schema.to_arrow_schema()
            first = first or found
            if found != first:
                raise UserError(f"{file} has other columns than the first file of {name}; build or score again")
            table = configs().get(name, Config(name, may_have_more=True))
            wanted = list(arrow(table.columns))
            if list(found)[: len(wanted)] != wanted or (len(found) > len(wanted) and not table.may_have_more):
                raise UserError(f"{file} has not the columns of {name} in this version; build or score again")


def check_card(folder: Path, reader: Reader) -> None:
    """The card's counts and digests are those of the files as they are now."""
    meta, body = front_matter(folder / "README.md")
    described = {config["config_name"]: config for config in meta.get("configs", [])}
    infos = {info["config_name"]: info for info in meta.get("dataset_info", [])}
    present = reader.configs()
    if sorted(described) != sorted(present) or sorted(infos) != sorted(present):
        raise UserError(f"the card describes {sorted(described)} but there are files of {sorted(present)}; build again")
    for name in present:
        files = reader.files(name)
        rows = sum(reader.footer(file).num_rows for file in files)
        if infos[name]["splits"][0]["num_examples"] != rows:
            raise UserError(f"the card counts other rows of {name} than the {rows:,} in its files; build again")
        if not described[name]["description"].endswith(
            "sha256 " + digest(files, lambda file: hash_file(folder / file))
        ):
            raise UserError(f"the files of {name} are not those the card was written for; build again")
    for name in present:
        for column in config_of(reader.footer(reader.files(name)[0]), name).columns:
            if column.meaning == UNEXPLAINED:
                raise UserError(f"no file of {name} says what its column {column.name!r} means; build or score again")
            if f"| {escape_cell(code(column.name))} | {column.type} | {escape_cell(column.meaning)} |" not in body:
                raise UserError(f"the card does not explain the column {column.name!r}; build again")
    if left := re.search(r"\{\{(\w+)\}\}", body):
        raise UserError(f"the card is incomplete: {left[0]} was never filled in; build again")


def check_sources(reader: Reader) -> None:
    for row in reader.table("sources", ["source", "licence", "attribution"]).to_pylist():
        for name in ("licence", "attribution"):
            if (row[name] or "").strip() in ("", "unknown"):
                raise UserError(f"source {row['source']!r} has no known {name}; `build --{name}` says it")


def check_rows(reader: Reader, file: str, secrets: dict[str, str]) -> None:
    """Pictures have the sha256 of their rows, and no text holds a secret or a local path."""

    def look(row: Mapping[str, Any]) -> None:
        for name, text in texts(row):
            check_text(f"{file}, column {name}", text, secrets)

    check_file(reader, file, look)


def texts(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict) and value.get("path"):
            yield name, value["path"]


def check_text(place: str, text: str, secrets: dict[str, str]) -> None:
    """Refuse text that holds a secret or a path of this machine; the secret itself is never repeated."""
    if SECRETS.search(text):
        raise UserError(f"{place} holds what looks like an access token; take it out before it is published")
    for name, value in secrets.items():
        if value in text:
            raise UserError(f"{place} holds the value of {name}; take it out before it is published")
    if path := LOCAL_PATHS.search(text):
        raise UserError(f"{place} holds the local path {path[0]!r}; take it out before it is published")


def known_secrets() -> dict[str, str]:
    """The secrets of this environment, by name: its variables and the Hub's own token."""
    from huggingface_hub import get_token

    found = {name: value for name, value in os.environ.items() if SECRET_NAMES.search(name) and len(value) >= 12}
    token = get_token()
    return found | ({"the Hub token": token} if token else {})
