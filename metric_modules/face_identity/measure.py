"""Whether the faces of a picture are still the same persons': the distances of dlib's face descriptors."""

from functools import partial

import numpy as np

from .._shared.networks import require_packages
from .._shared.pair_scorer import Loaded, PairScorer
from .._shared.published import PublishedFile, Say
from .._shared.scoring import Value

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
_UPSAMPLED_BELOW = (
    1024  # pixels of the short side: dlib's detector finds faces from 80 pixels on, upsampled from 40
)


def missing_weights() -> str | None:
    return NETWORK.missing() or LANDMARKS.missing()


def fetch_weights(say: Say = print) -> dict[str, dict[str, str]]:
    return {file.name: row for file in (NETWORK, LANDMARKS) for row in file.fetch(say).values()}


def _load(device: str) -> Loaded:
    require_packages("face identity", "dlib", extra="senses")
    for file in (NETWORK, LANDMARKS):
        file.load()  # checks it
    import dlib

    find, place = dlib.get_frontal_face_detector(), dlib.shape_predictor(str(LANDMARKS.path))
    network = dlib.face_recognition_model_v1(str(NETWORK.path))

    def descriptors(picture: np.ndarray) -> np.ndarray:
        faces = find(picture, int(min(picture.shape[:2]) < _UPSAMPLED_BELOW))
        return np.array([network.compute_face_descriptor(picture, place(picture, face)) for face in faces])

    signature = {"version": 1, "network": NETWORK.sha256[:12], "dlib": dlib.__version__}
    return descriptors, compare, signature


def compare(reference: np.ndarray, answer: np.ndarray) -> dict[str, Value]:
    """For each person of the reference the nearest face of the answer; the person that changed most counts.

    >>> compare(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.5], [1.0, 0.1]]))
    {'face_distance': 0.5}
    """
    if not len(reference) or not len(answer):
        return {"face_distance": "face_gone" if len(reference) else "no_face"}
    distances = np.linalg.norm(reference[:, None] - answer[None], axis=2)
    return {"face_distance": float(distances.min(axis=1).max())}


Scorer = partial(PairScorer, _load)
