"""A score of visible damage that was learned from the opinions of people; lower is better, 0 to 100 on the pictures
it was learned from, and beyond on others. There is no reference: a picture is judged on its own."""

from convergebench.metric_modules.brisque import alone
from convergebench.metric_modules.brisque.measure import PARAMETERS, Scorer
from convergebench.metric_modules.brisque.spec import SPEC

Brisque = alone.module(__name__, __doc__, SPEC, Scorer, PARAMETERS.fetch)
