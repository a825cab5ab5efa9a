"""Hosted models, with their rules, ends and prices; and servers of one's own behind `openai:base_url=`.

And the wire to all of them: nothing goes on for ever, nothing is too large, nothing echoes a key.
"""

import datetime
import email.utils
import json
import re
import socket
import threading
import time

import httpx2
import pytest
from convergebench.generation import editors, keys, suites
from convergebench.generation.calls import Rejected, Transient, Unusable
from convergebench.generation.editors.openai import Editor
from convergebench.generation.plan import Plan, check_max_cost
from convergebench.generation.records import UserError
from convergebench.generation.vendors import image_servers, models, sizes, wire
from vendors import chains
from vendors.image_server import MODEL, ImageServer
from vendors.loopback import Reply, picture, serving, told
from verbs import invoke


def test_every_listed_model_has_a_price_or_says_why_not():
    for model in models.all_models():
        resolution = model.facts.get("resolutions", [None])[0]
        spec = f"{model.vendor}:model={model.name}" + (f",resolution={resolution}" if resolution else "")
        price = editors.choose(spec).editor.price()
        assert price is None or 0.001 < price < 1
        assert price or model.facts["no_price"]
        assert model.facts["source"]
        assert "ends" not in model.facts or model.facts["instead"]
        default = editors.choose(model.vendor).editor.hosted()
        assert default.warning(models.shipped()["read"]) is None, "no default is near its end"


def test_a_models_end_is_warned_of():
    model = models.find("openai", "gpt-image-1.5")
    days = [datetime.date(2026, 12, 1) - datetime.timedelta(days) for days in (61, 60, 0, -1)]
    far, near, last, past = map(model.warning, days)
    assert far is None
    assert near == "gpt-image-1.5 is shut down on 2026-12-01, in 60 days; gpt-image-2.5-sunburst takes its place"
    assert "in 0 days" in last
    assert past.startswith("gpt-image-1.5 was shut down on 2026-12-01;")
    told = models.find("gemini", "gemini-3.1-flash-image").warning()
    assert ("deprecated since 2026-10-06" in told, "shut down" in told) == (True, False)
    disputed = models.find("gemini", "gemini-2.5-flash-image").warning()
    assert "LiteLLM 1.109.1 says 2027-03-15" in disputed, "sources that disagree are named"


def test_prices_are_listed_with_their_source_and_its_date():
    rows = json.loads(invoke("list", "prices", "--json").stdout)
    assert len(rows) == len(models.all_models())
    assert all("read 2026-" in row["source"] for row in rows)
    told = invoke("list", "prices").stdout
    assert "gpt-image-1-mini                   low 0.006, medium 0.015, high 0.052, ends 2026-12-01" in told


def test_an_unlisted_name_has_its_relatives_rules():
    newer = models.find("openai", "gpt-image-2.5-sunburst-2027-01-01")
    assert (newer.listed, newer.price, newer.facts["sizes"]) == (False, None, "megapixel")
    assert models.find("openai", "gpt-image-9").facts["fidelities"] == []
    assert models.find("hf", "somebody/a-model").facts == {}
    words = ["plan", "--suite", "smoke", "--editor", "openai:model=gpt-image-1"]
    words += ["--editor", "qwen:model=qwen-image-9"]
    told = invoke(*words)
    assert told.exit_code == 0
    assert "warning: openai:model=gpt-image-1: gpt-image-1 was shut down on 2026-10-23" in told.stderr
    assert 'write the line qwen."qwen-image-9" = 0.05' in told.stderr
    assert len(json.loads(invoke(*words, "--json").stdout)["warnings"]) == 2


