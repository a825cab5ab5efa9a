"""Hashes of what the demo comes to: a change must change none; tables of the studies are in kept_numbers.json.

python tests/goldens.py FOLDER          compare them with goldens.json, working in FOLDER
python tests/goldens.py FOLDER --write  write goldens.json
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

KEPT = Path(__file__).with_name("goldens.json")


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def convergebench(folder: Path, *words: object) -> None:
    environment = {**os.environ, "CONVERGEBENCH_SALT_FILE": ""}
    command = [sys.executable, "-m", "convergebench", *map(str, words)]
    subprocess.run(command, cwd=folder, check=True, env=environment)


def demo(folder: Path) -> dict[str, str]:
    """The demo's dataset files, every number of its scores and floors, and its leaderboard."""
    folder.mkdir(parents=True, exist_ok=True)
    convergebench(folder, "generate", "--suite", "demo", "--out", "runs/demo")
    convergebench(folder, "build", "runs/demo", "--out", "convergebench")
    convergebench(folder, "weights", "lpips")
    convergebench(folder, "score", "convergebench", "--dtype", "float32", "--device", "cpu")
    convergebench(folder, "report", "convergebench", "--out", "report")
    hashes = {}
    tables = folder / "convergebench" / "data"
    for config in ("steps", "chains", "sources"):
        for path in sorted((tables / config).rglob("*.parquet")):
            hashes[path.relative_to(folder).as_posix()] = hash_of(path.read_bytes())
    for config, keys in (("scores", ("chain", "step")), ("floors", ("source", "other", "short_side", "metric"))):
        hashes |= {f"{config} {name}": value for name, value in numbers(tables / config, keys).items()}
    hashes["leaderboard of the demo"] = hash_of((folder / "report" / "leaderboard.json").read_bytes())
    return hashes


def numbers(folder: Path, keys: tuple[str, ...]) -> dict[str, str]:
    """A hash for each column that holds no prose, its values in the order of the keys."""
    rows = [row for path in sorted(folder.rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    rows.sort(key=lambda row: tuple(row[key] for key in keys))
    # `written` needs weights that not every machine has.
    names = [name for name in rows[0] if name not in ("reasons", "signature")]
    return {name: hash_of(repr([row[name] for row in rows]).encode()) for name in sorted(names)}


def main(folder: str, option: str = "") -> None:
    hashes = demo(Path(folder).resolve())
    if option == "--write":
        KEPT.write_text(json.dumps(hashes, indent=1) + "\n")
    kept = json.loads(KEPT.read_text())
    differing = sorted(name for name in kept.keys() | hashes.keys() if kept.get(name) != hashes.get(name))
    print("\n".join(f"differs: {name}" for name in differing) or f"all {len(kept)} goldens are the same")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(*sys.argv[1:])
