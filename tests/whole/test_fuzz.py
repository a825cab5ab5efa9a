"""A small part of `make fuzz`: whatever becomes of a file, an argument or a request, nothing is silently another."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_mutation_is_silent_crashes_or_hangs():
    script = Path(__file__).parents[1] / "fuzz" / "run.py"
    done = subprocess.run([sys.executable, script, "--mutations", "300", "--seed", "7"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("0 findings\n")
