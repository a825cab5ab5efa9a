"""How far a picture is from undamaged photographs, by the statistics of its contrast; lower is better, 0 is as near
as can be, without an upper end. There is no reference: a picture is judged on its own."""

from convergebench.metric_modules.brisque import alone
from convergebench.metric_modules.niqe.measure import PARAMETERS, Scorer
from convergebench.metric_modules.niqe.spec import SPEC

Niqe = alone.module(__name__, __doc__, SPEC, Scorer, PARAMETERS.fetch)
