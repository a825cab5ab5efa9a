"""A Hub on the loopback, for the real clients: what huggingface_hub, datasets, evaluate and the `hf` command call.

    with HubServer(folder) as hub:
        HfApi(endpoint=hub.url, token=hub.token).create_repo(...)

It counts every byte, pages its listings, keeps every revision, and fails on demand.
"""

import base64
import contextlib
import hashlib
import json
import re
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = 10_000_000  # bytes; and whatever is binary by its ending
BINARY = (".parquet", ".png", ".jpg", ".webp", ".bin", ".safetensors")
PLURAL = {"models": "model", "datasets": "dataset", "spaces": "space"}
PIECE = 1 << 18
ROUTES = []


class Refusal(Exception):
    """An answer that is not 200: status, the X-Error-Code and the message the real Hub gives."""

    def __init__(self, status, message, code="", headers=None):
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

    kind: str
    id: str
    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.branches["main"] = self.add(None, "initial commit", "", {})

    def add(self, parent, title, message, files):
        content = json.dumps([parent, title, message, sorted((path, file.oid) for path, file in files.items())])
        oid = hashlib.sha1(content.encode()).hexdigest()  # noqa: S324 - git's own hash
        self.commits[oid] = Commit(oid, parent, title, message, files)
        return oid

    def at(self, revision):
        revision = revision.removeprefix("refs/heads/").removeprefix("refs/tags/")
        oid = self.branches.get(revision) or self.tags.get(revision) or revision
        if oid not in self.commits:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[oid]

    def history(self, revision):
        found = [self.at(revision)]
        while parent := found[-1].parent:
            found.append(self.commits[parent])
        return found


class Store:
    """All repositories, and the blobs on disk. Every change is made under one lock."""

    def __init__(self, folder):
        self.folder = folder
        self.repos = {}
        self.lock = threading.RLock()
        (folder / "blobs").mkdir(parents=True, exist_ok=True)

    def create(self, type, id, sdk):
        with self.lock:
            if (type, id) in self.repos:
                return False
            self.repos[type, id] = Repo(type, id, sdk)
            return True

    def repo(self, type, id):
        if (type, id) not in self.repos:
            raise Refusal(404, "Repository not found", "RepoNotFound")
        return self.repos[type, id]

    def blob(self, oid):
        """A file by its sha256 if it is large, otherwise by git's hash."""
        return self.folder / "blobs" / oid

    def accept(self, oid, part):
        """Keep a large file, if it is what its name says."""
        with part.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != oid:
                part.unlink()
                raise Refusal(400, f"content does not match oid {oid}")
        part.replace(self.blob(oid))

    def regular(self, data):
        oid = git_oid(data)
        self.blob(oid).write_bytes(data)
        return File(oid, len(data))

    def pointer(self, sha256, size):
        path = self.blob(sha256)
        if not path.exists():
            raise Refusal(400, f"LFS object {sha256} was not uploaded")
        text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {path.stat().st_size}\n"
        return File(git_oid(text.encode()), path.stat().st_size, sha256)

    def commit(self, repo, revision, lines, pull_request=False):
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

    def tag(self, repo, revision, name):
        with self.lock:
            if name in repo.tags:
                raise Refusal(409, f"Tag reference exists already: {name}")
            repo.tags[name] = repo.at(revision).oid

    def contents(self, type, id, revision):
        files = self.repo(type, id).at(revision).files
        return {path: self.blob(file.sha256 or file.oid).read_bytes() for path, file in sorted(files.items())}


def git_oid(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324 - git's own hash


class Cut(Exception):
    """The connection ends here, mid-way."""


@dataclass
class Exchange:
    """One request as the server saw it."""

    method: str
    path: str
    received: int = 0
    sent: int = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)


def route(method, pattern):
    """A function of the handler, the repository that the pattern names, and its other groups."""

    def keep(function):
        ROUTES.append((method, re.compile(pattern), function))
        return function

    return keep


