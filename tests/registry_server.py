"""Loopback mirrors in the forms that real ones have: a package index, and a Debian archive."""

import contextlib
import hashlib
import io
import subprocess
import tarfile
import zipfile

from vendors.loopback import Reply, serving


def wheel(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return buffer.getvalue()


def tarball(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


class Mirrors:
    """The file at each path; `requests` holds the paths and the authorizations of what was asked."""

    def __init__(self):
        self.pages = {}
        self.requests = []

    def add_python(self, name, files):
        self.pages.update({f"/files/{file}": data for file, data in files.items()})
        hashes = {file: hashlib.sha256(data).hexdigest() for file, data in files.items()}
        links = (
            f'<a href="../../files/{file}#sha256={digest}">{file}</a><br>' for file, digest in hashes.items()
        )
        self.pages[f"/simple/{name}/"] = ("<!DOCTYPE html><body>" + "".join(links)).encode()

    def add_debian(self, folder, name, files):
        """The one package of a Debian archive, and the configuration of apt that knows no other."""
        about = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n"
        for path, content in {**files, "DEBIAN/control": about.encode()}.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(content)
        subprocess.run(["dpkg-deb", "--build", folder / name], check=True, capture_output=True)
        data = (folder / f"{name}.deb").read_bytes()
        self.pages[f"/debian/./{name}.deb"] = data
        stanza = f"{about}Filename: ./{name}.deb\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
        self.pages["/debian/./Packages"] = stanza.encode()
        (folder / "sources.list").write_text(f"deb [trusted=yes] {self.url}/debian ./\n")
        (folder / "state" / "lists" / "partial").mkdir(parents=True)
        (folder / "apt.conf").write_text(
            f'Dir::Etc::SourceList "{folder}/sources.list";\nDir::Etc::SourceParts "/nowhere";\n'
            f'Dir::State "{folder}/state";\nAcquire::http::Proxy "DIRECT";\nAPT::Sandbox::User "root";\n'
        )
        return folder / "apt.conf"


@contextlib.contextmanager
def running():
    mirrors = Mirrors()

    def answer(server, request):
        mirrors.requests.append((request.path, request.headers.get("authorization")))
        data = mirrors.pages.get(request.path)
        return Reply(404) if data is None else Reply(body=data, type="text/html")

    with serving(answer) as server:
        mirrors.url = server.base
        yield mirrors
