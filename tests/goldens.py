"""Hashes of what the demo and a simulated suite come to: compared before and after a change that must change neither.

python tests/goldens.py FOLDER          print them, working in FOLDER
python tests/goldens.py FOLDER --write  and keep them in goldens.json
python tests/goldens.py FOLDER --check  compare them with goldens.json
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).parent
KEPT = HERE / "goldens.json"
sys.path.insert(0, str(HERE))


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def convergebench(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "convergebench.cli", *words], cwd=folder, check=True)


def demo(folder: Path) -> dict[str, str]:
    """The demo's dataset files, every number of its scores and floors, and its leaderboard."""
    folder.mkdir(parents=True, exist_ok=True)
    convergebench(folder, "generate", "--suite", "demo", "--out", "runs/demo")
    convergebench(folder, "build", "runs/demo", "--out", "convergebench")
    convergebench(folder, "weights", "lpips")
    convergebench(folder, "score", "convergebench", "--dtype", "float32", "--device", "cpu")
    convergebench(folder, "report", "convergebench", "--out", "report")
    found = {}
    data = folder / "convergebench" / "data"
    for config in ("steps", "chains", "sources"):
        for path in sorted((data / config).rglob("*.parquet")):
            found[path.relative_to(folder).as_posix()] = hash_of(path.read_bytes())
    for config, keys in (("scores", ("chain", "step")), ("floors", ("source", "other", "short_side", "metric"))):
        found |= {f"{config} {name}": value for name, value in numbers(data / config, keys).items()}
    found["leaderboard of the demo"] = hash_of((folder / "report" / "leaderboard.json").read_bytes())
    return found


def numbers(folder: Path, keys: tuple[str, ...]) -> dict[str, str]:
    """A hash for each column that holds no prose, its values in the order of the keys."""
    rows = [row for path in sorted(folder.rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    rows.sort(key=lambda row: tuple(row[key] for key in keys))
    # `written` needs weights that not every machine has.
    names = [name for name in rows[0] if name not in ("reasons", "signature", "written")]
    return {name: hash_of(repr([row[name] for row in rows]).encode()) for name in sorted(names)}


def simulated() -> dict[str, str]:
    """The leaderboard of 28,000 made-up steps: seven editors, a hundred pictures, two programs, ten rounds."""
    from simulated import dataset

    editors = {f"editor-{number}": 1 + number / 5 for number in range(5)} | {"identity": 0.01, "jpeg": 0.02}
    rows = dataset(editors, sources=100, programs=2, rounds=10)
    return {"leaderboard of the simulated suite": hash_of(leaderboard(*rows).encode())}


def leaderboard(scores: list, chains: list, floors: list) -> str:
    """leaderboard.json as the report writes it."""
    from convergebench.spaces_app.analysis.tables import as_json
    from simulated import report

    return as_json(report(scores, chains, floors).tables["leaderboard"])


def main(folder: str, what: str = "") -> None:
    found = demo(Path(folder)) | simulated()
    if what == "--write":
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
    elif what == "--check":
        kept = json.loads(KEPT.read_text())
        other = sorted(name for name in kept.keys() | found.keys() if kept.get(name) != found.get(name))
        print("\n".join(f"differs: {name}" for name in other) or f"all {len(kept)} goldens are the same")
        sys.exit(bool(other))
    else:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
