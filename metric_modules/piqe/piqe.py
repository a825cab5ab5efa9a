from convergebench.metric_modules.brisque import alone
from convergebench.metric_modules.piqe.measure import Scorer
from convergebench.metric_modules.piqe.spec import SPEC


class Piqe(alone.AloneModule):
    """The share of a picture's busy blocks that are visibly impaired or noisy; lower is better, 0 to 100. There is no
    reference: a picture is judged on its own."""

    scorer, spec = staticmethod(Scorer), SPEC
