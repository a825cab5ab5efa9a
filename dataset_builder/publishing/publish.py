"""Publishes the dataset: checks it, says what will change, uploads what is new, tags the commit that holds it all."""

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation.records import UserError

from ..building import card
from ..building.card import front_matter
from ..dataset.reader import Reader
from ..dataset.schema import hash_file
from . import checks, hub, versions
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


def plan_version(api: "HfApi", folder: Path, repo: str, tag: str | None) -> Plan:
    """Compare the folder with what is published, and refuse a tag that does not fit the change."""
    remote = hub.read_repo(api, repo, "dataset")
    tags = sorted(name for name in remote.tags if re.fullmatch(r"v\d+\.\d+\.\d+", name))
    last = max(tags, key=versions.Version.parse, default=None)
    new = state_of_folder(folder)
    old = state_of_version(api, repo, last) if last else None
    change = versions.describe_change(old, new)
    if tag in remote.tags:
        same = not any(hub.differences(published_files(folder), hub.read_repo(api, repo, "dataset", tag)))
        advice = "holds exactly this folder: nothing is left to do" if same else "never moves; choose a later one"
        raise UserError(f"the tag {tag} exists already at {repo} and {advice}")
    if tag:
        versions.check_tag(tag, list(remote.tags), change)
    elif last is None:
        raise UserError(f"{repo} has no version yet; give the first one with --tag v1.0.0")
    before = old.rows if old else {}
    rows = {name: (before.get(name, 0), new.rows.get(name, 0)) for name in {**new.rows, **before}}
    return Plan(repo, tag, last, change, rows)


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
    planned = plan_version(api, folder, repo, tag)
    report(planned)
    if dry_run:
        return None
    if tag:
        card.write(folder, repo, versions=version_text(api, repo, tag, planned.change))
    message = f"{tag}: {planned.change.words[0]}" if tag else planned.change.words[0]
    return hub.commit_files(api, repo, "dataset", published_files(folder), message, tag)


def published_files(folder: Path) -> dict[str, Path]:
    """The files that belong to the dataset: its card and data. The metric folders beside them have their own Spaces."""
    files = {name: folder / name for name in ("README.md", "eval.yaml") if (folder / name).exists()}
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
    words = "\n".join(f"- {word}" for word in change.words)
    return f"### {tag} ({today})\n\n{words}" + (f"\n\n{published}" if published.startswith("### ") else "")
