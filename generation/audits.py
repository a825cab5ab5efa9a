"""Audits: what a study does to some chains between calls, to find editors that do not answer from the picture alone.

A study that audits has a file `audit.py` with two functions: `with_audit(chain, salt)` gives the chain, with settings
that say how it is audited if it is among those drawn; `audited_input(chain, number, picture, earlier)` gives the
picture for a call and a note of what was done to it, or None.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from . import studies
from .records import Chain, UserError

_SALT_FILE = "CONVERGEBENCH_SALT_FILE"
_SHORTEST_SALT = 16  # bytes: nobody guesses 128 bits
SETTINGS = ("audit", "audit_round", "salt")  # of a chain: which audit it has, where, and the start of the salt's hash

Note = dict[str, Any]  # what an audit did before a call, kept in the step's details
Earlier = Callable[[int], Image.Image]  # the picture of an earlier step, by its number


def read_salt(path: str | Path | None = None) -> bytes:
    """The secret that chooses audits, from this file or the one that CONVERGEBENCH_SALT_FILE names; empty if neither.

    Whoever organises a comparison keeps it until the results are out.
    """
    name = path or os.environ.get(_SALT_FILE)
    if not name:
        return b""
    try:
        salt = Path(name).read_bytes().strip()
    except OSError as error:
        raise UserError(f"the salt file {str(name)!r} cannot be read: {error.strerror}") from error
    if len(salt) < _SHORTEST_SALT:
        raise UserError(f"the salt in {str(name)!r} must have at least {_SHORTEST_SALT} random bytes, got {len(salt)}")
    return salt


def salt_hash(salt: bytes) -> str:
    """What may be published of a salt before the salt itself."""
    return hashlib.sha256(salt).hexdigest()


def with_audit(chain: Chain, salt: bytes = b"") -> Chain:
    """The chain with the audits that its id and the salt draw for it."""
    for module in studies.modules("audit"):
        chain = module.with_audit(chain, salt)
    return chain


def audited_input(chain: Chain, number: int, picture: Image.Image, earlier: Earlier) -> tuple[Image.Image, Note | None]:
    """The picture for a call as its chain's audit has it, and a note by which a reader of the step can undo it."""
    for module in studies.modules("audit") if "audit" in chain.settings else []:
        disturbed, note = module.audited_input(chain, number, picture, earlier)
        if note is not None:
            return disturbed, note
    return picture, None
