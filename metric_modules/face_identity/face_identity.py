"""Distance between the face descriptors of two pictures, of the person that changed most: 0 is the same face, above
0.6 it is another person. Null with a reason if either picture has no face."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.face_identity.measure import Scorer, fetch_weights
from convergebench.metric_modules.face_identity.spec import SPEC

FaceIdentity = picture_modules.PictureModule.of(
    __name__, __doc__, picture_modules.scored(SPEC, Scorer), fetch_weights
)
