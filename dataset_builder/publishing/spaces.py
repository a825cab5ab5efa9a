"""Publishes the Spaces: one for each metric, and the app; each folder is complete in itself."""

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation.records import UserError
from convergebench.metric_modules.self_contained import self_contained

from ..building.card import front_matter
from ..dataset import manifest
from ..dataset.manifest import MANIFEST
from . import hub, versions

if TYPE_CHECKING:
    from huggingface_hub import HfApi

NOT_PUBLISHED = ("__pycache__", ".", "test_")  # beginnings of names


def metric_folders(folder: Path) -> list[Path]:
    """The metric a folder is, or the metrics in it: a folder NAME with a NAME.py."""
    if (folder / f"{folder.resolve().name}.py").exists():
        return [folder]
    found = sorted(path.parent for path in folder.glob("*/*.py") if path.stem == path.parent.name)
    if not found:
        raise UserError(f"{folder} holds no metric; a metric is a folder NAME with NAME.py in it")
    return found


def publish_metrics(
    api: "HfApi",
    folder: Path,
    repo: str,
    tag: str | None,
    report: Callable[[str, int, int], None] = lambda repo, files, changed: None,
    dry_run: bool = False,
) -> dict[str, str | None]:
    """Each metric to its Space NAMESPACE/NAME under one tag; `repo` may name the Space where there is one metric."""
    folders = metric_folders(folder)
    namespace, _, name = repo.partition("/")
    if name and (len(folders) > 1 or folders[0].resolve().name != name):
        names = ", ".join(path.resolve().name for path in folders)
        raise UserError(f"--repo is {repo!r} but {folder} holds {names}; give the namespace alone, {namespace!r}")
    refuse_tag_of_evaluate(tag)
    commits: dict[str, str | None] = {}
    for path in folders:
        space = f"{namespace}/{path.resolve().name}"
        with tempfile.TemporaryDirectory() as temporary:
            files = written_with_own_names(self_contained(path), namespace, Path(temporary))
            commits[space] = publish_files(api, files, space, tag, report, dry_run)
    return commits


def written_with_own_names(files: dict[str, bytes], namespace: str, folder: Path) -> dict[str, Path]:
    """A metric's files, written into `folder`; the card's examples load metrics from this namespace."""
    for name, data in files.items():
        if name == "README.md":
            card = data.decode()
            data = re.sub(r'evaluate\.load\("convergebench/', f'evaluate.load("{namespace}/', card).encode()
        (folder / name).write_bytes(data)
    return {name: folder / name for name in files}


def shown_dataset(api: "HfApi", repo: str, named: str | None) -> tuple[str, str | None]:
    """The dataset that a Space is to show, and at which revision.

    `named` is NAMESPACE/NAME or NAMESPACE/NAME@REVISION. By default it is `convergebench` in the Space's own namespace;
    without a revision it is the newest version that the Hub has a tag for.
    """
    dataset, _, revision = (named or f"{repo.partition('/')[0]}/convergebench").partition("@")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset):
        raise UserError(f"--dataset is {named!r}; it is NAMESPACE/NAME or NAMESPACE/NAME@TAG")
    if revision:
        return dataset, revision
    tags = [tag for tag in hub.read_repo(api, dataset, "dataset").tags if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
    return dataset, max(tags, key=lambda tag: [int(number) for number in tag[1:].split(".")], default=None)


def publish_files(
    api: "HfApi",
    files: Mapping[str, Path],
    repo: str,
    tag: str | None,
    report: Callable[[str, int, int], None] = lambda repo, files, changed: None,
    dry_run: bool = False,
) -> str | None:
    """One set of files as a Space; a Space that already is exactly so is tagged without a commit."""
    if tag:
        versions.Version.parse(tag)
    meta = front_matter(files["README.md"])[0] if "README.md" in files else {}
    sdk = meta.get("sdk")
    if sdk not in ("gradio", "static", "docker"):
        raise UserError(f"the card for {repo} names no sdk in its YAML; a Space needs one, such as sdk: gradio")
    remote = hub.read_repo(api, repo, "space")
    ours = hub.listed_files(api, repo, "space", remote)
    hub.refuse_foreign(repo, files, hub.foreign_files(files, remote, ours))
    added, removed = hub.differences(files, remote, ours - {MANIFEST})
    with tempfile.TemporaryDirectory() as temporary:
        listing = Path(temporary) / MANIFEST
        listing.write_bytes(manifest.text({path: {} for path in files}))
        complete = {**files, MANIFEST: listing}
        if tag in remote.tags and not hub.is_published(api, repo, "space", complete, str(tag), remote):
            raise UserError(f"the tag {tag} exists already at {repo} and never moves; choose a later one")
        report(repo, len(files), len(added) + len(removed))
        if dry_run:
            return None
        message = f"Version {tag}" if tag else "Update"
        return hub.commit_files(api, repo, "space", complete, message, tag, space_sdk=sdk)


def space_files(folder: Path) -> dict[str, Path]:
    """Every file of the folder as it would be downloaded; caches and tests are left out."""
    files = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(NOT_PUBLISHED) for part in inside.parts):
            files[inside.as_posix()] = path.resolve()
    return files


def refuse_tag_of_evaluate(tag: str | None) -> None:
    """`evaluate` asks a Space for the tag of its own version first, and would load that version for ever."""
    from importlib.metadata import version

    if tag == f"v{version('evaluate')}" or (tag and re.fullmatch(r"v0\.4\.\d+", tag)):
        raise UserError(f"a metric's Space must not have the tag {tag}: `evaluate` would load that instead of main")
