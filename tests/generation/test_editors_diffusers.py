"""Real pipelines of diffusers with random weights: real chains on the CPU, the same bits for the same seeds."""

import dataclasses
import inspect
import re
import runpy
import sys
from pathlib import Path
from unittest import mock

import numpy
import pytest
import tiny_pipelines
from convergebench.generation import editors, local_models, pictures
from convergebench.generation.calls import Rejected, Unusable
from convergebench.generation.editors import diffusers as pipelines
from convergebench.generation.records import UserError
from convergebench.generation.vendors import sizes
from PIL import Image
from vendors import chains

slow = pytest.mark.slow
HOUSE = Path(__file__).parents[2]


# The sizes that each is stable at, and the size in which it answers a picture of 96x64.
STABLE = {
    **dict.fromkeys(("flux2", "klein", "klein_kv"), ("megapixel", (96, 64))),
    **dict.fromkeys(("pix2pix", "pix2pix_xl"), ("pix2pix", (96, 64))),
    **dict.fromkeys(("qwen", "qwen-plus", "qwen21", "dreamlite", "dreamlite_mobile"), ("qwen", (96, 64))),
    **dict.fromkeys(("z_omni", "chrono", "bria", "glm"), ("qwen", (96, 64))),
    "kontext": ("kontext", (96, 64)),
    "longcat": ("longcat", (1264, 848)),
    "joy": ("joyimage", (1216, 832)),
    "kandinsky5": ("kandinsky", (1280, 768)),
}


@pytest.mark.parametrize(
    "name", ["kontext", *(pytest.param(name, marks=slow) for name in STABLE if name != "kontext")]
)
def test_seeds_repeat_a_real_pipelines_chains_bit_for_bit(tmp_path, name):
    import torch

    torch.manual_seed(0)
    tiny_pipelines.write(name, tmp_path / "weights")
    family, answered = STABLE[name]
    if name in ("kandinsky5", "chrono"):
        pytest.importorskip("ftfy", reason="these pipelines mend words with ftfy: pip install ftfy")
    dtype = "bfloat16" if name == "z_omni" else "float32"  # Z-Image Omni gives its pictures to the autoencoder so
    spec = f"diffusers:model={tmp_path}/weights,dtype={dtype},steps=2,device=cpu"
    editor, stable = editors.choose(spec).editor, sizes.FAMILIES[family]
    assert editor.sizes() == stable
    rounds = 1 if answered[0] > 96 else 2
    one, two = (chains.run(tmp_path / each, spec, (96, 64), rounds=rounds) for each in ("one", "two"))
    assert [(step.status, step.width, step.height) for step in one] == [("ok", *answered)] * rounds, one[0].reason
    assert [step.sha256 for step in one] == [step.sha256 for step in two]
    assert one[0].details["pipeline"] == f"{tiny_pipelines.PIPELINES[name]['pipeline']}Pipeline"
    assert one[0].details["num_inference_steps"] == 2
    assert pictures.decode(editor.edit(Image.new("RGB", (101, 71)), "add a hat", 1).data).size
    if name != "longcat":  # which takes no size: it has its own for each shape
        assert [pipelines._stable_size(editor.pipeline, size) for size in stable] == list(stable)


def test_every_driven_pipeline_runs_chains_with_tiny_weights():
    table = runpy.run_path(str(HOUSE / "docs" / "pipelines.py"))
    assert set(table["WEIGHTS"]) == {row["pipeline"] for row in tiny_pipelines.PIPELINES.values()}
    assert set(STABLE) == set(tiny_pipelines.PIPELINES)


def test_a_package_that_a_pipeline_forgets_is_named(monkeypatch):
    import diffusers

    kind = diffusers.ChronoEditPipeline
    monkeypatch.setattr(sys.modules[kind.__module__], "is_ftfy_available", lambda: False)
    assert pipelines._missing_package(kind) == "ftfy"
    assert pipelines._missing_package(diffusers.FluxKontextPipeline) is None


def test_the_published_tables_of_sizes_are_ours():
    from diffusers.pipelines.flux.pipeline_flux_kontext import PREFERRED_KONTEXT_RESOLUTIONS
    from diffusers.pipelines.joyimage.image_processor import BUCKETS

    assert tuple(PREFERRED_KONTEXT_RESOLUTIONS) == sizes.FAMILIES["kontext"]
    assert tuple((width, height) for height, width in BUCKETS[1024]) == sizes.of_pipeline("Joy")

    from diffusers.pipelines.longcat_image import pipeline_longcat_image_edit as longcat
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit as qwen

    for pipeline, stable in ((qwen, sizes.FAMILIES["qwen"]), (longcat, sizes.of_pipeline("LongCat"))):
        for size in stable:  # the pipeline does not change them
            assert pipeline.calculate_dimensions(1024 * 1024, size[0] / size[1])[:2] == size


