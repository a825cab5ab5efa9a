"""Brings a set of files to a repository on the Hub: one commit, then a tag on what is verified to be there.

What an earlier attempt uploaded is not uploaded again, so the same command finishes what was cut off.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import UserError

from ..dataset.schema import hash_file

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Files = Mapping[str, Path]  # by their path in the repository
KEPT = (".gitattributes",)  # the Hub's own


@dataclass(frozen=True)
class Remote:
    """A repository as it is now; `head` is None where it does not exist."""

    head: str | None
    tags: Mapping[str, str]
    files: Mapping[str, tuple[str, int]]  # path: oid (sha256 of a large file, git's of a small one) and size


def look(api: "HfApi", repo: str, kind: str, revision: str | None = None) -> Remote:
    """What is there."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    with plainly(repo):
        try:
            refs = api.list_repo_refs(repo, repo_type=kind)
        except RepositoryNotFoundError:
            return Remote(None, {}, {})
        tags = {tag.name: tag.target_commit for tag in refs.tags}
        head = next((branch.target_commit for branch in refs.branches if branch.name == "main"), None)
        tree = api.list_repo_tree(repo, repo_type=kind, revision=revision or head, recursive=True)
        files = {
            file.path: (file.lfs.sha256 if file.lfs else file.blob_id, file.size)
            for file in tree
            if isinstance(file, RepoFile) and file.path not in KEPT
        }
    return Remote(head, tags, files)


def differs(files: Files, remote: Remote) -> tuple[list[str], list[str]]:
    """The paths to add, new or changed, and those to delete."""
    added = [path for path, local in sorted(files.items()) if not same(local, remote.files.get(path))]
    return added, sorted(set(remote.files) - set(files))


def same(local: Path, there: tuple[str, int] | None) -> bool:
    if there is None or local.stat().st_size != there[1]:
        return False
    return there[0] == (hash_file(local) if len(there[0]) == 64 else git_hash(local))


def git_hash(path: Path) -> str:
    from huggingface_hub.utils.sha import git_hash

    return git_hash(path.read_bytes())


def push(api: "HfApi", repo: str, kind: str, files: Files, message: str, tag: str | None, **creation: Any) -> str:
    """Make the repository hold exactly these files, in one commit on what was there when we looked; then tag it."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with plainly(repo):
        api.create_repo(repo, repo_type=kind, exist_ok=True, **creation)
        remote = look(api, repo, kind)
        if tag and tag in remote.tags:
            raise UserError(f"the tag {tag} exists already at {repo} and never moves; choose a later one")
        added, removed = differs(files, remote)
        commit = remote.head or ""
        if added or removed:
            additions = [CommitOperationAdd(path, files[path]) for path in added]
            api.preupload_lfs_files(repo, additions, repo_type=kind, free_memory=False)
            deletions = [CommitOperationDelete(path) for path in removed]
            commit = api.create_commit(
                repo, [*additions, *deletions], commit_message=message, repo_type=kind, parent_commit=remote.head
            ).oid
        left = differs(files, look(api, repo, kind, commit))
        if any(left):
            wrong = next(path for paths in left for path in paths)
            raise UserError(f"{repo} is not complete at {commit[:12]}: {wrong} differs; give the same command again")
        if tag:
            api.create_tag(repo, tag=tag, revision=commit, repo_type=kind)
    return commit


@contextlib.contextmanager
def plainly(repo: str) -> Iterator[None]:
    """Say in one sentence what the Hub or the way there refused; no request's headers are ever shown."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    again = "give the same command again, what was uploaded stays there"
    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        said = re.sub(r"hf_\w+", "hf_***", error.server_message or type(error).__name__)
        advice = {
            401: "log in with `hf auth login`, or check the repository's name",
            403: "the token may not write there; `hf auth login` with one that may",
            409: "look at what is there and choose another name or tag",
            412: "somebody committed meanwhile; give the same command again to build on that",
            429: "wait a little and " + again,
        }.get(status, again)
        raise UserError(f"the Hub answered {status} for {repo} ({said.strip()}): {advice}") from error
    except OfflineModeIsEnabled as error:
        raise UserError("HF_HUB_OFFLINE is set; unset it to publish") from error
    except (httpx2.HTTPError, LocalEntryNotFoundError) as error:
        raise UserError(f"the connection to the Hub broke for {repo} ({type(error).__name__}): {again}") from error
    except RuntimeError as error:  # what the client wraps a failed upload in
        if not isinstance(error.__cause__, (httpx2.HTTPError, HfHubHTTPError, OSError)):
            raise
        cause = type(error.__cause__).__name__
        raise UserError(f"an upload to {repo} broke ({cause}): {again}") from error
