"""LPIPS 0.1: a reference's features are computed once for any number of pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from .._shared.networks import check_dtype, to_device
from .._shared.scoring import Signature, Value
from .weights import fetch_weights as fetch_weights  # `convergebench weights lpips` calls it here
from .weights import load_weights, weights_file

if TYPE_CHECKING:
    import torch

# The five stages of each network: a pooling before it (its side; its stride is
# 2), then convolutions, each followed by a ReLU, as (number in torchvision's
# `features`, stride, padding). The stage's last output is what is compared.
NETS = {
    "alex": ((0, [(0, 4, 2)]), (3, [(3, 1, 2)]), (3, [(6, 1, 1)]), (0, [(8, 1, 1)]), (0, [(10, 1, 1)])),
    "vgg": (
        (0, [(0, 1, 1), (2, 1, 1)]),
        (2, [(5, 1, 1), (7, 1, 1)]),
        (2, [(10, 1, 1), (12, 1, 1), (14, 1, 1)]),
        (2, [(17, 1, 1), (19, 1, 1), (21, 1, 1)]),
        (2, [(24, 1, 1), (26, 1, 1), (28, 1, 1)]),
    ),
}
NET = "alex"  # the scoring engine's default
_Loaded = tuple[dict[str, "torch.Tensor"], str]  # tensors and their digest
Distance = dict[str, float]  # {"lpips": value}
SMALLEST = 32  # pixels a side: below it AlexNet has nothing left to pool
_BLOCK_SIZE = 200_000  # numbers that fit into the processor's cache
# Of the input, per channel: the scaling layer of the reference implementation of LPIPS 0.1.
SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)


@dataclass(frozen=True)
class Model:
    """A network's weights on their device: `features.N.weight`, `features.N.bias` and `heads.0` to `heads.4`."""

    net: str
    tensors: dict[str, "torch.Tensor"]
    dtype: "torch.dtype"
    digest: str  # of the weights, as they are in the file

    @property
    def device(self) -> "torch.device":
        return self.tensors["heads.0"].device


def model(net: str, tensors: dict[str, "torch.Tensor"], device: str, dtype: str, digest: str) -> Model:
    """The network on a device: convolutions in `dtype`, everything else in float32."""
    import torch

    check_dtype("LPIPS", dtype)
    kind = getattr(torch, dtype)
    dtypes = {name: kind if name.startswith("features") else torch.float32 for name in tensors}
    placed = {name: tensor.to(device, dtypes[name]) for name, tensor in tensors.items()}
    # The weights in the order of the pictures' own values, or every call would reorder them.
    placed |= {name: w.to(memory_format=torch.channels_last) for name, w in placed.items() if w.ndim == 4}
    return Model(net, placed, kind, digest)


def features(model: Model, pictures: Sequence[np.ndarray]) -> list["torch.Tensor"]:
    """The five stages' features; summed over channels, their squared differences are a map of LPIPS."""
    import torch

    with torch.inference_mode():
        stages = []
        for stage, values in enumerate(_stages(model, pictures)):
            unit = torch.empty(values.shape, dtype=torch.float32, device=model.device)
            for picture, rows in _row_blocks(values):
                unit[picture, rows] = _unit(model, stage, values[picture, rows])
            stages.append(unit.permute(0, 3, 1, 2))
        return stages


def distances(
    model: Model, reference: Sequence["torch.Tensor"], pictures: Sequence[np.ndarray]
) -> list[Distance]:
    """The distances of pictures from a reference; each stage is freed after its comparison."""
    import torch

    with torch.inference_mode():
        stage_maps = []
        for stage, values in enumerate(_stages(model, pictures)):
            original = reference[stage].permute(0, 2, 3, 1)[0]
            places = torch.empty(values.shape[:3], dtype=torch.float32, device=model.device)
            for picture, rows in _row_blocks(values):
                gap = _unit(model, stage, values[picture, rows])
                places[picture, rows] = gap.sub_(original[rows]).square_().sum(-1)
            stage_maps.append(places[:, None])
        return _distances(stage_maps)