def test_the_line_that_is_asked_for_gives_the_price(tmp_path, monkeypatch):
    """In a file of its own, at the top of one, and under a vendor that the file has already."""
    choice, file = editors.choose("qwen:model=qwen-image-9"), tmp_path / "prices.toml"
    for number, before in enumerate(("", "[bfl]\nflux-2-pro = 0.06\n", "[qwen]\nqwen-image-edit = 0.01\n")):
        file.write_text(before)
        monkeypatch.setenv("CONVERGEBENCH_PRICES", str(file)) if before else None
        models._user_prices.cache_clear()
        with pytest.raises(UserError, match=r"not in generation/vendors/models\.toml.*write the line") as asked:
            check_max_cost(Plan(suites.load("smoke"), (choice,), ()), 1.0)
        line = re.search(r"the line (.*?), with", str(asked.value))[1]
        assert ("into a file and name it", "at the top of", "under [qwen]")[number] in str(asked.value)
        file.write_text(f"{before}{line}\n" if number == 2 else f"{line}\n{before}")
        monkeypatch.setenv("CONVERGEBENCH_PRICES", str(file))
        models._user_prices.cache_clear()
        check_max_cost(Plan(suites.load("smoke"), (choice,), ()), 1.0)
        assert choice.editor.price() == 0.05


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("openai:model=gpt-image-2,input_fidelity=high", "it must be one of"),
        ("openai:markup=true,mask=true", "markup"),
        ("openai:markup=true,model=gpt-image-2", "markup"),
        ("openai:complexity=no", "complexity"),
        ("openai:session=server,base_url=http://127.0.0.1:9,model=mine", "session"),
        ("openai:model=gpt-image-2,steps=20", "num_inference_steps is for servers of your own"),
        ("gemini:thinking=none-at-all", "thinking"),
        ("gemini:model=gemini-3-pro-image,resolution=1K/8K", "gemini:resolution"),
        ("fal:model=fal-ai/nano-banana-2/edit,resolution=1K/2K", "it must be one of 1K, 2K, 4K"),
        ("bfl:model=flux-kontext-pro,safety_tolerance=3", "it must be one of 0, 1, 2"),
        ("bfl:base_url=https://me:secret@gateway.example", "must not hold a user name"),
        *(
            (f"bfl:base_url={address}", "base address must")
            for address in ("ftp://x", "bfl.ai", "file:///etc/passwd")
        ),
        ("hf:provider=together", "fal-ai, replicate"),
        ("diffusers:dtype=int8", "dtype"),
        ("diffusers:steps=0", "steps"),
        ("diffusers:lora=me/keep", "diffusers:lora"),
    ],
)
def test_an_option_that_a_model_does_not_take_is_refused(spec, words):
    with pytest.raises(UserError, match=words):
        editors.choose(spec, find_out=False)


def test_free_sizes_are_within_the_vendors_limits():
    assert all(w * h >= 3_686_400 for w, h in sizes.SEEDREAM["2K"])
    assert all(921_600 <= w * h <= 16_777_216 for row in sizes.SEEDREAM.values() for w, h in row)
    for width, height in editors.choose("openai:model=gpt-image-2").editor.sizes():
        assert width % 16 == height % 16 == 0
        assert 1 / 3 <= width / height <= 3
        assert 655_360 <= width * height <= 3840 * 2160


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key-of-somebody")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    image_servers.describe.cache_clear()
    yield
    image_servers.describe.cache_clear()


def spec(server, **options):
    words = "".join(f",{key}={value}" for key, value in options.items())
    return f"openai:base_url={server.base},model={MODEL}{words}"


def settings(server, **options):
    image_servers.describe.cache_clear()
    return editors.choose(spec(server, **options)).settings


def test_seed_steps_and_guidance_are_sent_and_kept(tmp_path):
    data = picture(chains.SIZE)
    vendor = ImageServer(data)
    with serving(vendor) as server:
        words = spec(server, steps=28, guidance=2.5, true_cfg=4, teacache="false")
        step = chains.run(tmp_path, words, chains.SIZE)[-1]
        assert server.requests[-1].headers["authorization"] == "Bearer none"
        assert "openai-organization" not in server.requests[-1].headers
    extras = {"seed": step.seed, "num_inference_steps": 28, "guidance_scale": 2.5, "true_cfg_scale": 4.0}
    golden = {"model": MODEL, "prompt": "Paint the door green.", "size": "96x64", "n": "1"}
    golden |= {"output_format": "png", "response_format": "b64_json", "enable_teacache": "false"}
    assert vendor.sent == [golden | {name: str(value) for name, value in extras.items()}]
    assert (step.status, step.cost) == ("ok", None)
    assert next(tmp_path.glob("chains/*/0001.png")).read_bytes() == data
    assert step.details["sent"] == {**extras, "enable_teacache": False}
    assert step.details["address"] == f"{server.base}/v1"
    assert step.details["uncontrolled"] == []


