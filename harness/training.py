"""Checks an editor during its training: every few hundred steps, how many rounds do pictures survive?

check = ConvergenceCallback(every=500, logger=trackio)
for step, batch in enumerate(batches):
    ...  # train
    check(step, pipeline)
"""

import contextlib
import inspect
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError
from PIL import Image, ImageDraw

_SIDE, _GAP, _LINE = 128, 4, 16  # pixels: side of a frame, gap between frames, height of the text above
_MOST_CASES = 4  # rows of the strip
_LOGGED = {"rounds_kept": "rounds_kept", "survival": "survived", "area": "retained_quality", "forward": "edits_made"}
_METRICS = ("psnr", "ssim", "edit_applied")  # the metrics that need no weights
_Values = dict[str, float]


@dataclass
class ConvergenceCallback:
    """Runs a small suite with the current editor, and logs rounds kept, half-life and a strip of pictures.

    The editor is your function `edit(image, instruction, seed)`, or a pipeline of diffusers that takes instructions.
    `logger` is trackio, wandb, or anything with `log(dict)`. The training's random numbers are not disturbed.
    """

    every: int = 500
    suite: str = "smoke"
    rounds: int = 5
    logger: Any = None
    out: str | Path = "runs/training"
    metrics: Sequence[str] = _METRICS
    prefix: str = "convergence"
    history: list[tuple[int, _Values]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.every < 1:
            raise UserError(f"every must be at least 1 training step, got {self.every}")
        if self.logger is not None and not callable(getattr(self.logger, "log", None)):
            raise UserError(f"the logger must have a method log(dict), got {type(self.logger).__name__}")

    def __call__(self, step: int, editor: Any) -> _Values | None:
        """Check if this step is a multiple of `every`, except at step 0."""
        return self.check(step, editor) if step and step % self.every == 0 else None

    def check(self, step: int, editor: Any) -> _Values:
        """Check now; the logged values, without the strip."""
        from convergebench import dataset_builder, generation, metric_modules

        folder = Path(self.out) / f"step-{step:08d}"
        with _training_undisturbed(editor):
            outcome = generation.generate(
                _as_function(editor),
                self.suite,
                folder / "run",
                rounds=self.rounds,
                name="training",
                version=f"step-{step}",
                audit=False,
                quiet=True,
            )
            if outcome and outcome.stopped:
                raise UserError(f"the check at step {step} stopped: {outcome.stopped}")
            dataset_builder.build(folder / "run", folder / "dataset", quiet=True)
            metric_modules.score(folder / "dataset", list(self.metrics), quiet=True)
        values = {f"{self.prefix}/{name}": value for name, value in _headline(folder / "dataset").items()}
        self.history.append((step, values))
        picture = _strip(folder / "dataset", self.rounds)
        picture.save(folder / "strip.png")
        if self.logger is not None:
            _log(self.logger, step, values | {f"{self.prefix}/strip": picture})
        return values


def _headline(dataset: Path) -> _Values:
    """The editor's values on the leaderboard, and its half-life: the round by which half of the chains are lost.

    A report gives no half-life beyond the last round; here it counts as one round more than the last.
    """
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.spaces_app.reporting.write import read_analysis
    from convergebench.spaces_app.statistics import leaderboard

    analysis = read_analysis(Reader(dataset))
    rows = leaderboard.rows(analysis)
    if not rows:
        return {}
    row = rows[0]
    [outcomes] = analysis.outcomes[row.group].values()
    lost = sorted(outcome.lost_at or (row.last_round or 0) + 1 for outcome in outcomes)
    cells = row.cells
    values = {name: float(cells[column]) for column, name in _LOGGED.items() if cells[column] is not None}
    return values | {"half_life": float(lost[(len(lost) - 1) // 2])}


def _strip(dataset: Path, rounds: int) -> Image.Image:
    """A picture of a few cases, one in each row: the original, the first edit, and returns up to the last."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.generation.pictures import decode

    reader = Reader(dataset)
    chains = [chain for chain in reader.chains() if chain.program.closes][:_MOST_CASES]
    shown = sorted({1, (1 + rounds) // 2, rounds})
    columns = [("original", 0), ("edited", -1), *((f"undone {round}", round) for round in shown)]
    wide, high = (_SIDE + _GAP) * len(columns) - _GAP, (_SIDE + _LINE + _GAP) * max(1, len(chains)) - _GAP
    sheet = Image.new("RGB", (wide, high), "white")
    draw = ImageDraw.Draw(sheet)
    for row, chain in enumerate(chains):
        length = len(chain.program.cycle)
        for column, (words, round) in enumerate(columns):
            data = reader.picture(chain.id, max(1, length // 2) if round < 0 else round * length)
            x, y = column * (_SIDE + _GAP), row * (_SIDE + _LINE + _GAP)
            draw.text((x, y), chain.program.id if round < 0 else words, fill="black")
            if data:
                frame = decode(data)
                frame.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
                sheet.paste(frame, (x, y + _LINE))
    return sheet


def _log(logger: Any, step: int, values: Mapping[str, object]) -> None:
    """Log to trackio, wandb or the like, with its own class for pictures and its own way to pass the step."""
    kind = getattr(logger, "Image", None) or (lambda picture: picture)
    values = {name: kind(value) if isinstance(value, Image.Image) else value for name, value in values.items()}
    try:
        takes_step = "step" in inspect.signature(logger.log).parameters
    except (TypeError, ValueError):  # a function that is not written in Python
        takes_step = False
    if takes_step:
        logger.log(values, step=step)
    else:
        logger.log(values | {"step": step})


def _as_function(editor: Any) -> Callable[..., Any]:
    """The editor as a function of a picture, an instruction and a seed."""
    from convergebench.generation import pipelines
    from convergebench.generation.calls import Refused

    if not hasattr(editor, "components"):  # every pipeline of diffusers has it
        if not callable(editor):
            raise UserError(f"the editor must be edit(image, instruction, seed), got {type(editor).__name__}")
        return editor
    if reason := pipelines.why_not(type(editor)):
        raise UserError(f"{type(editor).__name__} does not edit pictures by words: {reason}")

    def edit(image: Image.Image, instruction: str, seed: int) -> Image.Image:
        import torch

        arguments = pipelines.arguments(editor, image, instruction, {})
        with torch.no_grad():
            result = editor(generator=torch.Generator().manual_seed(seed), **arguments)
        if any(getattr(result, "nsfw_content_detected", None) or ()):
            raise Refused("the pipeline's safety checker")
        return pipelines.picture_of(result)

    return edit


@contextlib.contextmanager
def _training_undisturbed(editor: Any) -> Iterator[None]:
    """Restore the state of all random generators, and each module's training mode, after the block."""
    import numpy as np

    torch = sys.modules.get("torch")
    parts = getattr(editor, "components", None) or {}
    with contextlib.ExitStack() as undo:
        undo.callback(random.setstate, random.getstate())
        undo.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002 - the training may use it
        if torch:
            undo.enter_context(torch.random.fork_rng(range(torch.cuda.device_count())))
        for part in parts.values():
            if getattr(part, "training", False) and hasattr(part, "eval"):
                # The training may keep some of a part's modules in eval mode, so each module gets back its own.
                for module in part.modules():
                    undo.callback(setattr, module, "training", module.training)
                part.eval()
        yield
