"""Reads the pictures of every image metric: each becomes 8-bit RGB, or is refused by its number.

Grey and palette become RGB, opaque alpha is dropped, a declared orientation
is applied, colour profiles are ignored. Arrays hold bytes, or floats from 0
to 1; channels come last, or first where only the first axis can be channels.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from convergebench.generation.pictures import (
    DECODER_ERRORS,
    Undecodable,
    evaluation_size,
    open_picture,
    resize_to,
)
from PIL import Image, ImageOps

_MAX_PIXELS = 8192 * 8192
_CHANNELS = (1, 3, 4)
_MOST_STRETCH = 1.05  # the largest ratio between the two sides' resize factors
# None: equal sizes only; "reference": the reference's own; a number: the reference's short side
Size = str | int | None
Pair = tuple[np.ndarray, np.ndarray]  # prediction and reference
_Row = TypeVar("_Row")
_Rows = TypeVar("_Rows", bound=Sequence)


def pixels(picture: object, name: str = "the picture") -> np.ndarray:
    """Height x width x 3 bytes, or a ValueError that names the picture."""
    try:
        if isinstance(picture, dict):
            picture = picture.get("path") if picture.get("bytes") is None else picture["bytes"]
        if isinstance(picture, np.ndarray) or _is_tensor(picture):
            return _of_array(picture)
        if isinstance(picture, str | os.PathLike):
            if not Path(picture).is_file():
                raise ValueError(f"is {str(picture)!r}, but there is no such file")
            picture = Path(picture).read_bytes()
        if isinstance(picture, bytes | bytearray | memoryview):
            picture = _opened(bytes(picture))
        if isinstance(picture, Image.Image):
            return _of_image(picture)
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None
    kind = type(picture).__name__
    raise ValueError(f"{name} is of type {kind}; give a Pillow image, an array or tensor, a path or bytes")


def _is_tensor(value: object) -> bool:
    return hasattr(value, "detach") and hasattr(value, "ndim")


def _of_array(picture: Any) -> np.ndarray:
    array, is_tensor = picture, _is_tensor(picture)
    if is_tensor:
        values = picture.detach().cpu()
        array = (values.float() if "bfloat16" in str(values.dtype) else values).numpy()  # numpy has no bfloat16
    first = array.ndim == 3 and array.shape[0] in _CHANNELS[:2]
    last = array.ndim == 3 and array.shape[2] in _CHANNELS
    if not (array.ndim == 2 or first or last) or 0 in array.shape:
        raise ValueError(
            f"is an array of shape {array.shape}; give height x width, or that with 1, 3 or 4 channels"
        )
    if first and last and is_tensor:
        raise ValueError(f"is a tensor of shape {tuple(array.shape)}, whose channels could be first or last")
    if first and not last:
        array = array.transpose(1, 2, 0)
    _check_size(array.shape[1], array.shape[0])
    array = _bytes_of(array)
    if array.ndim == 3 and array.shape[2] == 4:
        if array[..., 3].min() < 255:
            raise ValueError("is partly transparent; lay it on a background first")
        array = array[..., :3]
    if array.ndim == 2 or array.shape[2] == 1:
        array = np.repeat(array.reshape(*array.shape[:2], 1), 3, axis=2)
    return np.ascontiguousarray(array)


def _check_size(width: int, height: int) -> None:
    if width * height > _MAX_PIXELS:
        raise ValueError(f"has {width}x{height} pixels; at most {_MAX_PIXELS} are read")


def _bytes_of(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.uint8:
        return _with_range(array)
    if not np.issubdtype(array.dtype, np.floating):
        raise ValueError(f"is an array of {array.dtype}; give uint8 from 0 to 255 or floats from 0 to 1")
    low, high = float(array.min()), float(array.max())
    if not (low >= 0 and high <= 1):
        raise ValueError(
            f"is {array.dtype} from {low:g} to {high:g}; give floats from 0 to 1, or uint8 from 0 to 255"
        )
    return np.rint(array.astype(np.float64) * 255).astype(np.uint8)


def _with_range(array: np.ndarray) -> np.ndarray:
    """Refuses bytes that look scaled to 0 to 1; black passes."""
    if array.max() == 1:
        raise ValueError("holds bytes of 0 and 1 alone; give floats from 0 to 1, or bytes from 0 to 255")
    return array


def _opened(data: bytes) -> Image.Image:
    try:
        return open_picture(data)
    except (Undecodable, *DECODER_ERRORS) as error:
        words = str(error).split(" <_io.")[0]  # without the address of the buffer that was read
        raise ValueError(f"is not an image file that can be read: {words}") from None


def _of_image(image: Image.Image) -> np.ndarray:
    if 0 in image.size:
        raise ValueError(f"is empty: it has {image.width}x{image.height} pixels")
    _check_size(*image.size)
    # Pillow silently reads 16-bit colour files as 8 bits; only the file's layout still shows it.
    if image.mode.startswith(("I", "F")) or any(";16" in str(tile) for tile in getattr(image, "tile", ())):
        raise ValueError("has more than 8 bits a channel; bring it to 8 bits first")
    file = getattr(image, "filename", "")
    if image.format == "PNG" and _png_bits(file) == 16:
        raise ValueError(f"is {file!r}, whose 16 bits a channel Pillow cut to 8; bring it to 8 first")
    if image.mode not in ("RGB", "RGBA", "L", "LA", "1", "P", "PA"):
        raise ValueError(f"is {image.mode}; give RGB, grey or palette, since converting needs its colour profile")
    from_file = bool(image.format)
    try:
        frames = getattr(image, "n_frames", 1)
        if frames > 1 and image.format != "MPO":  # an MPO is a photograph with its own preview
            raise ValueError(f"it is an animation of {frames} frames, and one picture is asked for")
        image = ImageOps.exif_transpose(image)
        if image.has_transparency_data:
            image = image.convert("RGBA")
            if image.getchannel("A").getextrema()[0] < 255:  # type: ignore[operator]
                raise ValueError("it is partly transparent; lay it on a background first")
        array = np.array(image if image.mode == "RGB" else image.convert("RGB"))
    except DECODER_ERRORS as error:
        raise ValueError(f"cannot be used: {error}") from None
    return array if from_file else _with_range(array)


def _png_bits(path: Any) -> int | None:
    try:
        with Path(path).open("rb") as file:
            head = file.read(25)
    except (OSError, TypeError, ValueError):
        return None
    return head[24] if len(head) == 25 and head.startswith(b"\x89PNG") else None


def exact(picture: object, name: str = "the picture") -> dict[str, object]:
    """The picture for a `datasets.Image()` column, uncompressed: a JPEG would be encoded once more."""
    array = pixels(picture, name)
    return {"bytes": b"P6 %d %d 255\n" % (array.shape[1], array.shape[0]) + array.tobytes(), "path": None}


def _pair(
    prediction: object, reference: object, size: Size = None, number: int = 0, any_sizes: bool = False
) -> Pair:
    """Prediction and reference, of one size unless `any_sizes`."""
    first, second = pixels(prediction, f"prediction {number}"), pixels(reference, f"reference {number}")
    if size is None and (any_sizes or first.shape == second.shape):
        return first, second
    (height, width), (other_height, other_width) = first.shape[:2], second.shape[:2]
    sizes = f"prediction {number} is {width}x{height} and its reference {other_width}x{other_height}"
    if size is None:
        raise ValueError(f"{sizes}; give size='reference' or the short side to compare at")
    stretch = width * other_height / (height * other_width)
    rounding = 1 + 1 / min(width, height) + 1 / min(other_width, other_height)
    if (size == "reference" or not any_sizes) and max(stretch, 1 / stretch) > _MOST_STRETCH * rounding:
        raise ValueError(f"{sizes}, which are of different proportions; crop or pad the prediction first")
    width, height = evaluation_size(other_width, other_height, size)
    return resize_to(first, width, height), resize_to(second, width, height)


def pairs(
    predictions: Sequence[object], references: Sequence[object], size: Size = None, any_sizes: bool = False
) -> list[Pair]:
    if len(predictions) != len(references):
        raise ValueError(f"{len(predictions)} predictions and {len(references)} references; give as many of both")
    return [_pair(p, r, size, n, any_sizes) for n, (p, r) in enumerate(zip(predictions, references, strict=True))]


def in_batches(
    compared: Sequence[Pair], batch_size: int, work: Callable[[list[Pair]], Sequence[_Row]]
) -> list[_Row]:
    """The results of `work` for batches of consecutive pairs of one size."""
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a whole number from 1, got {batch_size!r}")
    batches: list[list[Pair]] = []
    for pair in compared:
        if not batches or len(batches[-1]) == batch_size or batches[-1][0][1].shape != pair[1].shape:
            batches.append([])
        batches[-1].append(pair)
    return [row for rows in _dealt(batches, work) for row in rows]


def _dealt(batches: list[list[Pair]], work: Callable[[list[Pair]], _Rows]) -> list[_Rows]:
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return [work(batch) for batch in batches]
    import torch
    from accelerate import PartialState
    from accelerate.utils import gather_object

    state = PartialState(cpu=not torch.accelerator.is_available())
    if state.num_processes != world:
        raise RuntimeError(f"accelerate sees {state.num_processes} processes, but WORLD_SIZE is {world}")
    share = [(n, work(batch)) for n, batch in enumerate(batches) if n % world == state.process_index]
    return [done for _, done in sorted(gather_object(share), key=lambda numbered: numbered[0])]


def examples(values: Any, column: str) -> Sequence[object]:
    """The examples of a list, a batch of pictures, or a dataset's column."""
    if isinstance(values, np.ndarray) or _is_tensor(values):
        if values.ndim != 4:
            kind = f"{type(values).__name__} with shape {tuple(values.shape)}"
            raise ValueError(f"{column} is of type {kind}; a batch of pictures has four axes, examples first")
        return list(values)
    if hasattr(values, "column_name") and hasattr(values, "source"):  # of a dataset, as ds["image"] is
        if type(values.features).__name__ == "Image" and hasattr(values.source, "cast_column"):
            # Take the bytes: datasets would decode them by other rules, and silently cut 16 bits to 8.
            name, files = values.column_name, values.source.select_columns([values.column_name])
            values = files.cast_column(name, type(values.features)(decode=False))[name]
        return list(values)
    if not isinstance(values, list | tuple):
        raise ValueError(
            f"{column} is of type {type(values).__name__}; give a list with one entry for each example"
        )
    return values