def test_a_servers_version_and_precision_are_identity():
    vendor = ImageServer()
    with serving(vendor) as server:
        first = settings(server)
        assert json.loads(first["server"]) == {"model": {"id": MODEL, "owned_by": "vllm"}, "version": "0.24.0"}
        assert settings(server) == first, "what changes with every answer is no part of it"
        vendor.version = "0.25.0"
        assert settings(server) != first
        vendor.version, vendor.card = "0.24.0", {"dit_precision": "fp8"}
        assert settings(server) != first
        vendor.card, vendor.info = {}, {"cache_backend": "tea_cache", "enable_torch_compile": True}
        assert json.loads(settings(server)["server"])["cache_backend"] == "tea_cache"
        vendor.info = {}
        assert settings(server) == first
        vendor.version = None
        assert json.loads(settings(server)["server"])["version"] == "not told"
        for option in ({"steps": 8}, {"guidance": 2.0}, {"teacache": "true"}, {"seed": "fixed"}):
            assert settings(server, **option) != settings(server), "each option makes other chains"
    assert (first["base_url"], "steps" in first) == (server.base, False)


def test_a_base_address_is_part_of_the_identity(monkeypatch):
    for name in ("gemini", "openai", "bfl", "seedream", "qwen", "xai", "fal", "replicate", "hf"):
        plain, elsewhere = editors.choose(name), editors.choose(f"{name}:base_url=https://gateway.example")
        assert "base_url" not in plain.settings
        assert elsewhere.settings == {**plain.settings, "base_url": "https://gateway.example"}
        assert elsewhere.label == f"{name}:base_url=https://gateway.example"
    assert editors.choose("bfl").editor.address() == "https://api.bfl.ai"
    monkeypatch.setenv("BFL_BASE_URL", "https://gateway.example/")
    assert editors.choose("bfl").settings["base_url"] == "https://gateway.example/"
    assert editors.choose("bfl").editor.address() == "https://gateway.example"
    assert editors.choose("bfl:base_url=http://127.0.0.1:1").editor.address() == "http://127.0.0.1:1"


def test_what_no_server_can_do_is_said_in_one_sentence():
    other = pytest.raises(UserError, match=f"has no model 'Qwen/Other'; it serves {MODEL}")
    with serving(ImageServer()) as server, other:
        editors.choose(f"openai:base_url={server.base},model=Qwen/Other")
    with pytest.raises(UserError, match="no server answers at"):
        editors.choose(spec(server))


def test_a_private_server_costs_nothing_and_a_file_of_prices_says_more(tmp_path, monkeypatch):
    def price(address):
        return Editor(base_url=address, model=MODEL).price()

    assert price("http://127.0.0.1:8000") == price("http://10.0.0.7:8000") == price("http://gpu-4:8000") == 0.0
    assert price("https://images.example.org") is None
    (tmp_path / "prices.toml").write_text(f'[openai]\n"{MODEL}" = 0.02\n[bfl]\nflux-2-pro = 0.03\n')
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(tmp_path / "prices.toml"))
    assert price("https://images.example.org") == price("http://gpu-4:8000") == 0.02
    assert editors.choose("bfl").editor.price() == 0.03
    assert editors.choose("bfl:model=flux-kontext-max").editor.price() == 0.08, (
        "what the file does not name stays"
    )
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(tmp_path / "none.toml"))
    with pytest.raises(UserError, match="must name a TOML file"):
        editors.choose("bfl").editor.price()


@pytest.mark.parametrize("drip", [b"HTTP/1.1 200 OK\r\nx-slow: ", b""])
def test_endless_headers_are_cut_at_the_deadline(drip):
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listening.accept()
        connection.sendall(drip)
        for _ in range(100):
            time.sleep(0.1)
            try:
                connection.sendall(b"x" if drip else b"")
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    started = time.monotonic()
    with wire.one_call(0.5), pytest.raises(Transient, match="no answer in time"):
        wire.send("GET", f"http://127.0.0.1:{listening.getsockname()[1]}", {})
    assert time.monotonic() - started < 3
    listening.close()


