"""Editors for tests: they count what they are asked, and answer as they are told."""

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import stores
from convergebench.generation import editors, pictures, plan, scheduler, store, suites
from convergebench.generation.files import LOCK
from convergebench.generation.records import Answer
from PIL import Image

SUITE = suites.Suite(
    name="test",
    title="two pictures, two programs",
    version="1",
    short_side=48,
    rounds=4,
    runs=2,
    sources=("astronaut", "coffee"),
    programs=("flip-horizontally", "replicate"),
    editors=("counting",),
)


def darker(image, seed):
    """By one grey level, in a format that depends on the seed."""
    return stores.encoded(image.point(lambda level: max(0, level - 1)), ("PNG", "JPEG", "WEBP")[seed % 3])


@dataclass(frozen=True)
class Counting:
    """Darkens, and writes down the seed it was asked for."""

    embedded: ClassVar[bool] = True
    asked: Path
    pause: float = 0.0
    behave: Callable[[int], Answer | None] = lambda seed: None

    def edit(self, image, instruction, seed):
        with self.asked.open("ab", buffering=0) as log:
            log.write(f"{seed}\n".encode())
        time.sleep(self.pause)
        return self.behave(seed) or Answer(darker(image, seed))

    def seeds(self):
        return [int(line) for line in self.asked.read_text().split()] if self.asked.exists() else []


def choose(editor, name="counting"):
    return editors.Choice(name, name, name, {"seed": "per-step"}, editor)


def planned(editor, rounds=SUITE.rounds, runs=SUITE.runs, name="counting"):
    variant = SUITE.variants[0]
    choice = choose(editor, name)
    return plan.Plan(
        SUITE, (choice,), tuple(plan._variant_chains(SUITE, variant, choice, rounds, runs, False, b""))
    )


def generate(made, folder, **options):
    return scheduler.generate(made, made.chains, folder, **options)


def finished(folder):
    steps = [step for path in folder.glob("chains/*") for step in store.recover_steps(path)]
    return {step.seed for step in steps if step.step}


def digest(folder):
    """Every file below a folder by its hash, but for locks that a killed process left."""
    return {
        os.fspath(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK
    }


def png(size=(48, 48)):
    return pictures.encode_png(Image.new("RGB", size, "olive"))
