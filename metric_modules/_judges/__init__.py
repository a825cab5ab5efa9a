"""Judges: vision and language models that answer questions about a dataset's steps."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run import Outcome

__all__ = ["judge"]


def judge(
    dataset: str | Path,
    judge: str,
    question: str,
    *,
    max_cost: float | None = None,
    limit: int | None = None,
    editors: Sequence[str] = (),
    programs: Sequence[str] = (),
    calibration: int | None = None,
    again: bool = False,
    quiet: bool = False,
) -> "Outcome":
    """Ask a model one question about a dataset's steps; calling it again asks only what is missing.

    `judge` names the model with its options, such as `gemini` or `openai:model=NAME,base_url=http://HOST/v1`;
    `question` is a question's name or a file. A fixed sample of `calibration` steps is asked again in each run; the
    outcome's `alarms` say if the judge no longer answers as it did.
    """
    from convergebench.generation.progress import progress_bar

    from . import asks, backends, drift, questions, run

    return run.judge_question(
        Path(dataset),
        backends.choose(judge),
        questions.load(question),
        max_cost=max_cost,
        chosen=asks.chooser(editors, programs),
        limit=limit,
        sample=drift.SAMPLE if calibration is None else calibration,
        again=again,
        advance=lambda calls: progress_bar("asking", calls, "answers", quiet=quiet),
    )
