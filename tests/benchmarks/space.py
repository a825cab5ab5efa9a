"""The Space under load: cold start, a step's change for 8 and 50 visitors, memory; beside Gradio's usual way.

python tests/benchmarks/space.py [STEPS]     steps in the dataset, 28,000 where it is not said; pictures are 1024x1024
"""

import io
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import httpx
import numpy as np
import small_dataset
from PIL import Image
from space_server import serving

SIDE, LARGE = 1024, 12  # chains whose pictures are large; the others only make the dataset long
ROUNDS = 10
PEER = """
import io, os, random
from pathlib import Path
import gradio as gr
from PIL import Image
files = sorted(Path(os.environ["CONVERGEBENCH_DATASET"]).glob("*.png"))
def step(number):
    return Image.open(io.BytesIO(files[int(number) % len(files)].read_bytes()))
gr.Interface(step, gr.Number(), gr.Image(type="pil", format="png"), api_name="step", flagging_mode="never").queue(
    default_concurrency_limit=40).launch(quiet=True)
"""
PEER_COMMAND = [sys.executable, "-c", PEER]


def noisy(number):
    """A picture of 1024x1024 with some grain, as editors answer them."""
    rng = np.random.default_rng(number)
    small = Image.fromarray(rng.integers(0, 255, (64, 64, 3), dtype=np.uint8)).resize((SIDE, SIDE))
    values = np.asarray(small).astype(int) + rng.integers(-5, 6, (SIDE, SIDE, 3))
    buffer = io.BytesIO()
    Image.fromarray(values.clip(0, 255).astype(np.uint8)).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def dataset(folder, steps, pool):
    """As many steps as asked for, of which some chains' have large pictures."""
    editors = {f"editor-{each}": 0.02 * each for each in range(10)}
    chains = steps // (2 * ROUNDS + 1)
    programs = [f"program-{each}" for each in range(12)]
    sources = [f"source-{each:03}" for each in range(max(1, chains // 120))]
    seen = [0]

    def answer(editor, step):
        seen[0] += 1
        return pool[seen[0] % len(pool)] if seen[0] <= LARGE * 2 * ROUNDS else pool[-1]

    small_dataset.write(folder, editors, sources, programs, ROUNDS, answer)
    return folder


def start(folder, root):
    """Seconds until the first table is answered."""
    begun = time.perf_counter()
    with serving(folder, root, wait=120) as server:
        status, board = server.ask("leaderboard", "", "all", "all", "convergence", 0.5, [])
        assert status == 200, board
        return time.perf_counter() - begun


def started(folder, root):
    """Seconds until the peer answers anything."""
    begun = time.perf_counter()
    with serving(folder, root, PEER_COMMAND, wait=120):
        return time.perf_counter() - begun


def change(server, client, session, chain, step):
    """Seconds for one step: its words and numbers, then the picture itself."""
    begun = time.perf_counter()
    answer = client.post(f"{server.address}/gradio_api/run/step", json={"data": [chain, step], "session_hash": session})
    assert answer.status_code == 200, answer.text
    picture = client.get(server.address + answer.json()["data"][0]["url"])
    assert picture.status_code == 200
    return time.perf_counter() - begun


def peer_change(server, client, number):
    # Under load Gradio's server drops connections, and sends its copy in pieces and not always to the end.
    try:
        answer = client.post(f"{server.address}/gradio_api/run/step", json={"data": [number]})
        assert answer.status_code == 200, answer.text
        return client.get(answer.json()["data"][0]["url"]).status_code
    except httpx.RemoteProtocolError:
        return 0


def visitors(count, steps, one):
    """All times of `count` visitors who each change the step `steps` times, as fast as they are answered."""

    def visit(seed):
        chance = random.Random(seed)
        with httpx.Client(timeout=120) as client:
            return [one(client, chance) for _ in range(steps)]

    with ThreadPoolExecutor(count) as pool:
        return [each for times in pool.map(visit, range(count)) for each in times]


def resident(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def told(name, times):
    middle, most = (1000 * np.quantile(times, each) for each in (0.5, 0.95))
    print(f"{name:34} p50 {middle:7.0f} ms   p95 {most:7.0f} ms   n {len(times)}", flush=True)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 28_000
    pool = [*(noisy(each) for each in range(24)), small_dataset.picture(1, 0.1)]
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        folder = dataset(root / "convergebench", steps, pool)
        cold = min(start(folder, root / "cold") for _ in range(3))
        print(f"cold start to the first table, {steps:,} steps: {cold:.1f} s", flush=True)
        with serving(folder, root / "cache", wait=120) as server:
            chains = [row["chain"] for row in server.ask("chains", "editor-0", "source-000", "", 0)[1]][:LARGE]

            def one(client, chance):
                session = f"visitor-{id(chance)}"  # as gradio_client and the page itself do
                return change(server, client, session, chance.choice(chains), chance.randrange(2 * ROUNDS + 1))

            told("8 visitors, pictures not seen yet", visitors(8, 50, one))
            for count in (8, 50):
                runs = [visitors(count, 400 // count, one) for _ in range(3)]
                told(f"{count} visitors, step and picture", min(runs, key=lambda times: np.quantile(times, 0.95)))
            visitors(4, 250, one)
            print(f"memory after 1,000 random steps and more: {resident(server.process):.0f} MB")
        peer = root / "peer"
        peer.mkdir()
        for number, data in enumerate(pool[:-1]):
            (peer / f"{number}.png").write_bytes(data)
        bare = min(started(peer, root / "peer-cold") for _ in range(3))
        print(f"cold start of a Gradio app of one picture: {bare:.1f} s, ours {cold / bare:.2f}x", flush=True)
        with serving(peer, root / "peer-cache", PEER_COMMAND, wait=120) as server:

            def usual(client, chance):
                begun = time.perf_counter()
                peer_change(server, client, chance.randrange(24))
                return time.perf_counter() - begun

            told("Gradio's way (PIL), 8 visitors", visitors(8, 20, usual))


if __name__ == "__main__":
    main()
