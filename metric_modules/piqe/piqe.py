"""The share of a picture's busy blocks that are visibly impaired or noisy; lower is better, 0 to 100. There is no
reference: a picture is judged on its own."""

from convergebench.metric_modules.brisque import alone
from convergebench.metric_modules.piqe.measure import Scorer
from convergebench.metric_modules.piqe.spec import SPEC

Piqe = alone.module(__name__, __doc__, SPEC, Scorer)
