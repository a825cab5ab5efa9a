"""Cosine similarity of two pictures' DINOv2 embeddings: -1 to 1, higher is closer, 1 if they are identical."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.dino_similarity.measure import Scorer
from convergebench.metric_modules.dino_similarity.spec import SPEC

DinoSimilarity = picture_modules.PictureModule.of(__name__, __doc__, picture_modules.scored(SPEC, Scorer))
