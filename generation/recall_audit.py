"""The recall audit: an editor that remembers the original looks perfect, so some chains are disturbed between calls.

In a tenth of the chains small marks are planted into the forward picture, away from the edit, before the edit is to be
undone: an answer without them was remembered. In another tenth every call's input is off by one grey level. Which
chains these are depends on a salt that whoever organises a comparison keeps until it is over; the run names its hash.

Runs of before have chains in which the forward picture was mirrored, and the reference with it.
"""

import dataclasses
import hashlib
import hmac
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from .marks import adds_a_thing, choose_marks, with_marks
from .records import Answer, Chain, UserError

MARKS, NOISE = "marks", "noise"
MIRROR = "mirror"  # of runs that were begun before marks were planted
MARKED_ROUNDS = 3  # in one of so many first rounds: what an editor does in the first alone does not help it
SALT_FILE = "CONVERGEBENCH_SALT_FILE"
SHORTEST = 16  # bytes of a salt

Note = dict[str, Any]  # what the audit did before a call, kept in the step's details
Earlier = Callable[[int], Image.Image]  # the picture of an earlier step, by its number


def read_salt(path: str | Path | None = None) -> bytes:
    """The salt in a file, or in that which CONVERGEBENCH_SALT_FILE names; empty where there is none."""
    name = path or os.environ.get(SALT_FILE)
    if not name:
        return b""
    try:
        salt = Path(name).read_bytes().strip()
    except OSError as error:
        raise UserError(f"the salt's file {str(name)!r} cannot be read: {error.strerror}") from error
    if len(salt) < SHORTEST:
        raise UserError(f"the salt in {str(name)!r} has {len(salt)} bytes; it has {SHORTEST} or more, chosen at random")
    return salt


def salt_hash(salt: bytes) -> str:
    """What may be told of a salt before it is published."""
    return hashlib.sha256(salt).hexdigest()


def with_audit(chain: Chain, salt: bytes = b"") -> Chain:
    """The chain with the audit that its own id and the salt select: marks for a tenth, noise for another tenth.

    A salted chain names the salt's hash, and so has an id and seeds of its own.
    """
    settings = dict(chain.settings)
    if salt:
        settings["salt"] = salt_hash(salt)[:16]
        number = int.from_bytes(hmac.digest(salt, chain.id.encode(), "sha256")[:8], "big")
    else:
        number = int(chain.id, 16)
    if number % 10 == 0 and can_be_marked(chain):
        settings |= {"audit": MARKS, "audit_round": number // 10 % min(MARKED_ROUNDS, chain.rounds) + 1}
    elif number % 10 == 1 and asks_twice(chain):
        settings["audit"] = NOISE
    return dataclasses.replace(chain, settings=settings) if settings != chain.settings else chain


def asks_twice(chain: Chain) -> bool:
    """Whether there is a second call, before which an audit could disturb anything."""
    return chain.rounds * len(chain.program.cycle) > 1


def as_begun(chain: Chain, run: Path) -> Chain:
    """The chain as a run of before began it, where another form of it would repeat what was paid for.

    That is a mirrored one for a marked one, and for one of a single call one that drew noise and was never disturbed.
    """
    if "audit" not in chain.settings and not asks_twice(chain):
        drawn = dataclasses.replace(chain, settings={**chain.settings, "audit": NOISE})
        return drawn if (run / "chains" / drawn.id).exists() else chain
    if chain.settings.get("audit") != MARKS or "salt" in chain.settings:
        return chain
    plain = {key: value for key, value in chain.settings.items() if key != "audit_round"}
    before = dataclasses.replace(chain, settings={**plain, "audit": MIRROR})
    return before if (run / "chains" / before.id).exists() else chain


def can_be_marked(chain: Chain) -> bool:
    """Whether all that is not the edit stays in its place and its colours, so that marks can be found again."""
    return adds_a_thing(chain.program.cycle, chain.program.closes) and chain.source.kind != "text"


def is_mirrored(chain: Chain, number: int) -> bool:
    """Whether a step's picture is to be compared with the mirrored reference; it changes in the middle of a round."""
    if chain.settings.get("audit") != MIRROR:
        return False
    length = len(chain.program.cycle)
    turns = (number - 1 - length // 2) // length + 1
    return turns % 2 == 1


def is_marked(chain: Chain, number: int) -> bool:
    """Whether marks are planted before this step: the first undo of one round."""
    length = len(chain.program.cycle)
    round = chain.settings.get("audit_round")
    return chain.settings.get("audit") == MARKS and number == (int(round or 1) - 1) * length + length // 2 + 1


def audited_input(chain: Chain, number: int, picture: Image.Image, earlier: Earlier) -> tuple[Image.Image, Note | None]:
    """The picture for a call, as the audit has it, and a note by which a reader of the step alone can undo it."""
    kind = chain.settings.get("audit")
    if kind == MIRROR:
        turned = is_mirrored(chain, number)
        turn = turned != is_mirrored(chain, number - 1)
        return ImageOps.mirror(picture) if turn else picture, {"mirrored": turned}
    if kind == NOISE:
        return (with_noise(chain, number, picture) if number > 1 else picture), {"noised": number > 1}
    if is_marked(chain, number):
        before = earlier(number - 1 - len(chain.program.cycle) // 2)
        marks = choose_marks(before, picture, seed_of(chain, number, MARKS))
        marked, _ = with_marks(np.asarray(picture), marks)
        return Image.fromarray(marked), {"marks": [list(mark) for mark in marks]}
    return picture, None


def with_noise(chain: Chain, number: int, picture: Image.Image) -> Image.Image:
    pixels = np.asarray(picture, dtype=np.int16)
    random = np.random.default_rng(seed_of(chain, number, NOISE))
    steps = random.choice(np.array([-1, 1], dtype=np.int16), pixels.shape)
    return Image.fromarray(np.clip(pixels + steps, 0, 255).astype(np.uint8))


def seed_of(chain: Chain, number: int, kind: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{chain.id}:{number}:{kind}".encode()).digest()[:8], "big")


def with_audit_note(answer: Answer, note: Note | None) -> Answer:
    """The answer with the audit's note."""
    return dataclasses.replace(answer, details={**answer.details, "audit": note}) if note is not None else answer
