"""Hashes of what the demo, a simulated suite and a small dataset of each study come to: a change must change none.

python tests/goldens.py FOLDER          compare them with goldens.json, working in FOLDER
python tests/goldens.py FOLDER --write  write goldens.json
"""

import csv
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cheat
import published_restoration
import pyarrow.parquet as pq
import simulated
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import suites
from convergebench.generation.plan import make_plan
from convergebench.generation.scheduler import generate
from convergebench.spaces_app.analysis.tables import as_json
from PIL import Image
from skimage import data

SALT = bytes(range(32))  # of the audits
KEPT = Path(__file__).with_name("goldens.json")


def hash_of(text):
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def convergebench(folder, *words):
    environment = {**os.environ, "CONVERGEBENCH_SALT_FILE": ""}
    command = [sys.executable, "-m", "convergebench", *map(str, words)]
    subprocess.run(command, cwd=folder, check=True, env=environment)


def demo(folder):
    """The demo's dataset files, every number of its scores and floors, and its leaderboard."""
    folder.mkdir(parents=True, exist_ok=True)
    convergebench(folder, "generate", "--suite", "demo", "--out", "runs/demo")
    convergebench(folder, "build", "runs/demo", "--out", "convergebench")
    convergebench(folder, "weights", "lpips")
    convergebench(folder, "score", "convergebench", "--dtype", "float32", "--device", "cpu")
    convergebench(folder, "report", "convergebench", "--out", "report")
    hashes = {}
    tables = folder / "convergebench" / "data"
    for config in ("steps", "chains", "sources"):
        for path in sorted((tables / config).rglob("*.parquet")):
            hashes[path.relative_to(folder).as_posix()] = hash_of(path.read_bytes())
    for config, keys in (("scores", ("chain", "step")), ("floors", ("source", "other", "short_side", "metric"))):
        hashes |= {f"{config} {name}": value for name, value in numbers(tables / config, keys).items()}
    hashes["leaderboard of the demo"] = hash_of((folder / "report" / "leaderboard.json").read_bytes())
    return hashes


def numbers(folder, keys):
    """A hash for each column that holds no prose, its values in the order of the keys."""
    rows = [row for path in sorted(folder.rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    rows.sort(key=lambda row: tuple(row[key] for key in keys))
    # `written` needs weights that not every machine has.
    names = [name for name in rows[0] if name not in ("reasons", "signature")]
    return {name: hash_of(repr([row[name] for row in rows])) for name in sorted(names)}


def simulated_suite():
    """The leaderboard of 28,000 made-up steps: seven editors, a hundred pictures, two programs, ten rounds."""
    editors = {f"editor-{number}": 1 + number / 5 for number in range(5)} | {"identity": 0.01, "jpeg": 0.02}
    report = simulated.report(*simulated.dataset(editors, sources=100, programs=2, rounds=10))
    return {"leaderboard of the simulated suite": hash_of(as_json(report.tables["leaderboard"]))}


def studies(folder):
    """Every table of the reports on small datasets that the commands make for the studies."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    for name in ("astronaut", "coffee", "chelsea", "rocket"):
        Image.fromarray(getattr(data, name)()).resize((128, 96)).save(pictures / f"{name}-small.png")
    banana = replace(suites.load("banana100", pictures, "scene"), name="banana100")
    make(folder / "replication", banana, ["noise", "paint"], "psnr,ssim,edit_applied,greyscale,piqe", 2)
    degraded = ("painted-text~defocus-blur", "painted-text~old-film", "painted-text~motion-blur")
    restoration = replace(suites.load("restoration"), sources=degraded, variants=())
    make(folder / "restoration", restoration, ["blur", "jpeg", "identity"], "psnr,ssim,second_pass,piqe", 2)
    additions = replace(suites.load("additions"), sources=("coffee",))
    make(folder / "additions", additions, ["paint", "identity"], "psnr,ssim,edit_applied", 4)
    for question in ("edit_applied", "object_count", "additions_there"):
        convergebench(folder / "additions", "judge", "dataset", "--judge", "paint", "--question", question)
    label(folder / "additions")
    make(folder / "honesty", suites.load("smoke"), ["paint", cheat.choice()], "psnr,ssim,edit_applied,honesty", 2)
    publish(folder / "additions")
    hashes = {}
    for name in ("replication", "restoration", "additions", "honesty"):
        convergebench(folder / name, "report", "dataset", "--out", "report")
        for path in sorted((folder / name / "report").glob("*.csv")):
            hashes[f"{name}: {path.stem}"] = hash_of("\n".join(numbers_of(path)))
    return hashes


def make(folder, suite, editors, metrics, rounds):
    plan = make_plan(replace(suite, short_side=96), editors, rounds=rounds, runs=2, salt=SALT)
    assert generate(plan, list(plan.chains), folder / "run").clean
    convergebench(folder, "build", "run", "--out", "dataset")
    convergebench(folder, "score", "dataset", "--metrics", metrics)


def label(folder):
    """Two people's labels of every chain's last picture, the second of whom sees one failure less."""
    rows = ["rater,question,answer,chain,step"]
    for number, chain in enumerate(Reader(folder / "dataset").chains()):
        for rater in range(2):
            rows.append(f"person {rater},rating,{(number + rater) % 6},{chain.id},1")
            rows.append(f"person {rater},failure,{'none' if (number + rater) % 3 else 'noise'},{chain.id},1")
            rows.append(f"person {rater},applied,{'yes' if number % 2 else 'no'},{chain.id},1")
    (folder / "labels.csv").write_text("\n".join(rows) + "\n")
    convergebench(folder, "import", "labels.csv", "--layout", "labels", "--dataset", "dataset")


def publish(folder):
    """The prompts that the restoration study published, beside the dataset's own numbers."""
    path = published_restoration.FOLDER / "prompts.csv"
    columns = [*published_restoration.COLUMNS, "--column", "program=Prompt", "--editor", "Nano Banana 2"]
    words = ("--layout", "scores", "--dataset", "dataset", "--restoration")
    convergebench(folder, "import", path, *words, *columns)


def numbers_of(path):
    """The numbers of a table, column by column; its words may change."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = []
    for name in sorted(rows[0]):
        values = [as_number(row[name]) for row in rows]
        if any(values):
            lines.append(f"{name}: {values}")
    return lines


def as_number(text):
    try:
        return f"{float(text):.9g}"
    except ValueError:
        return ""


def main(folder, option=""):
    place = Path(folder).resolve()
    hashes = demo(place) | simulated_suite() | studies(place)
    if option == "--write":
        KEPT.write_text(json.dumps(hashes, indent=1) + "\n")
    kept = json.loads(KEPT.read_text())
    differing = sorted(name for name in kept.keys() | hashes.keys() if kept.get(name) != hashes.get(name))
    print("\n".join(f"differs: {name}" for name in differing) or f"all {len(kept)} goldens are the same")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(*sys.argv[1:])
