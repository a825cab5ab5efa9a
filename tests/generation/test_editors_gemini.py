"""Gemini's conversations: what is sent again, what is uploaded once, and schedules of resolutions."""

import base64
import json

import pytest
from convergebench.generation import editors
from convergebench.generation.editors.gemini import MOST_INLINE
from vendors import chains, gemini
from vendors.loopback import Reply, picture, told


@pytest.fixture
def conversed(tmp_path, monkeypatch):
    """The bodies of a chain's requests, and its steps."""

    def conversed(rounds, **options):
        def vendor(server, request):
            return gemini.parts(gemini.inline(picture((96, 64)), thoughtSignature="c2lnbg=="))

        steps, requests = chains.asked(tmp_path, monkeypatch, gemini, vendor, rounds=rounds, **options)
        return [request.json() for request in requests], steps

    return conversed


def sent(part):
    return base64.b64decode(part["inlineData"]["data"])


def test_gemini_in_one_session_is_sent_the_whole_conversation(conversed, tmp_path):
    bodies, steps = conversed(3, session="one")
    assert [[turn["role"] for turn in body["contents"]] for body in bodies] == [
        ["user"],
        ["user", "model", "user"],
        ["user", "model", "user", "model", "user"],
    ]
    kept = [path.read_bytes() for path in sorted(tmp_path.glob("chains/*/*.png"))]
    first, one, second, two, third = bodies[2]["contents"]
    assert sent(first["parts"][0]) == kept[0]
    assert [sent(turn["parts"][0]) for turn in (one, two)] == kept[1:3]
    assert kept[1] != kept[2]
    assert [turn["parts"][0]["thoughtSignature"] for turn in (one, two)] == ["c2lnbg=="] * 2
    assert [turn["parts"][-1]["text"] for turn in (first, second, third)] == ["Paint the door green."] * 3
    assert len(second["parts"]) == len(third["parts"]) == 1
    assert [step.status for step in steps] == ["ok"] * 3


def test_gemini_in_fresh_sessions_keeps_no_signature(conversed):
    bodies, steps = conversed(2)
    assert [len(body["contents"]) for body in bodies] == [1, 1]
    assert not any("signature" in step.details for step in steps)


def test_gemini_takes_the_resolutions_of_a_schedule_in_turn(conversed):
    model = "gemini-3-pro-image"
    bodies, steps = conversed(4, model=model, resolution="1K/2K/4K", temperature=0.4)
    assert {body["generationConfig"]["temperature"] for body in bodies} == {0.4}
    assert [body["generationConfig"]["imageConfig"]["imageSize"] for body in bodies] == ["1K", "2K", "4K", "1K"]
    assert [step.details["resolution"] for step in steps] == ["1K", "2K", "4K", "1K"]
    assert [step.cost for step in steps] == [0.134, 0.134, 0.24, 0.134]
    editor = editors.choose(f"gemini:model={model},resolution=1K/2K/4K").editor
    assert editor.price() == 0.24
    assert editor.sizes() == editors.choose(f"gemini:model={model}").editor.sizes()


class Google:
    """generateContent beside the Files API, with the headers of its resumable uploads."""

    def __init__(self, rounds, lose_after=None):
        self.answers = [picture((96, 64)) for _ in range(min(rounds, 12))]
        self.files: dict[str, bytes] = {}
        self.uploads, self.bodies = 0, []
        self.lose_after = lose_after

    def __call__(self, server, request):
        assert ("x-goog-api-key" in request.headers) is ("upload_id" not in request.path)
        if request.path == "/upload/v1beta/files":
            assert request.headers["x-goog-upload-command"] == "start"
            assert request.headers["x-goog-upload-header-content-type"] == "image/png"
            self.uploads += 1
            return Reply(
                headers={"x-goog-upload-url": f"{server.base}/upload/v1beta/files?upload_id={self.uploads}"}
            )
        if request.path.startswith("/upload/"):
            assert request.headers["x-goog-upload-command"] == "upload, finalize"
            name = f"files/{request.path.rpartition('=')[2]}"
            self.files[f"{server.base}/v1beta/{name}"] = request.body
            return told({"file": {"name": name, "state": "PROCESSING"}}, x_goog_upload_status="final")
        if request.method == "GET":
            return told({"uri": f"{server.base}{request.path}", "mimeType": "image/png", "state": "ACTIVE"})
        body = request.json()
        known = [part["fileData"]["fileUri"] for part in parts_of(body) if "fileData" in part]
        if any(place not in self.files for place in known):
            message = "You do not have permission to access the File x or it may not exist."
            return told({"error": {"code": 403, "message": message, "status": "PERMISSION_DENIED"}}, 403)
        self.bodies.append(body)
        if len(self.bodies) == self.lose_after:
            self.files.clear()
        return gemini.parts(
            gemini.inline(self.answers[len(self.bodies) % len(self.answers)], thoughtSignature="c2lnbg==")
        )


def parts_of(body):
    return [part for turn in body["contents"] for part in turn["parts"]]


@pytest.fixture
def long(tmp_path, monkeypatch):
    """A conversation whose pictures are more than a request may hold from its second step on."""

    def long(rounds, **options):
        monkeypatch.setattr("convergebench.generation.editors.gemini.MOST_INLINE", 30_000)
        monkeypatch.setattr("convergebench.generation.vendors.wire.pause", lambda seconds: None)
        vendor = Google(rounds, **options)
        steps, _ = chains.asked(tmp_path, monkeypatch, gemini, vendor, rounds=rounds, session="one")
        return vendor, steps, [path.read_bytes() for path in sorted(tmp_path.glob("chains/*/0*.png"))]

    return long


def shown_in(body, vendor):
    """The pictures of a request, in their order."""
    given = [part for part in parts_of(body) if "text" not in part]
    return [vendor.files[part["fileData"]["fileUri"]] if "fileData" in part else sent(part) for part in given]


@pytest.mark.parametrize("rounds", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_a_large_conversation_uploads_each_picture_once(long, rounds):
    vendor, steps, kept = long(rounds)
    assert [step.status for step in steps] == ["ok"] * rounds
    assert [len(shown_in(body, vendor)) for body in vendor.bodies] == list(range(1, rounds + 1))
    assert shown_in(vendor.bodies[-1], vendor) == kept[:rounds], "the whole conversation, in its order"
    assert "uploaded" not in steps[0].details, "small enough to be sent along"
    assert steps[-1].details["uploaded"] == rounds
    largest = max(len(json.dumps(body)) for body in vendor.bodies)
    assert largest < 40_000 < MOST_INLINE
    answers = [part for part in parts_of(vendor.bodies[-1]) if "fileData" in part][1:]
    assert all(part["thoughtSignature"] == "c2lnbg==" for part in answers)
    assert vendor.uploads == len(set(kept[:rounds])), "each different picture once, the last answer not at all"


def test_files_that_google_has_lost_are_uploaded_again(long):
    vendor, steps, _ = long(6, lose_after=4)
    assert [step.status for step in steps] == ["ok"] * 6
    assert vendor.uploads == 5 + 6, "the first five twice"
