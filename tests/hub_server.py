"""A Hub on the loopback, for the real clients: what huggingface_hub, datasets, evaluate and the `hf` command call.

    with HubServer(folder) as hub:
        HfApi(endpoint=hub.url, token=hub.token).create_repo(...)

It counts every byte, pages its listings, keeps every revision, and fails on demand.
"""

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from hub_store import Refusal, Repo, Store

PLURAL = {"models": "model", "datasets": "dataset", "spaces": "space"}
Route = Callable[..., None]
PIECE = 1 << 18
ROUTES: list[tuple[str, re.Pattern[str], Route]] = []


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


def route(method: str, pattern: str) -> Callable[[Route], Route]:
    """A function of the handler and the pattern's named groups."""

    def keep(function: Route) -> Route:
        ROUTES.append((method, re.compile(pattern), function))
        return function

    return keep


REPO = r"/api/(?P<kind>models|datasets|spaces)/(?P<id>[^/]+/[^/]+)"
FILE = r"/(?:(?P<kind>datasets|spaces)/)?(?P<id>[^/]+/[^/]+)"


class HubServer(ThreadingHTTPServer):
    """Repositories in a folder, served on a free port of the loopback."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder: Path, token: str = "hf_" + "sentinel" * 4):
        import hub_routes  # noqa: F401 - it registers its routes with this module

        super().__init__(("127.0.0.1", 0), Handler)
        self.store, self.token = Store(folder), token
        self.users = {token: ""}  # by their tokens; the first may write everywhere
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        # Another host than the API's, as the real one: clients do not send their token there.
        self.content_url = f"http://localhost:{self.server_address[1]}"
        self.log: list[Exchange] = []
        self.received = 0  # bytes of request bodies, all together
        self.cut_at: int | None = None  # cut every connection once so many were received
        self.fault: Callable[[Exchange], Refusal | Cut | None] = lambda exchange: None
        self.after: Callable[[Exchange], Cut | None] = lambda exchange: None  # done, but the answer is lost

    def token_of(self, user: str) -> str:
        """The token of a user who may write below his own name alone."""
        token = f"hf_{user}" + "sentinel" * 3
        self.users[token] = user
        return token

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is nothing to print."""

    @contextlib.contextmanager
    def counting(self) -> Iterator[list[Exchange]]:
        """The exchanges made inside the block."""
        start = len(self.log)
        found: list[Exchange] = []
        yield found
        found += self.log[start:]


class Handler(BaseHTTPRequestHandler):
    server: HubServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # headers and body are sent apart, and the client would wait to acknowledge both
    )
    exchange: Exchange
    left: int

    def log_message(self, *parts: object) -> None:
        """Silent: the server's log is data."""

    def answer(self) -> None:
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
                    function(self, **{key: unquote(value or "") for key, value in found.groupdict().items()})
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

    def read(self, count: int) -> bytes:
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

    def body(self) -> bytes:
        return self.read(self.left) if self.left else b""

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            while self.left:
                file.write(self.read(min(self.left, PIECE)))

    def reply(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.head(status, len(data), {"Content-Type": "application/json", **(headers or {})})
        if self.command != "HEAD":
            self.exchange.sent += len(data)
            self.wfile.write(data)

    def head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.exchange.status = status
        if cut := self.server.after(self.exchange):
            raise cut
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def must_write(self, id: str = "") -> None:
        """Raise for a stranger; and in a repository for whoever does not own it, unless he opens a pull request."""
        user = self.server.users.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if user is None:
            raise Refusal(401, "Invalid username or password.")
        if user and id and not id.startswith(f"{user}/") and self.query.get("create_pr") != ["1"]:
            raise Refusal(403, f"{user} has no right to write to {id}")

    def repo(self, kind: str, id: str) -> Repo:
        return self.server.store.repo(PLURAL[kind or "models"], id)
