"""Checkpoints of VisualQuality-R1 and RALI in their published layouts, tiny and of random weights."""

import pickle
import sys
from types import ModuleType
from unittest import mock

import numpy as np
import scored
import torch
from tiny_pipelines import MARKS, qwen_vl
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import CLIPModel, PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

RATINGS = [f"<answer>{rating / 10:.1f}</answer>" for rating in range(5, 51)]  # some are below the scale's end
REFUSAL = "sorry"


def language_model(folder, refuses=False):
    """A model that sees and answers with a rating in one word, which depends on the picture; or refuses."""
    torch.manual_seed(0)
    words = {word: number for number, word in enumerate(["[UNK]", REFUSAL, *MARKS, *RATINGS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", eos_token="<|im_end|>",  # noqa: S106
                                   additional_special_tokens=MARKS)  # fmt: skip
    end = words["<|im_end|>"]
    _, model = qwen_vl("Qwen2_5_VL", fast, {"eos_token_id": end, "pad_token_id": end})
    with torch.no_grad():
        model.lm_head.weight.mul_(50)
        chosen = [words[REFUSAL]] if refuses else [words[rating] for rating in RATINGS]
        others = [number for number in range(len(words)) if number not in chosen]
        model.lm_head.weight[others] = 0
        if refuses:
            model.lm_head.weight[chosen] *= 0
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=56 * 56, max_pixels=112 * 112).save_pretrained(folder)
    return folder


def rali(folder):
    """A repository with the folder RALI: an encoder, all tensors, prototypes, and the means of a pickle."""
    inside = folder / "RALI"
    encoder = CLIPModel.from_pretrained(scored.clip_model(inside / "best"))
    size = encoder.config.projection_dim
    scorer = {
        "pca_scale": torch.rand(size) + 0.5,
        "pca_components": torch.randn(6, size),
        "prototypes": torch.randn(5, 6),
        "proto_scores": torch.linspace(1, 5, 5),
        "logit_scale": torch.tensor(1 / 0.07),
    }
    state = {f"clip.{name}": value for name, value in encoder.state_dict().items()}
    state |= {f"scorer.{name}": value for name, value in scorer.items()}
    torch.save({"state_dict": state}, inside / "ckpt.pt")
    np.savez(inside / "basis.npz", vectors=scorer["prototypes"].numpy(), scores=scorer["proto_scores"].numpy())
    (inside / "pca.pkl").write_bytes(pickled({"mean_": np.linspace(-1, 1, size), "n_components_": 6}))
    return folder


def pickled(fields):
    """An object of a class of scikit-learn, whether that is installed or not."""
    names = ["sklearn", "sklearn.decomposition", "sklearn.decomposition._incremental_pca"]
    modules = {name: ModuleType(name) for name in names}
    modules[names[-1]].IncrementalPCA = kind = type("IncrementalPCA", (), {"__module__": names[-1]})
    made = kind()
    made.__dict__.update(fields)
    with mock.patch.dict(sys.modules, modules):
        return pickle.dumps(made, 3)
