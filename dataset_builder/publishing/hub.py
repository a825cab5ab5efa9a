"""Uploads files to a repository on the Hub as one commit, verifies it, and tags it.

Files of an interrupted attempt are not uploaded again: the same command finishes it.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from convergebench.generation.records import UserError

from ..dataset import manifest
from ..dataset.manifest import CARD, MANIFEST
from ..dataset.schema import hash_file

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Files = Mapping[str, Path]  # by their path in the repository
_HUB_FILES = (".gitattributes",)
_AGAIN = "give the same command again; files already uploaded stay"
_ADVICE = {  # by the status of an answer
    401: "log in with `hf auth login`, or check the repository's name",
    403: "the token may not write there; `hf auth login` with one that may",
    404: "check the name and the revision; if it is private, `hf auth login` with a token that may read it",
    409: "look at what is there and choose another name or tag",
    412: "the repository changed meanwhile; give the same command again to build on that",
    429: "wait a little and " + _AGAIN,
}


class RepoState(NamedTuple):
    """What a repository on the Hub holds; `head` is None if it does not exist."""

    head: str | None
    tags: Mapping[str, str]
    files: Mapping[str, tuple[str, int]]  # path: oid (sha256 of a large file, git's of a small one) and size
    revision: str | None = None  # of the files


class Comparison(NamedTuple):
    """How some files differ from what a repository holds."""

    remote: RepoState
    ours: set[str]  # the remote files that the repository's manifest lists
    added: list[str]  # new or changed
    removed: list[str]  # listed files that are not among the new ones
    foreign: list[str]  # files that the manifest does not list; they stay
    commit: str | None = None  # if the tag already exists, with exactly these files


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
            if isinstance(file, RepoFile) and file.path not in _HUB_FILES
        }
    return RepoState(head, tags, files, revision or head)


def compare(api: "HfApi", repo: str, kind: str, files: Files, tag: str | None = None) -> Comparison:
    """Compare files with a repository; raises if the tag or a file is in the way.

    A foreign file is in the way if it would be overwritten, or read as part of the dataset.
    """
    remote = read_repo(api, repo, kind)
    if tag in remote.tags:
        tagged = read_repo(api, repo, kind, tag)
        same = _differences(files, tagged, _listed_files(api, repo, kind, tagged))
        if same.added or same.removed:
            raise UserError(f"the tag {tag} exists already at {repo} and never moves; choose a later one")
        return same._replace(remote=remote, commit=remote.tags[str(tag)])
    comparison = _differences(files, remote, _listed_files(api, repo, kind, remote))
    folders = tuple({f"data/{path.split('/')[1]}/" for path in files if path.startswith("data/")})
    in_the_way = [
        path
        for path in comparison.foreign
        if path in files or (path.startswith(folders) and path.endswith(".parquet"))
    ]
    advice = "delete them there or choose another repository"
    manifest.refuse_unlisted(repo, in_the_way, "no manifest of this benchmark lists", advice)
    return comparison


def _listed_files(api: "HfApi", repo: str, kind: str, remote: RepoState) -> set[str]:
    name = CARD if kind == "dataset" else MANIFEST
    if name not in remote.files:
        return set()
    with hub_errors_explained(repo):
        path = Path(api.hf_hub_download(repo, name, repo_type=kind, revision=remote.revision))
    listed = manifest.parse(path.read_bytes())[0]
    return {*listed, name} if listed else set()


def _differences(files: Files, remote: RepoState, ours: set[str]) -> Comparison:
    same = {path for path, local in files.items() if _is_same(local, remote.files.get(path))}
    removed, foreign = (remote.files.keys() & ours) - files.keys(), remote.files.keys() - ours - same
    return Comparison(remote, ours, sorted(files.keys() - same), sorted(removed), sorted(foreign))


def _is_same(local: Path, published: tuple[str, int] | None) -> bool:
    from huggingface_hub.utils.sha import git_hash

    if published is None or local.stat().st_size != published[1]:
        return False
    oid = published[0]
    return oid == (hash_file(local) if len(oid) == 64 else git_hash(local.read_bytes()))


def commit_files(
    api: "HfApi", repo: str, kind: str, files: Files, message: str, tag: str | None, **creation: Any
) -> str:
    """Replace the listed files in one commit, then tag it; the commit's id.

    Files that others put there stay.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with hub_errors_explained(repo):
        api.create_repo(repo, repo_type=kind, exist_ok=True, **creation)
        before = compare(api, repo, kind, files, tag)
        if before.commit:
            return before.commit
        commit = before.remote.head or ""
        if before.added or before.removed:
            additions = [CommitOperationAdd(path, files[path]) for path in before.added]
            api.preupload_lfs_files(repo, additions, repo_type=kind, free_memory=False)
            deletions = [CommitOperationDelete(path) for path in before.removed]
            words: dict[str, Any] = {"commit_message": message, "parent_commit": before.remote.head}
            commit = api.create_commit(repo, [*additions, *deletions], repo_type=kind, **words).oid
        after = _differences(files, read_repo(api, repo, kind, commit), before.ours)
        if wrong := [*after.added, *after.removed]:
            problem = f"{repo} is not complete at {commit[:12]}: {wrong[0]} differs"
            raise UserError(f"{problem}; give the same command again")
        if tag:
            api.create_tag(repo, tag=tag, revision=commit, repo_type=kind)
    return commit


def propose(api: "HfApi", repo: str, files: Files, message: str, description: str | None = None) -> str:
    """Open a pull request that adds these files to a dataset; its address."""
    from huggingface_hub import CommitOperationAdd

    additions = [CommitOperationAdd(path, file) for path, file in sorted(files.items())]
    with hub_errors_explained(repo):
        words: dict[str, Any] = {"commit_message": message, "commit_description": description}
        request = api.create_commit(repo, additions, repo_type="dataset", create_pr=True, **words)
    return str(request.pr_url)


@contextlib.contextmanager
def hub_errors_explained(repo: str) -> Iterator[None]:
    """Turn an error into one sentence with advice, without headers."""
    import httpx2
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        message = re.sub(r"hf_\w+", "hf_***", error.server_message or type(error).__name__)
        advice = _ADVICE.get(status, _AGAIN)
        raise UserError(f"the Hub answered {status} for {repo} ({message.strip()}): {advice}") from error
    except HFValidationError as error:
        raise UserError(f"{repo!r} is not a repository of the Hub; give NAMESPACE/NAME") from error
    except OfflineModeIsEnabled as error:
        raise UserError("HF_HUB_OFFLINE is set; unset it to publish") from error
    except (httpx2.HTTPError, LocalEntryNotFoundError) as error:
        kind = type(error).__name__
        raise UserError(f"the connection to the Hub broke for {repo} ({kind}): {_AGAIN}") from error
    except RuntimeError as error:  # the client wraps failed uploads in this
        if not isinstance(error.__cause__, (httpx2.HTTPError, HfHubHTTPError, OSError)):
            raise
        cause = type(error.__cause__).__name__
        raise UserError(f"an upload to {repo} broke ({cause}): {_AGAIN}") from error
