from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.dists.measure import HEADS, Scorer
from convergebench.metric_modules.dists.spec import SPEC


class Dists(picture_modules.ScoredModule):
    """Deep image structure and texture similarity as a distance, lower is nearer, from 0 for identical pictures.
    Another sample of the same texture is near."""

    scorer, spec = staticmethod(Scorer), SPEC
    fetch_weights = HEADS.fetch
