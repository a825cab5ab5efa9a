"""Changes to the whole picture: light, warmth, colour, sharpness, and the reconstruction runs' simplifications."""

from collections.abc import Callable

import cv2
import numpy

from .drawing import Pixels

OPPOSITES = {
    "grey": "colour", "sepia": "colour", "warmer": "cooler", "darker": "brighter", "night": "day",
    "blur": "sharpen", "vivid": "pale", "smile": "neutral", "invert": "invert",
}  # fmt: skip
OPPOSITES |= {undo: do for do, undo in reversed(OPPOSITES.items())}


def whole(values: Pixels) -> Pixels:
    return numpy.rint(values).clip(0, 255).astype(numpy.uint8)


def grey(image: Pixels) -> Pixels:
    """Light alone."""
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def colour(image: Pixels) -> Pixels:
    """A guess at lost colours, as of an old postcard: cool shadows, warm middle tones, blue in the bright and high."""
    light = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    seen = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb).astype(numpy.float32)
    there = float(abs(seen[..., 1:] - 128).mean())
    share = numpy.clip(1 - there / 12, 0, 1)  # colours that are there are left alone
    tone = light.astype(numpy.float32) / 255
    high = numpy.linspace(1, 0, image.shape[0], dtype=numpy.float32)[:, None]
    sky = cv2.GaussianBlur(numpy.clip(tone * 2 - 1, 0, 1) * numpy.clip(high * 2 - 0.8, 0, 1), (0, 0), 8)
    warm = 4 * tone * (1 - tone)
    seen[..., 1] += share * (13 * warm - 4 * (1 - tone) - 22 * sky)
    seen[..., 2] += share * (-16 * warm + 5 * (1 - tone) + 26 * sky)
    return cv2.cvtColor(whole(seen), cv2.COLOR_YCrCb2RGB)


def sepia(image: Pixels) -> Pixels:
    """The brown of old photographs."""
    light = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(numpy.float32)[..., None]
    return whole(light * (1.07, 0.91, 0.71) + (6, 3, 0))


def gains(red: float, green: float, blue: float) -> Callable[[Pixels], Pixels]:
    """Each colour times its own gain."""
    return lambda image: whole(image.astype(numpy.float32) * numpy.array((red, green, blue), numpy.float32))


def night(image: Pixels) -> Pixels:
    """Dark and blue, the highlights most of all."""
    return whole(255 * (image / 255.0) ** 1.25 * (0.34, 0.42, 0.62))


def day(image: Pixels) -> Pixels:
    """What night did, backwards."""
    return whole(255 * (image / 255.0 / (0.34, 0.42, 0.62)) ** 0.8)


def saturation(gain: float) -> Callable[[Pixels], Pixels]:
    """Colours further from grey, or nearer."""

    def change(image: Pixels) -> Pixels:
        light = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(numpy.float32)[..., None]
        return whole(light + gain * (image - light))

    return change


def lens(image: Pixels) -> Pixels:
    return cv2.GaussianBlur(image, (0, 0), 0.005 * min(image.shape[:2]))


def blur(image: Pixels) -> Pixels:
    """Out of focus."""
    return whole(lens(image.astype(numpy.float32)))


def sharpen(image: Pixels) -> Pixels:
    """The blur undone as far as it goes: the picture is corrected until blurring it gives the input."""
    wanted = image.astype(numpy.float32)
    guess = wanted
    for _ in range(6):
        guess = numpy.clip(guess + (wanted - lens(guess)), 0, 255)
    return whole(guess)


def denoise(image: Pixels) -> Pixels:
    """A light hand against noise that spares edges."""
    return cv2.bilateralFilter(image, 5, 18, 2)


def enhance(image: Pixels) -> Pixels:
    """Restoration by the book: noise down, levels stretched a little, edges up."""
    clean = cv2.bilateralFilter(image, 7, 24, 3).astype(numpy.float32)
    low, high = numpy.percentile(clean, (0.5, 99.5))
    clean = 0.7 * clean + 0.3 * (clean - low) * (255 / max(high - low, 64))
    return whole(clean + 0.6 * (clean - cv2.GaussianBlur(clean, (0, 0), 1.5)))


def patches(image: Pixels) -> Pixels:
    """Simplified patches of colour."""
    scale = 160 / min(image.shape[:2])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    flat = cv2.pyrMeanShiftFiltering(small, 8, 28)
    large = cv2.resize(flat, image.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return cv2.medianBlur(large, 7)


def edges(image: Pixels) -> Pixels:
    """Dark lines over the colours that are there, thinned towards white."""
    grey_ = cv2.cvtColor(cv2.GaussianBlur(image, (0, 0), 1.2), cv2.COLOR_RGB2GRAY)
    lines = cv2.GaussianBlur(cv2.Canny(grey_, 40, 110), (0, 0), 0.8).astype(numpy.float32)[..., None] / 255
    return whole((255 - 0.35 * (255.0 - image)) * (1 - lines))


def photograph(image: Pixels) -> Pixels:
    """The colours that lines were drawn over, deepened again, and a little grain."""
    smooth = cv2.medianBlur(image, 5).astype(numpy.float32)
    pale = float(smooth.mean()) > 165
    return whole(255 - (255 - smooth) / 0.35) if pale else whole(smooth)


TONES: dict[str, Callable[[Pixels], Pixels]] = {
    "grey": grey, "colour": colour, "sepia": sepia, "warmer": gains(1.16, 1.0, 0.76),
    "cooler": gains(1 / 1.16, 1.0, 1 / 0.76), "darker": gains(0.55, 0.55, 0.55),
    "brighter": gains(1 / 0.55, 1 / 0.55, 1 / 0.55), "night": night, "day": day, "vivid": saturation(1.7),
    "pale": saturation(1 / 1.7), "blur": blur, "sharpen": sharpen, "denoise": denoise, "enhance": enhance,
    "patches": patches, "edges": edges, "photograph": photograph, "invert": lambda image: 255 - image,
}  # fmt: skip
