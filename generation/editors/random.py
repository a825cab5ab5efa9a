"""The editor whose every answer is another picture altogether: it scores zero rounds, because nothing is undone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy
from PIL import Image

from ..pictures import encode_png
from ..records import Answer
from ..sources import synthetic as painters


@dataclass(frozen=True)
class Editor:
    """Answers with a picture that has nothing to do with its input, another one for every seed."""

    role: ClassVar[str] = "baseline"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        chance = numpy.random.default_rng(seed)
        name = painters.names()[int(chance.integers(len(painters.names())))]
        picture = painters.paint(name, image.size, seed)
        red, green, blue = (picture.getchannel(int(band)) for band in chance.permutation(3))
        return Answer(encode_png(Image.merge("RGB", (red, green, blue))))
