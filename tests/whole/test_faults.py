"""A small part of `make faults`: runs that are hurt in every way end whole, and bill no more than their limit."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="disks are made full in a mount namespace of Linux")
def test_no_fault_loses_an_answer_or_passes_the_limit():
    if subprocess.run(["unshare", "--mount", "--map-root-user", "true"], check=False).returncode:
        pytest.skip("no mount namespace may be made here")
    script = Path(__file__).parents[1] / "faults" / "run.py"
    done = subprocess.run([sys.executable, script, "--faults", "40", "--seed", "11"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("0 findings\n")
