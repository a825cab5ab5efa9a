"""Conversations: what each turn sends, what is uploaded once, what a resumed run pays for, and one that was lost."""

import base64
import io
import json

import numpy as np
import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Unusable
from convergebench.generation.editors.gemini import MOST_INLINE
from convergebench.generation.records import Program
from convergebench.generation.studies.exact.drawing import draw_scene
from convergebench.generation.studies.exact.operations import make_edit
from convergebench.generation.studies.exact.scenes import make_scene
from PIL import Image
from vendors import chains, gemini, openai
from vendors.loopback import Reply, picture, serving, told

KINDS = {gemini: "/v1beta/interactions", openai: "/v1/responses"}
PREVIOUS = {gemini: "previous_interaction_id", openai: "previous_response_id"}
IMAGES = {"input_tokens_details": {"text_tokens": 20, "image_tokens": 380}, "output_tokens": 1000}
USAGE = {"input_tokens": 2000, "output_tokens": 100}


class Sessions:
    """A vendor that keeps conversations, and may be told to forget them or to end after some orders."""

    def __init__(self, module):
        self.module, self.known, self.bodies, self.answers = module, [], [], []
        self.most = 99

    def __call__(self, server, request):
        assert request.path == KINDS[self.module]
        body = request.json()
        last = body.get(PREVIOUS[self.module])
        if len(self.bodies) == self.most:
            return self.module.error(401)
        if last and last not in self.known:
            return self.lost(last)
        self.bodies.append(body)
        self.known.append(f"session-{len(self.bodies)}")
        self.answers.append(picture(chains.SIZE))
        return self.shown(self.known[-1], base64.b64encode(self.answers[-1]).decode())

    def lost(self, last) -> Reply:
        if self.module is gemini:
            error = {"code": 404, "message": f"Interaction {last} not found.", "status": "NOT_FOUND"}
            return told({"error": error}, 404)
        return told({"error": {"code": "previous_response_not_found", "message": f"{last} not found."}}, 400)

    def shown(self, name, data) -> Reply:
        if self.module is gemini:
            thought = {"type": "thought", "summary": [{"type": "text", "text": "Green."}]}
            image = {"type": "image", "mime_type": "image/png", "data": data}
            content = [{"type": "text", "text": "Done."}, image]
            steps = [thought, {"type": "model_output", "content": content}]
            usage = {"total_input_tokens": 300}
            return told({"id": name, "status": "completed", "model": "m", "steps": steps, "usage": usage})
        call = {"type": "image_generation_call", "id": f"ig-{name}", "status": "completed", "result": data}
        message = {"type": "message", "content": [{"type": "output_text", "text": "Done."}]}
        output = [{"type": "reasoning", "id": "r"}, {**call, "action": "edit", "output_format": "png"}, message]
        tools = {"tool_usage": {"image_gen": IMAGES}, "usage": USAGE, "model": "gpt-5.5-2026-04-23"}
        return told({"id": name, "status": "completed", "output": output, **tools})

    def parts(self, number):
        """The words and pictures of a turn, in their order."""
        found = []
        for item in self.bodies[number]["input"]:
            for part in item.get("content", [item]):
                data = part.get("data") or part.get("result") or part.get("image_url")
                found.append(base64.b64decode(data.rpartition(",")[2]) if data else part["text"])
        return found


@pytest.fixture(params=KINDS, ids=lambda module: module.__name__)
def vendor(request, monkeypatch):
    monkeypatch.setenv(request.param.KEY, "sentinel-key-1234567890")
    return Sessions(request.param)


@pytest.fixture
def chain(vendor, tmp_path):
    """Run or resume the chain, on a server that stays for the whole test."""
    with serving(vendor) as server:
        spec = vendor.module.SPEC.format(base=server.base, timeout=5) + ",session=server"
        yield lambda rounds: chains.run(tmp_path, spec, chains.SIZE, rounds=rounds)