REPO = r"/api/(?P<kind>models|datasets|spaces)/(?P<id>[^/]+/[^/]+)"
FILE = r"/(?:(?P<kind>datasets|spaces)/)?(?P<id>[^/]+/[^/]+)"


class HubServer(ThreadingHTTPServer):
    """Repositories in a folder, served on a free port of the loopback."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder, token="hf_" + "sentinel" * 4):
        import hub_routes  # noqa: F401 - it registers its routes with this module

        super().__init__(("127.0.0.1", 0), Handler)
        self.store, self.token = Store(folder), token
        self.users = {token: ""}  # by their tokens; the first may write everywhere
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        # Another host than the API's, as the real one: clients do not send their token there.
        self.content_url = f"http://localhost:{self.server_address[1]}"
        self.log = []
        self.received = 0  # bytes of request bodies, all together
        self.cut_at = None  # cut every connection once so many were received
        self.fault = lambda exchange: None
        self.after = lambda exchange: None  # done, but the answer is lost

    def token_of(self, user):
        """The token of a user who may write below his own name alone."""
        token = f"hf_{user}" + "sentinel" * 3
        self.users[token] = user
        return token

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that goes away is nothing to print."""

    @contextlib.contextmanager
    def counting(self):
        """The exchanges made inside the block."""
        start = len(self.log)
        found = []
        yield found
        found += self.log[start:]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are sent apart, and the client would wait to acknowledge both.
    disable_nagle_algorithm = True

    def log_message(self, *parts):
        """Silent: the server's log is data."""

    def answer(self):
        method = self.command
        self.exchange = Exchange(method, self.path, headers=dict(self.headers))
        self.server.log.append(self.exchange)
        self.left = int(self.headers.get("Content-Length") or 0)
        try:
            if fault := self.server.fault(self.exchange):
                raise fault
            split = urlsplit(self.path)
            self.query = parse_qs(split.query)
            for wanted, pattern, function in ROUTES:
                if wanted == method.replace("HEAD", "GET") and (found := pattern.fullmatch(split.path)):
                    words = {key: unquote(value or "") for key, value in found.groupdict().items()}
                    if "id" in words:
                        kind = PLURAL[words.pop("kind") or "models"]
                        words["repo"] = self.server.store.repo(kind, words.pop("id"))
                    function(self, **words)
                    return
            raise Refusal(404, f"no route for {method} {split.path}")
        except Refusal as refusal:
            while self.left:
                self.read(min(self.left, PIECE))
            headers = {"X-Error-Message": refusal.message, "X-Error-Code": refusal.code, **refusal.headers}
            self.reply({"error": refusal.message}, refusal.status, headers)
        except Cut:
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_HEAD = do_POST = do_PUT = answer

    # What comes in and goes out

    def read(self, count):
        cut_at = self.server.cut_at
        if cut_at is not None and self.server.received + count > cut_at:
            self.rfile.read(max(0, cut_at - self.server.received))
            self.server.received = max(cut_at, self.server.received)
            raise Cut
        data = self.rfile.read(count)
        self.left -= len(data)
        self.exchange.received += len(data)
        self.server.received += len(data)
        if len(data) < count:
            raise Cut
        return data

    def body(self):
        return self.read(self.left) if self.left else b""

    def save(self, path):
        with path.open("wb") as file:
            while self.left:
                file.write(self.read(min(self.left, PIECE)))

    def reply(self, value, status=200, headers=None):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.head(status, len(data), {"Content-Type": "application/json", **(headers or {})})
        if self.command != "HEAD":
            self.exchange.sent += len(data)
            self.wfile.write(data)

    def head(self, status, length, headers):
        self.exchange.status = status
        if cut := self.server.after(self.exchange):
            raise cut
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def must_write(self, id=""):
        """Raise for a stranger; and in a repository for whoever does not own it, unless he opens a pull request."""
        user = self.server.users.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if user is None:
            raise Refusal(401, "Invalid username or password.")
        if user and id and not id.startswith(f"{user}/") and self.query.get("create_pr") != ["1"]:
            raise Refusal(403, f"{user} has no right to write to {id}")
