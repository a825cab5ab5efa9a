"""The Space under hostile load on this machine: large posts at once, then many visitors; memory and files left behind.

python tests/benchmarks/space_load.py [SECONDS]     of visitors, 180 by default

Exits with status 1 if an answer was an error, memory passed 900 MB or is not back under 500 MB five minutes later, or
a file was left behind.
"""

import base64
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import numpy as np
import small_dataset
from scored import encoded
from space_server import serving
from timing import resident, watched_memory

POSTS, RETURNS, SIDE = 12, 24, 900  # a picture of noise of this side has 2.4 MB: 81 MB in base64 with the original
CLIENTS, PAUSE = 50, 1.0  # seconds for which each looks at what came
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


def visitors(server, seconds):
    """Requests of visitors who look around for so long, and the errors among them."""
    chains = list({server.ask("pick", "surprise", "")[1] for _ in range(100)})
    until = time.monotonic() + seconds

    def visit(seed):
        chance, count, errors = random.Random(seed), 0, []
        with httpx.Client(base_url=server.address, timeout=120) as client:
            while time.monotonic() < until:
                requests = [
                    ("picture", [chance.choice(chains), chance.randrange(3), "view", 8, ""]),
                    ("leaderboard", ["", "all", "all", "convergence", 0.5, []]),
                    ("curves", ["quality", "", "all", "all", ""]),
                    ("chain", [chance.choice(chains)]),
                ]
                name, data = chance.choices(requests, (6, 1, 1, 2))[0]
                answer = client.post(f"/gradio_api/run/{name}", json={"data": data, "session_hash": f"visitor{seed}"})
                count += 1
                if answer.status_code != 200:
                    errors.append(f"{name}: {answer.status_code} {answer.text[:80]}")
                elif name == "picture" and (url := answer.json()["data"][0]["url"]):
                    count += 1
                    if client.get(url).status_code != 200:
                        errors.append(f"picture: {url}")
                time.sleep(PAUSE * chance.uniform(0.5, 1.5))
        return count, errors

    with ThreadPoolExecutor(CLIENTS) as pool:
        visits = list(pool.map(visit, range(CLIENTS)))
    return sum(count for count, _ in visits), [error for _, errors in visits for error in errors]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0
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
            count, errors = visitors(server, seconds)
            print(f"{CLIENTS} visitors for {seconds:.0f} s: {count:,} requests, {len(errors)} errors {errors[:2]}")
            ended = time.monotonic()
            while resident(server.process) >= MEMORY_AFTER and time.monotonic() < ended + LONGEST_WAIT:
                time.sleep(1)
            after = resident(server.process)
            print(
                f"most memory: {most():.0f} MB; {time.monotonic() - ended:.0f} s after the last request {after:.0f} MB"
            )
            left = [path.name for path in (*temporary.rglob("*"), *(root / "cache" / "uploads").rglob("*"))
                    if path.is_file()]  # fmt: skip
            print(f"files left behind: {len(left)} {left[:3]}")
    if answered < POSTS or errors or most() >= MOST_MEMORY or after >= MEMORY_AFTER or left:
        sys.exit(1)


if __name__ == "__main__":
    main()
