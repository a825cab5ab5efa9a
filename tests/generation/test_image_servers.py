"""Servers of one's own behind `openai:base_url=`: what they are sent, what makes a chain's identity."""

import json

import pytest
from convergebench.generation import editors
from convergebench.generation.editors.openai import Editor
from convergebench.generation.records import UserError
from convergebench.generation.vendors import image_servers
from vendors import chains
from vendors.image_server import MODEL, ImageServer
from vendors.loopback import picture, serving

SIZE = (96, 64)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key-1234567890")
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
    data = picture(SIZE)
    vendor = ImageServer(data)
    with serving(vendor) as server:
        words = spec(server, steps=28, guidance=2.5, true_cfg=4, teacache="false")
        step = chains.run(tmp_path, words, SIZE)[-1]
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
    monkeypatch.setenv("BFL_BASE_URL", "https://gateway.example")
    assert editors.choose("bfl").settings["base_url"] == "https://gateway.example"


def test_what_no_server_can_do_is_said_in_one_sentence():
    other = pytest.raises(UserError, match=f"has no model 'Qwen/Other'; it serves {MODEL}")
    with serving(ImageServer()) as server, other:
        editors.choose(f"openai:base_url={server.base},model=Qwen/Other")
    with pytest.raises(UserError, match="no server answers at"):
        editors.choose(spec(server))


def test_a_call_in_a_private_network_costs_nothing(tmp_path, monkeypatch):
    def price(address):
        return Editor(base_url=address, model=MODEL).price()

    assert price("http://127.0.0.1:8000") == price("http://10.0.0.7:8000") == price("http://gpu-4:8000") == 0.0
    assert price("https://images.example.org") is None
    (tmp_path / "prices.toml").write_text(f'[openai]\n"{MODEL}" = 0.02\n')
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(tmp_path / "prices.toml"))
    assert price("https://images.example.org") == price("http://gpu-4:8000") == 0.02
