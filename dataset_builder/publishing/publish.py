"""Publishes the dataset: checks it, says what will change, uploads what is new, tags the commit that holds it all."""

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation.records import UserError

from ..building import card
from ..building.card import front_matter
from ..building.card_tables import plain
from ..dataset.manifest import MANIFEST
from ..dataset.reader import Reader
from ..dataset.schema import hash_file
from . import checks, hub, verify, versions
from .versions import Change, State

if TYPE_CHECKING:
    from huggingface_hub import HfApi


@dataclass(frozen=True)
class Plan:
    """What publishing would do."""

    repo: str
    tag: str | None
    last: str | None
    change: Change
    rows: dict[str, tuple[int, int]]  # of each config: before and after
    foreign: tuple[str, ...] = ()  # files of others in the repository, which stay
    commit: str | None = None  # where the tag is already, with exactly this folder: nothing is left to do


def plan_version(api: "HfApi", folder: Path, repo: str, tag: str | None) -> Plan:
    """Compare the folder with what is published, and refuse a tag that does not fit the change."""
    remote = hub.read_repo(api, repo, "dataset")
    tags = sorted(name for name in remote.tags if re.fullmatch(r"v\d+\.\d+\.\d+", name))
    last = max(tags, key=versions.Version.parse, default=None)
    new = state_of_folder(folder)
    old = state_of_version(api, repo, last) if last else None
    change = versions.describe_change(old, new)
    files = published_files(folder)
    done = tag is not None and hub.is_published(api, repo, "dataset", files, tag, remote)
    if tag in remote.tags and not done:
        raise UserError(f"the tag {tag} exists already at {repo} and never moves; choose a later one")
    if tag and not done:
        versions.check_tag(tag, list(remote.tags), change)
    elif not tag and last is None:
        raise UserError(f"{repo} has no version yet; give the first one with --tag v1.0.0")
    ours = hub.listed_files(api, repo, "dataset", remote)
    foreign = hub.foreign_files(files, remote, ours)
    if not done:
        hub.refuse_foreign(repo, files, foreign)
        change = compare_with_head(change, new, *hub.differences(files, remote, ours))
    before = old.rows if old else {}
    rows = {name: (before.get(name, 0), new.rows.get(name, 0)) for name in {**new.rows, **before}}
    return Plan(repo, tag, last, change, rows, tuple(foreign), remote.tags[tag] if tag and done else None)


def compare_with_head(change: Change, new: State, added: Sequence[str], removed: Sequence[str]) -> Change:
    """The change with the files that the commit adds and removes: they differ from the head, not from the last tag."""
    data = tuple(file for file in added if file in new.files)
    size = sum(new.files[file][1] for file in data)
    return replace(change, added=data, removed=tuple(removed), unchanged=len(new.files) - len(data), bytes=size)


def publish(
    api: "HfApi",
    folder: Path,
    repo: str,
    tag: str | None,
    progress: Callable[[str], None] = lambda file: None,
    report: Callable[[Plan], None] = lambda plan: None,
    dry_run: bool = False,
) -> str | None:
    """Publish a dataset folder as a version; the commit's id, or None for a dry run."""
    checks.check(folder, progress)
    for finding in verify.verify_references(Reader(folder)):
        raise UserError(finding.sentence)
    planned = plan_version(api, folder, repo, tag)
    report(planned)
    if dry_run:
        return None
    if planned.commit:
        return planned.commit
    if tag:
        card.write(folder, repo, versions=version_text(api, repo, tag, planned.change))
    message = f"{tag}: {planned.change.words[0]}" if tag else planned.change.words[0]
    return hub.commit_files(api, repo, "dataset", published_files(folder), message, tag)


def published_files(folder: Path) -> dict[str, Path]:
    """The dataset's files: its card, manifest and data. The metric folders beside them have their own Spaces."""
    files = {name: folder / name for name in (*card.OWN_TEXTS, MANIFEST) if (folder / name).exists()}
    reader = Reader(folder)
    return files | {file: folder / file for config in reader.configs() for file in reader.files(config)}


def state_of_folder(folder: Path) -> State:
    reader = Reader(folder)
    files = {}
    for config in reader.configs():
        for file in reader.files(config):
            files[file] = (hash_file(folder / file), (folder / file).stat().st_size)
    return state_of(reader, folder / "README.md", files)


def state_of_version(api: "HfApi", repo: str, tag: str) -> State:
    """A published version, from its card and its small chains table."""
    with hub.hub_errors_explained(repo):
        path = Path(api.hf_hub_download(repo, "README.md", repo_type="dataset", revision=tag))
        remote = hub.read_repo(api, repo, "dataset", tag)
        reader = Reader(f"hf://datasets/{repo}@{tag}", api)
        data = {file: about for file, about in remote.files.items() if file.startswith("data/")}
        return state_of(reader, path, data)


def state_of(reader: Reader, readme: Path, files: dict[str, tuple[str, int]]) -> State:
    infos = front_matter(readme)[0]["dataset_info"]
    chains = reader.table("chains", ["chain", "editor", "suite", "suite_version"]).to_pydict()
    return State(
        schema={info["config_name"]: info["features"] for info in infos},
        rows={info["config_name"]: info["splits"][0]["num_examples"] for info in infos},
        chains=frozenset(chains["chain"]),
        suites=frozenset(zip(chains["suite"], chains["suite_version"], strict=True)),
        editors=frozenset(chains["editor"]),
        files=files,
    )


def version_text(api: "HfApi", repo: str, tag: str, change: Change) -> str:
    """The card's list of versions with this one on top; one that an interrupted attempt began stays as it was."""
    remote = hub.read_repo(api, repo, "dataset")
    published = ""
    if "README.md" in remote.files:
        with hub.hub_errors_explained(repo):
            path = Path(api.hf_hub_download(repo, "README.md", repo_type="dataset", revision=remote.head))
        published = card.passage(path.parent, card.VERSIONS) or ""
    if published.startswith(f"### {tag} "):
        return published
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    words = "\n".join(f"- {plain(word)}" for word in change.words)
    return f"### {tag} ({today})\n\n{words}" + (f"\n\n{published}" if published.startswith("### ") else "")
