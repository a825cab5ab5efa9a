"""The Space under hostile load on this machine: large posts at once, posts that declare other sizes than they have,
and sockets that stall; memory, what a bystander waits, and files left behind.

python tests/benchmarks/space_load.py

Exits with status 1 if a post was not answered, memory passed 900 MB or is not back under 500 MB five minutes later, a
bystander waited for more than ten seconds, or a file was left behind.
"""

import base64
import socket
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import numpy as np
import small_dataset
from scored import encoded
from space_server import serving
from timing import resident, watched_memory

POSTS, RETURNS = 12, 24
SIDE = 900  # a picture of noise of this side has 2.4 MB: 81 MB in base64 with the original
LYING, LYING_MB, BYSTANDER = 14, 60, 10.0  # posts of so many MB that declare 5 bytes, and seconds
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


def connected(server, head):
    address = httpx.URL(server.address)
    connection = socket.create_connection((address.host, address.port), timeout=120)
    connection.sendall(f"POST /gradio_api/run/score_yours HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n".encode())
    return connection


def lying_post(server):
    """The status of a post whose size is another than its headers say."""
    block = b"x" * 1_000_000
    with connected(server, "content-length: 5\r\ntransfer-encoding: chunked") as connection:
        try:
            for _ in range(LYING_MB):
                connection.sendall(b"%x\r\n%b\r\n" % (len(block), block))
            connection.sendall(b"0\r\n\r\n")
            return connection.recv(20)[9:12].decode()
        except OSError as error:
            return type(error).__name__


def lying_posts(server):
    """What came of them, and the longest that a bystander waited meanwhile."""
    longest = 0.0
    with ThreadPoolExecutor(LYING) as pool:
        posts = [pool.submit(lying_post, server) for _ in range(LYING)]
        while not all(post.done() for post in posts):
            begun = time.monotonic()
            server.get("/")
            longest = max(longest, time.monotonic() - begun)
            time.sleep(0.2)
        return Counter(post.result() for post in posts), longest


def beside_stalled_sockets(server):
    """Seconds that a request of 5 MB takes beside two that declare nearly all room and send one byte."""
    stalled = [connected(server, f"content-length: {size}\r\n\r\n{{") for size in (90_000_000, 9_900_000)]
    time.sleep(1)
    begun = time.monotonic()
    server.ask("score_yours", "x" * 5_000_000, [], [], [], [])
    seconds = time.monotonic() - begun
    for connection in stalled:
        connection.close()
    return seconds


def main():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        temporary = root / "tmp"
        temporary.mkdir()
        # As on the Hub, where the Space has neither torch nor the weights of LPIPS.
        env = {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(root / "no-weights")}
        run = serving(small_dataset.write(root / "convergebench"), root / "cache", env=env, wait=120)
        with run as server, watched_memory(server.process) as most:
            print(f"memory at the start: {resident(server.process):.0f} MB", flush=True)
            begun = time.monotonic()
            answered = large_posts(server)
            print(f"{POSTS} posts of 81 MB at once: {answered} answered in {time.monotonic() - begun:.0f} s; "
                  f"most memory so far: {most():.0f} MB", flush=True)  # fmt: skip
            statuses, waited = lying_posts(server)
            beside = beside_stalled_sockets(server)
            print(f"{LYING} posts of {LYING_MB} MB that declare 5 bytes: {dict(statuses)}; a bystander waited "
                  f"{waited:.1f} s, and {beside:.1f} s beside two that stall; most memory so far: {most():.0f} MB",
                  flush=True)  # fmt: skip
            ended = time.monotonic()
            while resident(server.process) >= MEMORY_AFTER and time.monotonic() < ended + LONGEST_WAIT:
                time.sleep(1)
            after = resident(server.process)
            seconds = time.monotonic() - ended
            print(f"most memory: {most():.0f} MB; {seconds:.0f} s after the last request {after:.0f} MB")
            leftovers = [path.name for path in (*temporary.rglob("*"), *(root / "cache" / "uploads").rglob("*"))
                         if path.is_file()]  # fmt: skip
            print(f"files left behind: {len(leftovers)} {leftovers[:3]}")
    is_small = most() < MOST_MEMORY and after < MEMORY_AFTER
    sys.exit(answered < POSTS or not is_small or bool(leftovers) or max(waited, beside) > BYSTANDER)


if __name__ == "__main__":
    main()
