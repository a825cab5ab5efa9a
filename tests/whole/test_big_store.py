"""A large run stays fast and small, from its status to the Space."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_status_and_report_of_a_large_run_are_fast_and_small():
    script = Path(__file__).parents[1] / "benchmarks" / "big_store.py"
    done = subprocess.run([sys.executable, str(script), "4000"], capture_output=True, text=True, check=True)
    print(done.stdout)
    lines = re.findall(r" 4,000 chains, +80,000 steps: (\w+) .* ([\d.]+) s of the processor, +(\d+) MB", done.stdout)
    figures = {stage: (float(seconds), int(megabytes)) for stage, seconds, megabytes in lines}
    assert figures["status"][0] < 3
    assert figures["report"][0] < 60
    assert figures["report"][1] < 2000
