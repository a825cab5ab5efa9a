"""Whatever the Hub's inference providers host, through the Hub's router.

huggingface_hub says which provider hosts a model. Its `image_to_image` is not used: it opens what was received with any
of Pillow's decoders, and loses the bytes.
"""

import functools
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.sizes import KONTEXT, QWEN, Size
from . import fal, replicate

TASK = "image-to-image"
WAVESPEED_UNFINISHED = ("created", "processing")


@dataclass(frozen=True)
class Editor:
    """Hub Inference Providers: FLUX Kontext, Qwen-Image-Edit and others, wherever they are hosted."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    provider: str = "fal-ai"
    guidance: float | None = None
    steps: int | None = None
    timeout: float = field(default=300.0, metadata={"identity": False})
    poll: float = field(default=0.5, metadata={"identity": False})
    base_url: str = wire.base_url_option("HF_ROUTER_BASE_URL")
    needs: ClassVar[str] = "HF_TOKEN and pip install 'convergebench[hf]'"

    def __post_init__(self) -> None:
        one_of("hf:provider", self.provider, tuple(PROVIDERS))
        if self.timeout <= 0 or self.poll <= 0:
            raise UserError(f"hf:timeout={self.timeout},poll={self.poll} are not both numbers of seconds above 0")
        if self.steps is not None and self.steps < 1:
            raise UserError(f"hf:steps is {self.steps}; it is a whole number from 1")
        self.address()

    def address(self) -> str:
        return wire.base_address(self.base_url, "HF_ROUTER_BASE_URL", "https://router.huggingface.co")

    def ready(self) -> str | None:
        return requirements.missing("hf", ("httpx",), "HF_TOKEN")

    def sizes(self) -> tuple[Size, ...]:
        return KONTEXT if "Kontext" in self.model else QWEN if "Qwen" in self.model else ()

    def price(self) -> float | None:
        return self.hosted().price

    def hosted(self) -> models.Model:
        return models.find("hf", self.model)

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("hf", "httpx"):
            raise Unusable(reason)
        return wire.client()

    @functools.cached_property
    def hosting(self) -> Any:
        """What the provider calls the model, as the Hub says; `hf-inference` calls it as the Hub does."""
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
            raise Transient(f"the Hub does not say who hosts {self.model}: {error}") from error
        rows = {row.provider: row for row in info.inference_provider_mapping or ()}
        row = rows.get(self.provider)  # type: ignore[call-overload]
        if row is None or row.task != TASK:
            hosts = ", ".join(sorted(name for name, row in rows.items() if row.task == TASK)) or "none"
            raise Unusable(f"{self.model} is not supported by {self.provider}; providers that edit with it: {hosts}")
        return row

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"authorization": f"Bearer {keys.read_key('HF_TOKEN')}"}
        given = {"prompt": instruction, "num_inference_steps": self.steps, "guidance_scale": self.guidance}
        given = {name: value for name, value in (given | {"seed": seed}).items() if value is not None}
        with wire.time_limit(self.timeout), wire.documented_form():
            answer = PROVIDERS[self.provider](self, client, key, pictures.encode_png(image), given)
        if answer.data and pictures.sniff(answer.data) == "bin":
            raise Transient("an answer that is no picture", charged=True)
        return answer

    def place(self, path: str) -> str:
        """An address at the provider, behind the router: keys go nowhere else."""
        return f"{self.address()}/{self.provider}/{path.lstrip('/')}"

    def details(self, **more: Any) -> dict[str, Any]:
        return {"model": self.model, "provider": self.provider, **{key: value for key, value in more.items() if value}}


Given = dict[str, Any]


def ask_fal(editor: Editor, client: Any, key: dict[str, str], data: bytes, given: Given) -> Answer:
    """An order in fal's queue, polls, a result with an address."""
    hosting, picture, queue = editor.hosting, as_uri(data), "?_subdomain=queue"
    body = {"image_url": picture, "image_urls": [picture], **given}
    if hosting.adapter_weights_path:
        from huggingface_hub import hf_hub_url

        body["loras"] = [{"path": hf_hub_url(editor.model, hosting.adapter_weights_path), "scale": 1}]
    response, order = wire.post(client, editor.place(hosting.provider_id + queue), key, body)
    if response.status_code >= 400:
        return fal.declined(response, order)
    if not order.get("request_id"):
        raise Transient(f"an answer without a request: {str(order)[:120]}", charged=True)
    path = urllib.parse.urlsplit(order["response_url"]).path  # not always under the model's own id
    unfinished: Callable[[Any], bool] = lambda reply: reply.get("status") in fal.UNFINISHED  # noqa: E731
    response, status = wire.poll(client, editor.place(f"{path}/status{queue}"), key, editor.poll, unfinished)
    if response.status_code >= 400 or status.get("status") != "COMPLETED":
        return fal.declined(response, status, charged=True)
    response, reply = wire.poll(client, editor.place(path + queue), key, min(editor.poll, 0.2), errors=2)
    if response.status_code >= 400:
        return fal.declined(response, reply, charged=True)
    about = editor.details(hosted_as=hosting.provider_id, request_id=order["request_id"], seed=reply.get("seed"))
    if any(reply.get("has_nsfw_concepts") or ()):  # the picture is there, and black
        return Answer(status="refused", reason="has_nsfw_concepts", details=about)
    return fetched(editor, client, reply["images"][0]["url"], about)


