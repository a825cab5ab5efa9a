"""The recall audit: some chains are disturbed between calls, to see who remembers.

In a tenth of the chains marks are planted in the edited picture before the undo:
an answer without them was remembered. In another tenth, every later input is off
by one grey level. A salt that the organiser keeps secret selects the chains.
"""

import dataclasses
import hashlib
import hmac

import numpy as np
from PIL import Image

from ...audits import Earlier, Note, salt_hash
from ...records import Chain
from .marks import adds_a_thing, choose_marks, with_marks

_MARKS, _NOISE = "marks", "noise"
_MARKED_ROUNDS = 3  # the first three: to behave in the first alone gains nothing


def with_audit(chain: Chain, salt: bytes = b"") -> Chain:
    """The chain with the audit, if any, that its id and the salt select."""
    settings = dict(chain.settings)
    if salt:
        settings["salt"] = salt_hash(salt)[:16]
        number = int.from_bytes(hmac.digest(salt, chain.id.encode(), "sha256")[:8], "big")
    else:
        number = int(chain.id, 16)
    # Marks can be detected only if everything except the edit keeps its place and colours.
    can_be_marked = adds_a_thing(chain.program.cycle, chain.program.closes) and chain.source.kind != "text"
    if number % 10 == 0 and can_be_marked:
        settings |= {"audit": _MARKS, "audit_round": number // 10 % min(_MARKED_ROUNDS, chain.rounds) + 1}
    elif number % 10 == 1 and chain.calls > 1:  # noise comes before the second call
        settings["audit"] = _NOISE
    return dataclasses.replace(chain, settings=settings) if settings != chain.settings else chain


def audited_input(
    chain: Chain, number: int, picture: Image.Image, earlier: Earlier
) -> tuple[Image.Image, Note | None]:
    kind, half = chain.settings.get("audit"), len(chain.program.cycle) // 2
    pixels = np.asarray(picture)
    seed = int.from_bytes(hashlib.sha256(f"{chain.id}:{number}:{kind}".encode()).digest()[:8], "big")
    if kind == _NOISE and number > 1:
        steps = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int16), pixels.shape)
        picture = Image.fromarray(np.clip(pixels.astype(np.int16) + steps, 0, 255).astype(np.uint8))
    if kind == _NOISE:
        return picture, {"noised": number > 1}
    first_undo = (int(chain.settings.get("audit_round") or 1) - 1) * len(chain.program.cycle) + half + 1
    if kind != _MARKS or number != first_undo:
        return picture, None
    marks = choose_marks(earlier(number - 1 - half), picture, seed)
    return Image.fromarray(with_marks(pixels, marks)[0]), {"marks": [list(mark) for mark in marks]}
