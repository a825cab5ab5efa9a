"""Twelve editors' colours stay apart in normal vision and for colour-blind readers, and in grey by their markers."""

from itertools import combinations

import numpy as np
import pytest
from convergebench.spaces_app.palette import DARK, GRID, INK, MARKERS, MUTED, PAPER, SERIES, assign_looks

# Machado, Oliveira and Fernandes 2009, severity 1, in linear RGB.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
TRITANOPIA = [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
VISIONS = {"normal": np.eye(3), "protanopia": PROTANOPIA, "deuteranopia": DEUTERANOPIA, "tritanopia": TRITANOPIA}
# CIEDE2000 between any two; 2.3 is just noticeable.
LEAST = {"normal": 17.5, "protanopia": 11.5, "deuteranopia": 11.0, "tritanopia": 13.0}


def linear(codes):
    values = np.array([[int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)] for code in codes])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_two_of_twelve_colours_look_alike(theme, vision):
    color = pytest.importorskip("skimage.color", reason="scikit-image measures colour differences")
    codes = [DARK[light] if theme == "dark" else light for light in SERIES]
    seen = np.clip(linear(codes) @ np.array(VISIONS[vision]).T, 0, 1)
    encoded = np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)
    differences = [color.deltaE_ciede2000(*pair) for pair in combinations(color.rgb2lab(encoded), 2)]
    assert min(differences) >= LEAST[vision]


@pytest.mark.parametrize("side", ["light", "dark"])
def test_text_and_lines_stand_out_from_the_paper(side):
    """By the contrast ratio of WCAG 2.2."""
    colours = (PAPER, GRID, INK, MUTED, *SERIES)
    codes = [DARK[light] if side == "dark" else light for light in colours]
    paper, *others = linear(codes) @ [0.2126, 0.7152, 0.0722] + 0.05
    grid, *shown = [max(paper / other, other / paper) for other in others]
    assert min(shown[:2]) >= 4.5  # words
    assert min(shown) >= 3  # lines and marks
    assert grid < 2  # grids stay behind


def test_an_editor_keeps_its_look():
    editors = [f"editor-{number:02}" for number in range(12)]
    assert len(set(MARKERS)) == len(SERIES) == 12  # in grey, markers tell them apart
    looks = assign_looks([*editors, "identity"], ["identity"])
    assert assign_looks([*reversed(editors), "identity"], ["identity"]) == looks
    assert len({(look.colour, look.marker) for look in looks.values()}) == 13
    assert looks["identity"].is_reference
    assert looks["identity"].colour not in SERIES
