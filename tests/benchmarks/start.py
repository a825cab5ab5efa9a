"""How long `convergebench --help` takes, as a process, beside Python that does nothing."""

import subprocess
import sys
import time


def seconds(*words: str) -> float:
    """The best of seven, because a machine is never quiet."""
    best = float("inf")
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        best = min(best, time.perf_counter() - started)
    return best


if __name__ == "__main__":
    nothing, help_text = seconds("-c", "pass"), seconds("-m", "convergebench.cli", "--help")
    print(f"python -c pass {nothing * 1e3:.0f} ms, convergebench --help {help_text * 1e3:.0f} ms")
    print(f"ratio {help_text / nothing:.2f}")
