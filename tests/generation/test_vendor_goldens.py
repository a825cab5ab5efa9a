"""Every listed model's whole request, beside a golden of the API's documented names."""

import base64

import pytest
from convergebench.generation.vendors import models
from vendors import bfl, chains, fal, gemini, openai, qwen, replicate, seedream, xai
from vendors.loopback import is_png, picture

WORDS = "Paint the door green."
SIZES = {"3:2": (96, 64), "1:1": (64, 64), "2:3": (64, 96), "37:27": (148, 110)}  # only the shape matters here
PIXELS, RATIO = {"width": 96, "height": 64}, {"aspect_ratio": "3:2"}
SEQUENTIAL, PNG = {"sequential_image_generation": "disabled"}, {"output_format": "png"}
KONTEXT = {**RATIO, "prompt_upsampling": False, "safety_tolerance": 2}


def form(size, quality, fidelity=None):
    return {"size": size, "quality": quality, **({"input_fidelity": fidelity} if fidelity else {})}


def image(size, quality=None):
    return {"image_size": size, **({"quality": quality} if quality else {})}


def shaped(ratio, resolution=None):
    """Gemini's configuration; the second generation has no resolution and no thoughts."""
    size = {"imageSize": resolution} if resolution else {}
    thoughts = {"thinkingConfig": {"includeThoughts": True}} if resolution else {}
    return {"imageConfig": {"aspectRatio": ratio, **size}, **thoughts}


# Vendor, model: options, the shape of the picture, and what the request says that is not everyone's.
GOLDENS = {
    openai: {
        "gpt-image-1": ({}, "3:2", form("1536x1024", "medium", "high")),
        "gpt-image-1.5": ({"input_fidelity": "low"}, "1:1", form("1024x1024", "medium", "low")),
        "gpt-image-1-mini": ({}, "2:3", form("1024x1536", "medium", "low")),
        "gpt-image-2": ({"quality": "high"}, "37:27", form("1184x880", "high")),
        "gpt-image-2-2026-04-21": ({}, "2:3", form("832x1248", "medium")),
        "gpt-image-2.5-sunburst": ({"quality": "xhigh"}, "3:2", form("1248x832", "xhigh")),
        "gpt-image-2.5-sunburst-2026-09-08": ({"quality": "low"}, "1:1", form("1024x1024", "low")),
        "gpt-image-2.5-flare": ({}, "3:2", form("1248x832", "medium")),
        "gpt-image-2.5-flare-2026-09-08": ({"quality": "max"}, "1:1", form("1024x1024", "max")),
        "gpt-image-2.6-sunburst": ({}, "1:1", form("1024x1024", "medium")),
        "gpt-image-2.6-flare": ({"quality": "high"}, "2:3", form("1024x1536", "high")),
        "chatgpt-image-latest": ({}, "3:2", form("1536x1024", "medium")),
    },
    gemini: {
        "gemini-nano-banana-2.1": ({"resolution": "2K"}, "3:2", shaped("3:2", "2K")),
        "gemini-3-pro-image": ({"resolution": "4K"}, "1:1", shaped("1:1", "4K")),
        "gemini-3.1-flash-image": ({}, "3:2", shaped("3:2", "1K")),
        "gemini-3.1-flash-lite-image": ({}, "2:3", shaped("2:3", "1K")),
        "gemini-3-pro-image-preview": ({}, "1:1", shaped("1:1", "1K")),
        "gemini-3.1-flash-image-preview": ({"resolution": "4K"}, "3:2", shaped("3:2", "4K")),
        "gemini-2.5-flash-image": ({}, "3:2", shaped("3:2")),
    },
    bfl: {
        "flux-2-pro": ({}, "3:2", {**PIXELS, "disable_pup": True}),
        "flux-2-max": ({}, "3:2", {**PIXELS, "disable_pup": True}),
        "flux-2-flex": ({}, "3:2", {**PIXELS, "prompt_upsampling": False}),
        "flux-2-klein-4b": ({}, "3:2", PIXELS),
        "flux-2-klein-9b": ({}, "3:2", PIXELS),
        "flux-kontext-pro": ({}, "3:2", {**RATIO, "prompt_upsampling": False}),
        "flux-kontext-max": ({}, "3:2", {**RATIO, "prompt_upsampling": False}),
    },
    seedream: {
        "seedream-4-0-250828": ({}, "3:2", SEQUENTIAL),
        "doubao-seedream-4-0-250828": ({"resolution": "4K"}, "3:2", SEQUENTIAL),
        "seedream-4-5-251128": ({"resolution": "2K"}, "3:2", SEQUENTIAL),
        "doubao-seedream-4-5-251128": ({"resolution": "2K"}, "3:2", SEQUENTIAL),
        "seedream-5-0-260128": ({"resolution": "2K"}, "3:2", SEQUENTIAL | PNG),
        "seedream-5-0-pro-260628": ({"resolution": "2K"}, "3:2", PNG),
        "seedream-5-0-flash-260915": ({}, "3:2", PNG),
        "seedream-5-5-261028": ({}, "3:2", PNG),
        "doubao-seedream-5-5-261028": ({}, "3:2", PNG),
    },
    qwen: {
        model.name: ({}, "3:2", {} if model.name == "qwen-image-edit" else {"size": "96*64"})
        for model in models.all_models()
        if model.vendor == "qwen"
    },
    xai: {
        "grok-imagine-image-2.0": ({}, "3:2", {"quality": "medium"}),
        "grok-imagine-image": ({}, "3:2", {}),
        "grok-imagine-image-quality": ({}, "3:2", {}),
    },
    fal: {
        "fal-ai/flux-2-pro/edit": ({}, "3:2", {**image(PIXELS), "safety_tolerance": "2"}),
        "fal-ai/flux-2/klein/4b/edit": ({}, "3:2", image(PIXELS)),
        "fal-ai/flux-pro/kontext": ({}, "3:2", RATIO),
        "fal-ai/qwen-image-edit": ({}, "3:2", image(PIXELS)),
        "fal-ai/qwen-image-edit-plus": ({}, "3:2", image(PIXELS)),
        "fal-ai/nano-banana-pro/edit": ({"resolution": "2K"}, "3:2", {**RATIO, "resolution": "2K"}),
        "fal-ai/nano-banana-2/edit": ({}, "3:2", {**RATIO, "resolution": "1K"}),
        "openai/gpt-image-2.5/sunburst/edit": ({"quality": "xhigh"}, "3:2", image(PIXELS, "xhigh")),
        "openai/gpt-image-2.5/flare/edit": ({}, "3:2", image(PIXELS, "medium")),
        "openai/gpt-image-2/edit": ({"quality": "low"}, "3:2", image(PIXELS, "low")),
    },
    replicate: {
        "black-forest-labs/flux-kontext-pro": ({}, "3:2", KONTEXT),
        "black-forest-labs/flux-kontext-max": ({}, "3:2", KONTEXT),
        "black-forest-labs/flux-2-pro": ({}, "3:2", {"aspect_ratio": "custom", **PIXELS, "safety_tolerance": 2}),
    },
}