def test_sizes_are_known_before_the_weights_are_here():
    for model, stable in {
        "black-forest-labs/FLUX.1-Kontext-dev": sizes.FAMILIES["kontext"],
        "Qwen/Qwen-Image-Edit-2509": sizes.FAMILIES["qwen"],
        "meituan-longcat/LongCat-Image-Edit": sizes.of_pipeline("LongCat"),
        "timbrooks/instruct-pix2pix": sizes.of_pipeline("pix2pix"),
        "somebody/something-else": (),
    }.items():
        assert editors.choose(f"diffusers:model={model}").editor.sizes() == stable


def stand_in(name, answer=None):
    """A pipeline of that class without weights: its call has the class's own signature and gives its own output."""
    import diffusers

    kind = getattr(diffusers, name)
    signature = inspect.signature(kind.__call__)

    def call(self, **given):
        signature.bind(self, **given)
        image = given["image"][0] if isinstance(given["image"], list) else given["image"]
        assert (given.get("width", image.width), given.get("height", image.height)) == image.size
        self.asked = given
        return answer(image) if answer else output_of(kind, image)

    call.__signature__ = signature
    return object.__new__(type(name, (kind,), {"__call__": call, "__module__": __name__}))


def output_of(kind, image):
    """The output class that the pipeline's own file names, with a picture in it."""
    outputs = [each for name, each in vars(sys.modules[kind.__module__]).items() if name.endswith("Output")]
    for output in outputs:
        names = [field.name for field in dataclasses.fields(output)] if dataclasses.is_dataclass(output) else []
        if name := next((name for name in ("images", "image", "frames") if name in names), None):
            others = {each: None for each in names if each != name}
            return output(**{name: [[image, image]] if name == "frames" else [image], **others})
    raise AssertionError(f"{kind.__name__} names no output class")


def edited(name, options="", size=(96, 64), answer=None):
    editor = editors.choose("diffusers:" + options).editor
    editor.__dict__["pipeline"] = pipeline = stand_in(name, answer)
    return editor.edit(Image.new("RGB", size), "add a hat", 1), pipeline.asked


DRIVEN = [
    *("FluxKontextPipeline", "Kandinsky5I2IPipeline", "ChronoEditPipeline", "BriaFiboEditPipeline"),
    *("ZImageOmniPipeline", "GlmImagePipeline"),
]


@pytest.mark.parametrize("name", DRIVEN)
def test_a_pipeline_is_called_by_its_own_signature(name):
    answer, asked = edited(name, "steps=4")
    assert pictures.decode(answer.data).size == (96, 64)
    assert asked["num_inference_steps"] == 4
    assert asked["prompt"] == ('{"edit_instruction": "add a hat"}' if name.startswith("Bria") else "add a hat")
    assert isinstance(asked["image"], list) == (name in ("ZImageOmniPipeline", "GlmImagePipeline"))


def test_each_pipeline_is_asked_in_a_size_that_it_takes():
    assert edited("FluxKontextPipeline", size=(101, 60))[1]["image"].size == (96, 64)
    assert edited("GlmImagePipeline", size=(101, 60))[1]["image"][0].size == (96, 64)
    assert edited("StableDiffusionInstructPix2PixPipeline", size=(101, 60))[1]["image"].size == (104, 64)
    away_from_1024 = editors.choose("diffusers:model=Qwen/Qwen-Image-2.1").editor.sizes()
    assert all(max(size) <= 1024 and size != (1024, 1024) for size in away_from_1024)
    assert edited("QwenImage21Pipeline", size=(768, 768))[1]["output_resolution"] == 768
    with pytest.warns(UserWarning, match="14824"):
        edited("QwenImage21Pipeline", size=(1024, 1024))


def test_guidance_goes_by_each_pipelines_own_name():
    kontext = edited("FluxKontextPipeline", "guidance=3")[1]
    assert (kontext["guidance_scale"], kontext["max_area"], kontext["_auto_resize"]) == (3, 6144, False)
    for name in ("QwenImageEditPipeline", "QwenImage21Pipeline"):
        qwen = edited(name, "guidance=3")[1]
        assert (qwen["true_cfg_scale"], qwen["negative_prompt"]) == (3, " ")
    pix = edited("StableDiffusionInstructPix2PixPipeline", "guidance=3,image_guidance=1.2")[1]
    assert (pix["guidance_scale"], pix["image_guidance_scale"]) == (3, 1.2)


