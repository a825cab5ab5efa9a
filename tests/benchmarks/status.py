"""How long `convergebench status` takes on a run of very many chains, some of them unfinished.

python tests/benchmarks/status.py [CHAINS]
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from convergebench.generation import store

STEPS = 20  # of each chain
EDITORS = ("one", "two", "three", "four")


def lay(run: Path, chains: int) -> None:
    """The files that status looks at, as `generate` leaves them: nine of ten chains done, a tenth under way."""
    store.open_run(run, {"suite": "v1", "suite_version": "1", "short_side": 64})
    (run / "log").mkdir()
    parts = [{}, {}, {}, {}]
    logs: list[list[str]] = [[], [], [], []]
    for number in range(chains):
        name, editor = f"{number:016x}", EDITORS[number % 4]
        parts[number % 4][name] = [editor, STEPS]
        folder = run / "chains" / name
        folder.mkdir(parents=True)
        (folder / "chain.json").write_text(json.dumps({"editor": editor, "program": {"cycle": ["a", "b"]}}))
        is_done = number % 10 != 9
        steps = [
            {"step": k, "round": (k + 1) // 2, "status": "ok", "cost": 0.04, "latency": 1.5, "sha256": "0" * 64}
            | {"instruction": "add a hat", "details": {"model": "m"}, "file": f"{k:04d}.png", "text": "I did it."}
            for k in range(STEPS + 1 if is_done else STEPS // 2)
        ]
        (folder / "steps.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
        if is_done:
            about = {"status": "refused" if number % 50 == 0 else "complete", "steps": STEPS, "sha256": "0" * 64}
            about |= {"cost": 0.8, "reason": f"policy {number}" if number % 50 == 0 else None}
            (folder / "done.json").write_text(json.dumps(about))
            ended = {"at": stamp(number / 10), "event": "chain_ended", "chain": name, "editor": editor}
            logs[number % 4].append(json.dumps(ended | {"status": about["status"], "calls": STEPS, "seconds": 30.0}))
    for shard, (part, log) in enumerate(zip(parts, logs, strict=True)):
        log.insert(0, json.dumps({"at": stamp(0), "event": "started", "host": "h", "planned": part}))
        (run / "log" / f"{shard}-of-4.jsonl").write_text("\n".join(log) + "\n")


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1_800_000_000 + seconds))


def main(chains: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        lay(run, chains)
        started = time.perf_counter()
        words = [sys.executable, "-m", "convergebench.cli", "status", str(run), "--json"]
        found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        took = time.perf_counter() - started
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = found["whole"]
    print(f"{whole['chains']} chains, {whole['calls']} calls: {took:.2f} s by the clock, "
          f"{used.ru_utime + used.ru_stime:.2f} s of the processor; {whole['done']} done")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
