"""What no eye would call the loss of a part."""

import io
from collections.abc import Callable

import cv2
import numpy as np
from PIL import Image

Wear = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def whole(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def coded(shown: np.ndarray, quality: int, kind: str = "JPEG") -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(shown).save(file, kind, quality=quality)
    return np.asarray(Image.open(file).convert("RGB"))


def noisy(shown: np.ndarray, chance: np.random.Generator, sigma: float) -> np.ndarray:
    return whole(shown + sigma * chance.standard_normal(shown.shape, np.float32))


def resized(shown: np.ndarray, zoom: float) -> np.ndarray:
    image = Image.fromarray(shown)
    small = image.resize((round(image.width * zoom), round(image.height * zoom)), Image.Resampling.LANCZOS)
    return np.asarray(small.resize(image.size, Image.Resampling.LANCZOS))


def blurred(shown: np.ndarray, sigma: float) -> np.ndarray:
    return whole(cv2.GaussianBlur(shown.astype(np.float32), (0, 0), sigma))


def cast(shown: np.ndarray, chance: np.random.Generator, strength: float) -> np.ndarray:
    gains, bend = np.exp(chance.uniform(-strength, strength, 3)), np.exp(chance.uniform(-strength, strength))
    return whole(255 * (shown / 255) ** bend * gains + chance.uniform(-50 * strength, 50 * strength, 3))


def like_an_autoencoder(shown: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Detail on a coarser grid, edges sharpened again, coloured noise of low frequency."""
    height, width = shown.shape[:2]
    small = (round(width * 0.7), round(height * 0.7))
    soft = cv2.resize(shown.astype(np.float32), small, interpolation=cv2.INTER_AREA)
    soft = cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC)
    soft += 0.5 * (soft - cv2.GaussianBlur(soft, (0, 0), 1.2))
    latent = chance.normal(0, 2.0, (height // 8 + 1, width // 8 + 1, 3)).astype(np.float32)
    grain = chance.normal(0, 1.0, shown.shape) + chance.normal(0, 0.5, 3)
    return whole(soft + cv2.resize(latent, (width, height), interpolation=cv2.INTER_CUBIC) + grain)


def shifted(shown: np.ndarray, right: float) -> np.ndarray:
    matrix = np.array([[1, 0, right], [0, 1, right / 2]], np.float32)
    size = shown.shape[1::-1]
    return cv2.warpAffine(shown, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


ON_TOP: dict[str, Wear] = {
    "none": lambda shown, _: shown,
    "JPEG 95": lambda shown, _: coded(shown, 95),
    "JPEG 70": lambda shown, _: coded(shown, 70),
    "JPEG 40": lambda shown, _: coded(shown, 40),
    "noise 12": lambda shown, chance: noisy(shown, chance, 12),
    "half size and back": lambda shown, _: resized(shown, 0.5),
    "blur 2": lambda shown, _: blurred(shown, 2),
    "colour cast 30%": lambda shown, chance: cast(shown, chance, 0.3),
    "shift by 10 px": lambda shown, _: shifted(shown, 9),
    "like an autoencoder": like_an_autoencoder,
}


def _again(times: int) -> Wear:
    def worn(shown: np.ndarray, chance: np.random.Generator) -> np.ndarray:
        for _ in range(times):
            shown = like_an_autoencoder(shown, chance)
        return shown

    return worn


# Six strengths of four kinds, as pixels of 512, grey levels, qualities, and passes of an imitated autoencoder.
STRENGTHS: dict[str, Wear] = {
    **{
        f"blur {s}": lambda shown, _, s=s: blurred(shown, s * min(shown.shape[:2]) / 512)
        for s in (0.4, 0.7, 1, 1.5, 2, 3)
    },
    **{f"noise {s}": lambda shown, chance, s=s: noisy(shown, chance, s) for s in (1, 2, 4, 8, 12, 16)},
    **{f"JPEG {q}": lambda shown, _, q=q: coded(shown, q) for q in (95, 85, 75, 60, 40, 20)},
    **{f"autoencoder, {n} passes": _again(n) for n in (1, 2, 3, 4, 6, 8)},
}
