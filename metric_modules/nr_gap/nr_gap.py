"""Do no-reference metrics see the damage? The normalised score gap of later steps against step 1."""

from typing import ClassVar

from convergebench.metric_modules._shared import modules
from convergebench.metric_modules.nr_gap.gaps import nr_gap


class NrGap(modules.Module):
    """Banana100's normalised score gap: scores are mapped from the metric's typical range to 0..100 with higher =
    better, and the score at step 1 is taken from that at steps 5, 10 and 20. Quality is falling, so a metric that
    sees it has negative gaps; a positive gap is a failure."""

    function = staticmethod(nr_gap)
    example: ClassVar = {
        "predictions": [[34.1, 20.2, 4.5, -9.8], [3.1, 3.4, 3.0, 4.2]],
        "metrics": ["BRISQUE", "NIQE"],
        "images": ["fog", "fog"],
    }
