"""Typical ranges and directions of no-reference quality metrics, as Banana100 lists them."""

# The perceptual index ((10 - NRQM) + NIQE) / 2 has no upper bound of its own; the ranges of its parts end it here.
PI_CAP = 55.0

# name: (lowest, highest, higher is better)
RANGES: dict[str, tuple[float, float, bool]] = {
    "ARNIQA": (0, 1, True),
    "BRISQUE": (0, 150, False),
    "CLIPIQA": (0, 1, True),
    "CNNIQA": (0, 1, True),
    "DBCNN": (0, 1, True),
    "HyperIQA": (0, 1, True),
    "ILNIQE": (0, 100, False),
    "LIQE": (1, 5, True),
    "MANIQA": (0, 1, True),
    "MUSIQ": (0, 100, True),
    "NIMA": (0, 10, True),
    "NIQE": (0, 100, False),
    "NRQM": (0, 10, True),
    "PaQ-2-PiQ": (0, 100, True),
    "PI": (0, PI_CAP, False),
    "PIQE": (0, 100, False),
    "Q-Align": (1, 5, True),
    "QualiCLIP": (0, 1, True),
    "TOPIQ_NR": (0, 1, True),
    "TReS": (0, 100, True),
    "WaDIQaM": (-1, 0.1, True),
    "VisualQuality-R1": (1, 5, True),
    "RALI": (1, 5, True),
}


def plain(name: str) -> str:
    """Names are told apart by letters and digits alone: 'topiq_nr' is 'TOPIQ NR'."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


BY_PLAIN_NAME = {plain(name): name for name in RANGES}


def metric_name(given: str) -> str:
    """The metric's name as it stands in the table."""
    if plain(given) not in BY_PLAIN_NAME:
        raise ValueError(f"no metric {given!r} with a known range; the metrics are {', '.join(RANGES)}")
    return BY_PLAIN_NAME[plain(given)]
