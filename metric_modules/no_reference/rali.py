"""RALI: a CLIP picture encoder, a projection, and a mean of the scores of prototypes weighted by similarity.

The published checkpoint is four things in one folder: `best/` (the encoder), `ckpt.pt` (all tensors), `pca.pkl` and
`basis.npz`. Of the pickle, arrays are read and nothing is run.
"""

import io
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .._shared.scoring import Signature
from .measure import Score, digest_of, files_of, version_of

_FOLDER = "RALI"  # inside the repository
_SCALE = 1e-10  # a smaller deviation counts as 1


class Rali:
    """The encoder and the scorer, each picture by itself on the processor."""

    def __init__(self, repository: str, device: str):
        import torch
        from transformers import CLIPModel
        from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

        folder = files_of(repository, _FOLDER, [f"{_FOLDER}/*"])
        try:
            encoder = CLIPModel.from_pretrained(folder / "best")
            self.images = CLIPImageProcessorPil.from_pretrained(folder / "best")
            checkpoint = torch.load(folder / "ckpt.pt", map_location="cpu", weights_only=True)["state_dict"]
            mean = read_pca(folder / "pca.pkl")["mean_"]
        except (OSError, KeyError, pickle.UnpicklingError) as error:
            reason = str(error).strip().splitlines()[0][:120]
            raise FileNotFoundError(f"{folder} is not a complete checkpoint of RALI: {reason}") from error
        _load_encoder(encoder, checkpoint, str(folder))
        self.device, self.encoder = device, encoder.eval().to(device)
        self.most_together = 1 if device == "cpu" else 8
        parts = {name.removeprefix("scorer."): value for name, value in checkpoint.items() if "scorer." in name}
        self.parts = {"pca_mean": torch.from_numpy(mean), **parts}
        self.parts = {name: value.to(device, torch.float32) for name, value in self.parts.items()}
        self.signature: Signature = {
            "model": repository,
            "weights": digest_of({**encoder.state_dict(), **self.parts}),
            "transformers": version_of("transformers"),
        }

    def scores(self, pictures: Sequence[np.ndarray]) -> list[Score]:
        """The score of each picture."""
        import torch
        from PIL import Image

        seen: Any = self.images(images=[Image.fromarray(picture) for picture in pictures], return_tensors="pt")
        with torch.inference_mode():
            embeddings = self.encoder.get_image_features(
                pixel_values=seen["pixel_values"].to(self.device)
            ).pooler_output
            return [float(score) for score in score_of(embeddings.to(torch.float32), self.parts)]


def score_of(embedding: Any, parts: dict[str, Any]) -> Any:
    """The mean of the prototypes' scores, weighted by how near a picture's embedding is to each."""
    from torch.nn.functional import normalize, softmax

    scale = parts["pca_scale"].abs()
    brought = (embedding - parts["pca_mean"]) / scale.where(scale >= _SCALE, 1.0) @ parts["pca_components"].T
    near = normalize(brought, dim=-1) @ normalize(parts["prototypes"], dim=-1).T
    return softmax(near * parts["logit_scale"].clamp(min=1e-6), dim=-1) @ parts["proto_scores"]


def _load_encoder(encoder: Any, checkpoint: dict[str, Any], where: str) -> None:
    """The encoder's tensors as the checkpoint has them; FileNotFoundError if these are another network's."""
    tensors = {name.removeprefix("clip."): value for name, value in checkpoint.items() if name.startswith("clip.")}
    tensors = {name: value for name, value in tensors.items() if not name.endswith("position_ids")}
    done = encoder.load_state_dict(tensors, strict=False)
    missing = [name for name in done.missing_keys if not name.endswith("position_ids")]
    if missing or done.unexpected_keys:
        odd = (missing or done.unexpected_keys)[0]
        raise FileNotFoundError(f"{where}: ckpt.pt and best/ are of different networks ({odd})")


class _Plain:
    """Stands for an object of scikit-learn: its fields and none of its code."""

    def __init__(self, *given: object):
        self.given = given


class ArrayHead(_Plain):
    """What joblib writes before an array's bytes."""

    dtype: np.dtype
    shape: tuple[int, ...]
    order: str


_UNPICKLER: Any = pickle._Unpickler  # written in Python: its steps can be replaced


class ArrayReader(_UNPICKLER):
    """Reads a pickle of joblib: plain objects, and arrays that follow their heads; nothing that it names is run."""

    dispatch: ClassVar = dict(_UNPICKLER.dispatch)
    NUMPY = ("dtype", "ndarray", "_reconstruct", "scalar")

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "sklearn":
            return _Plain
        if (module, name) == ("joblib.numpy_pickle", "NumpyArrayWrapper"):
            return ArrayHead
        if module.split(".")[0] == "numpy" and name in self.NUMPY:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"pca.pkl names {module}.{name}, which is not read")

    def load_build(self) -> None:
        super().load_build()
        head = self.stack[-1]
        if isinstance(head, ArrayHead):
            self.stack[-1] = self.read_array(head)

    dispatch[pickle.BUILD[0]] = load_build

    def read_array(self, head: ArrayHead) -> np.ndarray:
        if head.dtype.hasobject:
            raise pickle.UnpicklingError("pca.pkl holds an array of objects, which is not read")
        if getattr(head, "numpy_array_alignment_bytes", None) is not None:
            self.read(self.read(1)[0])
        count = int(np.prod(head.shape, dtype=np.int64))
        flat = np.frombuffer(self.read(count * head.dtype.itemsize), head.dtype)
        return flat.reshape(head.shape[::-1]).T if head.order == "F" else flat.reshape(head.shape)


def read_pca(path: Path) -> dict[str, Any]:
    """The fields of the principal components in a file of joblib."""
    components = ArrayReader(io.BytesIO(path.read_bytes())).load()
    if not isinstance(components, _Plain):
        raise pickle.UnpicklingError(f"{path.name} holds {type(components).__name__}, no principal components")
    return vars(components)