WORDS = chains.PROGRAM.cycle[0]


@pytest.mark.parametrize("lost", [False, True])
def test_a_resumed_session_sends_its_picture_and_pays_for_a_turn_once(vendor, chain, tmp_path, lost):
    vendor.most = 2
    with pytest.raises(Unusable):
        chain(4)
    vendor.most = 99
    if lost:
        vendor.known.clear()
    third, fourth = chain(4)
    assert [(step.step, step.status, step.text) for step in (third, fourth)] == [
        (n, "ok", "Done.") for n in (3, 4)
    ]
    assert [third.details["session_id"], fourth.details["session_id"]] == vendor.known[-2:]
    assert ("not found" in third.details.get("session_lost", "")) == lost
    assert "session_lost" not in fourth.details
    kept = [path.read_bytes() for path in sorted(tmp_path.glob("chains/*/0*.png"))]
    assert kept[1:] == vendor.answers, "one order a step"
    assert all(body["store"] for body in vendor.bodies)
    further = [kept[0], WORDS, kept[1], WORDS, kept[2], WORDS] if lost else [WORDS]
    assert [vendor.parts(number) for number in range(4)] == [[kept[0], WORDS], [WORDS], further, [WORDS]]
    last = [None, "session-1", None if lost else "session-2", "session-3"]
    assert [body.get(PREVIOUS[vendor.module]) for body in vendor.bodies] == last


def test_openai_sessions_cost_what_both_models_count(vendor, chain):
    [step] = chain(1)
    if vendor.module is gemini:
        assert vendor.bodies[0]["response_format"] == {"type": "image", "aspect_ratio": "3:2", "image_size": "1K"}
        assert vendor.bodies[0]["generation_config"] == {"seed": step.seed, "thinking_summaries": "auto"}
        assert (step.cost, step.details["thoughts"]) == (0.0336, "Green.")
        return
    [tool] = vendor.bodies[0]["tools"]
    assert (tool["action"], tool["model"], tool["size"]) == ("edit", "gpt-image-2.5-sunburst", "1248x832")
    assert vendor.bodies[0]["tool_choice"] == {"type": "image_generation"}
    drawn, through = (20 * 5 + 380 * 8 + 1000 * 30) / 1e6, (2000 * 5 + 100 * 30) / 1e6
    assert step.cost == pytest.approx(drawn + through)
    assert step.details["through"] == "gpt-5.5-2026-04-23"


def test_openai_gets_the_whole_conversation_in_our_session(monkeypatch, tmp_path):
    vendor = Sessions(openai)
    chains.asked(tmp_path, monkeypatch, openai, vendor, rounds=2, session="one")
    assert [len(vendor.parts(number)) for number in range(2)] == [2, 4]
    assert vendor.parts(1)[2] == vendor.answers[0]
    assert not any("previous_response_id" in body or body["store"] for body in vendor.bodies)


BLOCKED = {"code": "moderation_blocked", "message": "The safety system said no.", "type": "x"}


@pytest.mark.parametrize(
    ("module", "reply", "status"),
    [
        (gemini, {"id": "s", "errors": [{"code": "IMAGE_SAFETY", "message": "no"}]}, "refused"),
        (gemini, {"id": "s", "status": "incomplete", "steps": []}, "no_image"),
        (openai, {"id": "s", "status": "completed", "output": []}, "no_image"),
        (openai, {"id": "s", "output": [{"type": "image_generation_call", "error": BLOCKED}]}, "refused"),
    ],
)
def test_a_turn_without_a_picture_is_a_typed_step(monkeypatch, tmp_path, module, reply, status):
    [step, *_], _ = chains.asked(tmp_path, monkeypatch, module, lambda *_: told(reply), session="server")
    assert (step.status, step.file) == (status, None)
    assert step.reason


