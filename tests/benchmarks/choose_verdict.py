"""Which suite of 720 calls keeps v1's ranking best: how many pictures, programs a picture and rounds.

Editors, pictures, programs and the rest multiply how long a chain lasts, as in `simulated.kept_rounds`. v1 has 100
pictures, 17 programs a picture, three runs and twenty rounds; a smaller suite takes some of its pictures and programs.
Eight editors, whose true lengths spread by a quarter or a half.

    python tests/benchmarks/choose_verdict.py        about a minute
"""

from itertools import combinations

import numpy as np

EDITORS, TRIALS = 8, 400
# Pictures, programs a picture, rounds: 720 calls each, two a round.
DESIGNS = ((12, 3, 10), (18, 2, 10), (36, 1, 10), (12, 6, 5), (12, 2, 15), (6, 6, 10))
SPREADS = {
    "level 6, spread 25%": (6.0, 0.25),
    "level 6, spread 50%": (6.0, 0.5),
    "level 3, spread 50%": (3.0, 0.5),
}


def lasting(chance: np.random.Generator, level: float, spread: float) -> np.ndarray:
    """How long each editor lasts on each of v1's cases: editors x pictures x programs x runs."""
    editor = np.sort(chance.normal(0, spread, EDITORS))[:, None, None, None]
    picture, program = chance.normal(0, 0.3, (1, 100, 1, 1)), chance.normal(0, 0.2, (1, 1, 17, 1))
    taste = chance.normal(0, 0.5, (EDITORS, 100, 1, 1))  # what an editor makes of a picture
    rest = chance.normal(0, 0.3, (EDITORS, 100, 17, 3))
    return np.floor(level * np.exp(editor + picture + program + taste + rest))


def agreement(level: float, spread: float, design: tuple[int, int, int]) -> tuple[float, float, float]:
    """How often the best editor, the whole order, and the order of two editors are v1's."""
    pictures, programs, rounds = design
    best, order, pairs = [], [], []
    for trial in range(TRIALS):
        chance = np.random.default_rng(trial)
        long = lasting(chance, level, spread)
        whole = np.clip(long, 0, 20).mean((1, 2, 3))
        some = long[:, chance.permutation(100)[:pictures]][:, :, chance.permutation(17)[:programs], 0]
        small = np.clip(some, 0, rounds).mean((1, 2))
        best.append(whole.argmax() == small.argmax())
        order.append((whole.argsort() == small.argsort()).all())
        pairs += [(whole[a] < whole[b]) == (small[a] < small[b]) for a, b in combinations(range(EDITORS), 2)]
    return float(np.mean(best)), float(np.mean(order)), float(np.mean(pairs))


def main() -> None:
    print("| pictures x programs x rounds | " + " | ".join(SPREADS) + " |")
    print("|---|" + "---|" * len(SPREADS))
    for design in DESIGNS:
        cells = [agreement(level, spread, design) for level, spread in SPREADS.values()]
        shares = [", ".join(f"{share:.0%}" for share in cell) for cell in cells]
        print(f"| {' x '.join(map(str, design))} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
