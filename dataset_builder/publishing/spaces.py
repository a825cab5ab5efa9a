"""Publishes Spaces: one for each metric, and the app. Each contains all the code that it needs."""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation.records import UserError
from convergebench.metric_modules._evaluate.self_contained import self_contained

from ..dataset import manifest
from ..dataset.manifest import MANIFEST
from . import hub
from .publish import parse_version, version_tags
from .verify import front_matter

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_NOT_PUBLISHED = ("__pycache__", ".", "test_")  # how their names begin
Published = tuple[str | None, int, int]  # the commit; how many files; how many change


def publish_metrics(
    api: "HfApi", folder: Path, namespace: str, tag: str | None, dry_run: bool = False
) -> dict[str, Published]:
    """Publish a metric's folder, or each metric in a folder, to its Space in the namespace."""
    from importlib.metadata import version

    if (folder / f"{folder.resolve().name}.py").exists():
        folders = [folder]
    else:
        folders = sorted(path.parent for path in folder.glob("*/*.py") if path.stem == path.parent.name)
    if not folders:
        raise UserError(f"{folder} holds no metric; a metric is a folder NAME with NAME.py in it")
    if "/" in namespace:
        raise UserError(f"--repo is {namespace!r}; give the namespace alone, {namespace.split('/')[0]!r}")
    # `evaluate` asks a Space for the tag of its own version first, and would always load that version.
    if tag == f"v{version('evaluate')}" or (tag and re.fullmatch(r"v0\.4\.\d+", tag)):
        reason = "`evaluate` would load that instead of main"
        raise UserError(f"a metric's Space must not have the tag {tag}: {reason}")
    published: dict[str, Published] = {}
    for path in folders:
        space = f"{namespace}/{path.resolve().name}"
        with tempfile.TemporaryDirectory() as temporary:
            files = _metric_files(path, Path(temporary), namespace)
            published[space] = publish_files(api, files, space, tag, dry_run)
    return published


def _metric_files(metric: Path, folder: Path, namespace: str) -> dict[str, Path]:
    """Write a metric's files into this folder; its card's examples then load from the namespace."""
    namespaced = f'evaluate.load("{namespace}/'.encode()
    files = self_contained(metric)
    for file, data in files.items():
        if file == "README.md":
            data = data.replace(b'evaluate.load("convergebench/', namespaced)
        (folder / file).write_bytes(data)
    return {file: folder / file for file in files}


def shown_dataset(api: "HfApi", repo: str, named: str | None) -> tuple[str, str | None]:
    """The dataset that a Space shows, by default in its newest version; raises if it is not on the Hub.

    `named` is NAMESPACE/NAME[@REVISION], by default `convergebench` in the Space's own namespace.
    """
    dataset, _, revision = (named or f"{repo.partition('/')[0]}/convergebench").partition("@")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset):
        raise UserError(f"--dataset must be NAMESPACE/NAME or NAMESPACE/NAME@TAG, got {named!r}")
    published = hub.read_repo(api, dataset, "dataset", revision or None)
    if not any(path.startswith("data/scores/") for path in published.files):
        raise UserError(
            f"the Hub has no scored dataset {dataset}{f' at {revision}' if revision else ''}; publish it "
            "first, or name another with --dataset"
        )
    tags = version_tags([*published.tags])
    return dataset, revision or (tags[-1] if tags else None)


def publish_files(
    api: "HfApi", files: Mapping[str, Path], repo: str, tag: str | None, dry_run: bool = False
) -> Published:
    """Publish files as a Space, in one commit; equal ones are only tagged."""
    if tag:
        parse_version(tag)
    sdk = front_matter(files["README.md"])[0].get("sdk") if "README.md" in files else None
    if sdk not in ("gradio", "static", "docker"):
        raise UserError(f"the card for {repo} names no sdk in its YAML; a Space needs one, such as sdk: gradio")
    with tempfile.TemporaryDirectory() as temporary:
        listing = Path(temporary) / MANIFEST
        listing.write_bytes(manifest.encode({path: {} for path in files}))
        complete = {**files, MANIFEST: listing}
        comparison = hub.compare(api, repo, "space", complete, tag)
        counts = len(files), len({*comparison.added, *comparison.removed} - {MANIFEST})
        if dry_run:
            return None, *counts
        message = f"Version {tag}" if tag else "Update"
        return hub.commit_files(api, repo, "space", complete, message, tag, space_sdk=sdk), *counts


def space_files(folder: Path) -> dict[str, Path]:
    """Every file of the folder except caches, hidden files and tests."""
    files = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(_NOT_PUBLISHED) for part in inside.parts):
            files[inside.as_posix()] = path.resolve()
    return files
