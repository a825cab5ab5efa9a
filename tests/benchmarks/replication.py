"""A copy of a copy, a hundred times: who sees the damage? Suite `copies`, from the editors to the report.

python tests/benchmarks/replication.py [FOLDER]

Five runs on four pictures by each editor, generated, built, scored with all that runs here, and reported. Ends with 1
where no metric without a reference is fooled by any picture, where LPIPS is, where a chain is neither counted nor
named, or where it takes more than ten minutes of one processor's time.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRICS = ("psnr,ssim,lpips", "niqe,brisque,piqe")
LIMIT = 600.0  # seconds
COMMAND = Path(sys.executable).with_name("convergebench")


def run(*words: str) -> str:
    """A command's output; it ends everything where it fails."""
    print(f"$ convergebench {' '.join(words)}", flush=True)
    started = time.monotonic()
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)
    print(f"  {time.monotonic() - started:.0f} s", flush=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def table(report: Path, name: str) -> list[dict[str, str]]:
    with (report / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def main(folder: Path) -> int:
    """Run everything and print what the tables say."""
    started, before = time.monotonic(), os.times()
    for metric in ("niqe", "brisque"):
        run("weights", metric)
    run("weights", "lpips", "--net", "alex")
    runs, dataset, report = (str(folder / name) for name in ("runs", "dataset", "report"))
    run("generate", "--suite", "copies", "--out", runs)
    run("build", runs, "--out", dataset)
    for metrics in METRICS:
        run("score", dataset, "--metrics", metrics)
    said = run("report", dataset, "--out", report)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{time.monotonic() - started:.0f} s in all, {processor:.0f} s of one processor")

    fooled = table(Path(report), "no_reference_fooled")
    for row in fooled:
        print(
            f"{row['editor']:16} {row['metric']:26} fooled by {row['fooled']} of {row['sources']}: {row['fooled_by']}"
        )
    ranks = {(row["editor"], row["metric"]): row for row in table(Path(report), "no_reference_ranks")}
    for (editor, metric), row in ranks.items():
        print(f"{editor:16} {metric:26} rank correlation with the step {float(row['with_step']):+.3f}")
    [equation] = re.findall(r"^(\d+) chains? generated = (.*)$", said, re.MULTILINE)
    named = sum(map(int, re.findall(r"\d+", equation[1])))
    print(f"{equation[0]} chains generated = {equation[1]}")
    wrong = [
        "no metric without a reference is fooled"
        * (not any(int(row["fooled"]) for row in fooled if "LPIPS" not in row["metric"])),
        "LPIPS is fooled" * any(int(row["fooled"]) for row in fooled if "LPIPS" in row["metric"]),
        "chains are neither counted nor named" * (int(equation[0]) != named),
        "no heatmap" * (not (Path(report) / "figures" / "no-reference-fooled.svg").is_file()),
        "more than ten minutes" * (processor > LIMIT),
    ]
    for sentence in filter(None, wrong):
        print(f"WRONG: {sentence}")
    return int(any(wrong))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
