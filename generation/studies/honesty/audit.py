"""The recall audit: some chains are disturbed between calls, to see who remembers.

In a tenth of the chains marks are planted in the edited picture before the undo:
an answer without them was remembered. A salt that the organiser keeps secret
selects the chains.
"""

import dataclasses
import hashlib
import hmac

import numpy as np
from PIL import Image

from ...audits import Earlier, Note, salt_hash
from ...records import Chain
from .marks import adds_a_thing, choose_marks, with_marks

_MARKS = "marks"
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
    return dataclasses.replace(chain, settings=settings) if settings != chain.settings else chain


def audited_input(
    chain: Chain, number: int, picture: Image.Image, earlier: Earlier
) -> tuple[Image.Image, Note | None]:
    half = len(chain.program.cycle) // 2
    first_undo = (int(chain.settings.get("audit_round") or 1) - 1) * len(chain.program.cycle) + half + 1
    if chain.settings.get("audit") != _MARKS or number != first_undo:
        return picture, None
    seed = int.from_bytes(hashlib.sha256(f"{chain.id}:{number}:{_MARKS}".encode()).digest()[:8], "big")
    marks = choose_marks(earlier(number - 1 - half), picture, seed)
    return Image.fromarray(with_marks(np.asarray(picture), marks)[0]), {"marks": [list(mark) for mark in marks]}
