"""How long the whole report takes, and how much memory: 28,000 simulated steps, in a process of its own.

python tests/benchmarks/report.py [STEPS]
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


def main(steps: int) -> None:
    """Seven editors on as many pictures as make the steps, ten rounds of two calls by two programs."""
    from simulated import dataset, report

    editors = {f"editor-{number}": 1 + number / 5 for number in range(5)} | {"identity": 0.01, "jpeg": 0.02}
    sources = round(steps / (7 * 2 * 10 * 2))
    rows = dataset(editors, sources=sources, programs=2, rounds=10)
    started, before = time.perf_counter(), time.process_time()
    from convergebench.spaces_app.reporting.write import write_files

    made = report(*rows)
    middle = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        write_files(made, Path(folder))
    ended = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{len(rows[0])} steps: {ended - started:.1f} s by the clock ({middle - started:.1f} s tables), "
        f"{time.process_time() - before:.1f} s of the processor, {memory:.2f} GB"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 28_000)
