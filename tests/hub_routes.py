"""The Hub's routes: repositories, revisions, listings, commits and tags, and those that move files."""

import json
import re
from urllib.parse import quote, urlsplit

from hub_server import BINARY, FILE, LARGE, PIECE, REPO, Refusal, route

DATE = "2026-01-01T00:00:00.000Z"
PAGE = 20  # entries of a listing in one answer, so that clients must ask on


@route("POST", r"/api/validate-yaml")
def validate(on):
    text = json.loads(on.body())["content"]
    message = {"message": "empty or missing yaml metadata in repo card"}
    on.reply({"errors": [], "warnings": [] if text.startswith("---\n") else [message]})


@route("POST", r"/api/repos/create")
def create(on):
    values = json.loads(on.body())
    kind, id = values.get("type", "model"), f"{values.get('organization') or 'someone'}/{values['name']}"
    on.must_write(id)
    created = on.server.store.create(kind, id, values.get("sdk"))
    url = f"{on.server.url}/{'' if kind == 'model' else kind + 's/'}{id}"
    on.reply({"url": url, "name": id} | ({} if created else {"error": "exists"}), 200 if created else 409)


@route("GET", REPO + r"(?:/revision/(?P<revision>[^/]+))?")
def info(on, repo, revision):
    commit = repo.at(revision or "main")
    siblings = [{"rfilename": path, "size": file.size} for path, file in sorted(commit.files.items())]
    about = {"_id": repo.id, "id": repo.id, "sha": commit.oid, "sdk": repo.sdk, "siblings": siblings}
    about |= {"private": False, "disabled": False, "gated": False, "lastModified": DATE}
    on.reply({**about, "tags": [], "downloads": 0, "likes": 0})


@route("GET", REPO + r"/refs")
def refs(on, repo):
    branches, tags = (
        [{"name": n, "ref": f"refs/{prefix}/{n}", "targetCommit": oid} for n, oid in sorted(names.items())]
        for prefix, names in (("heads", repo.branches), ("tags", repo.tags))
    )
    on.reply({"branches": branches, "tags": tags, "converts": []})


@route("GET", REPO + r"/commits/(?P<revision>[^/]+)")
def commits(on, repo, revision):
    about = {"date": DATE, "authors": []}
    history = repo.history(revision)
    on.reply([{"id": each.oid, "title": each.title, "message": each.message, **about} for each in history])


