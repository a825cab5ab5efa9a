"""How much the worst part of a picture differs from its reference: LPIPS of the worst of 10 x 10 tiles, at a short
side of 256, with grain, shift and scale undone if that shows less. Lower is nearer, 0 for identical pictures; from
.25 on an eye calls a part lost, from .20 to .32 it may go either way."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.damage.measure import Scorer
from convergebench.metric_modules.damage.spec import SPEC
from convergebench.metric_modules.lpips import weights


def _fetch_weights() -> None:
    if not weights.weights_file("alex").is_file():
        weights.fetch_weights(nets=["alex"])


Damage = picture_modules.PictureModule.of(__name__, __doc__, picture_modules.scored(SPEC, Scorer), _fetch_weights)
