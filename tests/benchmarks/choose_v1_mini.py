"""Chooses v1-mini from v1: the twelve pictures on which damage looks most like it does on all hundred.

Every picture of v1 is taken through five rounds of editors that only damage, and what it keeps (1 - RMSE / spread,
SSIM) is noted after each. Of all choices with v1's shares of kinds and origins, an exchange search keeps the one whose
means over pictures are nearest to the means over the hundred, in the worst editor. Half of the editors choose; the
other half, never looked at, tell how well the choice predicts.

    python tests/benchmarks/choose_v1_mini.py        about four minutes, pictures gathered before
"""

import itertools

import numpy
from convergebench.generation import editors, pictures, suites
from convergebench.generation.loop import prepare
from convergebench.generation.sources import catalogue
from PIL import Image
from scipy.stats import spearmanr
from skimage.metrics import structural_similarity

CHOOSING = ("jpeg:quality=40", "webp:quality=40", "blur", "noise", "tint")
HELD_OUT = ("jpeg:quality=75", "webp:quality=80", "resize", "blur:radius=1.5", "noise:sigma=8", "paint:wear=2")
SHARES = {"face": 4, "object": 4, "scene": 3, "texture": 1}
REAL = 6
MOST_UNFIT = 3  # a picture that few programs suit would stand for few
ROUNDS = 5
REPLICA = "Produce an exact replica of the provided image, with no alterations."
SIDE = 256


def kept(start: Image.Image, spec: str) -> list[float]:
    """What a picture keeps after each round, of its contrast and of its structure."""
    editor = editors.choose(spec).editor
    first, picture, values = numpy.asarray(start, float), start, []
    for seed in range(ROUNDS):
        answer = editor.edit(picture, REPLICA, seed)
        picture = prepare(pictures.decode(answer.data), SIDE)
        if picture.size != start.size:
            picture = picture.resize(start.size)
        now = numpy.asarray(picture, float)
        values.append(1 - float(numpy.sqrt(((now - first) ** 2).mean()) / first.std()))
        values.append(float(structural_similarity(first, now, channel_axis=2, data_range=255)))
    return values


def table(pictures: list[Image.Image], specs: tuple[str, ...]) -> numpy.ndarray:
    return numpy.array([[kept(picture, spec) for spec in specs] for picture in pictures])


def distance(values: numpy.ndarray, chosen: list[int]) -> float:
    return float(numpy.abs(values[chosen].mean(axis=0) - values.mean(axis=0)).mean(axis=1).max())


def choose(ids: list[str], values: numpy.ndarray) -> list[int]:
    chance = numpy.random.default_rng(6)
    ready = numpy.array([len(catalogue.row(id).unfit) <= MOST_UNFIT for id in ids])
    kinds = numpy.array([catalogue.row(id).kind for id in ids])
    real = numpy.array([catalogue.row(id).origin == "real" for id in ids])
    best: tuple[float, list[int]] = (9.0, [])
    for _ in range(40):
        chosen: list[int] = []
        while not chosen or real[chosen].sum() != REAL:
            chosen = []
            for kind, count in SHARES.items():
                fit = numpy.flatnonzero((kinds == kind) & ready)
                chosen += chance.choice(fit, count, replace=False).tolist()
        smallest, better = distance(values, chosen), True
        while better:
            better = False
            for place, other in itertools.product(range(len(chosen)), range(len(ids))):
                old = chosen[place]
                same = kinds[other] == kinds[old] and real[other] == real[old]
                if not same or not ready[other] or other in chosen:
                    continue
                trial = [*chosen[:place], other, *chosen[place + 1 :]]
                if (trial_distance := distance(values, trial)) < smallest:
                    chosen, smallest, better = trial, trial_distance, True
        best = min(best, (smallest, sorted(chosen)))
    return best[1]


def main() -> None:
    ids = list(suites.load("v1").sources)
    prepared = [prepare(pictures.decode(catalogue.read(id)), SIDE) for id in ids]
    chosen = choose(ids, table(prepared, CHOOSING))
    print("v1-mini:", ", ".join(ids[index] for index in chosen))
    unseen = table(prepared, HELD_OUT)
    whole, part = unseen.mean(axis=(0, 2)), unseen[chosen].mean(axis=(0, 2))
    for spec, all_hundred, twelve in zip(HELD_OUT, whole, part, strict=True):
        print(f"{spec:16} kept on all {all_hundred:.3f}, on the twelve {twelve:.3f}")
    print(f"rank correlation on editors that did not choose: {spearmanr(whole, part).statistic:.2f}")
    chance = numpy.random.default_rng(7)
    drawn = [unseen[chance.choice(len(ids), 12, replace=False)].mean(axis=(0, 2)) for _ in range(2000)]
    off = numpy.array([numpy.abs(values - whole).max() for values in drawn])
    mine = numpy.abs(part - whole).max()
    print(f"largest error {mine:.3f}; of twelve drawn by chance {numpy.median(off):.3f} in the median")
    print(f"closer than {(off > mine).mean():.0%} of such draws")


if __name__ == "__main__":
    main()
