"""Every listed model's whole request, beside a golden of the API's documented names."""

import base64

import pytest
from convergebench.generation.vendors import models
from vendors import bfl, chains, fal, gemini, openai, qwen, replicate, seedream, xai
from vendors.loopback import is_png, picture, serving

WORDS = "Paint the door green."
SIZE = (96, 64)  # only the shape matters here


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """The requests that a model's editor sends for one step, and the step."""

    def sent(module, model, size, **options):
        monkeypatch.setenv(module.KEY, "sentinel-key-1234567890")
        with serving(chains.script(module, picture(size))) as server:
            words = "".join(f",{key}={value}" for key, value in {"model": model, **options}.items())
            spec = module.SPEC.format(base=server.base, timeout=5) + words
            return server, chains.run(tmp_path, spec, size)[-1]

    return sent


NONE = object()
SIZES = {"3:2": (96, 64), "1:1": (64, 64), "2:3": (64, 96), "37:27": (148, 110)}
OPENAI = {  # model: options, shape of the picture, and what the request says of size, quality and input_fidelity
    "gpt-image-1": ({}, "3:2", ("1536x1024", "medium", "high")),
    "gpt-image-1.5": ({"input_fidelity": "low"}, "1:1", ("1024x1024", "medium", "low")),
    "gpt-image-1-mini": ({}, "2:3", ("1024x1536", "medium", "low")),
    "gpt-image-2": ({"quality": "high"}, "37:27", ("1184x880", "high", NONE)),
    "gpt-image-2-2026-04-21": ({}, "2:3", ("832x1248", "medium", NONE)),
    "gpt-image-2.5-sunburst": ({"quality": "xhigh"}, "3:2", ("1248x832", "xhigh", NONE)),
    "gpt-image-2.5-sunburst-2026-09-08": ({"quality": "low"}, "1:1", ("1024x1024", "low", NONE)),
    "gpt-image-2.5-flare": ({}, "3:2", ("1248x832", "medium", NONE)),
    "gpt-image-2.5-flare-2026-09-08": ({"quality": "max"}, "1:1", ("1024x1024", "max", NONE)),
    "gpt-image-2.6-sunburst": ({}, "1:1", ("1024x1024", "medium", NONE)),
    "gpt-image-2.6-flare": ({"quality": "high"}, "2:3", ("1024x1536", "high", NONE)),
    "chatgpt-image-latest": ({}, "3:2", ("1536x1024", "medium", NONE)),
}


@pytest.mark.parametrize("model", OPENAI)
def test_openai_is_sent_each_models_own_parameters(sent, model):
    options, shape, (pixels, quality, fidelity) = OPENAI[model]
    server, step = sent(openai, model, SIZES[shape], **options)
    assert server.requests[0].path == "/v1/images/edits"
    said = openai.fields(server.requests[0])
    kind, data = said.pop("image[]")
    golden = {"model": model, "prompt": WORDS, "size": pixels, "quality": quality, "output_format": "png", "n": 1}
    golden |= {} if fidelity is NONE else {"input_fidelity": fidelity}
    assert {name: value.decode() for name, (_, value) in said.items()} == {k: str(v) for k, v in golden.items()}
    assert (kind, is_png(data)) == ("image/png", True)
    assert step.details.get("input_fidelity", NONE) == fidelity


GEMINI = {  # model: resolution, shape, and whether it is of the third generation
    "gemini-nano-banana-2.1": ("2K", "3:2", True),
    "gemini-3-pro-image": ("4K", "1:1", True),
    "gemini-3.1-flash-image": ("1K", "3:2", True),
    "gemini-3.1-flash-lite-image": ("1K", "2:3", True),
    "gemini-3-pro-image-preview": ("1K", "1:1", True),
    "gemini-3.1-flash-image-preview": ("4K", "3:2", True),
    "gemini-2.5-flash-image": ("1K", "3:2", False),
}


