"""LiteLLM in a Python of its own: what it is asked, what its answers become, and its real interface on request."""

import base64
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Unusable
from convergebench.generation.records import UserError
from vendors import chains, gemini, openai
from vendors.loopback import picture, serving, told

SIZE = (96, 64)
STAND_IN = '''
"""A stand-in for LiteLLM with the names that are used of it."""
import base64, enum, os, sys, types

class LlmProviders(str, enum.Enum):
    vendor = "vendor"
    wordless = "wordless"

class ContentPolicyViolationError(Exception):
    status_code, message = 400, "against the rules"

class RateLimitError(Exception):
    status_code, message = 429, "slow down"

class BadRequestError(Exception):
    status_code, message = 400, "words for 400"

class AuthenticationError(Exception):
    status_code, message = 401, "words for 401"

def get_llm_provider(model):
    provider, _, name = model.partition("/")
    return name, provider, None, None

def name_of(model):
    return model.partition("/")[2]

def image_edit(image, prompt, model, timeout, num_retries, max_retries, **given):
    with open(__file__ + ".calls", "a+") as calls:
        first = calls.tell() == 0
        calls.write(name_of(model))
    name = name_of(model)
    print("Give Feedback / Get Help")  # as the real one does
    if name == "dies":
        os._exit(3)
    if name == "busy" and first:
        raise RateLimitError
    for kind in (ContentPolicyViolationError, BadRequestError, AuthenticationError):
        if kind.__name__.startswith(name):
            raise kind
    row = types.SimpleNamespace(b64_json=base64.b64encode(image.read()).decode(), url=None, revised_prompt=prompt)
    if name == "blank":
        row.b64_json = None
    answer = types.SimpleNamespace(data=[row], usage=None, _hidden_params={"response_cost": 0.05})
    return answer
'''
UTILS = """
class Config:
    def get_supported_openai_params(self, model):
        return ["n", "size"] + (["seed", "quality"] if model != "seedless" else [])

class ProviderConfigManager:
    @staticmethod
    def get_provider_image_edit_config(model, provider):
        return None if provider == "wordless" else Config()
"""


@pytest.fixture
def python(tmp_path):
    """A Python with the stand-in, beside whatever is installed here."""
    site = tmp_path / "site"
    (site / "litellm").mkdir(parents=True)
    (site / "litellm" / "__init__.py").write_text(STAND_IN)
    (site / "litellm" / "utils.py").write_text(UTILS)
    table = '{"vendor/model": {"output_cost_per_image": 0.05, "deprecation_date": "2026-12-24"}}'
    (site / "litellm" / "model_prices_and_context_window_backup.json").write_text(table)
    (site / "litellm-9.8.dist-info").mkdir()
    (site / "litellm-9.8.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: litellm\nVersion: 9.8\n")
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} -S "$@"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def ask(python, tmp_path):
    def ask(model, **options):
        words = "".join(f",{key}={value}" for key, value in options.items())
        return chains.run(tmp_path / model.replace("/", "-"), f"litellm:model={model},python={python}{words}", SIZE)[-1]

    return ask


def test_a_model_is_asked_for_what_it_takes_and_its_answer_kept(ask):
    step = ask("vendor/model", quality="high")
    assert (step.status, step.cost) == ("ok", 0.05)
    assert step.details["sent"] == {"size": "96x64", "n": 1, "seed": step.seed, "quality": "high"}
    assert step.details["uncontrolled"] == []
    step = ask("vendor/seedless")
    assert step.details["sent"] == {"size": "96x64", "n": 1}
    assert step.details["uncontrolled"] == ["seed"]


def test_litellms_version_is_identity_and_its_table_the_price(python):
    choice = editors.choose(f"litellm:model=vendor/model,python={python}")
    assert choice.settings == {"model": "vendor/model", "litellm": "9.8", "seed": "per-step"}
    assert choice.editor.price() == 0.05
    assert str(choice.editor.hosted().ends) == "2026-12-24"
    assert editors.choose(f"litellm:model=vendor/other,python={python}").editor.price() is None
    assert editors.choose(f"litellm:model=gemini/gemini-3-pro-image,python={python}").editor.price() == 0.24


