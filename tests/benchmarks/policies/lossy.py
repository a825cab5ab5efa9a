"""An editor with a known loss: paint's edits without wear, and then a loss like an autoencoder's."""

import cv2
import numpy as np
from convergebench.generation import editors, pictures
from PIL import Image
from scipy.fft import dctn, idctn

_CELL = 8  # pixels that one place of the latent space stands for, as in the autoencoders of latent diffusion
_KEPT = 64  # numbers kept of a cell's 192: with 16 every test is lost in round 1, and no policy can show anything
_NOISE = 4.0  # grey levels, on each number kept: what makes passes add up
_ORDER = sorted(((row, column) for row in range(_CELL) for column in range(_CELL)), key=lambda at: (sum(at), at))
_PAINT = editors.choose("paint:wear=0").editor


def vae_like(image, instruction, seed):
    """Draws and removes exactly as paint does, and passes the whole answer through 64 noisy numbers a cell of 8x8."""
    answer = _PAINT.edit(image, instruction, seed)
    return Image.fromarray(passed(pictures.decode_array(answer.data), seed)) if answer.status == "ok" else answer


def passed(pixels, seed):
    height, width = pixels.shape[:2]
    padded = np.pad(pixels, ((0, -height % _CELL), (0, -width % _CELL), (0, 0)), mode="edge")
    tones = cv2.cvtColor(padded, cv2.COLOR_RGB2YCrCb).astype(np.float32)
    rows, columns = (size // _CELL for size in padded.shape[:2])
    cells = tones.reshape(rows, _CELL, columns, _CELL, 3).transpose(0, 2, 4, 1, 3)
    numbers, chance = dctn(cells, axes=(3, 4), norm="ortho"), np.random.default_rng(seed)
    numbers += chance.normal(0, _NOISE, numbers.shape).astype(np.float32)
    for band, kept in enumerate((_KEPT - 24, 12, 12)):
        for row, column in _ORDER[kept:]:
            numbers[:, :, band, row, column] = 0
    tones = idctn(numbers, axes=(3, 4), norm="ortho").transpose(0, 3, 1, 4, 2).reshape(padded.shape)
    rounded = np.rint(tones).clip(0, 255).astype(np.uint8)
    return cv2.cvtColor(rounded, cv2.COLOR_YCrCb2RGB)[:height, :width]
