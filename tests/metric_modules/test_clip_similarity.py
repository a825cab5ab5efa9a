"""CLIP similarity on a tiny model of random weights: the real loading code, no network."""

import sys
import types

import numpy as np
import pytest
import scored
import torch
from convergebench.metric_modules.clip_similarity import measure
from convergebench.metric_modules.clip_similarity.clip_similarity import ClipSimilarity

SMALL = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = {**SMALL, "image_size": 32, "patch_size": 8}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return scored.clip_model(tmp_path_factory.mktemp("clip") / "model")


def pictures(count, seed=4):
    random = np.random.default_rng(seed)
    return [random.integers(0, 256, (40 + 9 * n, 64, 3)).astype(np.uint8) for n in range(count)]


def test_the_embedding_is_the_models_projected_one(checkpoint):
    from transformers import CLIPModel

    known = measure.load(checkpoint)
    assert type(known.processor).__name__ == "CLIPImageProcessorPil"
    [picture] = pictures(1)
    prepared = known.processor(images=[picture], return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        model = CLIPModel.from_pretrained(checkpoint)
        expected = model.visual_projection(model.vision_model(prepared).pooler_output)[0]
    found = measure.embed(known, [picture])
    torch.testing.assert_close(found[0], expected / expected.norm())
    assert not found.requires_grad


def test_identity_is_one_and_order_does_not_matter(checkpoint):
    known = measure.load(checkpoint)
    rows = measure.embed(known, pictures(4))
    assert measure.compare(rows, rows) == pytest.approx([1] * 4, abs=1e-6)
    assert measure.compare(rows[:1], rows[1:2]) == measure.compare(rows[1:2], rows[:1])
    many = measure.compare(rows[:1], rows)
    assert many == pytest.approx([measure.compare(rows[:1], row[None])[0] for row in rows])
    assert len(set(many)) == 4


def test_another_clip_like_model_is_taken_by_its_folder(tmp_path):
    from transformers import SiglipConfig, SiglipModel
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    text = {**SMALL, "vocab_size": 50000}
    SiglipModel(SiglipConfig(vision_config=VISION, text_config=text)).save_pretrained(tmp_path)
    SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    known = measure.load(str(tmp_path))
    rows = measure.embed(known, pictures(2))
    assert measure.compare(rows, rows) == pytest.approx([1, 1], abs=1e-6)


def test_a_folder_that_holds_no_whole_clip_is_refused(tmp_path):
    from transformers import CLIPConfig

    CLIPConfig().save_pretrained(tmp_path / "half")
    with pytest.raises(FileNotFoundError, match="half is not a complete model: ") as absent:
        measure.load(str(tmp_path / "half"))
    assert "\n" not in str(absent.value)


class Broken(types.ModuleType):
    """transformers beside a torchvision that was built for another torch."""

    def __getattr__(self, name):
        raise ModuleNotFoundError(f"no {name!r}") from RuntimeError("operator torchvision::nms does not exist")


def test_a_broken_transformers_is_a_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "CHECKPOINT", str(tmp_path))
    broken = Broken("transformers")
    broken.__spec__, broken.__path__ = types.SimpleNamespace(name="transformers"), []
    monkeypatch.setitem(sys.modules, "transformers", broken)
    with pytest.raises(FileNotFoundError, match=r"\(operator torchvision::nms does not exist\)"):
        measure.Scorer("cpu", "float32", {})
    # Without weights and without the Hub, nobody waits for transformers.
    monkeypatch.setattr(measure, "CHECKPOINT", "nobody/has-this")
    monkeypatch.setattr(measure, "_hub_answers", lambda: False)
    with pytest.raises(FileNotFoundError, match="are not in the cache, and the Hub does not answer"):
        measure.Scorer("cpu", "float32", {})


def test_absent_weights_are_null_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    [picture] = pictures(1)
    metric = ClipSimilarity(cache_dir=str(tmp_path))
    result = metric.compute(predictions=[picture] * 2, references=[picture] * 2, checkpoint="nobody/has-this")
    assert result["clip_similarity"] is None
    assert result["clip_similarity_values"] == [None, None]
    assert result["reason"] == "the weights of nobody/has-this are not in the cache, and the Hub does not answer"
    assert result["signature"] is None


def test_the_module_takes_pictures_of_different_sizes_in_batches(checkpoint, tmp_path):
    shown, originals = pictures(3), pictures(3, seed=8)[::-1]
    metric = ClipSimilarity(cache_dir=str(tmp_path))
    result = metric.compute(predictions=shown, references=originals, checkpoint=checkpoint, batch_size=2)
    known = measure.load(checkpoint)
    alone = measure.compare(measure.embed(known, originals), measure.embed(known, shown))
    assert result["clip_similarity_values"] == pytest.approx(alone, abs=1e-6)
    assert result["clip_similarity"] == pytest.approx(sum(alone) / 3, abs=1e-6)
    assert result["reason"] is None
    resized = metric.compute(predictions=shown, references=originals, checkpoint=checkpoint, size=40)
    assert resized["clip_similarity_values"] != pytest.approx(alone, abs=1e-6)
