"""What the restoration study published, its Tables 2 to 5 as files to import; and runs with the ranks of Table 3."""

import csv
from itertools import product
from pathlib import Path

FOLDER = Path(__file__).with_name("restoration_study")
HEAD = ("PSNR", "SSIM", "LPIPS", "MUSIQ", "MANIQA", "CLIP-IQA")


def read(name):
    """The rows of a table: their words, and their six numbers."""
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
    return [(*row[:-6], tuple(map(float, row[-6:]))) for row in rows]


MEANS = dict(read("means"))  # under the prompts of Table 2
# Friedman's statistic and its p for each prompt; 21 pictures have a clean one, 35 are there.
TABLE_3 = {}
for prompt, figure, values in read("friedman"):
    TABLE_3.setdefault(prompt, {})[figure] = values
COLUMNS = [word for name in HEAD for word in ("--column", f"{name.lower().replace('-', '')}={name}")]
STEPS = ((-1, 0, 1), (-1, 1, 0), (0, -1, 1), (0, 1, -1), (1, -1, 0), (1, 0, -1))  # ranks of three runs, less 2


def ranks(statistic, pictures):
    """Ranks of three runs on so many pictures that give the statistic: the square sum of the rank sums fixes it."""
    wanted = round(statistic * pictures)
    pairs = product(range(-20, 21), repeat=2)
    near = [(a, b, -a - b) for a, b in pairs if a**2 + b**2 + (a + b) ** 2 == wanted]
    left, found = list(near[0]), []
    while any(left):
        step = min(STEPS, key=lambda step: sum(abs(a - b) for a, b in zip(left, step, strict=True)))
        found.append(step)
        left = [a - b for a, b in zip(left, step, strict=True)]
    rest = pictures - len(found)
    if rest % 2:
        found += [(-1, 0, 1), (1, -1, 0), (0, 1, -1)]  # three that cancel
    found += [STEPS[0], STEPS[5]] * ((pictures - len(found)) // 2)
    assert len(found) == pictures
    return [[2 + each for each in step] for step in found]


def write_repeated_runs(path):
    """A table of prompt, picture, run and six scores that has Table 3's statistics."""
    rows = [["Prompt", "picture", "clean", "run", *HEAD]]
    for prompt, figures in TABLE_3.items():
        tables = [ranks(value, 21 if place < 3 else 35) for place, value in enumerate(figures["statistic"])]
        for picture, run in product(range(35), range(3)):
            scores = [table[picture][run] / 7 if picture < len(table) else "" for table in tables]
            rows.append([prompt, f"picture {picture}", f"clean {picture % 13}", run + 1, *scores])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path