@route("GET", REPO + r"/tree/(?P<revision>[^/]+)(?:/(?P<path>.+))?")
def tree(on, repo, revision, path):
    files = repo.at(revision).files
    prefix = path.rstrip("/") + "/" if path else ""
    found = {name: file for name, file in sorted(files.items()) if name.startswith(prefix)}
    if path and not found:
        raise Refusal(404, f'"{path}" does not exist on "{revision}"', "EntryNotFound")
    entries = {}
    for name, file in found.items():
        parts = name[len(prefix) :].split("/")
        for depth in range(1, len(parts)):
            folder = prefix + "/".join(parts[:depth])
            entries.setdefault(folder, {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0})
        entries[name] = {"type": "file", "path": name, "oid": file.oid, "size": file.size}
        if file.sha256:
            entries[name]["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 134}
    recursive = on.query.get("recursive", ["false"])[0].lower() == "true"
    rows = [e for name, e in sorted(entries.items()) if recursive or "/" not in name[len(prefix) :]]
    start = int(on.query.get("cursor", ["0"])[0])
    headers = {}
    if start + PAGE < len(rows):
        query = f"recursive={recursive}&cursor={start + PAGE}"
        headers["Link"] = f'<{on.server.url}{quote(urlsplit(on.path).path, safe="/%")}?{query}>; rel="next"'
    on.reply(rows[start : start + PAGE], headers=headers)


@route("POST", REPO + r"/preupload/(?P<revision>[^/]+)")
def preupload(on, repo, revision):
    on.must_write(repo.id)
    known, shown = repo.at(revision).files, []
    for file in json.loads(on.body())["files"]:
        path, there = file["path"], known.get(file["path"])
        mode = "lfs" if path.endswith(BINARY) or file["size"] >= LARGE else "regular"
        oid = {"oid": there.sha256 or there.oid} if there else {}
        shown.append({"path": path, "uploadMode": mode, "shouldIgnore": False} | oid)
    on.reply({"files": shown})


@route("POST", REPO + r"/commit/(?P<revision>[^/]+)")
def commit(on, repo, revision):
    on.must_write(repo.id)
    lines = [json.loads(line) for line in on.body().splitlines() if line]
    pull_request = on.query.get("create_pr") == ["1"]
    made = on.server.store.commit(repo, revision, lines, pull_request)
    url = f"{on.server.url}/{repo.kind}s/{repo.id}/commit/{made.oid}"
    number = sum(name.startswith("refs/pr/") for name in repo.branches)
    opened = {"pullRequestUrl": f"{on.server.url}/{repo.id}/discussions/{number}"} if pull_request else {}
    on.reply({"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": "", **opened})


@route("POST", REPO + r"/tag/(?P<revision>[^/]+)")
def tag(on, repo, revision):
    on.must_write(repo.id)
    on.server.store.tag(repo, revision, json.loads(on.body())["tag"])
    on.reply({})


# Files


@route("POST", FILE + r"\.git/info/lfs/objects/batch")
def batch(on, repo):
    """What is left to upload, and where to; what is there already has no action."""
    on.must_write()
    objects = []
    for wanted in json.loads(on.body())["objects"]:
        oid, size = wanted["oid"], wanted["size"]
        about = {"oid": oid, "size": size, "authenticated": True}
        if not on.server.store.blob(oid).exists():
            places = {"upload": f"{on.server.url}/lfs/put/{oid}", "verify": f"{on.server.url}/lfs/verify"}
            about["actions"] = {name: {"href": place} for name, place in places.items()}
        objects.append(about)
    on.reply({"transfer": "basic", "objects": objects})


@route("PUT", r"/lfs/put/(?P<oid>[0-9a-f]{64})")
def put(on, oid):
    part = on.server.store.blob(f"{oid}.{id(on)}.part")
    on.save(part)
    on.server.store.accept(oid, part)
    on.reply(b"")


@route("POST", r"/lfs/verify")
def verify(on):
    on.body()
    on.reply({})


@route("GET", FILE + r"/(?:resolve|raw)/(?P<revision>[^/]+)/(?P<path>.+)")
def resolve(on, repo, revision, path):
    """A small file itself; of a large one, where it lies, as the real Hub redirects to its content network."""
    commit = repo.at(revision)
    headers = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
    if path not in commit.files:
        raise Refusal(404, "Entry not found", "EntryNotFound", headers)
    file = commit.files[path]
    if not file.sha256:
        send(on, file.oid, {**headers, "ETag": f'"{file.oid}"'})
        return
    linked = {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
    location = f"{on.server.content_url}/content/{file.sha256}/{quote(path.rsplit('/', 1)[-1])}"
    on.head(302, 0, {**headers, **linked, "Location": location, "ETag": f'"{file.sha256}"'})


@route("GET", r"/content/(?P<oid>[0-9a-f]{64})/(?P<name>.+)")
def content(on, oid, name):
    send(on, oid, {"ETag": f'"{oid}"', "Accept-Ranges": "bytes"})


def send(on, oid, headers):
    """A file, or the range of it that was asked for."""
    path = on.server.store.blob(oid)
    start, end, status = 0, path.stat().st_size, 200
    if asked := re.fullmatch(r"bytes=(\d*)-(\d*)", on.headers.get("Range", "")):
        first, last = asked.groups()
        start, size, status = int(first) if first else max(0, end - int(last)), end, 206
        end = min(size, int(last) + 1) if first and last else size
        headers = {**headers, "Content-Range": f"bytes {start}-{end - 1}/{size}"}
    on.head(status, end - start, {"Content-Type": "application/octet-stream", **headers})
    if on.command == "HEAD":
        return
    with path.open("rb") as source:
        source.seek(start)
        while left := end - source.tell():
            on.exchange.sent += on.wfile.write(source.read(min(left, PIECE)))
