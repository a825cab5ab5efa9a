"""Gemini's Files API: pictures that a conversation refers to again and again are uploaded once."""

import hashlib
import io
import threading
import time
from typing import Any

from ..calls import Transient
from . import wire

LIFETIME = 40 * 3600  # seconds that a file is used again; Google keeps it for 48 hours


class Files:
    """What was uploaded, by the hash of its bytes. Threads share it; none uploads what another has under way."""

    def __init__(self, client: Any):
        self.client = client
        self.lock = threading.Lock()
        self.busy: dict[str, threading.Lock] = {}
        self.known: dict[str, tuple[str, float]] = {}  # address, and when it was uploaded

    def address(self, data: bytes, kind: str) -> str:
        """The address of a picture at Google, uploaded if it is not there yet."""
        digest = hashlib.sha256(data).hexdigest()
        with self.lock:
            busy = self.busy.setdefault(digest, threading.Lock())
        with busy:
            place, since = self.known.get(digest, ("", -LIFETIME))
            if time.time() - since >= LIFETIME:
                place = self.upload(data, kind)
                self.known[digest] = place, time.time()
            return place

    def upload(self, data: bytes, kind: str) -> str:
        from google.genai import types

        try:
            file = self.client.files.upload(file=io.BytesIO(data), config=types.UploadFileConfig(mime_type=kind))
        except (KeyError, ValueError) as error:  # what the SDK says of an upload that did not end
            raise Transient(f"a picture could not be uploaded ({error})") from error
        while file.state == types.FileState.PROCESSING:
            wire.pause(0.5)
            file = self.client.files.get(name=file.name)
        if file.state == types.FileState.FAILED or not file.uri:
            raise Transient(f"Google could not process an uploaded picture ({file.error})")
        return str(file.uri)

    def forget(self) -> None:
        """Upload everything again: Google does not know a file any more."""
        with self.lock:
            self.known.clear()