def said(module, model, request, seed):
    """The path that is documented, what every model's request says, the request's own words, and its picture."""
    common = {"prompt": WORDS, "output_format": "png"}
    if module is openai:
        fields = openai.fields(request)
        kind, data = fields.pop("image[]")
        assert kind == "image/png"
        texts = {name: value.decode() for name, (_, value) in fields.items()}
        return "/v1/images/edits", {**common, "model": model, "n": "1"}, texts, data
    body = request.json()
    if module is gemini:
        [content] = body["contents"]
        (shown, words), config = content["parts"], body.pop("generationConfig")
        assert (content["role"], words, set(body)) == ("user", {"text": WORDS}, {"contents"})
        assert shown["inlineData"]["mimeType"] == "image/png"
        path = f"/v1beta/models/{model}:generateContent"
        return path, {"responseModalities": ["TEXT", "IMAGE"], "seed": seed}, config, shown["inlineData"]["data"]
    if module is bfl:
        return f"/v1/{model}", {**common, "seed": seed, "safety_tolerance": 2}, body, body.pop("input_image")
    if module is seedream:
        fixed = {"model": model, "size": "96x64", "response_format": "b64_json", "watermark": False}
        return "/api/v3/images/generations", {"prompt": WORDS, **fixed}, body, body.pop("image")
    if module is qwen:
        [message] = body["input"]["messages"]
        assert (body["model"], message["content"][1]) == (model, {"text": WORDS})
        fixed = {"negative_prompt": " ", "watermark": False, "prompt_extend": False, "seed": seed, "n": 1}
        path = "/api/v1/services/aigc/multimodal-generation/generation"
        return path, fixed, body["parameters"], message["content"][0]["image"]
    if module is xai:
        fixed = {"model": model, "resolution": "1k", "n": 1, "response_format": "b64_json", "prompt": WORDS}
        assert request.headers["content-type"] == "application/json", "xAI takes no form"
        shown = body.pop("image")
        assert shown["type"] == "image_url"
        return "/v1/images/edits", fixed | RATIO, body, shown["url"]
    if module is fal:
        alone = model in ("fal-ai/qwen-image-edit", "fal-ai/flux-pro/kontext")
        fixed = {**common, "num_images": 1, **({} if model.startswith("openai/") else {"seed": seed})}
        return f"/{model}", fixed, body, body.pop("image_url") if alone else body.pop("image_urls")[0]
    place = body["input"].pop("input_images")[0] if "flux-2" in model else body["input"].pop("input_image")
    assert place == f"http://{request.headers['host']}/v1/files/f1"
    return f"/v1/models/{model}/predictions", {**common, "seed": seed}, body["input"], picture()


ROWS = [(module, model) for module, rows in GOLDENS.items() for model in rows]


@pytest.mark.parametrize(("module", "model"), ROWS, ids=[model for _, model in ROWS])
def test_a_model_is_sent_its_own_parameters(tmp_path, monkeypatch, module, model):
    options, shape, own = GOLDENS[module][model]
    vendor = chains.script(module, picture(SIZES[shape]))
    more = {"model": model, **options}
    [step, *_], requests = chains.asked(tmp_path, monkeypatch, module, vendor, SIZES[shape], **more)
    [request] = filter(module.is_order, requests)
    path, common, body, shown = said(module, model, request, step.seed)
    assert request.path == path
    assert body == common | own
    assert is_png(shown if isinstance(shown, bytes) else base64.b64decode(shown.rpartition(",")[2]))
    assert step.status == "ok"


def test_every_listed_model_has_a_golden():
    listed = {
        (model.vendor, model.name) for model in models.all_models() if model.vendor != "rest"
    }  # test_editors_rest
    assert listed == {(module.__name__.removeprefix("vendors."), model) for module, model in ROWS}
