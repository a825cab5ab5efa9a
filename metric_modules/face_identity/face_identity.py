from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.face_identity.measure import Scorer, fetch_weights
from convergebench.metric_modules.face_identity.spec import SPEC


class FaceIdentity(picture_modules.ScoredModule):
    """Distance between the face descriptors of two pictures, of the person that changed most: 0 is the same face, above
    0.6 it is another person. Null with a reason if either picture has no face."""

    scorer, spec = staticmethod(Scorer), SPEC
    fetch_weights = staticmethod(fetch_weights)
