"""Ends every instruction with a sentence that says to keep everything else."""

from dataclasses import replace

from PIL import Image

from ..records import Answer
from . import Ask

_CLAUSE = "Keep everything else exactly as it is."


def edit(ask: Ask, image: Image.Image, instruction: str, seed: int) -> Answer:
    words = f"{instruction.rstrip(' .')}. {_CLAUSE}"
    answer = ask(image, words, seed)
    return replace(answer, details={**answer.details, "asked": words})
