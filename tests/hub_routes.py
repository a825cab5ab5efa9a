"""The Hub's routes: repositories, revisions, listings, commits and tags, and those that move files."""

import json
import re
from typing import Any
from urllib.parse import quote, urlsplit

from hub_server import FILE, PIECE, REPO, Handler, route
from hub_store import File, Refusal, mode

PAGE = 20  # entries of a listing in one answer, so that clients must ask on


@route("GET", r"/api/agent-harnesses")
def harnesses(on: Handler) -> None:
    on.reply({"standardEnvVars": [], "harnesses": {}})


@route("POST", r"/api/validate-yaml")
def validate(on: Handler) -> None:
    text = json.loads(on.body())["content"]
    message = {"message": "empty or missing yaml metadata in repo card"}
    on.reply({"errors": [], "warnings": [] if text.startswith("---\n") else [message]})


@route("POST", r"/api/repos/create")
def create(on: Handler) -> None:
    values = json.loads(on.body())
    kind, id = values.get("type", "model"), f"{values.get('organization') or 'someone'}/{values['name']}"
    on.must_write(id)
    created = on.server.store.create(kind, id, values.get("sdk"))
    url = f"{on.server.url}/{'' if kind == 'model' else kind + 's/'}{id}"
    on.reply({"url": url, "name": id} | ({} if created else {"error": "exists"}), 200 if created else 409)


@route("GET", REPO + r"(?:/revision/(?P<revision>[^/]+))?")
def info(on: Handler, kind: str, id: str, revision: str) -> None:
    repo = on.repo(kind, id)
    commit = repo.at(revision or "main")
    siblings = [{"rfilename": path, "size": file.size} for path, file in sorted(commit.files.items())]
    date = "2026-01-01T00:00:00.000Z"
    about = {"_id": id, "id": id, "sha": commit.oid, "private": False, "siblings": siblings, "lastModified": date}
    on.reply(
        {**about, "sdk": repo.sdk, "tags": [], "disabled": False, "gated": False, "downloads": 0, "likes": 0}
    )


@route("GET", REPO + r"/refs")
def refs(on: Handler, kind: str, id: str) -> None:
    repo = on.repo(kind, id)

    branches, tags = (
        [{"name": n, "ref": f"refs/{prefix}/{n}", "targetCommit": oid} for n, oid in sorted(names.items())]
        for prefix, names in (("heads", repo.branches), ("tags", repo.tags))
    )
    on.reply({"branches": branches, "tags": tags, "converts": []})


@route("GET", REPO + r"/commits/(?P<revision>[^/]+)")
def commits(on: Handler, kind: str, id: str, revision: str) -> None:
    date = "2026-01-01T00:00:00.000Z"
    history = on.repo(kind, id).history(revision)
    shown = [{"id": c.oid, "title": c.title, "message": c.message, "date": date, "authors": []} for c in history]
    on.reply(shown)


@route("GET", REPO + r"/tree/(?P<revision>[^/]+)(?:/(?P<path>.+))?")
def tree(on: Handler, kind: str, id: str, revision: str, path: str) -> None:
    files = on.repo(kind, id).at(revision).files
    prefix = path.rstrip("/") + "/" if path else ""
    found = {name: file for name, file in sorted(files.items()) if name.startswith(prefix)}
    if path and not found:
        raise Refusal(404, f'"{path}" does not exist on "{revision}"', "EntryNotFound")
    entries: dict[str, dict[str, Any]] = {}
    for name, file in found.items():
        parts = name[len(prefix) :].split("/")
        for depth in range(1, len(parts)):
            folder = prefix + "/".join(parts[:depth])
            entries.setdefault(folder, {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0})
        entries[name] = described(name, file)
    recursive = on.query.get("recursive", ["false"])[0].lower() == "true"
    rows = [e for name, e in sorted(entries.items()) if recursive or "/" not in name[len(prefix) :]]
    start = int(on.query.get("cursor", ["0"])[0])
    headers = {}
    if start + PAGE < len(rows):
        query = f"recursive={recursive}&cursor={start + PAGE}"
        headers["Link"] = f'<{on.server.url}{quote(urlsplit(on.path).path, safe="/%")}?{query}>; rel="next"'
    on.reply(rows[start : start + PAGE], headers=headers)


@route("POST", REPO + r"/preupload/(?P<revision>[^/]+)")
def preupload(on: Handler, kind: str, id: str, revision: str) -> None:
    on.must_write(id)
    known = on.repo(kind, id).at(revision).files
    shown = []
    for file in json.loads(on.body())["files"]:
        path, there = file["path"], known.get(file["path"])
        oid = {"oid": there.sha256 or there.oid} if there else {}
        shown.append({"path": path, "uploadMode": mode(path, file["size"]), "shouldIgnore": False} | oid)
    on.reply({"files": shown})


@route("POST", REPO + r"/commit/(?P<revision>[^/]+)")
def commit(on: Handler, kind: str, id: str, revision: str) -> None:
    on.must_write(id)
    lines = [json.loads(line) for line in on.body().splitlines() if line]
    pull_request = on.query.get("create_pr") == ["1"]
    repo = on.repo(kind, id)
    made = on.server.store.commit(repo, revision, lines, pull_request)
    url = f"{on.server.url}/{kind}/{id}/commit/{made.oid}"
    number = sum(name.startswith("refs/pr/") for name in repo.branches)
    opened = {"pullRequestUrl": f"{on.server.url}/{id}/discussions/{number}"} if pull_request else {}
    on.reply({"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": "", **opened})


@route("POST", REPO + r"/tag/(?P<revision>[^/]+)")
def tag(on: Handler, kind: str, id: str, revision: str) -> None:
    on.must_write(id)
    on.server.store.tag(on.repo(kind, id), revision, json.loads(on.body())["tag"])
    on.reply({})


def described(path: str, file: File) -> dict[str, Any]:
    about: dict[str, Any] = {"type": "file", "path": path, "oid": file.oid, "size": file.size}
    if file.sha256:
        about["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 134}
    return about


# Files


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
            about["actions"] = {"upload": upload, "verify": {"href": f"{on.server.url}/lfs/verify"}}
        objects.append(about)
    on.reply({"transfer": "basic", "objects": objects})


@route("PUT", r"/lfs/put/(?P<oid>[0-9a-f]{64})")
def put(on: Handler, oid: str) -> None:
    part = on.server.store.folder / "parts" / f"{oid}.{id(on)}"
    on.save(part)
    on.server.store.accept(oid, part)
    on.reply(b"")


@route("POST", r"/lfs/verify")
def verify(on: Handler) -> None:
    on.body()
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
