"""The no-reference metrics of Banana100's Table 2: name, typical range, direction, and what computes each here."""

from typing import NamedTuple

# The steps that Banana100 compares (its Table 2 and figures).
FIRST = 1
STEPS = (5, 10, 20)
# The perceptual index ((10 - NRQM) + NIQE) / 2 has no upper
# bound of its own; the ranges of its parts end it here.
PI_CAP = 55.0


class _NoReference(NamedTuple):
    name: str
    column: str  # of the scores, and the metric's name for `convergebench score --metrics`
    low: float
    high: float
    higher_is_better: bool
    computed_by: str  # "here": a folder of its own; or the library that has it: "pyiqa" or "transformers"
    library_name: str = ""  # what that library calls it: a metric of pyiqa, a repository of the Hub


TABLE = (
    _NoReference("ARNIQA", "arniqa", 0, 1, True, "pyiqa", "arniqa"),
    _NoReference("BRISQUE", "brisque", 0, 150, False, "here"),
    _NoReference("CLIPIQA", "clipiqa", 0, 1, True, "pyiqa", "clipiqa"),
    _NoReference("CNNIQA", "cnniqa", 0, 1, True, "pyiqa", "cnniqa"),
    _NoReference("DBCNN", "dbcnn", 0, 1, True, "pyiqa", "dbcnn"),
    _NoReference("HyperIQA", "hyperiqa", 0, 1, True, "pyiqa", "hyperiqa"),
    _NoReference("ILNIQE", "ilniqe", 0, 100, False, "pyiqa", "ilniqe"),
    _NoReference("LIQE", "liqe", 1, 5, True, "pyiqa", "liqe"),
    _NoReference("MANIQA", "maniqa", 0, 1, True, "pyiqa", "maniqa"),
    _NoReference("MUSIQ", "musiq", 0, 100, True, "pyiqa", "musiq"),
    _NoReference("NIMA", "nima", 0, 10, True, "pyiqa", "nima"),
    _NoReference("NIQE", "niqe", 0, 100, False, "here"),
    _NoReference("NRQM", "nrqm", 0, 10, True, "pyiqa", "nrqm"),
    _NoReference("PaQ-2-PiQ", "paq2piq", 0, 100, True, "pyiqa", "paq2piq"),
    _NoReference("PI", "pi", 0, PI_CAP, False, "pyiqa", "pi"),
    _NoReference("PIQE", "piqe", 0, 100, False, "here"),
    _NoReference("Q-Align", "qalign", 1, 5, True, "pyiqa", "qalign"),
    _NoReference("QualiCLIP", "qualiclip", 0, 1, True, "pyiqa", "qualiclip"),
    _NoReference("TOPIQ_NR", "topiq_nr", 0, 1, True, "pyiqa", "topiq_nr"),
    _NoReference("TReS", "tres", 0, 100, True, "pyiqa", "tres"),
    _NoReference("WaDIQaM", "wadiqam", -1, 0.1, True, "pyiqa", "wadiqam_nr"),
    _NoReference(
        "VisualQuality-R1", "visualquality_r1", 1, 5, True, "transformers", "TianheWu/VisualQuality-R1-7B"
    ),
    _NoReference("RALI", "rali", 1, 5, True, "transformers", "ByteDance/Q-Insight"),
)
RANGES = {row.name: (row.low, row.high, row.higher_is_better) for row in TABLE}
COLUMNS = {row.column: row for row in TABLE}


def plain(name: str) -> str:
    """Names are compared by letters and digits alone: 'topiq_nr' is 'TOPIQ NR'."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


BY_PLAIN_NAME = {plain(name): name for name in RANGES}


def normalised(score: float, metric: str) -> float:
    """A score from 0 to 100, higher is better.

    >>> normalised(34.1, "BRISQUE")
    77.26666666666667
    """
    low, high, higher_is_better = RANGES[BY_PLAIN_NAME[plain(metric)]]
    share = (score - low) / (high - low)
    return 100 * (share if higher_is_better else 1 - share)
