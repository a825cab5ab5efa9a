"""Uploads files to a repository on the Hub: one commit, which is verified, and then a tag on it.

What an earlier attempt uploaded is not uploaded again, so the same command finishes an interrupted one.
"""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import UserError

from ..dataset import manifest
from ..dataset.manifest import MANIFEST
from ..dataset.schema import hash_file

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Files = Mapping[str, Path]  # by their path in the repository
_HUBS_OWN_FILES = (".gitattributes",)


@dataclass(frozen=True)
class RepoState:
    """What a repository on the Hub holds; `head` is None where it does not exist."""

    head: str | None
    tags: Mapping[str, str]
    files: Mapping[str, tuple[str, int]]  # path: oid (sha256 of a large file, git's of a small one) and size
    revision: str | None = None  # of the files


def read_repo(api: "HfApi", repo: str, kind: str, revision: str | None = None) -> RepoState:
    """What a repository holds now, or at a revision."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    with hub_errors_explained(repo):
        try:
            refs = api.list_repo_refs(repo, repo_type=kind)
        except RepositoryNotFoundError:
            return RepoState(None, {}, {})
        tags = {tag.name: tag.target_commit for tag in refs.tags}
        head = next((branch.target_commit for branch in refs.branches if branch.name == "main"), None)
        tree = api.list_repo_tree(repo, repo_type=kind, revision=revision or head, recursive=True)
        files = {
            file.path: (file.lfs.sha256 if file.lfs else file.blob_id, file.size)
            for file in tree
            if isinstance(file, RepoFile) and file.path not in _HUBS_OWN_FILES
        }
    return RepoState(head, tags, files, revision or head)


def differences(files: Files, remote: RepoState, ours: Collection[str]) -> tuple[list[str], list[str]]:
    """The paths to add, new or changed, and those of ours to delete."""
    added = [path for path, local in sorted(files.items()) if not _is_same(local, remote.files.get(path))]
    return added, sorted(set(remote.files) & set(ours) - set(files))


def listed_files(api: "HfApi", repo: str, kind: str, remote: RepoState) -> set[str]:
    """The files that our last version listed in its manifest, in the revision that was read."""
    if MANIFEST not in remote.files:
        return set()
    with hub_errors_explained(repo):
        path = Path(api.hf_hub_download(repo, MANIFEST, repo_type=kind, revision=remote.revision))
    files, _ = manifest.parse(path.read_bytes())
    return {*files, MANIFEST}


def foreign_files(files: Files, remote: RepoState, ours: Collection[str]) -> list[str]:
    """What the repository holds that none of our versions listed; it stays as it is."""
    return sorted(path for path in set(remote.files) - set(ours) if not _is_same(files.get(path), remote.files[path]))


def is_published(api: "HfApi", repo: str, kind: str, files: Files, tag: str, remote: RepoState) -> bool:
    """Whether a tag holds exactly these files already, as after a process that ended right after it gave the tag."""
    if tag not in remote.tags:
        return False
    there = read_repo(api, repo, kind, tag)
    return not any(differences(files, there, listed_files(api, repo, kind, there)))


def refuse_foreign(repo: str, files: Files, foreign: Collection[str]) -> None:
    """Refuse to write over a stranger's file, or beside one that would be read as part of the dataset."""
    folders = {path.split("/")[1] for path in files if path.startswith("data/")}
    mixed = [
        path
        for path in foreign
        if path.startswith("data/") and path.endswith(".parquet") and path.split("/")[1] in folders
    ]
    taken = [path for path in foreign if path in files]
    advice = "delete them there or choose another repository"
    manifest.refuse(repo, {*mixed, *taken}, "no version of ours listed", advice)


def _is_same(local: Path | None, published: tuple[str, int] | None) -> bool:
    """Whether a published file, given by its oid and size, has the content of a local one."""
    from huggingface_hub.utils.sha import git_hash

    if published is None or local is None or local.stat().st_size != published[1]:
        return False
    oid = published[0]
    return oid == (hash_file(local) if len(oid) == 64 else git_hash(local.read_bytes()))


def commit_files(
    api: "HfApi", repo: str, kind: str, files: Files, message: str, tag: str | None, **creation: Any
) -> str:
    """Make the repository hold these files and no others of ours, in one commit on the head that was read; then tag it.

    What others put there stays.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with hub_errors_explained(repo):
        api.create_repo(repo, repo_type=kind, exist_ok=True, **creation)
        remote = read_repo(api, repo, kind)
        if tag and tag in remote.tags:
            if is_published(api, repo, kind, files, tag, remote):
                return remote.tags[tag]
            raise UserError(f"the tag {tag} exists already at {repo} and never moves; choose a later one")
        ours = listed_files(api, repo, kind, remote)
        refuse_foreign(repo, files, foreign_files(files, remote, ours))
        added, removed = differences(files, remote, ours)
        commit = remote.head or ""
        if added or removed:
            additions = [CommitOperationAdd(path, files[path]) for path in added]
            api.preupload_lfs_files(repo, additions, repo_type=kind, free_memory=False)
            deletions = [CommitOperationDelete(path) for path in removed]
            commit = api.create_commit(
                repo, [*additions, *deletions], commit_message=message, repo_type=kind, parent_commit=remote.head
            ).oid
        left = differences(files, read_repo(api, repo, kind, commit), ours)
        if any(left):
            first = next(path for paths in left for path in paths)
            raise UserError(f"{repo} is not complete at {commit[:12]}: {first} differs; give the same command again")
        if tag:
            api.create_tag(repo, tag=tag, revision=commit, repo_type=kind)
    return commit


@contextlib.contextmanager
def hub_errors_explained(repo: str) -> Iterator[None]:
    """Turn what the Hub or the connection refuses into one sentence with advice; no request's headers are shown."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OfflineModeIsEnabled

    again = "give the same command again, what was uploaded stays there"
    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        message = re.sub(r"hf_\w+", "hf_***", error.server_message or type(error).__name__)
        advice = {
            401: "log in with `hf auth login`, or check the repository's name",
            403: "the token may not write there; `hf auth login` with one that may",
            409: "look at what is there and choose another name or tag",
            412: "somebody committed meanwhile; give the same command again to build on that",
            429: "wait a little and " + again,
        }.get(status, again)
        raise UserError(f"the Hub answered {status} for {repo} ({message.strip()}): {advice}") from error
    except HFValidationError as error:
        raise UserError(f"{repo!r} is no repository of the Hub; it is NAMESPACE/NAME") from error
    except OfflineModeIsEnabled as error:
        raise UserError("HF_HUB_OFFLINE is set; unset it to publish") from error
    except (httpx2.HTTPError, LocalEntryNotFoundError) as error:
        raise UserError(f"the connection to the Hub broke for {repo} ({type(error).__name__}): {again}") from error
    except RuntimeError as error:  # what the client wraps a failed upload in
        if not isinstance(error.__cause__, (httpx2.HTTPError, HfHubHTTPError, OSError)):
            raise
        cause = type(error.__cause__).__name__
        raise UserError(f"an upload to {repo} broke ({cause}): {again}") from error