def test_litellm_faults_become_typed_steps(ask):
    step = ask("vendor/ContentPolicy")
    assert (step.status, step.reason, step.cost) == (
        "refused",
        "ContentPolicyViolationError: against the rules",
        0.0,
    )
    step = ask("vendor/BadRequest")
    assert (step.status, "words for 400" in step.reason) == ("failed", True)
    assert ask("vendor/blank").status == "no_image"


def test_a_litellm_process_that_died_is_started_again(ask):
    assert ask("vendor/busy").status == "ok"
    step = ask("vendor/dies")
    assert (step.status, "ended with 3 (tried 3 times)" in step.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("vendor/Authentication", {}, "words for 401"),
        ("wordless/model", {}, "no image edits for wordless"),
        ("vendor/seedless", {"quality": "high"}, "takes no quality through LiteLLM"),
    ],
)
def test_what_cannot_work_stops_the_run(ask, model, options, words):
    with pytest.raises(Unusable, match=words):
        ask(model, **options)


def test_without_litellm_the_line_that_installs_it_apart_is_said():
    assert "python -m venv litellm-env" in editors.choose(f"litellm:python={sys.executable}").editor.ready()
    with pytest.raises(UserError, match="which is not a program"):
        editors.choose("litellm:python=/nowhere/python")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A Python with the real LiteLLM: LITELLM_PYTHON, else an environment made from the package index."""
    if named := os.environ.get("LITELLM_PYTHON"):
        return named
    folder = tmp_path_factory.mktemp("litellm-env")
    venv.create(folder, with_pip=True)
    program = str(Path(folder, "bin", "python"))
    done = subprocess.run(
        [program, "-m", "pip", "install", "-q", "litellm"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"LiteLLM cannot be installed here: {done.stderr.splitlines()[-1]}")
    return program


@pytest.mark.weights
def test_the_real_litellm_edits_in_three_vendors_formats(real, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-key-1234567890")
    monkeypatch.setenv("FAL_AI_API_KEY", "sentinel-key-1234567890")
    monkeypatch.setenv("GEMINI_API_KEY", "sentinel-key-1234567890")
    data = picture((96, 64))

    def vendor(server, request):
        if request.path.endswith("/images/edits"):
            said = {name: value for name, (_, value) in openai.fields(request).items()}
            assert (said["prompt"], said["size"], said["model"]) == (b"Paint the door green.", b"96x64", b"gpt-image-2")
            return openai.shown(server, data)
        if request.path == "/models/gemini-3-pro-image:generateContent":
            return gemini.shown(server, data)
        assert request.path == "/openai/gpt-image-2.5/flare/edit"
        assert request.headers["authorization"] == "Key sentinel-key-1234567890"
        assert request.json()["prompt"] == "Paint the door green."
        url = "data:image/png;base64," + base64.b64encode(data).decode()
        return told({"images": [{"url": url, "content_type": "image/png"}]})

    with serving(vendor) as server:
        for model in ("openai/gpt-image-2", "fal_ai/openai/gpt-image-2.5/flare/edit", "gemini/gemini-3-pro-image"):
            spec = f"litellm:model={model},python={real},base_url={server.base}"
            step = chains.run(tmp_path / model.replace("/", "-"), spec, SIZE)[-1]
            assert (step.status, step.reason) == ("ok", None)
            assert next((tmp_path / model.replace("/", "-")).glob("chains/*/0001.png")).read_bytes() == data
            assert step.details["uncontrolled"] == ["seed"]


@pytest.mark.weights
def test_the_real_litellm_tells_a_refusal_from_a_limit(real, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-key-1234567890")
    replies = iter([openai.error(429, retry_after="0"), openai.error(400, "moderation_blocked")])
    with serving(lambda server, request: next(replies)) as server:
        spec = f"litellm:model=openai/gpt-image-2,python={real},base_url={server.base}"
        step = chains.run(tmp_path, spec, SIZE)[-1]
    assert (step.status, "moderation_blocked" in step.reason) == ("refused", True)