def test_each_call_keeps_its_limits(monkeypatch):
    with wire.one_call(0.2), pytest.raises(Transient, match="before the time limit"):
        wire.pause(1)
    with pytest.raises(Transient) as caught, wire.one_call(5):
        wire.send("POST", "http://127.0.0.1:9/", {}, json={})
    assert not caught.value.charged
    monkeypatch.setattr(wire, "MOST_BYTES", 1000)
    big = pytest.raises(Transient, match="more than 1000 bytes")
    with serving(lambda server, request: Reply(body=b"x" * 5000)) as server, wire.one_call(5), big:
        wire.send("GET", server.base, {})


def test_the_environments_proxy_is_used(monkeypatch):
    with serving(lambda server, request: told({"asked": request.path})) as server:
        monkeypatch.setenv("http_proxy", server.base)
        monkeypatch.setenv("no_proxy", "")
        wire.client.cache_clear()
        with wire.one_call(5):
            answer = wire.send("POST", "http://vendor.invalid/v1", {}, json={})
    assert answer.json() == {"asked": "http://vendor.invalid/v1"}
    wire.client.cache_clear()


def test_a_status_is_retried_recorded_or_stops_the_run():
    kinds = {Rejected: (400, 422), Unusable: (401, 402, 403, 404), Transient: (408, 429, 500, 502, 503, 504)}
    for kind, statuses in kinds.items():
        assert {type(wire.status_error(status, "words")) for status in statuses} == {kind}
    assert wire.retry_after_seconds("2.5") == 2.5
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert wire.retry_after_seconds(in_a_minute) == pytest.approx(60, abs=2)
    assert wire.retry_after_seconds("soon") is None
    assert wire.retry_after_seconds(None) is None


def test_a_paid_picture_is_asked_for_again(monkeypatch):
    waits, busy = [], [503, 502, 500, 429, 503, 504]
    monkeypatch.setattr(wire, "pause", waits.append)
    with serving(lambda server, request: Reply(busy.pop(0)) if busy else Reply(body=b"pixels")) as server:
        assert wire.download(f"{server.base}/x.png", server.base)[0] == b"pixels"
        assert sum(waits) > 30
        busy += [503] * 9
        with pytest.raises(Rejected, match="cannot be fetched: HTTP 503"):
            wire.download(f"{server.base}/x.png", server.base)
    for address in ("http://elsewhere.example/x.png", "file:///etc/passwd", "/x.png"):
        with pytest.raises(Rejected, match="not an https one"):
            wire.download(address, "https://vendor.example")


def test_keys_are_taken_out_of_anything_and_read_whole(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sentinel-1234567890")
    monkeypatch.setenv("OTHER_TOKEN", "short")
    told = {"a": ["x sentinel-1234567890 y"], "sentinel-1234567890": ("short", 3, None)}
    assert keys.scrub(told) == {"a": ["x [key] y"], "[key]": ["short", 3, None]}
    assert "sentinel" not in str(Rejected("bad key sentinel-1234567890"))
    monkeypatch.setenv("SOME_API_KEY", "sentinel-1234567890-abcdefghijkl")
    assert keys.scrub("x sentinel-1234567890-abcdefg") == "x [key]"
    assert keys.scrub("ends in -abcdefghijkl, twice -abcdefghijkl") == "ends in [key], twice [key]"
    assert keys.scrub("the sentine stood, 1234567") == "the sentine stood, 1234567", "a word is no part of a key"
    monkeypatch.setenv("SOME_API_KEY", " sentinel-1234567890\n")
    assert keys.read_key("SOME_API_KEY") == "sentinel-1234567890"
    monkeypatch.setenv("SOME_API_KEY", "two words")
    with pytest.raises(UserError, match="holds characters that no key has"):
        keys.read_key("SOME_API_KEY")


def test_an_error_is_scrubbed_before_it_is_cut(monkeypatch):
    key = "sentinel-" + "0123456789" * 3
    monkeypatch.setenv("SOME_API_KEY", key)
    for length in range(250, 310):
        error = wire.status_error(400, "x" * length + key)
        assert not any(key[start : start + 8] in str(error) for start in range(len(key) - 7))
    broken = httpx2.ReadError("y" * 110 + key)
    monkeypatch.setattr(wire.client(), "request", lambda *words, **more: (_ for _ in ()).throw(broken))
    with pytest.raises(Transient) as caught:
        wire.send("GET", "https://vendor.example", {})
    assert "sent" not in str(caught.value).partition("y")[2]
