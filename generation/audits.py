"""Audits: a study disturbs some chains between calls, to find editors that do not answer from the picture alone.

Such a study has a file `audit.py` with two functions. `with_audit(chain, salt)` returns the
chain, with settings for its audit if it is selected. `audited_input(chain, number, picture,
earlier)` returns the picture for a call, and a note of what was done to it or None.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from . import studies
from .records import Chain, Json, UserError

_SALT_FILE = "CONVERGEBENCH_SALT_FILE"
_SHORTEST_SALT = 16  # bytes: 128 bits cannot be guessed
_LONGEST_SALT = 4096
# Of a chain: its audit, the audited round, and the start of the salt's hash.
SETTINGS = ("audit", "audit_round", "salt")

Note = Json  # what an audit did before a call, kept in the step's details
Earlier = Callable[[int], Image.Image]  # the picture of an earlier step, by its number


def read_salt(path: str | Path | None = None) -> bytes:
    """The secret that chooses audits, from this file or the one that CONVERGEBENCH_SALT_FILE names; empty if neither.

    The organiser of a comparison keeps it secret until the results are out.
    """
    name = path or os.environ.get(_SALT_FILE)
    if not name:
        return b""
    try:
        with Path(name).open("rb") as file:
            salt = file.read(_LONGEST_SALT + 1).strip()
    except OSError as error:
        raise UserError(f"the salt file {str(name)!r} cannot be read: {error.strerror}") from error
    if not _SHORTEST_SALT <= len(salt) <= _LONGEST_SALT:
        allowed = f"{_SHORTEST_SALT} to {_LONGEST_SALT} random bytes"
        raise UserError(f"the salt in {str(name)!r} must have {allowed}, got {len(salt)}")
    return salt


def salt_hash(salt: bytes) -> str:
    return hashlib.sha256(salt).hexdigest()


def with_audit(chain: Chain, salt: bytes = b"") -> Chain:
    for module in studies.modules("audit"):
        chain = module.with_audit(chain, salt)
    return chain


def audited_input(
    chain: Chain, number: int, picture: Image.Image, earlier: Earlier
) -> tuple[Image.Image, Note | None]:
    """The picture for a call, disturbed if its chain is audited, and a note of that."""
    for module in studies.modules("audit") if "audit" in chain.settings else []:
        disturbed, note = module.audited_input(chain, number, picture, earlier)
        if note is not None:
            return disturbed, note
    return picture, None
