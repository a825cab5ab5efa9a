"""Answers, folders and names of strangers: nothing is written or read elsewhere, and no key or huge number is kept."""

import base64
import contextlib
import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import scored
import stores
from convergebench.dataset_builder.importing.chains import find_pictures
from convergebench.dataset_builder.publishing.verify import _check_bytes, check_text
from convergebench.generation import audits, editors, keys, loop, pictures
from convergebench.generation.calls import Caller, Rejected, Transient
from convergebench.generation.records import Answer, UserError
from convergebench.generation.vendors import wire
from convergebench.metric_modules.clip_similarity import measure
from convergebench.spaces_app.analysis.tables import as_csv
from convergebench.spaces_app.reporting.write import _replace_files as replace_files
from PIL import Image, PngImagePlugin
from vendors.loopback import Reply, serving
from verbs import invoke

KEY = "k9/Qz+81nv_A-plausible?key"


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    return KEY


# Answers


def test_a_compressed_answer_is_counted_unpacked(monkeypatch):
    monkeypatch.setattr(wire, "MOST_BYTES", 100_000)
    packed = Reply(body=gzip.compress(bytes(10_000_000)), headers={"content-encoding": "gzip"})
    small = Reply(body=gzip.compress(b"{}"), headers={"content-encoding": "gzip"})
    other = Reply(body=b"{}", headers={"content-encoding": "zstd"})
    replies = iter([packed, other, small])
    with serving(lambda server, request: next(replies)) as server:
        for reason in ("more than 100000 bytes", "an encoding that was not requested"):
            with pytest.raises(Transient, match=reason):
                wire.send("GET", server.base, {})
        assert wire.send("GET", server.base, {}).content == b"{}"


@pytest.mark.parametrize(
    "host", ["http://169.254.169.254", "https://127.0.0.1:9", "https://localhost:9", "https://[::1]:9", "file://"]
)
def test_no_hop_of_a_pictures_address_leads_inside(host):
    home, address = "https://api.vendor.example", f"{host}/latest"
    with pytest.raises(Rejected, match="not an https one of a public host"), wire.one_call(5):
        wire.download(address, home)
    there = Reply(status=302, headers={"location": address})
    with serving(lambda server, request: there) as server, wire.one_call(5):
        with pytest.raises(Rejected, match="not an https one of a public host"):
            wire.download(server.base + "/picture", server.base)
        assert len(server.requests) == 1


@pytest.mark.parametrize("before", range(3))
def test_a_key_in_base64_is_found(key, before):
    text = base64.b64encode(b"x" * before + key.encode() + b"more").decode()
    assert "[key]" in keys.scrub(f"bad key {text}")
    assert text[4:-8] not in keys.scrub(f"bad key {text}")
    with pytest.raises(UserError, match="SOME_API_KEY"):
        check_text("steps", text, {"SOME_API_KEY": key})


@pytest.mark.parametrize("compressed", [False, True])
def test_a_picture_that_holds_a_key_is_not_kept(key, compressed):
    notes, buffer = PngImagePlugin.PngInfo(), io.BytesIO()
    notes.add_text("comment", key, zip=compressed)
    Image.new("RGB", (32, 32)).save(buffer, "PNG", pnginfo=notes)
    answer, picture = loop._judge(Answer(buffer.getvalue()), 1)
    assert (answer.status, answer.data, picture) == ("no_image", b"", None)
    assert key not in answer.reason
    with pytest.raises(UserError, match="SOME_API_KEY"):
        _check_bytes("steps", pictures.with_text(buffer.getvalue()), {"SOME_API_KEY": key})


@pytest.mark.parametrize("cost", [10**400, 10**300, 1e300, 50.0])
def test_a_cost_that_no_call_has_is_not_believed(cost):
    answer = Caller(price=0.04).ask(lambda: Answer(b"x", cost=cost))
    assert (answer.cost, answer.details["cost_said"]) == (0.04, str(cost))


