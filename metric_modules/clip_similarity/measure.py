"""CLIP image similarity as pure functions: a picture is embedded once."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.networks import check_dtype, require_packages, to_device
from .._shared.scoring import Signature

if TYPE_CHECKING:
    import torch

CHECKPOINT = "openai/clip-vit-large-patch14"
# The Hub's main branch of it since 2023, and the sha256 of model.safetensors there.
_REVISION = "32bd64288804d66eefd0ccbe215aa642df71cc41"
_SHA256 = "a2bf730a0c7debf160f7a6b50b3aaf3703e7e88ac73de7a314903141db026dcb"
_CACHE_SIZE = 1024  # embeddings; originals come again among the floors, edits when they are judged
_PATIENCE = 4.0  # seconds to wait for the Hub to answer


@dataclass(frozen=True)
class Model:
    """A CLIP-like model on its device, with the picture preparation that belongs to it."""

    checkpoint: str
    network: Any
    processor: Any
    digest: str  # of the weights in use


def load(
    checkpoint: str = CHECKPOINT, device: str = "cpu", dtype: str = "float32", digest: str | None = None
) -> Model:
    """The model by its folder or its name on the Hub; the network is asked only if the cache lacks it."""
    require_packages("CLIP", "torch", "transformers")
    check_dtype("CLIP", dtype)
    advice = "are not in the cache, and the Hub does not answer"
    unanswered = FileNotFoundError(f"the weights of {checkpoint} {advice}")
    if not Path(checkpoint).is_dir() and checkpoint == CHECKPOINT and missing_weights() and not _hub_answers():
        raise unanswered  # before transformers, which takes seconds to load
    _require_transformers()
    try:
        network, processor = _read(checkpoint, dtype, cached=True)
    except OSError as error:
        if Path(checkpoint).is_dir():
            raise FileNotFoundError(f"the folder {checkpoint} is not a complete model: {_first(error)}") from None
        if not _hub_answers():
            raise unanswered from None
        try:
            network, processor = _read(checkpoint, dtype, cached=False)
        except OSError as error:
            raise FileNotFoundError(f"the weights of {checkpoint} did not come: {_first(error)}") from None
    return Model(checkpoint, network.eval().to(device), processor, digest or _digest(network))


def _require_transformers() -> None:
    try:
        from transformers import AutoImageProcessor, AutoModel  # noqa: F401 - each is imported when it is first named
    except (ImportError, RuntimeError) as error:
        cause: BaseException = error
        while (below := cause.__cause__ or cause.__context__) is not None:
            cause = below
        raise FileNotFoundError(
            f"CLIP needs transformers, which cannot be loaded here ({str(cause).strip().splitlines()[0]}); a "
            "torchvision that was not built for this torch does that: remove it, or install the one of this torch"
        ) from None


def missing_weights() -> str | None:
    from huggingface_hub.constants import HF_HUB_CACHE  # the function that looks it up loads an HTTP client

    snapshots = Path(HF_HUB_CACHE, f"models--{CHECKPOINT.replace('/', '--')}", "snapshots")
    if any((snapshots / _REVISION).glob("*model.*")):
        return None
    return "needs weights of 1.7 GB, which the first use fetches from the Hub"


def _first(error: OSError) -> str:
    return str(error).strip().splitlines()[0]


def _read(checkpoint: str, dtype: str, cached: bool) -> tuple[Any, Any]:
    import torch
    from transformers import AutoImageProcessor, AutoModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    where = _where(checkpoint, cached)
    if checkpoint == CHECKPOINT and not cached:
        _fetch()
    network = AutoModel.from_pretrained(checkpoint, dtype=getattr(torch, dtype), **where)
    # CLIP's Pillow preparation by name: the automatic choice prefers torchvision if that is installed.
    if network.config.model_type == "clip":
        return network, CLIPImageProcessorPil.from_pretrained(checkpoint, **where)
    return network, AutoImageProcessor.from_pretrained(checkpoint, backend="pil", **where)


def _where(checkpoint: str, cached: bool = True) -> dict[str, Any]:
    return {"revision": _REVISION if checkpoint == CHECKPOINT else "main", "local_files_only": cached}


def _fetch() -> None:
    """Fetch the default weights; a file with another hash is deleted."""
    from huggingface_hub import hf_hub_download

    path = Path(hf_hub_download(CHECKPOINT, "model.safetensors", revision=_REVISION))
    with path.open("rb") as file:
        is_known = hashlib.file_digest(file, "sha256").hexdigest() == _SHA256
    if not is_known:
        path.resolve().unlink()
        raise OSError("its sha256 is not the one in this code, so it was deleted")


def _hub_answers() -> bool:
    # The Hub's own client would try for half a minute without a network.
    from urllib import error, request

    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        request.urlopen(constants.ENDPOINT, timeout=_PATIENCE).close()  # noqa: S310 - the Hub's address
    except OSError as problem:
        return isinstance(problem, error.HTTPError)
    return True


def _digest(network: Any) -> str:
    import torch

    whole = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        whole.update(f"{name} {tuple(tensor.shape)}\n".encode())
        whole.update(tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return whole.hexdigest()


def embed(model: Model, pictures: Sequence[np.ndarray]) -> "torch.Tensor":
    import torch
    from PIL import Image

    prepared = model.processor(images=[Image.fromarray(picture) for picture in pictures], return_tensors="pt")
    with torch.inference_mode():
        values = to_device(prepared["pixel_values"].to(model.network.dtype), model.network.device)
        rows = model.network.get_image_features(pixel_values=values).pooler_output.float()
        return rows / rows.norm(dim=-1, keepdim=True)


def compare(reference: "torch.Tensor", prediction: "torch.Tensor") -> list[float]:
    return (reference * prediction).sum(-1).tolist()


def signature(model: Model) -> Signature:
    dtype = str(model.network.dtype).removeprefix("torch.")
    return {"version": 1, "checkpoint": model.checkpoint, "dtype": dtype, "weights": model.digest[:12]}


class Scorer:
    """A picture that comes again is not embedded again; the weights of `exact` are loaded when first needed."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object], other: "Scorer | None" = None):
        self.device, self.dtype, self.lock = device, dtype, threading.Lock()
        self.rows: OrderedDict[tuple[object, bytes], torch.Tensor] = OrderedDict()
        self.loaded = None if other else load(CHECKPOINT, device, dtype)
        self.digest: str = other.digest if other else self.model.digest
        self.signature: Signature = other.signature | {"dtype": dtype} if other else signature(self.model)
        self.exact = None if dtype == "float32" else Scorer(device, "float32", earlier, self)

    @property
    def model(self) -> Model:
        with self.lock:
            if self.loaded is None:
                self.loaded = load(CHECKPOINT, self.device, self.dtype, self.digest)
            return self.loaded

    def prepare(self, picture: np.ndarray) -> "torch.Tensor":
        return self._embeddings([picture])[0][None]

    def compare(
        self, reference: "torch.Tensor", pictures: Sequence[np.ndarray], earlier: object
    ) -> list[dict[str, float]]:
        return [{"clip": compare(reference, row[None])[0]} for row in self._embeddings(pictures)]

    def _embeddings(self, pictures: Sequence[np.ndarray]) -> list["torch.Tensor"]:
        keys = [
            (picture.shape, hashlib.sha1(picture.data, usedforsecurity=False).digest()) for picture in pictures
        ]
        with self.lock:
            rows = {key: self.rows[key] for key in keys if key in self.rows}
        new = {key: picture for key, picture in zip(keys, pictures, strict=True) if key not in rows}
        if new:
            # On a processor several pictures at once are not faster and round otherwise.
            groups = [[picture] for picture in new.values()] if self.device == "cpu" else [list(new.values())]
            model = self.model
            rows |= zip(new, [row for group in groups for row in embed(model, group)], strict=True)
        with self.lock:
            self.rows |= rows
            while len(self.rows) > _CACHE_SIZE:
                self.rows.popitem(last=False)
        return [rows[key] for key in keys]

    def embed_pictures(self, pictures: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [row.cpu().numpy() for row in self._embeddings(pictures)]

    def embed_words(self, text: str) -> np.ndarray:
        """The embedding of some words, of unit length, in float32."""
        import torch
        from transformers import AutoTokenizer

        network = self.model.network
        tokenizer = AutoTokenizer.from_pretrained(self.model.checkpoint, **_where(self.model.checkpoint))
        tokens = tokenizer([text], return_tensors="pt", truncation=True)
        with torch.inference_mode():
            [row] = network.get_text_features(**tokens.to(network.device)).pooler_output.float()
            return (row / row.norm()).cpu().numpy()
