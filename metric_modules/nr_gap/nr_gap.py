"""Do no-reference metrics see the damage? The normalised score gap of later steps against step 1."""

from convergebench.metric_modules._shared import modules
from convergebench.metric_modules.nr_gap.gaps import nr_gap


class NrGap(modules.Statistic):
    """Banana100's normalised score gap: scores are mapped from the metric's typical range to 0..100 with higher =
    better, and the score at step 1 is taken from that at steps 5, 10 and 20. Quality is falling, so a metric that
    sees it has negative gaps; a positive gap is a failure."""

    function = staticmethod(nr_gap)
    cited = """
@article{banana100, title={Banana100: Breaking NR-IQA Metrics by 100 Iterative Image Replications with Nano Banana Pro},
journal={arXiv:2604.03400}, year={2026}}
"""
    arguments = """
Args:
    predictions: one list of raw scores per series, one score per step; None or NaN for a missing one.
    metrics: the metric of each series, or one name for all; the 23 of Banana100's Table 2.
    images: the image of each series; several series of one metric and image are runs, and their gaps are averaged.
    steps: the steps the scores belong to; [1, 5, 10, 20] when left out. Step 1 has to be among them.
    clamp: whether scores outside the typical range are brought to its ends; they are not unless asked for.
Returns: gaps (one entry per metric, image and step), by_metric, by_image, out_of_range, signature.
"""
