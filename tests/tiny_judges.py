"""Checkpoints of VisualQuality-R1 and RALI in their published layouts, tiny and of random weights."""

import pickle
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPConfig,
    CLIPModel,
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

MARKS = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
RATINGS = [f"<answer>{rating / 10:.1f}</answer>" for rating in range(5, 51)]  # some are below the scale's end
REFUSAL = "sorry"


def language_model(folder: Path, refuses: bool = False) -> Path:
    """A model that sees and answers with a rating in one word, which depends on the picture; or refuses."""
    torch.manual_seed(0)
    words = {word: number for number, word in enumerate(["[UNK]", REFUSAL, *MARKS, *RATINGS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", eos_token="<|im_end|>",  # noqa: S106
                                   additional_special_tokens=MARKS)  # fmt: skip
    text = {
        "vocab_size": len(words), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 4096,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        "eos_token_id": words["<|im_end|>"], "pad_token_id": words["<|im_end|>"],
    }  # fmt: skip
    vision = {
        "depth": 1, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32,
        "fullatt_block_indexes": [0],
    }  # fmt: skip
    config = Qwen2_5_VLConfig(
        text_config=text, vision_config=vision, image_token_id=words["<|image_pad|>"],
        video_token_id=words["<|video_pad|>"], vision_start_token_id=words["<|vision_start|>"],
        vision_end_token_id=words["<|vision_end|>"],
    )  # fmt: skip
    model = Qwen2_5_VLForConditionalGeneration(config)
    with torch.no_grad():
        model.lm_head.weight.mul_(50)
        chosen = [words[REFUSAL]] if refuses else [words[rating] for rating in RATINGS]
        others = [number for number in range(len(words)) if number not in chosen]
        model.lm_head.weight[others] = 0
        if refuses:
            model.lm_head.weight[words["<|im_end|>"]] = 0
            model.lm_head.weight[chosen] *= 0
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=56 * 56, max_pixels=112 * 112).save_pretrained(folder)
    return folder


def rali(folder: Path) -> Path:
    """A repository with the folder RALI: an encoder, all tensors, prototypes, and the means of a pickle."""
    inside = folder / "RALI"
    inside.mkdir(parents=True)
    torch.manual_seed(1)
    tower = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(
        text_config={**tower, "vocab_size": 20, "max_position_embeddings": 8},
        vision_config={**tower, "image_size": 32, "patch_size": 8},
        projection_dim=16,
    )
    encoder = CLIPModel(config)
    encoder.save_pretrained(inside / "best")
    CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(
        inside / "best"
    )
    scorer = {
        "pca_scale": torch.rand(16) + 0.5,
        "pca_components": torch.randn(6, 16),
        "prototypes": torch.randn(5, 6),
        "proto_scores": torch.linspace(1, 5, 5),
        "logit_scale": torch.tensor(1 / 0.07),
    }
    state = {f"clip.{name}": value for name, value in encoder.state_dict().items()}
    torch.save(
        {"state_dict": state | {f"scorer.{name}": value for name, value in scorer.items()}}, inside / "ckpt.pt"
    )
    np.savez(inside / "basis.npz", vectors=scorer["prototypes"].numpy(), scores=scorer["proto_scores"].numpy())
    (inside / "pca.pkl").write_bytes(pickled({"mean_": np.linspace(-1, 1, 16), "n_components_": 6}))
    return folder


def pickled(fields: dict[str, object]) -> bytes:
    """An object of a class of scikit-learn, whether that is installed or not."""
    names = ["sklearn", "sklearn.decomposition", "sklearn.decomposition._incremental_pca"]
    modules = {name: ModuleType(name) for name in names}
    modules[names[-1]].IncrementalPCA = kind = type("IncrementalPCA", (), {"__module__": names[-1]})
    made = kind()
    made.__dict__.update(fields)
    with mock.patch.dict(sys.modules, modules):
        return pickle.dumps(made, 3)
