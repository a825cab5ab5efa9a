"""The two metrics that transformers computes: RALI and VisualQuality-R1."""

import hashlib
import io
import pickle
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import torch
from PIL import Image
from torch.nn.functional import normalize, softmax

from .._shared.published import PlainArrays
from .._shared.scoring import Signature
from .measure import Judge, Score, digest_of, first_line, version_of

if TYPE_CHECKING:
    from transformers import CLIPModel, PreTrainedTokenizerBase, Qwen2_5_VLForConditionalGeneration

_RALI_FOLDER = "RALI"  # inside the repository
_SMALLEST_SCALE = 1e-10  # a smaller deviation counts as 1
_QUESTION = (
    "You are doing the image quality assessment task. Here is the question: "
    "What is your overall rating on the quality of this picture? The rating should be a float between 1 and 5, "
    "rounded to two decimal places, with 1 representing very poor quality and 5 representing excellent quality. "
    "Please only output the final answer with only one score in <answer> </answer> tags."
)
_MOST_TOKENS = 32


def _files_of(repository: str, *patterns: str) -> Path:
    if Path(repository).is_dir():
        return Path(repository)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(snapshot_download(repository, allow_patterns=list(patterns) or None))
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise FileNotFoundError(
            f"the weights of {repository} could not be downloaded: {first_line(error)}"
        ) from error


def rali(repository: str, device: str) -> Judge:
    """A mean of prototypes' scores, weighted by likeness to a CLIP embedding."""
    from transformers import CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    folder = _files_of(repository, f"{_RALI_FOLDER}/*") / _RALI_FOLDER
    try:
        encoder = CLIPModel.from_pretrained(folder / "best")
        images: Any = CLIPImageProcessorPil.from_pretrained(folder / "best")
        checkpoint = torch.load(folder / "ckpt.pt", map_location="cpu", weights_only=True)["state_dict"]
        mean = _read_pickle(folder / "pca.pkl")["mean_"]
    except (OSError, KeyError, ValueError, pickle.UnpicklingError) as error:
        raise FileNotFoundError(f"{folder} is not a complete checkpoint of RALI: {first_line(error)}") from error
    tensors = {name[len("clip.") :]: value for name, value in checkpoint.items() if name.startswith("clip.")}
    loaded = encoder.load_state_dict(tensors, strict=False)
    odd = [name for name in (*loaded.missing_keys, *loaded.unexpected_keys) if not name.endswith("position_ids")]
    if odd:
        raise FileNotFoundError(f"{folder}: ckpt.pt and best/ are of different networks ({odd[0]})")
    encoder = encoder.eval().to(device)
    parts = {name.removeprefix("scorer."): value for name, value in checkpoint.items() if "scorer." in name}
    parts = {"pca_mean": torch.from_numpy(mean), **parts}
    parts = {name: value.to(device, torch.float32) for name, value in parts.items()}

    weights = digest_of({**encoder.state_dict(), **parts})
    signature: Signature = {"model": repository, "weights": weights, "transformers": version_of("transformers")}
    return partial(_rali_scores, encoder, images, parts), 1 if device == "cpu" else 8, signature


def _rali_scores(
    encoder: "CLIPModel", images: Any, parts: Mapping[str, torch.Tensor], pictures: Sequence[np.ndarray]
) -> list[Score]:
    seen = images(images=[Image.fromarray(picture) for picture in pictures], return_tensors="pt")
    with torch.inference_mode():
        output = encoder.get_image_features(pixel_values=seen["pixel_values"].to(encoder.device))
        return _score_of(output.pooler_output.to(torch.float32), parts).tolist()


def _score_of(embedding: torch.Tensor, parts: Mapping[str, torch.Tensor]) -> torch.Tensor:
    scale = parts["pca_scale"].abs()
    scale = scale.where(scale >= _SMALLEST_SCALE, 1.0)
    projected = (embedding - parts["pca_mean"]) / scale @ parts["pca_components"].T
    near = normalize(projected, dim=-1) @ normalize(parts["prototypes"], dim=-1).T
    return softmax(near * parts["logit_scale"].clamp(min=1e-6), dim=-1) @ parts["proto_scores"]