def test_gemini_thinks_as_little_as_it_is_told(tmp_path, monkeypatch):
    minimal, off = {"includeThoughts": True, "thinkingLevel": "MINIMAL"}, {"includeThoughts": False}
    for level, config in (("minimal", minimal), ("off", off | {"thinkingBudget": 0})):
        vendor = chains.script(gemini, picture(chains.SIZE))
        _, [request, *_] = chains.asked(tmp_path, monkeypatch, gemini, vendor, thinking=level)
        assert request.json()["generationConfig"]["thinkingConfig"] == config
    assert "thinking" not in editors.choose("gemini").settings


def test_openai_plans_as_much_as_it_is_told(tmp_path, monkeypatch):
    fresh = chains.script(openai, picture(chains.SIZE))
    [step, *_], [request, *_] = chains.asked(tmp_path, monkeypatch, openai, fresh, complexity="high", mask="true")
    assert openai.fields(request)["complexity"] == ("text/plain", b"high")
    assert ("mask" in openai.fields(request), "masked" in step.details) == (False, False), "the edit has none"
    more = {"complexity": "high", "session": "server"}
    _, [request, *_] = chains.asked(tmp_path, monkeypatch, openai, Sessions(openai), **more)
    assert request.json()["tools"][0]["complexity"] == "high"
    assert "complexity" not in editors.choose("openai").settings


@pytest.fixture
def moved(monkeypatch, tmp_path):
    """An exact edit, asked with these options: the edit, its first step and its request."""
    edit = make_edit(make_scene(1, 0), "move")
    program = Program(edit.id, (str(edit.forward), str(edit.backward)), "exact", True, "exact")
    monkeypatch.setattr(chains, "PROGRAM", program)

    def moved(**options):
        vendor = Sessions(openai) if "session" in options else chains.script(openai, picture((256, 256)))
        folder = tmp_path / "-".join(options)
        [step, *_], [request, *_] = chains.asked(folder, monkeypatch, openai, vendor, (256, 256), **options)
        return edit, step, request

    return moved


def test_a_markup_is_the_outline_of_the_mask(moved):
    found = {}
    for option in ("mask", "markup"):
        _, step, request = moved(**{option: "true"})
        fields = openai.fields(request)
        assert step.details["masked"]
        assert {"mask", "markup"} & fields.keys() == {option}
        kind, data = fields[option]
        assert kind == "image/png"
        found[option] = np.asarray(Image.open(io.BytesIO(data)))
    line, free = found["markup"][..., 3] > 0, found["mask"][..., 3] == 0
    assert not (line & ~free).any(), "on the rim of what may be changed"
    assert 0 < line.mean() < free.mean() / 2
    assert (found["markup"][line][:, :3] == (255, 0, 0)).all()


@pytest.mark.parametrize("session", [{}, {"session": "server"}])
def test_an_editor_that_takes_a_mask_is_given_that_of_the_edit(moved, session):
    edit, step, request = moved(mask="true", **session)
    if not session:
        data = openai.fields(request)["mask"][1]
    else:
        shown = request.json()["tools"][0]["input_image_mask"]["image_url"]
        data = base64.b64decode(shown.rpartition(",")[2])
    before, after = (np.asarray(draw_scene(scene, 256)) for scene in (edit.before, edit.after))
    free = np.asarray(Image.open(io.BytesIO(data)).getchannel("A")) == 0
    assert free.shape == (256, 256)
    assert free[(before != after).any(axis=2)].all(), "what the edit needs may be changed"
    assert 0 < free.mean() < 0.5, "the rest may not"
    assert step.details["masked"]


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
            place = f"{server.base}/upload/v1beta/files?upload_id={self.uploads}"
            return Reply(headers={"x-goog-upload-url": place})
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
        answer = self.answers[len(self.bodies) % len(self.answers)]
        return gemini.parts(gemini.inline(answer, thoughtSignature="c2lnbg=="))


def parts_of(body):
    return [part for turn in body["contents"] for part in turn["parts"]]


