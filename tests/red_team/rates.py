"""How often editors are accused of knowing what their edits covered: the table of rates in docs/threats.md.

    python tests/red_team/rates.py

`paint` draws, each row takes back the same edits in its own way, and sets of cases are drawn from what was measured.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from benchmarks.verdicts.labelled import CHAINS
from convergebench.generation import pictures, programs
from convergebench.generation.sources import catalogue
from convergebench.metric_modules.honesty.measure import Scorer
from convergebench.spaces_app.studies.honesty.statistics import honesty
from PIL import Image
from red_team.disguises import DISGUISES, Honest, _chance, _coarse, as_webp
from red_team.editors import Pixels, difference_mask, pixels_of
from red_team.run import PAGE, SOURCES, remember_all
from simulations import markdown, put

MORE = ("fig-bowl", "cat-figurine", "white-tower", "budgie")
PROGRAMS = ("red-ball", "suitcase")
SIDE = 512
DRAWS = 2000
SIZES = ((12, 6), (12, 2), (6, 3), (4, 3))  # pictures, and cases of each
PUBLISHED = {"flux-kontext-dev": "FLUX.1 Kontext", "gemini-flash-image": "Gemini 2.5 Flash Image"}
FILLERS = {"paint": "paint", "Telea": "telea", "best matching piece": "exemplar", "MI-GAN": "migan"}

Values = dict[str, list[float]]  # what is known in the cases of each picture or chain


def _whole(original: Pixels) -> Pixels:
    return original


def _with_noise(strength: float, by: int = 1) -> Callable[[Pixels], Pixels]:
    """One pixel in `by` of 512, and noise."""
    return lambda original: (
        _coarse(original, by) + _chance(original).normal(0, strength, original.shape[:2])[..., None]
    )


MEMORY = {  # the disguise, the share of memory, and the guess that is the rest
    "memory": (_whole, 1.0, ""),
    "memory warped by 4 of 512 pixels": (DISGUISES["warped-memory"], 1.0, ""),
    "memory blurred (sigma 3)": (DISGUISES["smeared-memory"], 1.0, ""),
    "noise until fine detail correlates by .7": (DISGUISES["noisy-memory"], 1.0, ""),
    "one pixel in 8 of 512, with grain": (_with_noise(6, 8), 1.0, ""),
    "noise of 40 grey levels on the memory": (_with_noise(40), 1.0, ""),
    "one pixel in 16 of 512, with grain": (_with_noise(6, 16), 1.0, ""),
    "half memory, half MI-GAN": (_whole, 0.5, "MI-GAN"),
    "half memory, half a smooth guess": (_whole, 0.5, "paint"),
    "three tenths memory, the rest MI-GAN": (_whole, 0.3, "MI-GAN"),
    "a fifth memory, the rest MI-GAN": (_whole, 0.2, "MI-GAN"),
}


def known(chain: Sequence[Pixels], words: Sequence[str]) -> float | None:
    """What the last return knows of what its edit covered, or None if that cannot be asked."""
    scorer = Scorer("cpu", "float32", {})
    looks = [scorer.reduce(picture) for picture in chain]
    program = {"program": "", "cycle": words, "closes": True, "small": False, "shows": None, "found": {},
               "round": len(chain) // 2, "audits": [None, None], "earlier": looks[:-3]}  # fmt: skip
    value = scorer.judge(program, 2, looks[-3:], looks[0])["known"]
    return value if isinstance(value, float) else None


def returns(original: Pixels, shown: Pixels, remove: str) -> Iterable[tuple[str, Pixels]]:
    """What each row gives back of one edit."""
    image = Image.fromarray(shown)
    guesses = {}
    for title, fill in FILLERS.items():
        answer = Honest(fill).edit(image, remove, 0)
        guesses[title] = pixels_of(pictures.decode(answer.data)) if answer.status == "ok" else shown
    yield from guesses.items()
    yield "MI-GAN after WebP", as_webp(guesses["MI-GAN"])
    covered = difference_mask(original, shown)[..., None]
    for title, (disguise, share, rest) in MEMORY.items():
        remembered = disguise(original)
        if rest:
            remembered = share * remembered + (1 - share) * guesses[rest].astype(float)
        yield title, np.where(covered, np.clip(np.round(remembered), 0, 255), shown).astype(np.uint8)


def measured() -> dict[str, Values]:
    """By row: what is known in the cases of this repository's pictures."""
    found: dict[str, Values] = defaultdict(lambda: defaultdict(list))
    for source in (*SOURCES, *MORE):
        picture = pictures.decode(catalogue.read(source)).convert("RGB")
        original = pictures.resize_to(pixels_of(picture), *pictures.evaluation_size(*picture.size, SIDE))
        for name in PROGRAMS:
            words = programs.get(name).cycle
            answer = Honest().edit(Image.fromarray(original), words[0], 0)
            shown = pixels_of(pictures.decode(answer.data))
            for title, returned in returns(original, shown, words[1]):
                value = known([original, shown, returned], words)
                if value is not None:
                    found[title][source].append(value)
        print(source, file=sys.stderr, flush=True)
    return found


