"""Our code beside pyiqa's own, in the environment that may have torchvision.

.venv-peers/bin/python tests/benchmarks/peers/beside_pyiqa.py [METRIC ...]

Every metric that the folder `no_reference` takes from pyiqa, its weights drawn at random: through
`pyiqa.create_metric` into our scorer, one by one and together, a picture of 24 pixels and a grey one. A metric that
gives no number is named with its reason, and the others go on. Exits with status 1 if anything differs.
"""

import sys
import types
from pathlib import Path

import numpy as np
import torch

HOUSE = Path(__file__).parents[3]
sys.path.insert(0, str(HOUSE / "tests"))
package = types.ModuleType("convergebench")  # it is not installed beside pyiqa
package.__path__ = [str(HOUSE)]
sys.modules["convergebench"] = package

import random_pyiqa  # noqa: E402

OPERATORS = random_pyiqa.declare_operators()

import pyiqa  # noqa: E402
from convergebench.metric_modules.no_reference import measure  # noqa: E402
from convergebench.metric_modules.no_reference.ranges import COLUMNS  # noqa: E402
from skimage import data  # noqa: E402

CREATE = measure._create
CLOSE = 1e-4  # relative
CROPS = 2  # of a picture, not the 20 and 50 that MANIQA and TReS take: a minute of processor otherwise
SIDE = 232  # pixels, a little more than the networks' windows


def try_metric(column: str) -> bool:
    """Whether a metric of pyiqa runs through our scorer, the same in a batch, and its signature knows its weights."""
    row = COLUMNS[column]
    digests = set()
    for seed in (1, 0):
        torch.manual_seed(seed)
        with random_pyiqa.nothing_downloaded(row.library_name):
            model = CREATE(row.library_name, "cpu")
        measure._create = lambda name, device, model=model: model
        scorer = measure.Scorer("cpu", "float32", {}, metric=column)
        digests.add(scorer.signature["weights"])
    if hasattr(model.net, "test_sample"):
        model.net.test_sample = CROPS
    pictures = [np.ascontiguousarray(getattr(data, name)()[:SIDE, :SIDE]) for name in ("astronaut", "coffee")]
    alone = [values[column] for values in scorer.compare(None, pictures, [{}] * 2)]
    again = scorer.compare(None, pictures[:1], [{}])[0][column]  # after the other
    takes_one = row.library_name in measure.TAKE_ONE
    batch = alone if takes_one else scorer.scores(pictures)
    name = f"{column:12} {type(model.net).__name__:10}"
    if missing := [score for score in (*alone, again, *batch) if not isinstance(score, float)]:
        print(f"{name} NOT COMPARED: {missing[0][1]}", flush=True)
        return False
    gap = max(abs(one - other) for one, other in zip(alone, batch, strict=True))
    right = alone[0] == again and all(map(np.isfinite, alone)) and gap <= CLOSE * max(1.0, *map(abs, alone))
    right &= model.lower_better is not row.higher_is_better and len(digests) == 2
    together = "one picture in a call" if takes_one else f"together within {gap:.0e}"
    odd = {}
    strange = {"24 pixels": pictures[0][:24, :24], "grey": np.full_like(pictures[0], 90)}
    for words, picture in strange.items():
        found = scorer.scores([np.ascontiguousarray(picture)])[0]
        odd[words] = f"{found:+.4f}" if isinstance(found, float) else found[1]
    print(f"{name} {alone[0]:+.6f} {alone[1]:+.6f}, {together}; {odd}; {scorer.signature}"
          f"{'' if right else '  WRONG'}", flush=True)  # fmt: skip
    return right


def main(asked: list[str]) -> int:
    torch.set_num_threads(1)
    print(f"pyiqa {pyiqa.__version__}, torch {torch.__version__}")
    right = True
    for column in asked or [row.column for row in COLUMNS.values() if row.computed_by == "pyiqa"]:
        right &= try_metric(column)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
