"""The Space under hostile load on this machine: large posts at once, then many visitors; memory and files left behind.

python tests/benchmarks/space_load.py [SECONDS]     of visitors, 180 where it is not said

It ends with exit code 1 where an answer was an error, memory passed 900 MB, is not back under 500 MB five minutes
later, or a file was left behind.
"""

import base64
import io
import random
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import httpx
import numpy as np
import small_dataset
from PIL import Image
from space_server import serving

POSTS, RETURNS, SIDE = 12, 24, 900  # a picture of noise of this side has 2.4 MB: 81 MB in base64 with the original
CLIENTS, PAUSE = 50, 1.0  # seconds for which each looks at what came
MOST_MEMORY, MEMORY_AFTER, LONGEST_WAIT = 900, 500, 300  # MB, MB and seconds


def noise(seed):
    values = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(values).save(buffer, "PNG", compress_level=1)
    return base64.b64encode(buffer.getvalue()).decode()


class Memory:
    """What a process holds, looked at ten times a second."""

    def __init__(self, process):
        self.process, self.most, self.ended = process, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def now(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def watch(self):
        while not self.ended.wait(0.1) and self.process.poll() is None:
            self.most = max(self.most, self.now())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *about):
        self.ended.set()
        self.thread.join()


def large_posts(server):
    """How many of the posts were answered with as many rows as they have returns."""
    picture = noise(0)
    returns = [noise(1)] * RETURNS

    def one(number):
        answer = server.call("score_yours", picture, returns, 0.5, [], [], timeout=900)
        return isinstance(answer, dict) and len(answer.get("returns", ())) == RETURNS

    with ThreadPoolExecutor(POSTS) as pool:
        return sum(pool.map(one, range(POSTS)))


def visitors(server, seconds):
    """How many requests came of it, and the errors among them."""
    chains = [row["chain"] for row in server.ask("chains", "", "", "", 0)[1]]
    until = time.monotonic() + seconds

    def visit(seed):
        chance, count, errors = random.Random(seed), 0, []
        with httpx.Client(base_url=server.address, timeout=120) as client:
            while time.monotonic() < until:
                asked = [
                    ("step", [chance.choice(chains), chance.randrange(3)]),
                    ("leaderboard", ["", "all", "all", "convergence", 0.5, []]),
                    ("curves", ["quality", "", "all", "all", 0.5]),
                    ("chain", [chance.choice(chains)]),
                ]
                name, data = chance.choices(asked, (6, 1, 1, 2))[0]
                answer = client.post(f"/gradio_api/run/{name}", json={"data": data, "session_hash": f"visitor{seed}"})
                count += 1
                if answer.status_code != 200:
                    errors.append(f"{name}: {answer.status_code} {answer.text[:80]}")
                elif name == "step" and (url := answer.json()["data"][0]["url"]):
                    count += 1
                    if client.get(url).status_code != 200:
                        errors.append(f"picture: {url}")
                time.sleep(PAUSE * chance.uniform(0.5, 1.5))
        return count, errors

    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(visit, range(CLIENTS)))
    return sum(count for count, _ in found), [error for _, errors in found for error in errors]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        temporary = root / "tmp"
        temporary.mkdir()
        folder = small_dataset.write(root / "convergebench")
        # As on the Hub, where the Space has neither torch nor the weights of LPIPS.
        env = {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(root / "no-weights")}
        with (
            serving(folder, root / "cache", env=env, wait=120) as server,
            Memory(server.process) as memory,
        ):
            print(f"memory at the start: {memory.now():.0f} MB", flush=True)
            begun = time.monotonic()
            answered = large_posts(server)
            print(f"{POSTS} posts of 81 MB at once: {answered} answered in {time.monotonic() - begun:.0f} s")
            print(f"most memory so far: {memory.most:.0f} MB, now {memory.now():.0f} MB", flush=True)
            count, errors = visitors(server, seconds)
            print(f"{CLIENTS} visitors for {seconds:.0f} s: {count:,} requests, {len(errors)} errors {errors[:2]}")
            ended = time.monotonic()
            while memory.now() >= MEMORY_AFTER and time.monotonic() < ended + LONGEST_WAIT:
                time.sleep(1)
            after, waited = memory.now(), time.monotonic() - ended
            print(f"most memory: {memory.most:.0f} MB; {waited:.0f} s after the last request {after:.0f} MB")
            left = [path.relative_to(root).as_posix() for path in temporary.rglob("*") if path.is_file()]
            left += [path.name for path in (root / "cache" / "uploads").rglob("*") if path.is_file()]
            print(f"files left behind: {len(left)} {left[:3]}")
    if answered < POSTS or errors or memory.most >= MOST_MEMORY or after >= MEMORY_AFTER or left:
        sys.exit(1)


if __name__ == "__main__":
    main()
