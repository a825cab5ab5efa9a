"""Open models of transformers on this machine."""

import functools
import threading
from dataclasses import dataclass
from typing import Any

from convergebench.generation import requirements, torch_models
from convergebench.generation.calls import Rejected, Unusable
from convergebench.generation.options import check_limits, number, unrelated
from convergebench.generation.pictures import decode
from convergebench.generation.records import Answer, one_of

from . import BaseJudge, Shown

WEIGHTS = "config.json"


@dataclass(frozen=True)
class Judge(BaseJudge):
    """An image-text-to-text model from the Hub or a folder, decoded greedily: the same question has the same answer."""

    model: str = "HuggingFaceTB/SmolVLM-500M-Instruct"
    dtype: str = "bfloat16"
    device: str = unrelated("auto")
    side: int = number(1024, least=32)
    max_tokens: int = number(500, least=1)
    concurrency = 1

    def __post_init__(self) -> None:
        one_of("transformers:dtype", self.dtype, torch_models.DTYPES)
        one_of("transformers:device", self.device, torch_models.DEVICES)
        check_limits("transformers", self)

    def ready(self) -> str | None:
        return requirements.missing_packages("judges", "jsonschema") or (
            requirements.missing_packages("score", "torch", "transformers")
            or requirements.missing_weights(self.model, WEIGHTS)
        )

    def identity(self) -> dict[str, str]:
        """The commit that the weights come from."""
        commit = requirements.hub_commit(self.model, WEIGHTS)
        return {"commit": commit} if commit else {}

    @functools.cached_property
    def lock(self) -> threading.Lock:
        return threading.Lock()

    @functools.cached_property
    def loaded(self) -> tuple[Any, Any]:
        """The processor and the model, ready on their device."""
        from transformers import AutoModelForImageTextToText, AutoProcessor

        try:
            processor = AutoProcessor.from_pretrained(self.model, backend="pil")
            model = AutoModelForImageTextToText.from_pretrained(self.model, dtype=torch_models.dtype(self.dtype))
        except (OSError, ValueError, ImportError) as error:
            raise Unusable(f"{self.model} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
        return processor, model.eval().to(torch_models.device(self.device))

    def answer(self, shown: Shown) -> Answer:
        import torch

        with self.lock:
            processor, model = self.loaded
            pictures = [decode(data) for data in shown.pictures]
            content: list[dict[str, str]] = []
            for number in range(1, len(pictures) + 1):
                content += [{"type": "text", "text": f"Picture {number}:"}, {"type": "image"}]
            content.append({"type": "text", "text": shown.words})
            prompt = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
            images = {"images": pictures} if pictures else {}
            inputs = processor(text=prompt, return_tensors="pt", **images).to(model.device, model.dtype)
            try:
                with torch.inference_mode():
                    out = model.generate(**inputs, max_new_tokens=self.max_tokens, do_sample=False)
            except torch.OutOfMemoryError as error:
                raise Rejected(f"there is not enough memory: {str(error)[:200]}") from error
            received = out[0, inputs["input_ids"].shape[1] :]
            text = processor.batch_decode(received[None], skip_special_tokens=True)[0]
        finish = "length" if len(received) >= self.max_tokens else "stop"
        details = {"model": self.model, "finish_reason": finish, "usage": {"output": len(received)}}
        return Answer(text=text, cost=0.0, details=details)
