"""Every picture is read by a stated rule or refused in one sentence, and each rank returns what one process would."""

import io
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import datasets
import numpy as np
import pytest
import torch
from awkward_pictures import encoded, sixteen_bit_colour
from convergebench.metric_modules._evaluate import images
from convergebench.metric_modules._shared import networks
from convergebench.metric_modules.psnr.psnr import Psnr
from PIL import Image

RANDOM = np.random.default_rng(7)
COLOUR = RANDOM.integers(0, 256, (24, 40, 3)).astype(np.uint8)
GREY = COLOUR[..., 0].copy()
PALETTE = Image.fromarray(COLOUR).quantize(16)


def with_alpha(alpha):
    return Image.fromarray(np.dstack([COLOUR, np.full(GREY.shape, alpha, np.uint8)]))


ACCEPTED = {
    "rgb": (Image.fromarray(COLOUR), COLOUR),
    "array that is a view": (COLOUR[::-1, ::2], COLOUR[::-1, ::2]),
    "datasets' own dictionary": ({"bytes": encoded(Image.fromarray(COLOUR), "PNG"), "path": None}, COLOUR),
    "grey": (Image.fromarray(GREY), np.dstack([GREY] * 3)),
    "grey array with its channel": (GREY[..., None], np.dstack([GREY] * 3)),
    "one bit": (Image.fromarray(GREY > 127), np.dstack([np.where(GREY > 127, 255, 0)] * 3)),
    "palette": (PALETTE, np.asarray(PALETTE.convert("RGB"))),
    "opaque alpha array": (np.asarray(with_alpha(255)), COLOUR),
    "floats from 0 to 1": ((COLOUR / 255).astype(np.float32), COLOUR),
    "channels first": (COLOUR.transpose(2, 0, 1), COLOUR),
    "tensor of floats, channels first": (torch.from_numpy(COLOUR / 255).permute(2, 0, 1), COLOUR),
    "black": (np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4, 3), np.uint8)),
    "one pixel": (COLOUR[:1, :1], COLOUR[:1, :1]),
}

REFUSED = {
    "transparent array": (np.asarray(with_alpha(254)), "transparent"),
    "transparent palette": (encoded(PALETTE, "PNG", transparency=0), "transparent"),
    "cmyk": (encoded(Image.fromarray(COLOUR).convert("CMYK"), "JPEG"), "CMYK"),
    "another colour space": (Image.fromarray(COLOUR).convert("HSV"), "HSV"),
    "16-bit grey": (encoded(Image.fromarray(GREY.astype(np.uint16) * 257), "PNG"), "more than 8 bits"),
    "16-bit colour": (sixteen_bit_colour(), "more than 8 bits"),
    "float image": (Image.fromarray(GREY.astype(np.float32)), "more than 8 bits"),
    "float array of bytes": (COLOUR.astype(np.float64), "float64 from 0 to 255"),
    "float array below zero": (COLOUR / 255 * 2 - 1, "float64 from -1 to 1"),
    "not a number": (np.full((4, 4, 3), np.nan), "float64 from nan to nan"),
    "whole numbers": (COLOUR.astype(np.int64), "int64"),
    "bytes cut from 0 to 1": (np.eye(6, dtype=np.uint8), "bytes of 0 and 1 alone"),
    "tensor of unclear axes": (torch.zeros(3, 8, 3), "channels could be first or last"),
    "batch as one picture": (np.zeros((2, 4, 4, 3), np.uint8), "shape"),
    "empty array": (np.zeros((0, 4, 3), np.uint8), "shape"),
    "no bytes": (b"", "no bytes at all"),
    "not a picture": (b"<html>not found</html>", "not an image file"),
    "postscript": (encoded(Image.fromarray(COLOUR), "EPS"), "not an image file"),
    "truncated png": (encoded(Image.fromarray(COLOUR), "PNG")[:-400], "cannot be used"),
    "animation": (
        encoded(Image.fromarray(COLOUR), "GIF", save_all=True, append_images=[Image.fromarray(COLOUR[::-1])]),
        "animation of 2 frames",
    ),
    "bigger bomb": (encoded(Image.new("1", (20000, 20000)), "PNG"), "400000000"),
    "missing file": ("no/such/file.png", "no such file"),
    "number": (3, "int"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_picture_of_a_stated_kind_is_read_exactly(name):
    given, expected = ACCEPTED[name]
    found = images.pixels(given)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_a_picture_of_no_stated_kind_is_refused_by_its_number(name, tmp_path):
    given, words = REFUSED[name]
    metric = Psnr(cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match=words) as refusal:
        metric.compute(predictions=[COLOUR, given], references=[COLOUR, COLOUR])
    assert "prediction 1" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert metric.compute(predictions=[COLOUR], references=[COLOUR])["rmse"] == 0  # nothing is left behind


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "AVIF", "DDS"])
def test_a_damaged_file_is_read_or_refused_by_name(kind):
    random = np.random.default_rng(0)
    whole, refused = encoded(Image.fromarray(COLOUR), kind), []
    for number in range(200):
        data = bytearray(whole[: random.integers(len(whole))] if number % 2 else whole)
        for place in random.integers(0, min(len(data), 600), 3 if data else 0):
            data[place] = random.integers(256)
        try:
            assert images.pixels(bytes(data), "prediction 1").ndim == 3
        except ValueError as refusal:
            refused.append(str(refusal))
    assert len(refused) > 20
    assert all(words.startswith("prediction 1 ") for words in refused)
    assert not re.search("0x[0-9a-f]{6}", " ".join(refused))


