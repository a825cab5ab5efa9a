"""The Hub's side of Xet, with the client library's own local store as the content-addressed one.

Clients ask here for a token and are told an address that begins with local://. What they put there is found by its
sha256 in the store's shards, and read back through the library itself.
"""

import struct
import time
from pathlib import Path

from hub_http import REPO, Handler, HubServer, route

RECORD = 48  # every record of a shard has so many bytes
VERIFIED, DESCRIBED = 1 << 31, 1 << 30
LAST = b"\xff" * 32
SOON = 3600


def enable(server: HubServer) -> None:
    """From now on clients that know Xet use it."""
    server.store.cas = server.store.folder / "cas"
    server.store.cas.mkdir()
    server.store.restore = restore


@route("GET", REPO + r"/xet-(?:read|write)-token/(?P<revision>[^/]+)")
def token(on: Handler, kind: str, id: str, revision: str) -> None:
    on.repo(kind, id)
    address, until = f"local://{on.server.store.cas}", int(time.time()) + SOON
    headers = {"X-Xet-Cas-Url": address, "X-Xet-Access-Token": "local", "X-Xet-Token-Expiration": str(until)}
    on.reply({"casUrl": address, "accessToken": "local", "exp": until}, headers=headers)


def known(cas: Path) -> dict[str, str]:
    """The Xet hash of every file in the store, by its sha256."""
    found = {}
    for shard in (cas / "xet" / "xorbs" / "shards").glob("*.mdb"):
        data = shard.read_bytes()
        place = RECORD  # after the shard's own header
        while data[place : place + 32] != LAST:
            flags, entries = struct.unpack_from("<II", data, place + 32)
            end = place + RECORD * (1 + entries * (2 if flags & VERIFIED else 1))
            if flags & DESCRIBED:
                found[hexadecimal(data[end : end + 32])] = hexadecimal(data[place : place + 32])
                end += RECORD
            place = end
    return found


def hexadecimal(raw: bytes) -> str:
    """A hash as it is written: four little-endian numbers."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))


def restore(cas: Path, sha256: str, size: int, target: Path) -> bool:
    """Put a file that clients uploaded through Xet where plain requests are served from."""
    import hf_xet

    if sha256 not in (hashes := known(cas)):
        return False
    information = hf_xet.XetFileInfo(hashes[sha256], size)
    access = {"endpoint": f"local://{cas}", "token": "local", "token_expiry_unix_secs": int(time.time()) + SOON}
    with hf_xet.XetSession().new_file_download_group(**access) as group:
        group.start_download_file(information, str(target))
    return True
