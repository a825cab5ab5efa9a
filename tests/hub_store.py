"""What a Hub keeps: repositories of immutable revisions, as git would, with large files by their sha256."""

import base64
import hashlib
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path

LARGE = 10_000_000  # bytes; and whatever is binary by its ending
BINARY = (".parquet", ".png", ".jpg", ".webp", ".bin", ".safetensors")


class Refusal(Exception):
    """An answer that is not 200: status, the X-Error-Code and the message the real Hub gives."""

    def __init__(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None):
        super().__init__(message)
        self.status, self.message, self.code, self.headers = status, message, code, headers or {}


@dataclass(frozen=True)
class File:
    """A file at a revision: its git oid, and the sha256 of what an LFS pointer points to."""

    oid: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    title: str
    message: str
    files: dict[str, File]


@dataclass
class Repo:
    """One repository: every commit ever made, and the names that point to some of them."""

    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.branches["main"] = self.add(None, "initial commit", "", {})

    def add(self, parent: str | None, title: str, message: str, files: dict[str, File]) -> str:
        content = json.dumps([parent, title, message, sorted((path, file.oid) for path, file in files.items())])
        oid = hashlib.sha1(content.encode()).hexdigest()  # noqa: S324 - git's own hash
        self.commits[oid] = Commit(oid, parent, title, message, files)
        return oid

    def at(self, revision: str) -> Commit:
        revision = revision.removeprefix("refs/heads/").removeprefix("refs/tags/")
        oid = self.branches.get(revision) or self.tags.get(revision) or revision
        if oid not in self.commits:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[oid]

    def history(self, revision: str) -> list[Commit]:
        found = [self.at(revision)]
        while parent := found[-1].parent:
            found.append(self.commits[parent])
        return found


class Store:
    """All repositories, and the blobs on disk. Every change is made under one lock."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.repos: dict[tuple[str, str], Repo] = {}
        self.lock = threading.RLock()
        for name in ("lfs", "git", "parts"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def create(self, type: str, id: str, sdk: str | None) -> bool:
        with self.lock:
            if (type, id) in self.repos:
                return False
            self.repos[type, id] = Repo(sdk)
            return True

    def repo(self, type: str, id: str) -> Repo:
        if (type, id) not in self.repos:
            raise Refusal(404, "Repository not found", "RepoNotFound")
        return self.repos[type, id]

    def blob(self, file: File) -> Path:
        return self.folder / "lfs" / file.sha256 if file.sha256 else self.folder / "git" / file.oid

    def large(self, oid: str) -> Path:
        return self.folder / "lfs" / oid

    def accept(self, oid: str, part: Path) -> None:
        """Keep a large file, if it is what its name says."""
        with part.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != oid:
                part.unlink()
                raise Refusal(400, f"content does not match oid {oid}")
        part.replace(self.large(oid))

    def regular(self, data: bytes) -> File:
        oid = git_oid(data)
        (self.folder / "git" / oid).write_bytes(data)
        return File(oid, len(data))

    def pointer(self, sha256: str, size: int) -> File:
        path = self.large(sha256)
        if not path.exists():
            raise Refusal(400, f"LFS object {sha256} was not uploaded")
        text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {path.stat().st_size}\n"
        return File(git_oid(text.encode()), path.stat().st_size, sha256)

    def commit(self, repo: Repo, revision: str, lines: list[dict], pull_request: bool = False) -> Commit:
        """Apply one ndjson commit, whole or not at all, to the branch or to a new pull request."""
        with self.lock:
            head = repo.at(revision)
            title, message = "", ""
            files = dict(head.files)
            for line in lines:
                value = line["value"]
                match line["key"]:
                    case "header":
                        title, message = value["summary"], value.get("description", "")
                        if value.get("parentCommit", head.oid) != head.oid:
                            raise Refusal(412, "A commit has happened since. Please refresh and try again.")
                    case "file":
                        files[value["path"]] = self.regular(base64.b64decode(value["content"]))
                    case "lfsFile":
                        files[value["path"]] = self.pointer(value["oid"], value["size"])
                    case "deletedFile":
                        del files[value["path"]]
                    case other:
                        raise Refusal(400, f"unknown operation {other!r}")
            if pull_request:
                revision = f"refs/pr/{1 + sum(name.startswith('refs/pr/') for name in repo.branches)}"
            repo.branches[revision] = repo.add(head.oid, title, message, files)
            return repo.at(revision)

    def tag(self, repo: Repo, revision: str, name: str) -> None:
        with self.lock:
            if name in repo.tags:
                raise Refusal(409, f"Tag reference exists already: {name}")
            repo.tags[name] = repo.at(revision).oid

    def contents(self, type: str, id: str, revision: str) -> dict[str, bytes]:
        files = self.repo(type, id).at(revision).files
        return {path: self.blob(file).read_bytes() for path, file in sorted(files.items())}


def git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324 - git's own hash


def mode(path: str, size: int) -> str:
    return "lfs" if path.endswith(BINARY) or size >= LARGE else "regular"
