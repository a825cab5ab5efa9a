"""The Hub's routes that move files: uploads, whole or in parts, and downloads with ranges."""

import json
import re
from typing import Any
from urllib.parse import quote

from hub_http import FILE, Handler, route
from hub_store import File, Refusal
from hub_xet import known

PIECE = 1 << 18


@route("POST", FILE + r"\.git/info/lfs/objects/batch")
def batch(on: Handler, kind: str, id: str) -> None:
    """What is left to upload, and where to; what is there already has no action."""
    on.must_write()
    on.repo(kind, id)
    objects = []
    for wanted in json.loads(on.body())["objects"]:
        oid, size = wanted["oid"], wanted["size"]
        about: dict[str, Any] = {"oid": oid, "size": size, "authenticated": True}
        if not on.server.store.large(oid).exists():
            upload: dict[str, Any] = {"href": f"{on.server.url}/lfs/put/{oid}"}
            if on.server.part_size and size > on.server.part_size:
                numbers = range(1, -(-size // on.server.part_size) + 1)
                parts = {f"{number:05d}": f"{on.server.url}/lfs/part/{oid}/{number}" for number in numbers}
                header = {"chunk_size": str(on.server.part_size), **parts}
                upload = {"href": f"{on.server.url}/lfs/complete/{oid}", "header": header}
            about["actions"] = {"upload": upload, "verify": {"href": f"{on.server.url}/lfs/verify"}}
        objects.append(about)
    on.reply({"transfer": "basic", "objects": objects})


@route("PUT", r"/lfs/put/(?P<oid>[0-9a-f]{64})")
def put(on: Handler, oid: str) -> None:
    part = on.server.store.folder / "parts" / f"{oid}.{id(on)}"
    on.save(part)
    on.server.store.accept(oid, part)
    on.reply(b"")


@route("PUT", r"/lfs/part/(?P<oid>[0-9a-f]{64})/(?P<number>\d+)")
def put_part(on: Handler, oid: str, number: str) -> None:
    on.save(on.server.store.folder / "parts" / f"{oid}-{int(number):05d}")
    on.reply(b"", headers={"ETag": f'"{number}"'})


@route("POST", r"/lfs/complete/(?P<oid>[0-9a-f]{64})")
def complete(on: Handler, oid: str) -> None:
    whole = on.server.store.folder / "parts" / oid
    with whole.open("wb") as file:
        for part in json.loads(on.body())["parts"]:
            path = whole.with_name(f"{oid}-{part['partNumber']:05d}")
            file.write(path.read_bytes())
            path.unlink()
    on.server.store.accept(oid, whole)
    on.reply({})


@route("POST", r"/lfs/verify")
def verify(on: Handler) -> None:
    wanted = json.loads(on.body())
    path = on.server.store.large(wanted["oid"])
    if not path.exists() or path.stat().st_size != wanted["size"]:
        raise Refusal(404, "the object is not there")
    on.reply({})


@route("GET", FILE + r"/(?:resolve|raw)/(?P<revision>[^/]+)/(?P<path>.+)")
def resolve(on: Handler, kind: str, id: str, revision: str, path: str) -> None:
    """A small file itself; of a large one, where it lies, as the real Hub redirects to its content network."""
    commit = on.repo(kind, id).at(revision)
    headers = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
    if path not in commit.files:
        raise Refusal(404, "Entry not found", "EntryNotFound", headers)
    file = commit.files[path]
    if not file.sha256:
        send(on, file, {**headers, "ETag": f'"{file.oid}"'})
        return
    linked = {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
    if on.server.store.cas and (hash := known(on.server.store.cas).get(file.sha256)):
        auth = f"{on.server.url}/api/{kind or 'models'}/{id}/xet-read-token/{commit.oid}"
        linked |= {"X-Xet-Hash": hash, "Link": f'<{auth}>; rel="xet-auth"'}
    location = f"{on.server.content_url}/content/{file.sha256}/{quote(path.rsplit('/', 1)[-1])}"
    on.head(302, 0, {**headers, **linked, "Location": location, "ETag": f'"{file.sha256}"'})


@route("GET", r"/content/(?P<oid>[0-9a-f]{64})/(?P<name>.+)")
def content(on: Handler, oid: str, name: str) -> None:
    path = on.server.store.large(oid)
    send(on, File("", path.stat().st_size, oid), {"ETag": f'"{oid}"', "Accept-Ranges": "bytes"})


def send(on: Handler, file: File, headers: dict[str, str]) -> None:
    """The file, or the range of it that was asked for."""
    start, end, status = 0, file.size, 200
    if asked := re.fullmatch(r"bytes=(\d*)-(\d*)", on.headers.get("Range", "")):
        first, last = asked.groups()
        start = int(first) if first else max(0, file.size - int(last))
        end = min(file.size, int(last) + 1) if first and last else file.size
        status = 206
        if start >= file.size:
            raise Refusal(416, "Requested range not satisfiable", headers={"Content-Range": f"bytes */{file.size}"})
        headers = {**headers, "Content-Range": f"bytes {start}-{end - 1}/{file.size}"}
    on.head(status, end - start, {"Content-Type": "application/octet-stream", **headers})
    if on.command == "HEAD":
        return
    with on.server.store.blob(file).open("rb") as source:
        source.seek(start)
        left = end - start
        while left:
            piece = source.read(min(left, PIECE))
            on.wfile.write(piece)
            on.exchange.sent += len(piece)
            left -= len(piece)
