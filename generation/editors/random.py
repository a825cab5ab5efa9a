"""The editor that answers with unrelated pictures: it scores zero rounds, because nothing is undone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from PIL import Image

from ..pictures import encode_png
from ..records import Answer
from ..sources import synthetic


@dataclass(frozen=True)
class Editor:
    """Answers with a picture that has nothing to do with its input, another one for every seed."""

    role: ClassVar[str] = "baseline"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        chance = np.random.default_rng(seed)
        names = list(synthetic.PICTURES)
        name = names[int(chance.integers(len(names)))]
        picture = synthetic.make(name, image.size, seed)
        red, green, blue = (picture.getchannel(int(band)) for band in chance.permutation(3))
        return Answer(encode_png(Image.merge("RGB", (red, green, blue))))
