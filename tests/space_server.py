"""The Space as a server of its own, as a visitor meets it."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import small_dataset


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(dataset, cache, command=None, env=None, wait=90.0, first="/gradio_api/info"):
    """Start the app on a dataset and give its address once `first` is answered; at the end it must still be alive."""
    port = free_port()
    about = {"CONVERGEBENCH_DATASET": str(dataset), "CONVERGEBENCH_PREVIEWS": str(cache)}
    about |= {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    log = Path(cache) / "server.log"
    (Path(cache) / "uploads").mkdir(parents=True, exist_ok=True)
    (Path(cache) / "uploads" / "left.png").write_text("of a server before")
    command = command or [sys.executable, "-m", "convergebench.spaces_app.app"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env=os.environ | about | (env or {}), stdout=file, stderr=subprocess.STDOUT
        )
    try:
        yield Server(f"http://127.0.0.1:{port}", process, log).ready(wait, first)
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(60)


HOSTILE = '<img src=x onerror="document.title=1">'


@contextmanager
def shared(root):
    """One server for all tests of a session: an editor whose name is HTML, which loses a part in round 3, one whose
    file is corrupt, and scores of metrics that look at no reference.
    """
    editors = small_dataset.EDITORS | {HOSTILE: 0.1, "broken": 0.12}

    def judge(row, editor, source, program):
        return small_dataset.lose_a_part(row) if editor == HOSTILE else row

    about = {"instruction": "<b onclick=x>add</b> a {}", "judge": judge}
    folder = small_dataset.write(root / "convergebench", editors, **about)
    small_dataset.judge_without_reference(folder)
    broken = folder / "data" / "steps" / f"editor{list(editors).index('broken')}" / "0000.parquet"
    whole = bytearray(broken.read_bytes())
    whole[8:4000] = bytes(3992)
    broken.write_bytes(whole)
    with serving(folder, root / "cache") as running:
        yield running


class Server:
    def __init__(self, address, process, log):
        self.address, self.process, self.log = address, process, log

    def ready(self, wait, first):
        until = time.monotonic() + wait
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if self.get(first)[0] == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def ask(self, name, *data):
        """What an endpoint answers, as (status, value or error)."""
        answer = httpx.post(f"{self.address}/gradio_api/run/{name}", json={"data": data}, timeout=60)
        return answer.status_code, answer.json()["data"][0] if answer.status_code == 200 else answer.json()

    def call(self, name, *data, timeout=120):
        """The same through the queue: an id first, then the outcome as a stream."""
        begun = httpx.post(f"{self.address}/gradio_api/call/{name}", json={"data": data}, timeout=timeout)
        stream = httpx.get(
            f"{self.address}/gradio_api/call/{name}/{begun.json()['event_id']}", timeout=timeout
        ).text
        *_, last = (line for line in stream.splitlines() if line.startswith("data:"))  # heartbeats have data too
        value = json.loads(last.removeprefix("data:"))
        return value[0] if isinstance(value, list) else value

    def get(self, path):
        answer = httpx.get(self.address + path, timeout=60)
        return answer.status_code, answer.content