@pytest.mark.parametrize("tokens", [10**400, 10**300])
def test_a_usage_of_hundreds_of_digits_is_a_recorded_step(tokens, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "x" * 20)
    details = {"text_tokens": 5, "image_tokens": 0}
    usage = {"output_tokens": tokens, "input_tokens": 5, "input_tokens_details": details}
    body = {"data": [{"b64_json": base64.b64encode(stores.picture(1)).decode()}], "usage": usage}
    with serving(lambda server, request: Reply(body=json.dumps(body).encode())) as server:
        editor = editors.choose(f"openai:base_url={server.base}").editor
        with contextlib.suppress(Rejected):  # which is recorded as a failed step
            answer = Caller(price=0.04).ask(lambda: editor.edit(Image.new("RGB", (1024, 1024)), "add a hat", 1))
            assert answer.cost == 0.04


# Names and folders


@pytest.mark.parametrize("verb", ["build", "score", "report", "verify"])
def test_no_verb_writes_through_a_link(tmp_path, verb):
    dataset = scored.built(scored.runs(tmp_path / "run"), tmp_path / "dataset")
    elsewhere = tmp_path / "elsewhere"
    stores.write(elsewhere / "kept.svg", "theirs")
    out = tmp_path / "report" if verb == "report" else dataset
    out.mkdir(exist_ok=True)
    (out / ("figures" if verb == "report" else "data/scores")).symlink_to(elsewhere)
    (out / ".report-manifest").write_text(json.dumps({"files": {"figures/kept.svg": {}}}))
    words = {"build": ["build", tmp_path / "run", "--out", out], "score": ["score", out, "--metrics", "psnr"]}
    if verb == "verify":
        (dataset / "data/chains/0000.parquet").write_bytes(b"broken")
    if verb == "report":
        with pytest.raises(UserError, match="is a symbolic link, which is not followed"):
            replace_files(out, {"index.html": b"ours"})
    else:
        result = invoke(*words.get(verb, ["verify", out, "--repair"]))
        assert result.exit_code == 2
        assert "is a symbolic link, which is not followed" in result.output
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"kept.svg": "theirs"}


def test_no_layout_reads_through_a_link(tmp_path):
    stores.write(tmp_path / "secret" / "photo.png", stores.picture(1))
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "I0_source.png").symlink_to(tmp_path / "secret" / "photo.png")
    words = ["import", str(tmp_path / "case"), "--layout", "edit-converge-bench", "--editor", "e"]
    result = invoke(*words, "--out", tmp_path / "run")
    assert (result.exit_code, "is a symbolic link" in result.output) == (2, True)
    with pytest.raises(UserError, match="is a symbolic link"):
        find_pictures(tmp_path / "case")


# What ends a command without a sentence


def test_columns_of_a_csv_are_no_formulas():
    table = SimpleNamespace(keys=["=HYPERLINK(1)", "a\rb"], rows=[{"=HYPERLINK(1)": "x\r=1+1", "a\rb": 2}])
    assert as_csv(table) == "'=HYPERLINK(1),a b\nx =1+1,2\n"


def test_a_bad_address_and_an_endless_salt_are_refused():
    with pytest.raises(UserError, match="is not an address"):
        editors.choose("openai:base_url=http://[::1")
    if Path("/dev/zero").is_char_device():
        with pytest.raises(UserError, match="16 to 4096 random bytes"):
            audits.read_salt("/dev/zero")


def test_weights_of_another_hash_are_deleted_and_not_used(tmp_path, monkeypatch):
    other = tmp_path / "model.safetensors"
    other.write_bytes(b"other weights")
    asked = {}

    def fetched(repo, name, revision):
        asked.update(repo=repo, revision=revision)
        return str(other)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fetched)
    with pytest.raises(OSError, match="sha256"):
        measure._read(measure.CHECKPOINT, "float32", cached=False)
    assert (len(asked["revision"]), other.exists()) == (40, False)
