"""Gemini's Files API: pictures that a conversation refers to again and again are uploaded once."""

import hashlib
import io
import threading
import time
from typing import TYPE_CHECKING

from ..calls import Transient
from . import wire

if TYPE_CHECKING:
    from google import genai

_LIFETIME = 40 * 3600  # seconds for which an uploaded file is reused; Google deletes it after 48 hours


class Files:
    """The uploaded files, by the hash of their bytes; threads share it and never upload the same file twice."""

    def __init__(self, client: "genai.Client"):
        self._client = client
        self._lock = threading.Lock()
        self._uploading: dict[str, threading.Lock] = {}
        self._uploaded: dict[str, tuple[str, float]] = {}  # address and time of upload

    def address(self, data: bytes, kind: str) -> str:
        """The address of a picture at Google, uploaded if it is not there yet."""
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            uploading = self._uploading.setdefault(digest, threading.Lock())
        with uploading:
            address, since = self._uploaded.get(digest, ("", -_LIFETIME))
            if time.time() - since >= _LIFETIME:
                address = self._upload(data, kind)
                self._uploaded[digest] = address, time.time()
            return address

    def _upload(self, data: bytes, kind: str) -> str:
        from google.genai import types

        try:
            file = self._client.files.upload(file=io.BytesIO(data), config=types.UploadFileConfig(mime_type=kind))
        except (KeyError, ValueError) as error:  # which the SDK raises if an upload was not finished
            raise Transient(f"a picture could not be uploaded ({error})") from error
        while file.state == types.FileState.PROCESSING:
            wire.pause(0.5)
            file = self._client.files.get(name=str(file.name))
        if file.state == types.FileState.FAILED or not file.uri:
            raise Transient(f"Google could not process an uploaded picture ({file.error})")
        return file.uri

    def forget(self) -> None:
        """Forget all uploads, so that they are made again: Google no longer has one of the files."""
        with self._lock:
            self._uploaded.clear()
