"""Character error between the text of two pictures, relative to the reference's length: 0 if they read
the same, 1 if there are as many errors as characters. Null with a reason if no text is read in the reference."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.text_fidelity.measure import Scorer
from convergebench.metric_modules.text_fidelity.spec import SPEC

TextFidelity = picture_modules.PictureModule.of(__name__, __doc__, picture_modules.scored(SPEC, Scorer))
