"""Deep image structure and texture similarity as a distance, lower is nearer, from 0 for identical pictures.
Another sample of the same texture is near."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.dists.measure import HEADS, Scorer
from convergebench.metric_modules.dists.spec import SPEC

Dists = picture_modules.PictureModule.of(__name__, __doc__, picture_modules.scored(SPEC, Scorer), HEADS.fetch)
