"""What a call costs the whole picture: paint redraws it on its own canvas, coarser in colour, and not quite evenly."""

import cv2
import numpy

from .drawing import Pixels


def wear(image: Pixels, strength: float, chance: numpy.random.Generator) -> Pixels:
    """The picture after one redrawing: fine detail gets softer, edges harder, grain and a cast creep in."""
    if not strength:
        return image
    height, width = image.shape[:2]
    unit = min(height, width) / 512
    seen = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb).astype(numpy.float32)
    light: Pixels = seen[..., 0]
    tones: Pixels = seen[..., 1:]
    soft = cv2.GaussianBlur(light, (0, 0), 0.9 * unit)
    broad = cv2.GaussianBlur(soft, (0, 0), 2.4 * unit)
    light = light + strength * (0.4 * (soft - light) + 0.12 * (soft - broad))
    grain = chance.standard_normal(
        (max(1, round(height / unit / 1.6)), max(1, round(width / unit / 1.6))), numpy.float32
    )
    light += strength * 1.7 * cv2.resize(grain, (width, height), interpolation=cv2.INTER_CUBIC)
    half = cv2.resize(tones, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
    tones = tones + strength * 0.5 * (cv2.resize(half, (width, height), interpolation=cv2.INTER_LINEAR) - tones)
    cast = chance.normal((-0.3, -0.16), 0.45).astype(numpy.float32)  # a little green, as repeated editing is known for
    redrawn = numpy.dstack([light, tones + strength * cast])
    redrawn = numpy.rint(redrawn).clip(0, 255).astype(numpy.uint8)
    return cv2.cvtColor(redrawn, cv2.COLOR_YCrCb2RGB)
