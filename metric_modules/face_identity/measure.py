"""Whether the people in a picture are still the same: the distances between dlib's face descriptors."""

from functools import partial

import numpy as np

from .._shared.networks import require_packages
from .._shared.published import PublishedFile, Say
from .._shared.scoring import Loaded, PairScorer, Value

Faces = tuple[np.ndarray, np.ndarray]  # a descriptor for each face, and the detector's score of it
# In 111 pictures the highest score of a false detection is 0.12. A false one in the reference would be
# reported as a face that is gone, so faces of the reference need this score; those of the answer do not.
_LEAST_SCORE = 0.5
_FOLDER = "face_recognition_models-0.3.0/face_recognition_models/models"
_PUBLISHED = partial(
    PublishedFile,
    metric="face_identity",
    requirement="face_recognition_models==0.3.0",
    ending=".tar.gz",
    archive_sha256="b79bd200a88c87c9a9d446c990ae71c5a626d1f3730174e6d570157ff1d896cf",
)
NETWORK = _PUBLISHED(
    inside=f"{_FOLDER}/dlib_face_recognition_resnet_model_v1.dat",
    name="dlib_faces.dat",
    sha256="55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
)
LANDMARKS = _PUBLISHED(
    inside=f"{_FOLDER}/shape_predictor_5_face_landmarks.dat",
    name="dlib_landmarks.dat",
    sha256="c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888",
)
_UPSAMPLED_BELOW = 1024  # pixels of the short side; dlib finds faces of 80 pixels, and of 40 if it upsamples


def missing_weights() -> str | None:
    return NETWORK.missing() or LANDMARKS.missing()


def fetch_weights(say: Say = print) -> dict[str, dict[str, str]]:
    return {file.name: row for file in (NETWORK, LANDMARKS) for row in file.fetch(say).values()}


def _load(device: str) -> Loaded:
    require_packages("face identity", "dlib", extra="senses")
    for file in (NETWORK, LANDMARKS):
        file.load()  # raises if it is missing or damaged
    import dlib

    detector, landmarks = dlib.get_frontal_face_detector(), dlib.shape_predictor(str(LANDMARKS.path))
    network = dlib.face_recognition_model_v1(str(NETWORK.path))

    def descriptors(picture: np.ndarray) -> Faces:
        faces, scores, _ = detector.run(picture, int(min(picture.shape[:2]) < _UPSAMPLED_BELOW), 0.0)
        rows = [network.compute_face_descriptor(picture, landmarks(picture, face)) for face in faces]
        return np.array(rows), np.array(scores)

    signature = {"version": 1, "network": NETWORK.sha256[:12], "dlib": dlib.__version__}
    return descriptors, _compare, signature


def _compare(reference: Faces, answer: Faces) -> dict[str, Value]:
    """The largest distance from a face of the reference to the nearest face of the answer.

    >>> scores = np.array([1.0, 2.0])
    >>> _compare((np.array([[0.0, 0.0], [1.0, 0.0]]), scores), (np.array([[0.0, 0.5], [1.0, 0.1]]), scores))
    {'face_distance': 0.5}
    """
    people, in_answer = reference[0][reference[1] >= _LEAST_SCORE], answer[0]
    if not len(people) or not len(in_answer):
        return {"face_distance": "face_gone" if len(people) else "no_face"}
    distances = np.linalg.norm(people[:, None] - in_answer[None], axis=2)
    return {"face_distance": float(distances.min(axis=1).max())}


Scorer = partial(PairScorer, _load)
