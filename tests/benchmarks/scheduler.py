"""64 chains of 20 steps against a vendor of 200 ms with 32 calls in flight: wall time against the ideal, and memory.

    python tests/benchmarks/scheduler.py

The ideal is what the vendor alone takes: calls x 200 ms / 32. A second run meets 10% of 429 and 5% of 500.
The pictures are small, so that the scheduler is measured and not this machine's PNG encoder.
"""

import argparse
import asyncio
import base64
import json
import multiprocessing
import os
import random
import re
import resource
import tempfile
import time
from pathlib import Path

from convergebench.generation import editors, pictures, plan, scheduler, suites
from convergebench.generation.editors import seedream
from PIL import Image

CHAINS, ROUNDS, SLEEP, IN_FLIGHT = 64, 10, 0.2, 32
SUITE = suites.Suite(
    name="scheduler",
    title="as many chains as runs",
    version="1",
    short_side=64,
    rounds=ROUNDS,
    runs=CHAINS,
    sources=("coffee",),
    programs=("red-ball",),
)


def vendor(port: "multiprocessing.Queue[int]", busy: float, broken: float) -> None:
    """Seedream's interface, answering the same picture after 200 ms, sometimes with an error at once."""
    picture = pictures.encode_png(Image.effect_noise((96, 64), 60).convert("RGB"))
    chance = random.Random(1)

    def reply(status: str, body: object) -> bytes:
        data = json.dumps(body).encode()
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}"
        return head.encode() + b"\r\nconnection: close\r\n\r\n" + data

    good = reply("200 OK", {"model": "m", "data": [{"b64_json": base64.b64encode(picture).decode(), "size": "96x64"}]})
    limit = reply("429 Too Many Requests", {"error": {"code": "RequestLimit", "message": "slow down"}})
    error = reply("500 Internal Server Error", {"error": {"code": "InternalServiceError", "message": "sorry"}})

    class Connection(asyncio.Protocol):
        """200 ms after it was made the answer is there, however busy this server is."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            self.began, self.data, self.transport = asyncio.get_running_loop().time(), b"", transport

        def data_received(self, data: bytes) -> None:
            self.data += data
            head, end, body = self.data.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head.lower())
            if not end or (length and len(body) < int(length[1])):
                return
            draw = chance.random()
            if draw < busy:
                self.answer(limit)
            else:
                answer = error if draw < busy + broken else good
                asyncio.get_running_loop().call_at(self.began + SLEEP, self.answer, answer)

        def answer(self, reply: bytes) -> None:
            self.transport.write(reply)
            self.transport.close()

    async def listen() -> None:
        server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=256)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(listen())


class Small(seedream.Editor):
    """The real client, at a size that costs nothing."""

    def sizes(self) -> tuple[tuple[int, int], ...]:
        return ((96, 64),)


def planned(port: int) -> plan.Plan:
    editor = Small(base_url=f"http://127.0.0.1:{port}")
    assert editor.client is not None  # its import is not the scheduler's
    choice = editors.Choice("small", "small", "small", {"seed": "per-step"}, editor, {"concurrency": IN_FLIGHT})
    chains = plan.variant_chains(SUITE, SUITE.variants[0], choice, ROUNDS, CHAINS)
    return plan.Plan(SUITE, (choice,), tuple(chains))


def timed(busy: float, broken: float) -> tuple[float, int]:
    """Seconds of a run, and its calls."""
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    server = context.Process(target=vendor, args=(port, busy, broken), daemon=True)
    server.start()
    os.environ["ARK_API_KEY"] = "a-key-for-this-machine"
    try:
        work = planned(port.get(timeout=60))
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            outcome = scheduler.generate(work, work.chains, Path(folder) / "run")
            seconds = time.perf_counter() - started
    finally:
        server.kill()
    assert outcome.clean, outcome
    assert outcome.ends == {"complete": CHAINS}, outcome
    return seconds, work.calls


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    repeats = parser.parse_args().repeats
    for name, busy, broken in (("quiet", 0.0, 0.0), ("10% 429, 5% 500", 0.10, 0.05)):
        seconds, calls = min(timed(busy, broken) for _ in range(repeats))
        ideal = calls * SLEEP / IN_FLIGHT
        print(f"{name}: {calls} calls in {seconds:.2f} s, ideal {ideal:.2f} s, ratio {seconds / ideal:.3f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