@pytest.mark.parametrize("model", GEMINI)
def test_gemini_is_sent_each_models_own_parameters(sent, model):
    resolution, shape, third = GEMINI[model]
    server, step = sent(gemini, model, SIZES[shape], resolution=resolution)
    image = {"aspectRatio": shape, **({"imageSize": resolution} if third else {})}
    config = {"responseModalities": ["TEXT", "IMAGE"], "imageConfig": image, "seed": step.seed}
    config |= {"thinkingConfig": {"includeThoughts": True}} if third else {}
    body = server.requests[0].json()
    assert server.requests[0].path == f"/v1beta/models/{model}:generateContent"
    inline = body["contents"][0]["parts"][0]["inlineData"]
    assert is_png(base64.b64decode(inline.pop("data")))
    parts = [{"inlineData": {"mimeType": "image/png"}}, {"text": WORDS}]
    assert body == {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}


PIXELS = {"width": 96, "height": 64}
BFL = {
    "flux-2-pro": {**PIXELS, "disable_pup": True},
    "flux-2-max": {**PIXELS, "disable_pup": True},
    "flux-2-flex": {**PIXELS, "prompt_upsampling": False},
    "flux-2-klein-4b": PIXELS,
    "flux-2-klein-9b": PIXELS,
    "flux-kontext-pro": {"aspect_ratio": "3:2", "prompt_upsampling": False},
    "flux-kontext-max": {"aspect_ratio": "3:2", "prompt_upsampling": False},
}


@pytest.mark.parametrize("model", BFL)
def test_black_forest_labs_is_sent_each_models_own_parameters(sent, model):
    server, step = sent(bfl, model, SIZE)
    body = server.requests[0].json()
    assert server.requests[0].path == f"/v1/{model}"
    assert is_png(base64.b64decode(body.pop("input_image")))
    fixed = {"prompt": WORDS, "seed": step.seed, "output_format": "png", "safety_tolerance": 2}
    assert body == {**fixed, **BFL[model]}


SEQUENTIAL, PNG = {"sequential_image_generation": "disabled"}, {"output_format": "png"}
SEEDREAM = {  # model: resolution, and the parameters that are not everyone's
    "seedream-4-0-250828": ("1K", SEQUENTIAL),
    "doubao-seedream-4-0-250828": ("4K", SEQUENTIAL),
    "seedream-4-5-251128": ("2K", SEQUENTIAL),
    "doubao-seedream-4-5-251128": ("2K", SEQUENTIAL),
    "seedream-5-0-260128": ("2K", SEQUENTIAL | PNG),
    "seedream-5-0-pro-260628": ("2K", PNG),
    "seedream-5-0-flash-260915": ("1K", PNG),
    "seedream-5-5-261028": ("1K", PNG),
}


@pytest.mark.parametrize("model", SEEDREAM)
def test_seedream_is_sent_each_models_own_parameters(sent, model):
    resolution, own = SEEDREAM[model]
    server, _ = sent(seedream, model, SIZE, resolution=resolution)
    assert server.requests[0].path == "/api/v3/images/generations"
    body = server.requests[0].json()
    assert body.pop("image").startswith("data:image/png;base64,")
    golden = {"model": model, "prompt": WORDS, "size": "96x64", "response_format": "b64_json", "watermark": False}
    assert body == {**golden, **own}


QWEN = [model.name for model in models.listed() if model.vendor == "qwen"]


@pytest.mark.parametrize("model", QWEN)
def test_qwen_is_sent_a_size_by_all_that_take_one(sent, model):
    server, step = sent(qwen, model, SIZE)
    assert server.requests[0].path == "/api/v1/services/aigc/multimodal-generation/generation"
    body = server.requests[0].json()
    (message,) = body["input"]["messages"]
    assert message["content"][0]["image"].startswith("data:image/png;base64,")
    assert (body["model"], message["content"][1]) == (model, {"text": WORDS})
    golden = {"negative_prompt": " ", "watermark": False, "prompt_extend": False, "seed": step.seed, "n": 1}
    assert body["parameters"] == golden | ({} if model == "qwen-image-edit" else {"size": "96*64"})


XAI = {"grok-imagine-image-2.0": {"quality": "medium"}, "grok-imagine-image": {}, "grok-imagine-image-quality": {}}


