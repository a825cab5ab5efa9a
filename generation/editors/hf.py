"""Whatever the Hub's inference providers host, through huggingface_hub."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.sizes import KONTEXT, QWEN, Size

PROVIDERS = ("fal-ai", "replicate", "together", "wavespeed", "hf-inference")
BYTES_ONLY = ("wavespeed", "hf-inference")  # the others take a data address, which says that the bytes are PNG


@dataclass(frozen=True)
class Editor:
    """Hub Inference Providers: FLUX Kontext, Qwen-Image-Edit and others, wherever they are hosted."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    provider: str = "fal-ai"
    guidance: float | None = None
    steps: int | None = None
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("HF_ROUTER_BASE_URL")
    needs: ClassVar[str] = "HF_TOKEN"

    def __post_init__(self) -> None:
        one_of("hf:provider", self.provider, PROVIDERS)
        if self.timeout <= 0:
            raise UserError(f"hf:timeout is {self.timeout}; it is a number of seconds above 0")
        if self.steps is not None and self.steps < 1:
            raise UserError(f"hf:steps is {self.steps}; it is a whole number from 1")
        self.address()

    def address(self) -> str:
        return wire.base_address(self.base_url, "HF_ROUTER_BASE_URL", "https://router.huggingface.co")

    def ready(self) -> str | None:
        return requirements.missing("hf", ("huggingface_hub",), "HF_TOKEN")

    def sizes(self) -> tuple[Size, ...]:
        return KONTEXT if "Kontext" in self.model else QWEN if "Qwen" in self.model else ()

    def price(self) -> float | None:
        return self.hosted().price

    def hosted(self) -> models.Model:
        return models.find("hf", self.model)

    @functools.cached_property
    def client(self) -> Any:
        import huggingface_hub
        from huggingface_hub import constants
        from huggingface_hub.utils._http import hf_request_event_hook

        # Its clients poll without an end; ours end with the call, and are as its own outside of one.
        huggingface_hub.set_client_factory(
            lambda: wire.client("httpx2", follow_redirects=True, event_hooks={"request": [hf_request_event_hook]})
        )
        constants.INFERENCE_PROXY_TEMPLATE = self.address() + "/{provider}"
        return huggingface_hub.InferenceClient(provider=self.provider, api_key=keys.read_key("HF_TOKEN"))  # type: ignore[arg-type]

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, InferenceTimeoutError

        _, data = self.client, pictures.encode_png(image)
        given: Any = data if self.provider in BYTES_ONLY else "data:image/png;base64," + wire.to_base64(data)
        try:
            with wire.time_limit(self.timeout):
                data = self.received_bytes(given, instruction, seed)
        except HfHubHTTPError as error:
            raise fault(error) from error
        except (InferenceTimeoutError, httpx2.TransportError) as error:
            raise wire.connection_lost(error) from error
        except TimeoutError as error:  # replicate, after its own minute
            raise Transient(str(error), charged=True) from error
        except ValueError as error:  # its words for a model it does not host, for a failed task, and for no JSON
            raise fault_from_words(error) from error
        except (KeyError, IndexError, TypeError) as error:
            raise Rejected(f"an answer without a picture ({type(error).__name__}: {error})", charged=True) from error
        if pictures.sniff(data) == "bin":
            raise Transient("an answer that is no picture", charged=True)
        return Answer(data, details={"model": self.model, "provider": self.provider})

    def received_bytes(self, given: Any, instruction: str, seed: int) -> bytes:
        """What the client's `image_to_image` does, without its last line: that opens the bytes by any of Pillow's
        decoders, and only those of our one decoder may see what came from outside.
        """
        from huggingface_hub.inference._providers import get_provider_helper

        helper = get_provider_helper(self.client.provider, task="image-to-image", model=self.model)
        request = helper.prepare_request(
            inputs=given,
            parameters={
                "prompt": instruction,
                "negative_prompt": None,
                "target_size": None,
                "num_inference_steps": self.steps,
                "guidance_scale": self.guidance,
                "seed": seed,
            },
            headers=self.client.headers,
            model=self.model,
            api_key=self.client.token,
        )
        return bytes(helper.get_response(self.client._inner_post(request), request))


def fault(error: Any) -> Exception:
    message = " ".join(filter(None, (str(getattr(error, "server_message", "") or ""), str(error))))
    return wire.status_error(error.response.status_code, message, error.response.headers.get("retry-after"))


def fault_from_words(error: ValueError) -> Exception:
    text = str(error)
    if "not supported" in text or "doesn't support" in text:
        return Unusable(text)
    if "failed" in text:
        return Rejected(text, charged=True)
    return Transient(f"an answer out of order: {text}", charged=True)