def test_an_option_that_a_pipeline_would_ignore_is_refused():
    kinds = {"image_guidance": "FluxKontext", "guidance": "Flux2KleinKV", "steps": "HeliosPyramid"}
    for option, name in kinds.items():
        with pytest.raises(UserError, match=f"{option} is given, but {name}Pipeline takes none"):
            edited(f"{name}Pipeline", f"{option}=2")


def test_a_pipelines_fault_fails_the_step_or_stops_the_run(tmp_path):
    with pytest.raises(Unusable, match="cannot be loaded"):
        editors.choose(f"diffusers:model={tmp_path}").editor.edit(Image.new("RGB", (64, 64)), "x", 0)

    def broken(image):
        raise RuntimeError("expected 4 channels")

    with pytest.raises(Rejected, match="FluxKontextPipeline: RuntimeError: expected 4 channels"):
        edited("FluxKontextPipeline", answer=broken)
    with pytest.raises(Rejected, match="holds no picture"):
        edited("FluxKontextPipeline", answer=lambda image: object())


@slow
def test_the_table_of_pipelines_is_current():
    """Every class of the installed diffusers that takes a picture and words: driven, or the reason why not."""
    page = HOUSE / "docs" / "diffusers.md"
    text = runpy.run_path(str(HOUSE / "docs" / "pipelines.py"))["table"]()
    written = page.read_text().split("<!-- pipelines -->\n")[1].split("<!-- end -->")[0]
    assert written == text, "run docs/pipelines.py"
    driven = re.findall(r"^\| `(\w+)` \| yes", text, re.MULTILINE)
    assert len(driven) >= 16
    for name in driven:
        answer, _ = edited(name)
        assert pictures.decode(answer.data).size == (96, 64), name


@pytest.mark.parametrize("kind", ["autoencoder", "tiny_autoencoder"])
def test_an_autoencoder_answers_in_the_size_it_is_asked_in(tmp_path, kind):
    size = (61, 45)
    tiny_pipelines.made(tiny_pipelines.AUTOENCODERS[kind]).save_pretrained(tmp_path / "weights")
    spec = f"vae:model={tmp_path}/weights,subfolder=none,device=cpu"
    one = chains.run(tmp_path / "one", spec, size, rounds=2)
    two = chains.run(tmp_path / "two", spec, size, rounds=2)
    assert [(step.status, step.width, step.height) for step in one] == [("ok", *size)] * 2
    assert [step.sha256 for step in one] == [step.sha256 for step in two]


def test_a_posterior_is_sampled_only_on_request(tmp_path):
    tiny_pipelines.made(tiny_pipelines.AUTOENCODERS["autoencoder"]).save_pretrained(tmp_path)
    picture = Image.effect_noise((64, 64), 60).convert("RGB")

    def edit(options, seed):
        editor = editors.choose(f"vae:model={tmp_path},subfolder=none,device=cpu{options}").editor
        return numpy.asarray(pictures.decode(editor.edit(picture, "", seed).data))

    assert numpy.array_equal(edit("", 1), edit("", 2))
    assert numpy.array_equal(edit(",sample=true", 1), edit(",sample=true", 1))
    assert not numpy.array_equal(edit(",sample=true", 1), edit(",sample=true", 2))


def test_pictures_come_back_from_tensors_unchanged():
    picture = Image.effect_noise((32, 16), 80).convert("RGB")
    returned = local_models.to_picture(local_models.to_tensor(picture))
    assert numpy.array_equal(numpy.asarray(returned), numpy.asarray(picture))


def test_a_lora_is_loaded_and_is_part_of_the_identity(monkeypatch):
    pipeline = mock.Mock(spec=["load_lora_weights", "set_adapters"])
    with pytest.raises(Unusable, match="takes no LoRA"):
        pipelines._add_lora(object(), "me/keep@abc:0.8")
    monkeypatch.setattr(local_models, "is_installed", lambda module: False)
    with pytest.raises(Unusable, match="pip install peft"):
        pipelines._add_lora(pipeline, "me/keep@abc:0.8")
    monkeypatch.setattr(local_models, "is_installed", lambda module: True)
    pipelines._add_lora(pipeline, "me/keep@abc:0.8")
    pipeline.load_lora_weights.assert_called_once_with("me/keep", adapter_name="lora", revision="abc")
    pipeline.set_adapters.assert_called_once_with("lora", 0.8)
    choice = editors.choose("diffusers:lora=me/keep@abc:0.8", find_out=False)
    assert choice.settings["lora"] == "me/keep@abc:0.8"
    assert "lora" not in editors.choose("diffusers", find_out=False).settings
