"""The Space under hostile load on this machine: large posts at once; memory and files left behind.

python tests/benchmarks/space_load.py

Exits with status 1 if a post was not answered, memory passed 900 MB or is not back under 500 MB five minutes later, or
a file was left behind.
"""

import base64
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import small_dataset
from scored import encoded
from space_server import serving
from timing import resident, watched_memory

POSTS, RETURNS, SIDE = 12, 24, 900  # a picture of noise of this side has 2.4 MB: 81 MB in base64 with the original
MOST_MEMORY, MEMORY_AFTER, LONGEST_WAIT = 900, 500, 300  # MB, MB and seconds


def noise(seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    return base64.b64encode(encoded(pixels)).decode()


def large_posts(server):
    """How many of the posts were answered with as many steps as they have pictures."""
    picture, returns = noise(0), [noise(1)] * RETURNS

    def post(number):
        answer = server.call("score_yours", picture, returns, [], [], [], timeout=900)
        return isinstance(answer, dict) and len(answer.get("steps", ())) == RETURNS + 1

    with ThreadPoolExecutor(POSTS) as pool:
        return sum(pool.map(post, range(POSTS)))


def main():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        temporary = root / "tmp"
        temporary.mkdir()
        folder = small_dataset.write(root / "convergebench")
        # As on the Hub, where the Space has neither torch nor the weights of LPIPS.
        env = {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(root / "no-weights")}
        with (
            serving(folder, root / "cache", env=env, wait=120) as server,
            watched_memory(server.process) as most,
        ):
            print(f"memory at the start: {resident(server.process):.0f} MB", flush=True)
            begun = time.monotonic()
            answered = large_posts(server)
            print(f"{POSTS} posts of 81 MB at once: {answered} answered in {time.monotonic() - begun:.0f} s; "
                  f"most memory so far: {most():.0f} MB", flush=True)  # fmt: skip
            ended = time.monotonic()
            while resident(server.process) >= MEMORY_AFTER and time.monotonic() < ended + LONGEST_WAIT:
                time.sleep(1)
            after = resident(server.process)
            print(
                f"most memory: {most():.0f} MB; {time.monotonic() - ended:.0f} s after the last request {after:.0f} MB"
            )
            leftovers = [path.name for path in (*temporary.rglob("*"), *(root / "cache" / "uploads").rglob("*"))
                    if path.is_file()]  # fmt: skip
            print(f"files left behind: {len(leftovers)} {leftovers[:3]}")
    if answered < POSTS or most() >= MOST_MEMORY or after >= MEMORY_AFTER or leftovers:
        sys.exit(1)


if __name__ == "__main__":
    main()
