"""What the harness costs per step at 1024x1024, beside a bare loop that only edits, decodes and writes durably.

Both run in the same process, in turns, on the same answers: a photograph-like PNG that the editor hands out at no
cost. Prints the median milliseconds per step of each and their ratio.
"""

import itertools
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy
from convergebench.generation import pictures, store
from convergebench.generation.calls import Caller, CallLimits
from convergebench.generation.loop import run_chain
from convergebench.generation.records import Answer, Chain, Program, Source
from PIL import Image, ImageFilter

STEPS, TURNS = 40, 4


class InstantEditor:
    """Returns the same bytes at once."""

    embedded = True

    def __init__(self, data: bytes):
        self.data = data

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(self.data)


def bare(editor: InstantEditor, folder: Path, start: Image.Image) -> list[float]:
    """The editor's call, one decode of its answer, and the durable write of its bytes."""
    marks = [time.perf_counter()]
    for number in range(1, STEPS + 1):
        answer = editor.edit(start, "", number)
        pictures.decode(answer.data)
        with (folder / f"{number:04d}.png").open("wb") as file:
            file.write(answer.data)
            file.flush()
            os.fsync(file.fileno())
        marks.append(time.perf_counter())
    return marks


def ours(editor: InstantEditor, folder: Path, start: Image.Image) -> list[float]:
    source = Source("bench", "0" * 64, *start.size, "object", "synthetic", "CC0-1.0", "made here")
    program = Program("copy", ("Copy it.",), "replicate", True, "exact")
    chain = Chain(source, program, "instant", {"seed": "per-step", "short_side": 1024}, 1, STEPS)
    marks: list[float] = []
    store.open_run(folder, {"suite": "bench"})
    ask = Caller(CallLimits()).ask
    run_chain(chain, editor, folder, lambda chain: (start, None), ask, lambda *_: marks.append(time.perf_counter()))
    return marks


if __name__ == "__main__":
    noise = numpy.random.default_rng(1).integers(0, 256, (1024, 1024, 3), numpy.uint8)
    picture = Image.fromarray(noise).filter(ImageFilter.GaussianBlur(1.2))
    editor = InstantEditor(pictures.encode_png(picture))
    seconds: dict[str, list[float]] = {"bare": [], "ours": []}
    for _, (name, work) in itertools.product(range(TURNS), (("bare", bare), ("ours", ours))):
        with tempfile.TemporaryDirectory() as folder:
            marks = work(editor, Path(folder), picture)
        seconds[name] += [after - before for before, after in itertools.pairwise(marks)]
    median = {name: statistics.median(values) * 1e3 for name, values in seconds.items()}
    print(f"answer: {len(editor.data) / 1e6:.2f} MB PNG of 1024x1024, {len(seconds['ours'])} steps each")
    print(f"bare loop {median['bare']:.2f} ms a step, ours {median['ours']:.2f} ms a step")
    print(f"overhead {median['ours'] - median['bare']:.2f} ms a step, ratio {median['ours'] / median['bare']:.3f}")
