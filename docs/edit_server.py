"""A server that speaks /v1/images/edits for a function `edit(image, instruction, seed)` of bytes; nothing to install.

python edit_server.py my_model.py 8000 NAME
"""

import base64
import email.parser
import email.policy
import importlib.util
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


def form_of(content_type, body):
    """The fields of a multipart form: bytes by name."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    parts = message.iter_parts()
    return {
        part.get_param("name", header="content-disposition").removesuffix("[]"): part.get_payload(decode=True)
        for part in parts
    }


class Handler(BaseHTTPRequestHandler):
    edit = None
    model = "model"

    def do_GET(self):
        if self.path.endswith("/models"):
            self.answer(200, {"object": "list", "data": [{"id": self.model, "object": "model"}]})
        else:
            self.answer(200 if self.path.endswith("/health") else 404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.endswith("/images/edits"):
            return self.answer(404, {"error": {"message": f"no {self.path} here"}})
        form = form_of(self.headers["Content-Type"], body)
        seed = int(form.get("seed", b"0"))
        try:
            data = type(self).edit(form["image"], form["prompt"].decode(), seed)
        except Exception as error:  # noqa: BLE001 - it is told to the one who asked
            return self.answer(422, {"error": {"message": f"{type(error).__name__}: {error}"}})
        return self.answer(200, {"created": 0, "data": [{"b64_json": base64.b64encode(data).decode()}]})

    def answer(self, status, values):
        data = json.dumps(values).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        pass


def main(file, port, name="model"):
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    Handler.edit, Handler.model = staticmethod(module.edit), name
    server = HTTPServer(("127.0.0.1", int(port)), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
