"""How long the editor that is being trained survives being used again and again, every so many steps of its training.

check = ConvergenceCallback(every=500, logger=trackio)
for step, batch in enumerate(batches):
    ...  # train
    check(step, pipeline)
"""

import contextlib
import inspect
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError
from PIL import Image, ImageDraw

SIDE, GAP, LINE = 128, 4, 16  # pixels of a frame, between frames, and of the words above them
MOST_CASES = 4  # rows of the strip
LOGGED = {
    "rounds_kept": "rounds_kept",
    "survival": "survived",
    "area": "retained_quality",
    "forward": "edits_made",
}
METRICS = ("psnr", "ssim", "edit_applied")
Values = dict[str, float]


@dataclass
class ConvergenceCallback:
    """Runs a small suite with the editor as it is now, and logs rounds kept, half-life and a strip of pictures.

    What is checked is your function `edit(image, instruction, seed)`, or a pipeline of diffusers that edits by words.
    `logger` is trackio, wandb, or anything with `log(dict)`. Random numbers of the training are as they were before.
    """

    every: int = 500
    suite: str = "smoke"
    rounds: int = 5
    logger: Any = None
    out: str | Path = "runs/training"
    metrics: Sequence[str] = METRICS
    prefix: str = "convergence"
    history: list[tuple[int, Values]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.every < 1:
            raise UserError(f"every is {self.every}; it is a whole number of training steps from 1")
        if self.logger is not None and not callable(getattr(self.logger, "log", None)):
            raise UserError(f"the logger is a {type(self.logger).__name__} without log(dict); give trackio or the like")

    def __call__(self, step: int, editor: Any) -> Values | None:
        """Check at every so many steps, and never before the first of them is done."""
        return self.check(step, editor) if step and step % self.every == 0 else None

    def check(self, step: int, editor: Any) -> Values:
        """Check now: what is logged, without the strip."""
        from convergebench import dataset_builder, generation, metric_modules

        folder = Path(self.out) / f"step-{step:08d}"
        with training_undisturbed(editor):
            name, version = "training", f"step-{step}"
            edit = as_function(editor)
            words: dict[str, Any] = {"name": name, "version": version, "audit": False, "quiet": True}
            outcome = generation.generate(edit, self.suite, folder / "run", rounds=self.rounds, **words)
            if outcome and outcome.stopped:
                raise UserError(f"the check at step {step} stopped: {outcome.stopped}")
            dataset_builder.build(folder / "run", folder / "dataset", quiet=True)
            metric_modules.score(folder / "dataset", list(self.metrics), quiet=True)
        values = {f"{self.prefix}/{name}": value for name, value in headline(folder / "dataset").items()}
        self.history.append((step, values))
        picture = strip(folder / "dataset", self.rounds)
        picture.save(folder / "strip.png")
        if self.logger is not None:
            log(self.logger, step, values | {f"{self.prefix}/strip": picture})
        return values


def headline(dataset: Path) -> Values:
    """What the leaderboard says of the one editor, and the round by which half of the chains are lost.

    Few rounds have no half-life in a report. Here one that lies beyond them counts as one round more than the last.
    """
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.spaces_app.reporting.write import read_analysis
    from convergebench.spaces_app.statistics import leaderboard

    analysis = read_analysis(Reader(dataset))
    rows = leaderboard.rows(analysis)
    if not rows:
        return {}
    row = rows[0]
    [outcomes] = analysis.outcomes[row["group"]].values()
    lost = sorted(outcome.lost_at or row["last_round"] + 1 for outcome in outcomes)
    values = {name: float(row[column]) for column, name in LOGGED.items() if row.get(column) is not None}
    return values | {"half_life": float(lost[(len(lost) - 1) // 2])}


def strip(dataset: Path, rounds: int) -> Image.Image:
    """Some cases, one in each row: the original, the first edit, and returns up to the last."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.generation.pictures import decode

    reader = Reader(dataset)
    chains = [chain for chain in reader.chains() if chain.program.closes][:MOST_CASES]
    shown = sorted({1, (1 + rounds) // 2, rounds})
    columns = [("original", 0), ("edited", -1), *((f"undone {round}", round) for round in shown)]
    wide, high = (SIDE + GAP) * len(columns) - GAP, (SIDE + LINE + GAP) * max(1, len(chains)) - GAP
    sheet = Image.new("RGB", (wide, high), "white")
    draw = ImageDraw.Draw(sheet)
    for row, chain in enumerate(chains):
        length = len(chain.program.cycle)
        for column, (words, round) in enumerate(columns):
            data = reader.picture(chain.id, max(1, length // 2) if round < 0 else round * length)
            place = column * (SIDE + GAP), row * (SIDE + LINE + GAP)
            draw.text(place, chain.program.id if round < 0 else words, fill="black")
            if data:
                frame = decode(data)
                frame.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
                sheet.paste(frame, (place[0], place[1] + LINE))
    return sheet


def log(logger: Any, step: int, values: dict[str, Any]) -> None:
    """Log to trackio, wandb or the like: pictures as its own kind, the step where it is asked for."""
    kind = getattr(logger, "Image", None)
    given = {name: kind(value) if kind and isinstance(value, Image.Image) else value for name, value in values.items()}
    try:
        takes_step = "step" in inspect.signature(logger.log).parameters
    except (TypeError, ValueError):  # of a function that is not written in Python
        takes_step = False
    if takes_step:
        logger.log(given, step=step)
    else:
        logger.log(given | {"step": step})


def as_function(editor: Any) -> Callable[..., Any]:
    """The editor as a function of a picture, an instruction and a seed."""
    from convergebench.generation import pipelines
    from convergebench.generation.calls import Refused

    if not hasattr(editor, "components"):  # which every pipeline of diffusers has
        if not callable(editor):
            raise UserError(f"a {type(editor).__name__} cannot be called; give edit(image, instruction, seed)")
        return editor
    if reason := pipelines.why_not(type(editor)):
        raise UserError(f"a {type(editor).__name__} edits no picture by words: {reason}")

    def edit(image: Image.Image, instruction: str, seed: int) -> Image.Image:
        import torch

        given = pipelines.arguments(editor, image, instruction, {})
        with torch.no_grad():
            result = editor(generator=torch.Generator().manual_seed(seed), **given)
        if any(getattr(result, "nsfw_content_detected", None) or ()):
            raise Refused("the pipeline's safety checker")
        return pipelines.picture_of(result)

    return edit


@contextlib.contextmanager
def training_undisturbed(editor: Any) -> Iterator[None]:
    """Afterwards random numbers go on as if nothing had been, and every module is in the mode it was in."""
    import numpy as np

    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - the training may use it
    torch = sys.modules.get("torch")
    parts = getattr(editor, "components", None) or {}
    training = [part for part in parts.values() if getattr(part, "training", False) and hasattr(part, "eval")]
    # A part may hold modules that the training keeps in eval: each gets back its own mode.
    modes = [(module, module.training) for part in training for module in part.modules()]
    kept = torch.get_rng_state() if torch else None
    on_devices = torch.cuda.get_rng_state_all() if torch and torch.cuda.is_available() else []
    for part in training:
        part.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(kept)
        if torch and on_devices:
            torch.cuda.set_rng_state_all(on_devices)
