"""Real pipelines of diffusers with random weights: real chains on the CPU, the same bits for the same seeds."""

import importlib

import numpy
import pytest
import tiny_pipelines
from convergebench.generation import editors, pictures, torch_models
from convergebench.generation.calls import Unusable
from convergebench.generation.records import UserError
from convergebench.generation.vendors import sizes
from PIL import Image
from vendors import chains

slow = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every pipeline is built once, when a test first asks for it."""
    made = {}

    def folder(name):
        import torch

        if name not in made:
            torch.manual_seed(0)
            made[name] = tmp_path_factory.mktemp(name.replace("-", ""))
            if name == "qwen-plus":
                tiny_pipelines.qwen(made[name], plus=True)
            else:
                getattr(tiny_pipelines, name)(made[name])
        return made[name]

    return folder


PIPELINES = [
    pytest.param("kontext", "FluxKontextPipeline", sizes.KONTEXT),
    pytest.param("flux2", "Flux2Pipeline", sizes.MEGAPIXEL, marks=slow),
    pytest.param("pix2pix", "StableDiffusionInstructPix2PixPipeline", sizes.PIX2PIX, marks=slow),
    pytest.param("qwen", "QwenImageEditPipeline", sizes.QWEN, marks=slow),
    pytest.param("qwen-plus", "QwenImageEditPlusPipeline", sizes.QWEN, marks=slow),
]


@pytest.mark.parametrize(("name", "pipeline", "stable"), PIPELINES)
def test_a_real_pipeline_runs_chains_that_the_seeds_repeat_bit_for_bit(tmp_path, folder, name, pipeline, stable):
    spec = f"diffusers:model={folder(name)},dtype=float32,steps=2,device=cpu"
    assert editors.choose(spec).editor.sizes() == stable
    one = chains.run(tmp_path / "one", spec, (96, 64), rounds=2)
    two = chains.run(tmp_path / "two", spec, (96, 64), rounds=2)
    fixed = chains.run(tmp_path / "fixed", f"{spec},seed=fixed", (96, 64), rounds=2)
    assert [(step.status, step.width, step.height, step.type) for step in one] == [("ok", 96, 64, "png")] * 2
    assert [step.sha256 for step in one] == [step.sha256 for step in two]
    assert one[0].seed != one[1].seed
    assert fixed[0].seed == fixed[1].seed
    assert one[0].sha256 != fixed[0].sha256
    assert one[0].details["pipeline"] == pipeline
    assert one[0].details["num_inference_steps"] == 2


def test_the_published_table_of_kontext_sizes_is_ours():
    from diffusers.pipelines.flux.pipeline_flux_kontext import PREFERRED_KONTEXT_RESOLUTIONS

    assert tuple(PREFERRED_KONTEXT_RESOLUTIONS) == sizes.KONTEXT


@pytest.mark.parametrize("rule", ["qwenimage.pipeline_qwenimage_edit", "longcat_image.pipeline_longcat_image_edit"])
def test_sizes_about_a_megapixel_are_those_that_a_pipelines_own_rule_maps_to_themselves(rule):
    module = importlib.import_module(f"diffusers.pipelines.{rule}")
    for size in sizes.QWEN if "qwen" in rule else sizes.LONGCAT:
        assert module.calculate_dimensions(1024 * 1024, size[0] / size[1])[:2] == size


@pytest.mark.parametrize(
    ("model", "stable"),
    [
        ("black-forest-labs/FLUX.1-Kontext-dev", sizes.KONTEXT),
        ("black-forest-labs/FLUX.2-dev", sizes.MEGAPIXEL),
        ("Qwen/Qwen-Image-Edit-2509", sizes.QWEN),
        ("meituan-longcat/LongCat-Image-Edit", sizes.LONGCAT),
        ("timbrooks/instruct-pix2pix", sizes.PIX2PIX),
        ("somebody/something-else", ()),
    ],
)
def test_a_published_models_sizes_are_known_before_its_weights_are_here(model, stable):
    assert editors.choose(f"diffusers:model={model}").editor.sizes() == stable


def test_guidance_goes_by_each_pipelines_own_name():
    from diffusers import FluxKontextPipeline, QwenImageEditPipeline, StableDiffusionInstructPix2PixPipeline

    editor = editors.choose("diffusers:guidance=3,steps=4").editor
    kontext, qwen = (editor.arguments(pipeline, (96, 64)) for pipeline in (FluxKontextPipeline, QwenImageEditPipeline))
    assert kontext == {
        "guidance_scale": 3,
        "num_inference_steps": 4,
        "width": 96,
        "height": 64,
        "max_area": 6144,
        "_auto_resize": False,
    }
    assert qwen == {"true_cfg_scale": 3, "negative_prompt": " ", "num_inference_steps": 4, "width": 96, "height": 64}
    pix = editors.choose("diffusers:image_guidance=1.2").editor
    assert pix.arguments(StableDiffusionInstructPix2PixPipeline, (96, 64)) == {"image_guidance_scale": 1.2}
    with pytest.raises(UserError, match="takes none"):
        pix.arguments(FluxKontextPipeline, (96, 64))


def test_a_folder_without_weights_stops_the_run_in_one_sentence(tmp_path):
    with pytest.raises(Unusable, match="cannot be loaded"):
        editors.choose(f"diffusers:model={tmp_path}").editor.edit(Image.new("RGB", (64, 64)), "x", 0)


@pytest.mark.parametrize("option", ["dtype=int8", "device=tpu", "offload=some", "steps=0"])
def test_every_option_is_checked(option):
    with pytest.raises(UserError):
        editors.choose(f"diffusers:{option}")


@pytest.mark.parametrize("size", [(64, 48), (61, 45)])
@pytest.mark.parametrize("kind", ["autoencoder", "tiny_autoencoder"])
def test_an_autoencoder_answers_in_the_size_it_is_asked_in(tmp_path, kind, size):
    getattr(tiny_pipelines, kind)().save_pretrained(tmp_path / "weights")
    spec = f"vae:model={tmp_path}/weights,subfolder=none,device=cpu"
    one = chains.run(tmp_path / "one", spec, size, rounds=2)
    two = chains.run(tmp_path / "two", spec, size, rounds=2)
    assert [(step.status, step.width, step.height) for step in one] == [("ok", *size)] * 2
    assert [step.sha256 for step in one] == [step.sha256 for step in two]


def test_a_posterior_is_drawn_from_with_the_seed_only_when_asked_to(tmp_path):
    tiny_pipelines.autoencoder().save_pretrained(tmp_path)
    picture = Image.effect_noise((64, 64), 60).convert("RGB")

    def edit(options, seed):
        editor = editors.choose(f"vae:model={tmp_path},subfolder=none,device=cpu{options}").editor
        return numpy.asarray(pictures.decode(editor.edit(picture, "", seed).data))

    assert numpy.array_equal(edit("", 1), edit("", 2))
    assert numpy.array_equal(edit(",sample=true", 1), edit(",sample=true", 1))
    assert not numpy.array_equal(edit(",sample=true", 1), edit(",sample=true", 2))


def test_pictures_come_back_from_tensors_unchanged():
    picture = Image.effect_noise((32, 16), 80).convert("RGB")
    assert numpy.array_equal(numpy.asarray(torch_models.picture(torch_models.tensor(picture))), numpy.asarray(picture))