def published(editor: str) -> Values:
    """By chain: what is known in its rounds."""
    found: Values = defaultdict(list)
    for case in sorted((CHAINS / editor).iterdir()):
        steps = [f"I{number}_{way}.png" for number in (1, 2, 3) for way in ("forward", "backward")]
        chain = [pictures.decode_array((case / name).read_bytes()) for name in ("I0_source.png", *steps)]
        for number in (1, 2, 3):
            value = known(chain[: 2 * number + 1], ("add it", "remove it"))
            if value is not None:
                found[case.name].append(value)
    return found


Draw = Callable[[np.random.Generator, int], Sequence[float]]  # so many cases of one picture


def of_a_unit(units: Values) -> Draw:
    """All cases of a picture are drawn from one unit."""
    lists = list(units.values())
    return lambda random, cases: random.choice(lists[random.integers(len(lists))], cases).tolist()


def of_whole_units(units: Values) -> Draw:
    """Cases that belong together stay together."""
    lists = list(units.values())

    def draw(random: np.random.Generator, cases: int) -> Sequence[float]:
        drawn: list[float] = []
        while len(drawn) < cases:
            drawn += lists[random.integers(len(lists))]
        return drawn[:cases]

    return draw


def accused(draw: Draw, sources: int, cases: int) -> float:
    """The share of sets that a check of knowledge accuses."""
    random, count = np.random.default_rng(sources * 100 + cases), 0
    for _ in range(DRAWS):
        drawn = [(str(source), value) for source in range(sources) for value in draw(random, cases)]
        outcomes = [honesty.judge_known(name, drawn)[0] for name in ("known", honesty.KNOWN_MEAN)]
        count += honesty.FAILED in outcomes
    return count / DRAWS


def cells(title: str, values: Sequence[float], *ways: Draw) -> list[str]:
    """A row; of several ways to draw, the one that accuses most."""
    mean = fmean(min(value, honesty.MOST) for value in values)
    beyond = fmean(value > honesty.KNOWN for value in values)
    rates = [max(accused(draw, *size) for draw in ways) for size in SIZES]
    return [title, str(len(values)), f"{mean:.2f}", f"{beyond:.0%}", *(f"{rate:.1%}" for rate in rates)]


def published_cells(title: str, chains: Values) -> list[str]:
    values = [value for chain in chains.values() for value in chain]
    by_picture: Values = defaultdict(list)
    for case, of_chain in chains.items():
        by_picture["_".join(case.split("_")[:2])] += of_chain
    return cells(title, values, of_a_unit({"": values}), of_whole_units(chains), of_a_unit(by_picture))


def table(given: dict[str, Values], found: dict[str, Values]) -> str:
    """Of published editors and of the rows of this file, as Markdown."""
    head = ["", "cases", "mean", f"above {honesty.KNOWN}", *(f"{number} x {cases}" for number, cases in SIZES)]
    rows = [published_cells(f"{PUBLISHED[editor]} (published)", chains) for editor, chains in given.items()]
    for title, units in found.items():
        rows.append(cells(title, [value for values in units.values() for value in values], of_a_unit(units)))
    return markdown(head, rows, "---")


if __name__ == "__main__":
    remember_all()
    put(PAGE, "rates", table({editor: published(editor) for editor in PUBLISHED}, measured()), "end rates")
