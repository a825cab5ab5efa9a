"""Loopback mirrors of three registries, in the forms that real ones have: a package index, npm's, a Debian archive."""

import base64
import contextlib
import hashlib
import http.server
import io
import json
import lzma
import tarfile
import threading
import zipfile


def wheel(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return buffer.getvalue()


def tarball(files, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def debian_package(files, ending=".xz"):
    """A .deb as dpkg-deb builds it: an `ar` archive of a version, a control archive and the files."""
    body = tarball({f"./{path}": data for path, data in files.items()}, "w")
    if ending == ".xz":
        body = lzma.compress(body)
    elif ending == ".zst":
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.output_stream(sink, compression="zstd") as stream:
            stream.write(body)
        body = sink.getvalue().to_pybytes()
    whole = b"!<arch>\n"
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", f"data.tar{ending}": body}
    for name, data in members.items():
        header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
        whole += header + data + b"\n" * (len(data) % 2)
    return whole


class Mirrors:
    """What lies at each path; `asked` holds the paths and the authorizations of the requests."""

    def __init__(self):
        self.pages = {}
        self.asked = []
        self.projects = {}

    def add_python(self, name, files, form="json"):
        """More files of one project of the package index, which lists them in JSON or in HTML."""
        self.pages.update({f"/files/{file}": (data, "application/octet-stream") for file, data in files.items()})
        files = self.projects.setdefault(name, {}) | files
        self.projects[name] = files
        hashes = {file: hashlib.sha256(data).hexdigest() for file, data in files.items()}
        if form == "json":
            listed = [{"filename": f, "url": f"../../files/{f}", "hashes": {"sha256": h}} for f, h in hashes.items()]
            page, kind = json.dumps({"files": listed}).encode(), "application/vnd.pypi.simple.v1+json"
        else:
            anchors = (
                f'<a href="../../files/{file}#sha256={digest}">{file}</a><br>' for file, digest in hashes.items()
            )
            page, kind = ("<!DOCTYPE html><body>" + "".join(anchors)).encode(), "text/html"
        self.pages[f"/simple/{name}/"] = (page, kind)

    def add_npm(self, name, version, data):
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        about = {"dist": {"tarball": f"{self.url}/npm/{name}/-/{name}-{version}.tgz", "integrity": integrity}}
        self.pages[f"/npm/{name}/{version}"] = (json.dumps(about).encode(), "application/json")
        self.pages[f"/npm/{name}/-/{name}-{version}.tgz"] = (data, "application/octet-stream")

    def add_debian(self, packages, architecture, ending=".xz"):
        stanzas = []
        for name, data in packages.items():
            place = f"pool/main/{name[0]}/{name}_1_all.deb"
            self.pages[f"/debian/{place}"] = (data, "application/octet-stream")
            stanzas.append(f"Package: {name}\nFilename: {place}\nSHA256: {hashlib.sha256(data).hexdigest()}\n")
        text = "\n".join(stanzas).encode()
        listed = lzma.compress(text) if ending == ".xz" else text
        self.pages[f"/debian/dists/stable/main/binary-{architecture}/Packages{ending}"] = (listed, "text/plain")

    def configure(self, folder, set_variable):
        """Write the configuration of pip, npm and apt that points here, and nowhere else."""
        (folder / "apt" / "sources.list.d").mkdir(parents=True)
        line = f"deb [signed-by=/k.gpg] {self.url}/debian stable main"
        (folder / "apt" / "sources.list").write_text(f"# a comment\n{line}\n")
        (folder / "pip.conf").write_text(f"[global]\nindex-url = {self.url}/simple\n")
        (folder / "npmrc").write_text(f"registry={self.url}/npm/\n")
        set_variable("PIP_CONFIG_FILE", str(folder / "pip.conf"))
        set_variable("NPM_CONFIG_USERCONFIG", str(folder / "npmrc"))
        set_variable("APT_ETC", str(folder / "apt"))


@contextlib.contextmanager
def running():
    mirrors = Mirrors()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            mirrors.asked.append((self.path, self.headers.get("Authorization")))
            data, kind = mirrors.pages.get(self.path, (b"no such file", "text/plain"))
            self.send_response(200 if self.path in mirrors.pages else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        mirrors.url = f"http://127.0.0.1:{server.server_port}"
        yield mirrors
        server.shutdown()