def shown_in(body, vendor):
    """The pictures of a request, in their order."""
    return [
        vendor.files[part["fileData"]["fileUri"]]
        if "fileData" in part
        else base64.b64decode(part["inlineData"]["data"])
        for part in parts_of(body)
        if "text" not in part
    ]


LARGE = 30_000  # bytes in a request, passed from the second step on


@pytest.fixture
def conversed(tmp_path, monkeypatch):
    """A conversation with Google, in one session unless options are given."""

    def conversed(rounds, most=LARGE, lose_after=None, **options):
        monkeypatch.setattr("convergebench.generation.editors.gemini.MOST_INLINE", most)
        monkeypatch.setattr("convergebench.generation.vendors.wire.pause", lambda seconds: None)
        vendor, options = Google(rounds, lose_after), options or {"session": "one"}
        steps, _ = chains.asked(tmp_path, monkeypatch, gemini, vendor, rounds=rounds, **options)
        return vendor, steps, [path.read_bytes() for path in sorted(tmp_path.glob("chains/*/0*.png"))]

    return conversed


@pytest.mark.parametrize(
    ("rounds", "most"), [(3, MOST_INLINE), (8, LARGE), pytest.param(100, LARGE, marks=pytest.mark.slow)]
)
def test_one_session_is_the_whole_conversation_and_uploads_a_picture_once(conversed, rounds, most):
    vendor, steps, kept = conversed(rounds, most)
    assert [step.status for step in steps] == ["ok"] * rounds
    assert [len(shown_in(body, vendor)) for body in vendor.bodies] == list(range(1, rounds + 1))
    assert shown_in(vendor.bodies[-1], vendor) == kept[:rounds], "the whole conversation, in its order"
    assert kept[1] != kept[2]
    turns = vendor.bodies[-1]["contents"]
    each = [("user", 2), *[("model", 1), ("user", 1)] * (rounds - 1)]
    assert [(turn["role"], len(turn["parts"])) for turn in turns] == each
    assert [turn["parts"][-1]["text"] for turn in turns[::2]] == [WORDS] * rounds
    assert all(turn["parts"][0]["thoughtSignature"] == "c2lnbg==" for turn in turns[1::2])
    assert "uploaded" not in steps[0].details, "small enough to be sent along"
    if most == LARGE:
        assert steps[-1].details["uploaded"] == rounds
        assert max(len(json.dumps(body)) for body in vendor.bodies) < 40_000 < MOST_INLINE
        assert vendor.uploads == len(set(kept[:rounds])), (
            "each different picture once, the last answer not at all"
        )
    else:
        assert (vendor.uploads, "uploaded" in steps[-1].details) == (0, False)


def test_files_that_google_has_lost_are_uploaded_again(conversed):
    vendor, steps, _ = conversed(6, lose_after=4)
    assert [step.status for step in steps] == ["ok"] * 6
    assert vendor.uploads == 5 + 6, "the first five twice"


def test_gemini_takes_the_resolutions_of_a_schedule_in_turn(conversed):
    model = "gemini-3-pro-image"
    vendor, steps, _ = conversed(4, model=model, resolution="1K/2K/4K", temperature=0.4)
    assert [len(body["contents"]) for body in vendor.bodies] == [1] * 4, "each in a session of its own"
    assert not any("signature" in step.details for step in steps)
    configs = [body["generationConfig"] for body in vendor.bodies]
    assert {config["temperature"] for config in configs} == {0.4}
    assert [config["imageConfig"]["imageSize"] for config in configs] == ["1K", "2K", "4K", "1K"]
    assert [step.details["resolution"] for step in steps] == ["1K", "2K", "4K", "1K"]
    assert [step.cost for step in steps] == [0.134, 0.134, 0.24, 0.134]
    editor = editors.choose(f"gemini:model={model},resolution=1K/2K/4K").editor
    assert editor.price() == 0.24
    assert editor.sizes() == editors.choose(f"gemini:model={model}").editor.sizes()
