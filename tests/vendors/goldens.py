"""Whole requests to vendors, beside those of goldens.json.

WRITE_GOLDENS=1 writes what the tests that run have sent; the change then shows in the difference.
"""

import base64
import json
import os
from pathlib import Path

from vendors.loopback import is_png
from vendors.openai import fields

KEPT = Path(__file__).with_suffix(".json")
HEADERS = ("accept", "api-key", "authorization", "content-type", "x-api-key", "x-goog-api-key", "x-key")
HEADERS += ("x-runway-version",)


def goldens():
    """By vendor and model: options, the size of the picture, and the request."""
    return json.loads(KEPT.read_text())


def check(name, request, seed):
    kept, sent = goldens(), whole(request, seed)
    if "WRITE_GOLDENS" in os.environ:
        kept[name] = kept.get(name, {}) | {"request": sent}
        lines = [f"{json.dumps(key)}: {json.dumps(kept[key])}" for key in sorted(kept)]
        KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert sent == kept[name]["request"]


def whole(request, seed):
    """A request without what differs in each run: pictures, the seed, and the server's address."""
    sent = [name for name in HEADERS if name in request.headers]
    headers = {name: request.headers[name].partition("; boundary")[0] for name in sent}
    if "form-data" in headers["content-type"]:
        parts = fields(request).items()
        body = {name: f"{kind} PICTURE" if is_png(data) else data.decode() for name, (kind, data) in parts}
    else:
        body = marked(request.json(), seed, f"http://{request.headers['host']}")
    return {"path": request.path, "headers": headers, "body": body}


def marked(value, seed, address):
    if isinstance(value, dict):
        return {name: marked(part, seed, address) for name, part in value.items()}
    if isinstance(value, list):
        return [marked(part, seed, address) for part in value]
    if isinstance(value, str) and len(value) > 200:
        head, comma, data = value.rpartition(",")
        assert is_png(base64.b64decode(data))
        return f"{head}{comma}PICTURE"
    if isinstance(value, str):
        return value.replace(address, "ADDRESS")
    return "SEED" if value == seed and type(value) is int else value