@pytest.mark.parametrize("model", XAI)
def test_xai_is_sent_each_models_own_parameters(sent, model):
    server, _ = sent(xai, model, SIZE)
    assert server.requests[0].path == "/v1/images/edits"
    assert server.requests[0].headers["content-type"] == "application/json", "xAI takes no form"
    body = server.requests[0].json()
    sent_picture = body.pop("image")
    assert (sent_picture["type"], sent_picture["url"][:22]) == ("image_url", "data:image/png;base64,")
    golden = {"model": model, "prompt": WORDS, "aspect_ratio": "3:2", "resolution": "1k", "n": 1}
    assert body == {**golden, "response_format": "b64_json", **XAI[model]}


FAL = {  # model: options, and the parameters that its page on fal.ai names
    "fal-ai/flux-2-pro/edit": ({}, {"image_size": PIXELS, "safety_tolerance": "2"}),
    "fal-ai/flux-2/klein/4b/edit": ({}, {"image_size": PIXELS}),
    "fal-ai/flux-pro/kontext": ({}, {"aspect_ratio": "3:2"}),
    "fal-ai/qwen-image-edit": ({}, {"image_size": PIXELS}),
    "fal-ai/qwen-image-edit-plus": ({}, {"image_size": PIXELS}),
    "fal-ai/nano-banana-pro/edit": ({"resolution": "2K"}, {"aspect_ratio": "3:2", "resolution": "2K"}),
    "fal-ai/nano-banana-2/edit": ({}, {"aspect_ratio": "3:2", "resolution": "1K"}),
    "openai/gpt-image-2.5/sunburst/edit": ({"quality": "xhigh"}, {"image_size": PIXELS, "quality": "xhigh"}),
    "openai/gpt-image-2.5/flare/edit": ({}, {"image_size": PIXELS, "quality": "medium"}),
    "openai/gpt-image-2/edit": ({"quality": "low"}, {"image_size": PIXELS, "quality": "low"}),
}


@pytest.mark.parametrize("model", FAL)
def test_fal_is_sent_each_models_own_parameters(sent, model):
    options, own = FAL[model]
    server, step = sent(fal, model, SIZE, **options)
    body = server.requests[0].json()
    alone = model in ("fal-ai/qwen-image-edit", "fal-ai/flux-pro/kontext")
    given = body.pop("image_url") if alone else body.pop("image_urls")[0]
    assert (server.requests[0].path, given[:22]) == (f"/{model}", "data:image/png;base64,")
    seed = {} if model.startswith("openai/") else {"seed": step.seed}
    assert body == {"prompt": WORDS, "output_format": "png", "num_images": 1, **seed, **own}


REPLICATE = {
    "black-forest-labs/flux-kontext-pro": {"aspect_ratio": "3:2", "prompt_upsampling": False, "safety_tolerance": 2},
    "black-forest-labs/flux-kontext-max": {"aspect_ratio": "3:2", "prompt_upsampling": False, "safety_tolerance": 2},
    "black-forest-labs/flux-2-pro": {"aspect_ratio": "custom", **PIXELS, "safety_tolerance": 2},
}


@pytest.mark.parametrize("model", REPLICATE)
def test_replicate_is_sent_each_models_own_parameters(sent, model):
    server, step = sent(replicate, model, SIZE)
    (order,) = filter(replicate.is_order, server.requests)
    body, place = order.json()["input"], f"{server.base}/v1/files/f1"
    assert order.path == f"/v1/models/{model}/predictions"
    assert (body.pop("input_image", None) or body.pop("input_images")) == ([place] if "flux-2" in model else place)
    assert body == {"prompt": WORDS, "output_format": "png", "seed": step.seed, **REPLICATE[model]}


def test_every_listed_model_has_a_golden():
    goldens = {"openai": OPENAI, "gemini": GEMINI, "bfl": BFL, "seedream": SEEDREAM, "qwen": QWEN, "xai": XAI}
    goldens |= {"fal": FAL, "replicate": REPLICATE}
    listed = {(model.vendor, model.name) for model in models.listed()}
    assert listed == {(vendor, name) for vendor, names in goldens.items() for name in names}
