"""Under `accelerate launch` each rank is handed everything, computes its share, and returns what one process would."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from convergebench.metric_modules._evaluate import images

METRICS = Path(__file__).parents[2] / "metric_modules"

# Run by one process and by each rank of two; where it matters, a rank also tells what it computed itself.
WORK = """
import json, os, sys
from pathlib import Path
import numpy as np
import evaluate

random = np.random.default_rng(0)
shown, originals = random.integers(0, 256, (2, 7, 48, 64, 3)).astype(np.uint8)
found = {}
for name in ("psnr", "ssim"):
    metric = evaluate.load(f"{sys.argv[1]}/{name}")
    module = sys.modules[type(metric).__module__]
    if name != "psnr":
        module = module.measure
    name_of_compare = "psnr_and_rmse" if name == "psnr" else "compare"
    compare, computed = getattr(module, name_of_compare), []
    setattr(module, name_of_compare, lambda *given: computed.append(1) or compare(*given))
    found[name] = metric.compute(predictions=list(shown), references=list(originals), batch_size=2)
    found[name + " computed"] = len(computed)
Path(sys.argv[2], f"{os.environ.get('RANK', 'alone')}.json").write_text(json.dumps(found))
"""


@pytest.mark.slow
def test_two_ranks_return_what_one_process_does(tmp_path):
    (tmp_path / "work.py").write_text(WORK)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = [str(tmp_path / "work.py"), str(METRICS), str(tmp_path)]
    ranks = ["-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2"]
    mine = {"HF_HOME": str(tmp_path / "huggingface"), "OMP_NUM_THREADS": "1"}
    for words in (script, [*ranks, "--main_process_port", str(port), *script]):
        done = subprocess.run(
            [sys.executable, *words], env={**os.environ, **mine}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    alone, first, second = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("alone", "0", "1"))
    for name in ("psnr", "ssim"):
        assert first[name] == second[name] == alone[name]
        assert len(alone[name][f"{name}_values"]) == 7
        shares = [rank[f"{name} computed"] for rank in (first, second)]
        assert min(shares) > 0
        assert sum(shares) == alone[f"{name} computed"]


def test_a_world_that_accelerate_does_not_see_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("accelerate.PartialState", lambda cpu: SimpleNamespace(num_processes=1))
    with pytest.raises(RuntimeError, match="accelerate sees 1 processes, but WORLD_SIZE is 2"):
        images._dealt([1, 2], lambda batch: batch)
