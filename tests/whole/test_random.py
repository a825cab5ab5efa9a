"""An editor that answers with another picture loses by quality in its first round."""

import numpy
from convergebench.generation import editors, pictures
from convergebench.generation.loop import prepare
from convergebench.generation.sources import catalogue
from convergebench.metric_modules._engine.floors import floor, retained_value
from convergebench.metric_modules.psnr import measure as psnr
from convergebench.metric_modules.specs import ceilings
from convergebench.metric_modules.ssim import measure as ssim

PICTURES = ("astronaut", "chelsea", "coffee", "rocket", "hubble", "retina", "brick", "gravel", "grass")
SIDE, SEEDS = 192, range(12)


def test_random_loses_quality_in_round_one_without_lpips():
    prepared = {id: square(pictures.decode(catalogue.read(id))) for id in PICTURES}
    editor = editors.choose("random").editor
    ends, chains = 0, 0
    for id, picture in prepared.items():
        known = ssim.reference(numpy.asarray(picture))
        unrelated = [distances(picture, known, other) for name, other in prepared.items() if name != id]
        values = {metric: [row[metric] for row in unrelated] for metric in ("rmse", "ssim")}
        floors = {metric: floor(found) for metric, found in values.items()}
        for seed in SEEDS:
            answer = pictures.decode(editor.edit(picture, "add hat", seed).data)
            found = distances(picture, known, answer)
            kept = min(retained_value(found[metric], floors[metric], ceilings()[metric]) for metric in floors)
            ends += kept < 0.5
            chains += 1
    assert ends >= 0.97 * chains, f"{ends} of {chains}"


def square(picture):
    return prepare(picture, SIDE, ((SIDE, SIDE),))


def distances(picture, known, other):
    pixels = numpy.asarray(other)
    return {
        "rmse": psnr.psnr_and_rmse(numpy.asarray(picture), pixels)["rmse"],
        "ssim": ssim.compare(known, pixels),
    }
