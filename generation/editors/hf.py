"""Whatever the Hub's inference providers host, through the Hub's router.

huggingface_hub says which provider hosts a model. Its `image_to_image` is not used, because it decodes the picture with
Pillow and loses the bytes as received.
"""

import functools
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PIL import Image

from .. import pictures
from ..calls import Rejected, Transient, Unusable
from ..options import number
from ..records import Answer, one_of
from ..vendors import hosted, keys, wire
from ..vendors.sizes import KONTEXT, QWEN, Size
from ..vendors.wire import Json
from . import fal, replicate

if TYPE_CHECKING:
    import httpx
    from huggingface_hub.hf_api import InferenceProviderMapping

_TASK = "image-to-image"


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """Hub Inference Providers: FLUX Kontext, Qwen-Image-Edit and others, wherever they are hosted."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    timeout: float = number(300.0, above=0, identity=False)
    base_url: str = wire.base_url_option("HF_ROUTER_BASE_URL")
    provider: str = "fal-ai"
    guidance: float | None = None
    steps: int | None = number(None, least=1)
    vendor: ClassVar = hosted.Vendor("hf", "https://router.huggingface.co", "HF_TOKEN", variable="HF_ROUTER_BASE_URL")

    def check(self) -> None:
        one_of("hf:provider", self.provider, tuple(_PROVIDERS))

    def sizes(self) -> tuple[Size, ...]:
        return KONTEXT if "Kontext" in self.model else QWEN if "Qwen" in self.model else ()

    @functools.cached_property
    def hosting(self) -> "InferenceProviderMapping":
        """The Hub's record of the provider's own name for the model; `hf-inference` uses the Hub's name."""
        import httpx2
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError

        api = HfApi(token=keys.read_key("HF_TOKEN"))
        try:
            info = api.model_info(self.model, expand=["inferenceProviderMapping"], timeout=wire.seconds_left())
        except HfHubHTTPError as error:
            message = " ".join(filter(None, (str(error.server_message or ""), str(error))))
            retry_after = error.response.headers.get("retry-after")
            raise wire.status_error(error.response.status_code, message, retry_after) from error
        except (httpx2.HTTPError, OSError) as error:
            raise Transient(f"the Hub does not say which providers host {self.model}: {error}") from error
        rows: dict[str, InferenceProviderMapping] = {
            row.provider: row for row in info.inference_provider_mapping or () if row.task == _TASK
        }
        if self.provider not in rows:
            hosts = ", ".join(sorted(rows)) or "none"
            raise Unusable(f"{self.model} is not supported by {self.provider}; providers that edit with it: {hosts}")
        return rows[self.provider]

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        options = {"prompt": instruction, "num_inference_steps": self.steps, "guidance_scale": self.guidance}
        options = {name: value for name, value in (options | {"seed": seed}).items() if value is not None}
        answer = _PROVIDERS[self.provider](self, pictures.encode_png(image), options)
        if answer.data and pictures.sniff(answer.data) == "bin":
            raise Transient("an answer that is not a picture", charged=True)
        return answer

    def path(self, path: str) -> str:
        """A path at the provider, behind the router: keys go nowhere else."""
        return f"/{self.provider}/{path.lstrip('/')}"

    def details(self, **values: object) -> Json:
        return {
            "model": self.model,
            "provider": self.provider,
            **{key: value for key, value in values.items() if value},
        }


def _ask_fal(editor: Editor, data: bytes, options: Json) -> Answer:
    """Order in fal's queue, poll, download the picture from the address in the result."""
    hosting, picture, queue = editor.hosting, wire.data_address(data), "?_subdomain=queue"
    body = {"image_url": picture, "image_urls": [picture], **options}
    if hosting.adapter_weights_path:
        from huggingface_hub import hf_hub_url

        body["loras"] = [{"path": hf_hub_url(editor.model, hosting.adapter_weights_path), "scale": 1}]
    response, order = editor.post(editor.path(hosting.provider_id + queue), body)
    if response.status_code >= 400:
        return fal.declined(response, order)
    if not order.get("request_id"):
        raise Transient(f"an answer without a request: {str(order)[:120]}", charged=True)
    path = urllib.parse.urlsplit(order["response_url"]).path  # seldom the same as the model's id
    address = editor.address() + editor.path(path)
    reply = fal.wait_for(editor, f"{address}/status{queue}", address + queue)
    if isinstance(reply, Answer):
        return reply
    details = editor.details(hosted_as=hosting.provider_id, request_id=order["request_id"], seed=reply.get("seed"))
    answer = fal.read(editor, reply, details)
    if answer.status == "no_image":
        raise Rejected(f"a result without a picture: {str(reply)[:200]}", charged=True)
    return answer


