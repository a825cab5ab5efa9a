"""The recall audit: an editor that remembers the original looks perfect, so some chains are disturbed between calls.

In a tenth of the chains the forward picture is mirrored before it is to be undone, and the reference with it: a return
closer to the unmirrored reference was remembered. In another tenth every call's input is off by one grey level.
"""

import dataclasses
import hashlib

import numpy as np
from PIL import Image, ImageOps

from .records import Answer, Chain

MIRROR, NOISE = "mirror", "noise"


def with_audit(chain: Chain) -> Chain:
    """The chain with the audit that its own hash selects: mirror for a tenth of all chains, noise for another tenth."""
    kind = {0: MIRROR if can_be_mirrored(chain) else None, 1: NOISE}.get(int(chain.id, 16) % 10)
    return dataclasses.replace(chain, settings={**chain.settings, "audit": kind}) if kind else chain


def can_be_mirrored(chain: Chain) -> bool:
    """Whether a mirrored picture can be undone as asked: there is an undoing half, and no word for a side."""
    words = " ".join(chain.program.cycle).lower().replace(".", " ").replace(",", " ").split()
    sided = {"left", "right", "clockwise", "counterclockwise", "mirror", "flip", "rotate"} & set(words)
    return chain.program.closes and len(chain.program.cycle) % 2 == 0 and not sided and chain.source.kind != "text"


def is_mirrored(chain: Chain, number: int) -> bool:
    """Whether a step's picture is to be compared with the mirrored reference; it changes in the middle of a round."""
    if chain.settings.get("audit") != MIRROR:
        return False
    length = len(chain.program.cycle)
    turns = (number - 1 - length // 2) // length + 1
    return turns % 2 == 1


def audited_input(chain: Chain, number: int, picture: Image.Image) -> Image.Image:
    """The picture for a call: the answer of the call before it, mirrored or noised where the audit says so."""
    if is_mirrored(chain, number) != is_mirrored(chain, number - 1):
        return ImageOps.mirror(picture)
    if chain.settings.get("audit") == NOISE and number > 1:
        seed = int.from_bytes(hashlib.sha256(f"{chain.id}:{number}:noise".encode()).digest()[:8], "big")
        pixels = np.asarray(picture, dtype=np.int16)
        steps = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int16), pixels.shape)
        return Image.fromarray(np.clip(pixels + steps, 0, 255).astype(np.uint8))
    return picture


def with_audit_note(chain: Chain, number: int, answer: Answer) -> Answer:
    """The answer with a note of what the audit did to its call, so that a reader of the step alone can undo it."""
    kind = chain.settings.get("audit")
    if kind is None:
        return answer
    about = {"mirrored": is_mirrored(chain, number)} if kind == MIRROR else {"noised": number > 1}
    return dataclasses.replace(answer, details={**answer.details, "audit": about})