def ask_replicate(editor: Editor, client: Any, key: dict[str, str], data: bytes, given: Given) -> Answer:
    """A prediction that is waited for, as long as Replicate does."""
    hosted, picture = editor.hosting.provider_id, as_uri(data)
    model, _, version = hosted.partition(":")
    ways = {"image": picture, "images": [picture], "input_image": picture, "input_images": [picture]}  # by model
    body = {"input": {**ways, **given}, **({"version": version} if version else {})}
    place = editor.place("v1/predictions" if version else f"v1/models/{model}/predictions")
    response, reply = wire.post(client, place, {**key, "prefer": "wait"}, body)
    if response.status_code >= 400:
        return replicate.declined(response, reply)
    output, error = reply.get("output"), str(reply.get("error") or "")
    about = editor.details(hosted_as=hosted, request_id=reply.get("id"), usage=reply.get("metrics"))
    if any(word in error.lower() for word in replicate.REFUSALS):
        return Answer(status="refused", reason=error, details=about)
    if not output:
        raise Transient(f"no picture after Replicate's own minute ({reply.get('status')}: {error[:200]})", charged=True)
    return fetched(editor, client, output if isinstance(output, str) else output[0], about)


def ask_together(editor: Editor, client: Any, key: dict[str, str], data: bytes, given: Given) -> Answer:
    """One request; the picture comes in it."""
    hosted = editor.hosting.provider_id
    kontext = "kontext" in hosted.lower() and "flux.1" in hosted.lower()  # the others take references
    body = {"image_url": as_uri(data)} if kontext else {"reference_images": [as_uri(data)]}
    given = {"steps" if name == "num_inference_steps" else name: value for name, value in given.items()}
    body = {**body, "response_format": "base64", **given, "model": hosted}
    response, reply = wire.post(client, editor.place("v1/images/generations"), key, body)
    if response.status_code >= 400:
        raise fault(response, reply)
    about = editor.details(hosted_as=hosted, request_id=reply.get("id"))
    return Answer(wire.from_base64(reply["data"][0]["b64_json"]), details=about)


def ask_wavespeed(editor: Editor, client: Any, key: dict[str, str], data: bytes, given: Given) -> Answer:
    """An order, polls, an address."""
    hosted = editor.hosting.provider_id
    body = {"image": as_uri(data), **given}
    response, reply = wire.post(client, editor.place(f"api/v3/{hosted}"), key, body)
    if response.status_code >= 400:
        raise fault(response, reply)
    path = urllib.parse.urlsplit(reply["data"]["urls"]["get"]).path
    unfinished: Callable[[Any], bool] = lambda reply: (  # noqa: E731
        (reply.get("data") or {}).get("status") in WAVESPEED_UNFINISHED
    )
    response, reply = wire.poll(client, editor.place(path), key, editor.poll, unfinished)
    if response.status_code >= 400:
        raise Rejected(f"HTTP {response.status_code} while polling: {str(reply)[:200]}", charged=True)
    task, about = reply["data"], editor.details(hosted_as=hosted, request_id=reply["data"].get("id"))
    if task["status"] != "completed":
        raise Rejected(f"the task {task['status']}: {str(task.get('error'))[:200]}", charged=True)
    return fetched(editor, client, task["outputs"][0], about)


def ask_hub(editor: Editor, client: Any, key: dict[str, str], data: bytes, given: Given) -> Answer:
    """One request to the Hub's own servers; the answer is the picture."""
    import httpx

    body = {"inputs": wire.to_base64(data), "parameters": given}
    try:
        response = client.post(
            editor.place(f"models/{editor.model}"), headers={**key, "accept": "image/png"}, json=body
        )
    except httpx.TransportError as error:
        raise wire.connection_lost(error) from error
    if response.status_code >= 400:
        raise fault(response, wire.parse_json(response))
    return Answer(response.content, details=editor.details(declared=response.headers.get("content-type")))


PROVIDERS = {
    "fal-ai": ask_fal,
    "replicate": ask_replicate,
    "together": ask_together,
    "wavespeed": ask_wavespeed,
    "hf-inference": ask_hub,
}


def as_uri(data: bytes) -> str:
    return "data:image/png;base64," + wire.to_base64(data)


def fetched(editor: Editor, client: Any, address: str, about: dict[str, Any]) -> Answer:
    """The picture at an address that the provider gave, which may hold it."""
    if address.startswith("data:"):
        return Answer(wire.from_base64(address), details=about)
    data, declared = wire.download(client, address, editor.address())
    return Answer(data, details={**about, "declared": declared})


def fault(response: Any, reply: dict[str, Any]) -> Exception:
    """An error of the router or of a provider, which say it under different names."""
    said = reply.get("error") or reply.get("message") or reply.get("detail") or reply
    message = str(said.get("message", said)) if isinstance(said, dict) else str(said)
    return wire.status_error(response.status_code, message, response.headers.get("retry-after"))