def _read_pickle(path: Path) -> dict[str, Any]:
    """What a pickle of joblib holds; nothing that it names is run."""
    file = io.BytesIO(path.read_bytes())

    def stand_in(module: str, name: str) -> type | None:
        if (module, name) == ("joblib.numpy_pickle", "NumpyArrayWrapper"):
            return type(
                name, (), {"__setstate__": lambda head, state: setattr(head, "array", _read_array(file, **state))}
            )
        return type(name, (), {}) if module.split(".")[0] == "sklearn" else None

    components = PlainArrays(file, stand_in).load()
    if not hasattr(components, "__dict__"):
        raise ValueError(f"{path.name} holds {type(components).__name__}, no principal components")
    return {name: getattr(value, "array", value) for name, value in vars(components).items()}


def _read_array(
    file: BinaryIO, dtype: np.dtype, shape: tuple[int, ...], order: str, **head: object
) -> np.ndarray:
    if dtype.hasobject:
        raise ValueError("pca.pkl holds an array of objects, which is not read")
    if head.get("numpy_array_alignment_bytes") is not None:
        file.read(file.read(1)[0])
    data = file.read(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape, order="F" if order == "F" else "C")


def visualquality_r1(repository: str, device: str) -> Judge:
    """A language model is asked in the words that it was trained with.

    It always takes the likeliest words: the same picture has the same score.
    """
    from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    folder = _files_of(repository)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        images: Any = Qwen2VLImageProcessorPil.from_pretrained(folder)
        dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
        model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=dtype).eval().to(device)
    except OSError as error:
        raise FileNotFoundError(f"{repository} is not a complete model: {first_line(error)}") from error

    signature: Signature = {
        "model": repository,
        "weights": digest_of(model.state_dict()),
        "question": hashlib.sha256(_QUESTION.encode()).hexdigest()[:12],
        "transformers": version_of("transformers"),
    }
    answer = partial(_answer_about, model, tokenizer, images)
    return lambda pictures: [_read_score(answer(picture)) for picture in pictures], 1, signature


def _answer_about(
    model: "Qwen2_5_VLForConditionalGeneration",
    tokenizer: "PreTrainedTokenizerBase",
    images: Any,
    picture: np.ndarray,
) -> str:
    seen = images(images=[Image.fromarray(picture)], return_tensors="pt")
    places = int(seen["image_grid_thw"].prod()) // images.merge_size**2
    pad = "<|image_pad|>"
    words = (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
        f"<|vision_start|>{pad * places}<|vision_end|>{_QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    )
    prompt = tokenizer(words, return_tensors="pt", add_special_tokens=False)
    kinds = (prompt["input_ids"] == tokenizer.convert_tokens_to_ids(pad)).long()
    inputs = {**prompt, **seen, "mm_token_type_ids": kinds}
    moved = {name: value.to(model.device) for name, value in inputs.items() if name != "token_type_ids"}
    options = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    with torch.inference_mode():
        tokens = model.generate(**moved, max_new_tokens=_MOST_TOKENS, **options)
    return tokenizer.decode(tokens[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)


def _read_score(answer: str) -> Score:
    """The number in an answer, or the text that was returned instead.

    >>> _read_score("<answer> 3.25 </answer>"), _read_score("I cannot see it")
    (3.25, ('no_score_in_answer', 'I cannot see it'))
    """
    tagged = re.findall(r"<answer>\s*(-?\d+(?:\.\d+)?)\s*</answer>", answer)
    bare = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", answer)
    if tagged:
        return float(tagged[-1])
    return float(bare[1]) if bare else ("no_score_in_answer", " ".join(answer.split())[:80])
