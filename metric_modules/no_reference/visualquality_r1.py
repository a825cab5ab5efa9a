"""VisualQuality-R1: a vision-language model is asked for a rating, in the words that it was trained with."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._shared.scoring import Signature
from .measure import Score, digest_of, files_of, version_of

_QUESTION = (
    "You are doing the image quality assessment task. Here is the question: "
    "What is your overall rating on the quality of this picture? The rating should be a float between 1 and 5, "
    "rounded to two decimal places, with 1 representing very poor quality and 5 representing excellent quality. "
    "Please only output the final answer with only one score in <answer> </answer> tags."
)
_MOST_TOKENS = 32
_VISION = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")


class VisualQualityR1:
    """The model without thinking aloud, always the likeliest words: the same picture has the same score."""

    most_together = 1

    def __init__(self, repository: str, device: str):
        import torch
        from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

        folder = files_of(repository)
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder)
            self.images = Qwen2VLImageProcessorPil.from_pretrained(folder)
            dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
            model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder, dtype=dtype)
        except OSError as error:
            reason = str(error).strip().splitlines()[0][:120]
            raise FileNotFoundError(f"{repository} is not a complete model: {reason}") from error
        self.model, self.device = model.eval().to(device), device
        self.signature: Signature = {
            "model": repository,
            "weights": digest_of(model.state_dict()),
            "question": hashlib.sha256(_QUESTION.encode()).hexdigest()[:12],
            "transformers": version_of("transformers"),
        }

    def scores(self, pictures: Sequence[np.ndarray]) -> list[Score]:
        """The rating of each picture, asked one by one."""
        return [read_score(self.answer(picture)) for picture in pictures]

    def answer(self, picture: np.ndarray) -> str:
        """What the model says of a picture."""
        import torch
        from PIL import Image

        seen: Any = self.images(images=[Image.fromarray(picture)], return_tensors="pt")
        places = int(seen["image_grid_thw"].prod()) // self.images.merge_size**2
        start, pad, end = _VISION
        words = (
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
            f"<|im_start|>user\n{start}{pad * places}{end}{_QUESTION}<|im_end|>\n<|im_start|>assistant\n"
        )
        prompt = self.tokenizer(words, return_tensors="pt", add_special_tokens=False)
        kinds = (prompt["input_ids"] == self.tokenizer.convert_tokens_to_ids(pad)).long()
        inputs = {**prompt, **seen, "mm_token_type_ids": kinds}
        moved = {name: value.to(self.device) for name, value in inputs.items() if name != "token_type_ids"}
        with torch.inference_mode():
            tokens = self.model.generate(
                **moved, max_new_tokens=_MOST_TOKENS, do_sample=False, temperature=None, top_p=None, top_k=None
            )
        return self.tokenizer.decode(tokens[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)


def read_score(answer: str) -> Score:
    """The number in an answer, even a rating below 1, or the text that was returned instead.

    >>> read_score("<answer> 3.25 </answer>"), read_score("I cannot see it")
    (3.25, ('no_score_in_answer', 'I cannot see it'))
    """
    tagged = re.findall(r"<answer>\s*(-?\d+(?:\.\d+)?)\s*</answer>", answer)
    bare = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", answer)
    if tagged:
        return float(tagged[-1])
    return float(bare[1]) if bare else ("no_score_in_answer", " ".join(answer.split())[:80])