def test_a_path_is_read_like_its_bytes_and_turned_as_it_declares(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    turned = encoded(Image.fromarray(COLOUR), "PNG", exif=exif)
    (tmp_path / "a.png").write_bytes(turned)
    for given in (turned, tmp_path / "a.png", str(tmp_path / "a.png")):
        np.testing.assert_array_equal(images.pixels(given), np.rot90(COLOUR, -1))


def test_a_jpeg_that_pillow_opened_is_not_encoded_again(tmp_path):
    received = encoded(Image.fromarray(COLOUR), "JPEG", quality=30)
    opened, decoded = Image.open(io.BytesIO(received)), np.asarray(Image.open(io.BytesIO(received)))
    # What evaluate would do with it: this is the trap the module stands before.
    trapped = datasets.Image().encode_example(Image.open(io.BytesIO(received)))["bytes"]
    assert (np.asarray(Image.open(io.BytesIO(trapped))) != decoded).any()
    metric = Psnr(cache_dir=str(tmp_path))
    assert metric.compute(predictions=[opened], references=[decoded])["rmse"] == 0
    metric.add(prediction=opened, reference=decoded)
    metric.add_batch(predictions=[received], references=[opened])
    assert metric.compute()["rmse_values"] == [0, 0]


@pytest.mark.parametrize(
    ("predictions", "references", "words"),
    [
        ([COLOUR], [COLOUR, COLOUR], "1 predictions and 2 references"),
        ([], [], "empty"),
        (None, None, "no examples"),
        ([COLOUR], None, "references is of type NoneType"),
        (COLOUR, [COLOUR], "predictions is of type ndarray"),
        (Image.fromarray(COLOUR), [COLOUR], "predictions is of type Image"),
        ([COLOUR], [COLOUR[:, :20]], "prediction 0 is 40x24 and its reference 20x24"),
    ],
)
def test_lists_that_are_no_pairs_are_refused_in_one_sentence(predictions, references, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        Psnr(cache_dir=str(tmp_path)).compute(predictions=predictions, references=references)


def test_pictures_of_two_sizes_are_resized_by_the_rule_or_refused():
    double = np.asarray(Image.fromarray(COLOUR).resize((80, 48), Image.Resampling.LANCZOS))
    to_reference = images._pair(double, COLOUR, "reference")
    assert to_reference[0].shape == to_reference[1].shape == COLOUR.shape
    np.testing.assert_array_equal(to_reference[1], COLOUR)
    expected = np.asarray(Image.fromarray(double).resize((40, 24), Image.Resampling.LANCZOS))
    np.testing.assert_array_equal(to_reference[0], expected)
    to_short_side = images._pair(double, COLOUR, 12)
    assert to_short_side[0].shape == to_short_side[1].shape == (12, 20, 3)
    already_there = images._pair(double, COLOUR, 48)
    np.testing.assert_array_equal(already_there[0], double)
    for size in (0, -1, 1.5, True, "source"):
        with pytest.raises(ValueError, match="'reference' or the pixels of the short side"):
            images._pair(COLOUR, COLOUR, size)
    with pytest.raises(ValueError, match="prediction 3 is 24x40 and its reference 40x24, which are of diff"):
        images._pair(COLOUR.transpose(1, 0, 2), COLOUR, "reference", 3)
    with pytest.raises(ValueError, match="different proportions"):
        images._pair(COLOUR[:, :30], COLOUR, 12)
    assert images._pair(COLOUR[:, :39], COLOUR, "reference")[0].shape == COLOUR.shape  # rounding


def test_batches_hold_one_size_and_keep_the_order():
    found = [(picture, picture) for picture in (COLOUR, COLOUR, COLOUR, COLOUR[:12], COLOUR)]
    sizes = []
    assert images.in_batches(found, 2, lambda batch: sizes.append(len(batch)) or batch) == found
    assert sizes == [2, 1, 1, 1]
    with pytest.raises(ValueError, match="whole number from 1, got 0"):
        images.in_batches(found, 0, list)


def test_sixteen_bits_cut_by_pillow_are_noticed(tmp_path):
    (tmp_path / "deep.png").write_bytes(sixteen_bit_colour())
    image = Image.open(tmp_path / "deep.png")
    image.load()
    with pytest.raises(ValueError, match="whose 16 bits a channel Pillow cut to 8"):
        images.pixels(image)


BATCH = np.stack([COLOUR, COLOUR[::-1]])


def test_a_batch_of_pictures_is_as_many_examples(tmp_path):
    for batch in (BATCH, torch.from_numpy(BATCH / 255).float().permute(0, 3, 1, 2)):
        values = Psnr(cache_dir=str(tmp_path)).compute(predictions=batch, references=[COLOUR] * 2)["psnr_values"]
        assert (values[0], values[1] < 20) == (100, True)


def test_a_column_of_a_dataset_is_read_from_the_files_bytes(tmp_path):
    pictures = [encoded(Image.fromarray(array), "JPEG") for array in BATCH]
    pictures.append(sixteen_bit_colour())
    rows = {"image": [{"bytes": data, "path": None} for data in pictures]}
    table = datasets.Dataset.from_dict(rows, features=datasets.Features({"image": datasets.Image()}))
    metric, whole = Psnr(cache_dir=str(tmp_path)), table.select(range(2))["image"]
    for references in (whole, pictures[:2]):
        assert metric.compute(predictions=whole, references=references)["psnr_values"] == [100, 100]
    with pytest.raises(ValueError, match="prediction 0 has more than 8 bits"):
        metric.compute(predictions=table.select([2])["image"], references=[COLOUR[:4, :4]])


def test_cuda_where_there_is_none_is_one_sentence(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert networks.available_device("cpu") == "cpu"
    with pytest.raises(ValueError, match="device is 'cuda:0', but there is no CUDA here"):
        networks.available_device("cuda:0")


# Under `accelerate launch`


METRICS = Path(__file__).parents[2] / "metric_modules"

# Run by one process and by each rank of two; where it matters, a rank also tells what it computed itself.
WORK = """
import json, os, sys
from pathlib import Path
import numpy as np
import evaluate

random = np.random.default_rng(0)
shown, originals = random.integers(0, 256, (2, 7, 48, 64, 3)).astype(np.uint8)
metric = evaluate.load(f"{sys.argv[1]}/ssim")
measure = sys.modules[type(metric).__module__].measure
ssim, computed = measure.ssim, []
measure.ssim = lambda *given: computed.append(1) or ssim(*given)
found = metric.compute(predictions=list(shown), references=list(originals), batch_size=2)
found["computed"] = len(computed)
Path(sys.argv[2], f"{os.environ.get('RANK', 'alone')}.json").write_text(json.dumps(found))
"""


@pytest.mark.slow
def test_two_ranks_return_what_one_process_does(tmp_path):
    (tmp_path / "work.py").write_text(WORK)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = [str(tmp_path / "work.py"), str(METRICS), str(tmp_path)]
    ranks = ["-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2"]
    mine = {"HF_HOME": str(tmp_path / "huggingface"), "OMP_NUM_THREADS": "1"}
    for words in (script, [*ranks, "--main_process_port", str(port), *script]):
        done = subprocess.run(
            [sys.executable, *words], env={**os.environ, **mine}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    alone, first, second = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("alone", "0", "1"))
    computed, *shares = (found.pop("computed") for found in (alone, first, second))
    assert first == second == alone
    assert len(alone["ssim_values"]) == 7
    assert min(shares) > 0
    assert sum(shares) == computed


def test_a_world_that_accelerate_does_not_see_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("accelerate.PartialState", lambda cpu: SimpleNamespace(num_processes=1))
    with pytest.raises(RuntimeError, match="accelerate sees 1 processes, but WORLD_SIZE is 2"):
        images._dealt([1, 2], lambda batch: batch)