def _stages(model: Model, pictures: Sequence[np.ndarray]) -> Iterator["torch.Tensor"]:
    import torch
    from torch.nn import functional

    for picture in pictures:
        if min(picture.shape[:2]) < SMALLEST:
            size = f"{picture.shape[1]}x{picture.shape[0]}"
            raise ValueError(f"a picture is {size}; LPIPS needs {SMALLEST} pixels a side")
    table = _scaled(model.dtype)
    batch = torch.from_numpy(np.stack([cv2.LUT(picture, table) for picture in pictures]))
    values = to_device(batch.view(model.dtype), model.device).permute(0, 3, 1, 2)
    for pool, convolutions in NETS[model.net]:
        if pool:
            values = functional.max_pool2d(values, pool, 2)
        for number, stride, padding in convolutions:
            weight = model.tensors[f"features.{number}.weight"]
            bias = model.tensors[f"features.{number}.bias"]
            values = functional.conv2d(values, weight, bias, stride, padding).relu_()
        yield values.permute(0, 2, 3, 1)


@lru_cache
def _scaled(dtype: "torch.dtype") -> np.ndarray:
    """The network's input for every grey level; 16-bit values as int16 for cv2."""
    import torch

    levels = torch.arange(256, dtype=torch.float32).view(1, 256, 1) / 127.5 - 1
    table = ((levels - torch.tensor(SHIFT)) / torch.tensor(SCALE)).to(dtype)
    return (table.view(torch.int16) if dtype.itemsize == 2 else table).numpy()


def _row_blocks(values: "torch.Tensor") -> Iterator[tuple[int | slice, slice]]:
    """Rows of one picture that fit into the processor's cache; on a GPU everything."""
    if values.device.type != "cpu":
        yield slice(None), slice(None)
        return
    pictures, height, width, channels = values.shape
    count = max(1, _BLOCK_SIZE // (width * channels))
    for picture in range(pictures):
        for top in range(0, height, count):
            yield picture, slice(top, top + count)


def _unit(model: Model, stage: int, values: "torch.Tensor") -> "torch.Tensor":
    """Features of length 1 at each place, times the roots of the channels' weights."""
    import torch

    unit = values.to(torch.float32, copy=True)
    length = (unit * unit).sum(-1, keepdim=True).sqrt_()
    length += 1e-10
    unit /= length
    unit *= model.tensors[f"heads.{stage}"].sqrt()
    return unit


def compare(reference: Sequence["torch.Tensor"], prediction: Sequence["torch.Tensor"]) -> list[Distance]:
    import torch

    with torch.inference_mode():
        return _distances(maps(reference, prediction))


def maps(reference: Sequence["torch.Tensor"], prediction: Sequence["torch.Tensor"]) -> list["torch.Tensor"]:
    return [
        (first - second).square().sum(1, keepdim=True)
        for first, second in zip(reference, prediction, strict=True)
    ]


def _distances(maps: Sequence["torch.Tensor"]) -> list[Distance]:
    numbers = range(len(maps[0]))
    return [{"lpips": sum(float(stage[number : number + 1].mean()) for stage in maps)} for number in numbers]


def signature(model: Model) -> Signature:
    dtype = str(model.dtype).removeprefix("torch.")
    return {"version": "0.1", "net": model.net, "dtype": dtype, "weights": model.digest[:12]}


def missing_weights() -> str | None:
    return None if weights_file(NET).is_file() else "needs `convergebench weights lpips`"


class Scorer:
    """LPIPS with one of the networks; `exact` is the same in float32."""

    def __init__(
        self,
        device: str,
        dtype: str,
        earlier: Mapping[str, object],
        loaded: _Loaded | None = None,
        *,
        net: str = NET,
        column: str = "lpips",
    ):
        tensors, digest = loaded or load_weights(net)
        self.device, self.column, self.model = device, column, model(net, tensors, device, dtype, digest)
        self.signature = signature(self.model)
        self.exact: Scorer | None = None
        if dtype != "float32":
            self.exact = Scorer(device, "float32", earlier, (tensors, digest), net=net, column=column)

    def prepare(self, picture: np.ndarray) -> list["torch.Tensor"] | None:
        return features(self.model, [picture]) if min(picture.shape[:2]) >= SMALLEST else None

    def compare(
        self, reference: Sequence["torch.Tensor"] | None, pictures: Sequence[np.ndarray], earlier: object
    ) -> Sequence[Mapping[str, Value]]:
        if reference is None:
            return [{self.column: ("smaller_than_network", str(SMALLEST))} for _ in pictures]
        # On a CPU several pictures at once are not faster and are rounded differently.
        groups = [[picture] for picture in pictures] if self.device == "cpu" else [pictures]
        rows = [distance for group in groups for distance in distances(self.model, reference, group)]
        return [{self.column: row["lpips"]} for row in rows]
