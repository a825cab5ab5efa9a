"""Whatever fal.ai and Replicate host for the Hub's inference providers, through the Hub's router.

The Hub says by which name a provider hosts a model. Its client's `image_to_image` is
not used, because it decodes the picture with Pillow and loses the bytes as received.
"""

import functools
import urllib.parse
from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..calls import Unusable
from ..options import choice, number
from ..records import Answer
from ..vendors import hosted, wire
from ..vendors.sizes import Size, of_pipeline
from . import fal, replicate

_QUEUE = "?_subdomain=queue"


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """Hub Inference Providers: FLUX Kontext, Qwen-Image-Edit and others, wherever they are hosted."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    base_url: str = wire.base_url_option("HF_ROUTER_BASE_URL")
    provider: str = choice("fal-ai", ("fal-ai", "replicate"))
    guidance: float | None = None
    steps: int | None = number(None, least=1)
    vendor: ClassVar = "hf"
    meanings: ClassVar = (*fal.Editor.meanings, *replicate.MEANINGS)

    def sizes(self) -> tuple[Size, ...]:
        return of_pipeline(self.model)

    @functools.cached_property
    def _hosting(self) -> wire.Json:
        from huggingface_hub import constants

        address = f"{constants.ENDPOINT}/api/models/{self.model}?expand=inferenceProviderMapping"
        with wire.before_the_order():
            response = wire.send("GET", address, self.headers())
            reply = self.checked(response, wire.parse_json(response))
        rows = reply.get("inferenceProviderMapping") or {}
        hosts = [name for name, row in rows.items() if row["task"] == "image-to-image"]
        if self.provider not in hosts:
            others = f"providers that edit with it: {', '.join(sorted(hosts)) or 'none'}"
            raise Unusable(f"{self.model} is not supported by {self.provider}; {others}")
        hosting: wire.Json = rows[self.provider]
        return hosting

    def body(self, image: Image.Image, instruction: str, seed: int) -> wire.Json:
        """Each field that some model reads the picture from holds it."""
        picture = wire.data_address(pictures.encode_png(image))
        names = ("image_url",) if self.provider == "fal-ai" else ("image", "input_image")
        options = {"seed": seed, "num_inference_steps": self.steps, "guidance_scale": self.guidance}
        return {
            **dict.fromkeys(names, picture),
            **{f"{name}s": [picture] for name in names},
            "prompt": instruction,
            **{name: value for name, value in options.items() if value is not None},
        }

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        name, body = self._hosting["providerId"], self.body(image, instruction, seed)
        details = {"provider": self.provider, "hosted_as": name}
        if self.provider == "replicate":
            path, sent = replicate.order_of(name, body)
            prediction = self.post(f"/replicate{path}", sent, prefer="wait")  # it is answered within a minute
            return replicate.finished(self, prediction, details)
        if weights := self._hosting.get("adapterWeightsPath"):  # of a LoRA, which fal applies to its base
            from huggingface_hub import hf_hub_url

            body["loras"] = [{"path": hf_hub_url(self.model, weights), "scale": 1}]
        order = self.post(f"/fal-ai/{name}{_QUEUE}", body)
        path = urllib.parse.urlsplit(order["response_url"]).path  # seldom the same as the model's id
        address = f"{self.address()}/fal-ai{path}"
        details["request_id"] = order["request_id"]
        return fal.wait_for_answer(self, instruction, f"{address}/status{_QUEUE}", address + _QUEUE, details)
