"""Visible difference as SSIMULACRA2 rates it, higher is nearer: 100 is identical, 90 visually lossless, 30 low
quality, without a lower end."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.ssimulacra.measure import Scorer
from convergebench.metric_modules.ssimulacra.spec import SPEC

Ssimulacra = picture_modules.PictureModule.of(__name__, __doc__, picture_modules.scored(SPEC, Scorer))
