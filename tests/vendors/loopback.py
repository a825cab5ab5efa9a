"""A web server on this machine that answers as it is told, misbehaving included, and remembers what it was sent."""

import contextlib
import io
import json
import socket
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image

IDLE = "/idle"  # answered without asking the vendor


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False  # half of the body, then the connection is gone
    drip: float = 0.0  # seconds between single bytes


def told(value, status=200, **headers):
    named = {key.replace("_", "-"): text for key, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), headers=named)


class Server:
    """What one loopback server saw, and the faults that its vendor found with it."""

    def __init__(self, vendor):
        self.vendor = vendor
        self.requests = []
        self.faults = []
        self.base = ""
        self.lock = threading.Lock()
        self.connections = 0


def wait_until_idle(base):
    """Wait until a server has answered all that it was sent: a client that was killed leaves requests behind."""
    with urllib.request.urlopen(f"{base}{IDLE}"):  # noqa: S310 -- connections are accepted in their order
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def finish(self):
        with self.server.about.lock:
            self.server.about.connections -= 1
        super().finish()

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # its client was killed while it wrote: an incomplete request is no request
            self.close_connection = True
            return
        if self.path == IDLE:
            while self.server.about.connections > 1:
                time.sleep(0.001)
            self.send(Reply())
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request, about = Request(self.command, self.path, headers, body), self.server.about
        with about.lock:
            about.requests.append(request)
        try:
            reply = about.vendor(about, request)
        except Exception as error:  # noqa: BLE001 -- whatever a vendor trips over must fail the test, not its thread
            about.faults.append(error)
            reply = told({"error": {"message": f"the loopback server objects: {error}"}}, 418)
        self.send(reply)

    do_GET = do_POST = answer

    def send(self, reply):
        self.send_response(reply.status)
        for name, value in {"content-type": reply.type, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            if reply.cut:
                self.wfile.write(reply.body[: len(reply.body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
            elif reply.drip:
                for place in range(len(reply.body)):
                    self.wfile.write(reply.body[place : place + 1])
                    self.wfile.flush()
                    time.sleep(reply.drip)
            else:
                self.wfile.write(reply.body)

    def log_message(self, format, *args):
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def process_request(self, request, client_address):
        # Counted here, not in the request's own thread, which may begin after that of a later one.
        with self.about.lock:
            self.about.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # a client that hung up is what some of the tests are about


@contextlib.contextmanager
def serving(vendor):
    """A server for the block; what it objects to fails the test at the end of the block."""
    about = Server(vendor)
    server = Quiet(("127.0.0.1", 0), Handler)
    server.about = about
    about.base = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield about
    finally:
        server.shutdown()
        server.server_close()
    if about.faults:
        raise about.faults[0]


def picture(size=(64, 48), kind="PNG"):
    """A noisy picture, so that its base64 has every letter of the alphabet."""
    buffer = io.BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


def is_png(data):
    return data.startswith(b"\x89PNG\r\n\x1a\n")


def is_post(request):
    return request.method == "POST"


def delivery(server, request):
    """The picture that `server.kept` holds."""
    assert request.path.startswith("/delivery/"), f"nothing else is asked for: {request.path}"
    return Reply(body=server.kept, type="image/png")