def _ask_replicate(editor: Editor, data: bytes, options: Json) -> Answer:
    """One request, which Replicate answers when the prediction is finished or after a minute."""
    name, picture = editor.hosting.provider_id, wire.data_address(data)
    model, _, version = name.partition(":")
    # The field for the picture differs from model to model.
    names = {"image": picture, "images": [picture], "input_image": picture, "input_images": [picture]}
    body = {"input": {**names, **options}, **({"version": version} if version else {})}
    path = editor.path("v1/predictions" if version else f"v1/models/{model}/predictions")
    headers = {**editor.headers(), "prefer": "wait"}
    response, reply = wire.post(editor.client, editor.address() + path, headers, body)
    if response.status_code >= 400:
        return replicate.declined(response, reply)
    output, error = reply.get("output"), str(reply.get("error") or "")
    details = editor.details(hosted_as=name, request_id=reply.get("id"), usage=reply.get("metrics"))
    if any(word in error.lower() for word in replicate.REFUSALS):
        return Answer(status="refused", reason=error, details=details)
    if not output:
        raise Transient(f"no picture after Replicate's minute ({reply.get('status')}: {error[:200]})", charged=True)
    return editor.picture(output if isinstance(output, str) else output[0], details)


def _ask_together(editor: Editor, data: bytes, options: Json) -> Answer:
    """One request; the answer holds the picture."""
    name = editor.hosting.provider_id
    kontext = "kontext" in name.lower() and "flux.1" in name.lower()  # other models take reference images
    body: Json = {"image_url": wire.data_address(data)} if kontext else {"reference_images": [wire.data_address(data)]}
    options = {{"num_inference_steps": "steps"}.get(option, option): value for option, value in options.items()}
    body = {**body, "response_format": "base64", **options, "model": name}
    response, reply = editor.post(editor.path("v1/images/generations"), body)
    if response.status_code >= 400:
        raise _fault(response, reply)
    return Answer(
        wire.from_base64(reply["data"][0]["b64_json"]),
        details=editor.details(hosted_as=name, request_id=reply.get("id")),
    )


def _ask_wavespeed(editor: Editor, data: bytes, options: Json) -> Answer:
    """Order, poll, download the picture from the address in the result."""
    name = editor.hosting.provider_id
    response, reply = editor.post(editor.path(f"api/v3/{name}"), {"image": wire.data_address(data), **options})
    if response.status_code >= 400:
        raise _fault(response, reply)
    address = editor.address() + editor.path(urllib.parse.urlsplit(reply["data"]["urls"]["get"]).path)
    reply = editor.wait(address, lambda reply: (reply.get("data") or {}).get("status") in ("created", "processing"))
    task = reply["data"]
    if task["status"] != "completed":
        raise Rejected(f"the task {task['status']}: {str(task.get('error'))[:200]}", charged=True)
    return editor.picture(task["outputs"][0], editor.details(hosted_as=name, request_id=task.get("id")))


def _ask_hub(editor: Editor, data: bytes, options: Json) -> Answer:
    """One request to the Hub's own servers; the answer is the picture."""
    import httpx

    address = editor.address() + editor.path(f"models/{editor.model}")
    body = {"inputs": wire.to_base64(data), "parameters": options}
    try:
        response = editor.client.post(address, headers={**editor.headers(), "accept": "image/png"}, json=body)
    except httpx.TransportError as error:
        raise wire.connection_lost(error) from error
    if response.status_code >= 400:
        raise _fault(response, wire.parse_json(response))
    return Answer(response.content, details=editor.details(declared=response.headers.get("content-type")))


_PROVIDERS: dict[str, Callable[[Editor, bytes, Json], Answer]] = {
    "fal-ai": _ask_fal,
    "replicate": _ask_replicate,
    "together": _ask_together,
    "wavespeed": _ask_wavespeed,
    "hf-inference": _ask_hub,
}


def _fault(response: "httpx.Response", reply: Json) -> Exception:
    """The exception for an error of the router or of a provider, which use different field names."""
    error = reply.get("error") or reply.get("message") or reply.get("detail") or reply
    message = str(error.get("message", error)) if isinstance(error, dict) else str(error)
    return wire.status_error(response.status_code, message, response.headers.get("retry-after"))
