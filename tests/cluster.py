"""A stand-in for Slurm on this machine: the scripts that it is given really run.

`python cluster.py sbatch ...`, `srun ...` and `scontrol ...` are Slurm's programs; `slurm(folder)` makes a folder of
them for PATH. If a folder has a file `kills`, its numbers say after how many chains the next tasks there are killed.
"""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AT_ONCE = 2  # tasks


def slurm(folder):
    folder.mkdir(parents=True)
    for name in ("sbatch", "srun", "scontrol"):
        path = folder / name
        path.write_text(
            f'#!/bin/sh\nSTAND_IN={folder} exec {sys.executable} {Path(__file__).resolve()} {name} "$@"\n'
        )
        path.chmod(0o755)
    return folder


def sbatch(here, *words):
    """Run the script's array, and answer when it is done; what waits for a job that failed is not run."""
    text = Path(words[-1]).read_text()
    about = dict(re.findall(r"^#SBATCH --([a-z-]+)=?(.*)$", text, re.MULTILINE))
    about |= dict(word.removeprefix("--").split("=", 1) for word in words[:-1])
    number = len(list(here.glob("*.slurm"))) + 1
    script = here / f"{number}.slurm"
    script.write_text(text)
    waits = [word.split(":")[1] for word in about.get("dependency", "").split(",") if word.startswith("afterok")]
    failed = any((here / f"{wait}.failed").exists() for wait in waits)
    ended = [1] if failed else array(here, number, script, about)
    if any(ended):
        (here / f"{number}.failed").touch()
    print("Submitted batch job", number)


def array(here, number, script, about):
    last = int(re.match(r"0-(\d+)", about["array"])[1])
    count = COUNTS.get(about["job-name"].rpartition("-")[2], chains_scored)
    kills = take_kills(here) if last else []
    watch = Path((here / "watch").read_text()) if (here / "watch").exists() else here

    def run(index):
        with Path(about["output"].replace("%A", str(number)).replace("%a", str(index))).open("a") as output:
            env = {"SLURM_ARRAY_TASK_ID": str(index), "SLURM_JOB_ID": str(number), "SLURM_NODELIST": "localhost"}
            env |= dict(pair.split("=") for pair in about.get("export", "").split(",") if "=" in pair)
            kill = kills.pop() if kills else None
            return ended_or_killed(["bash", str(script)], env, output, watch, kill, count)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(run, range(last + 1)))


def take_kills(folder):
    path = folder / "kills"
    counts = [int(word) for word in path.read_text().split()] if path.exists() else []
    path.unlink(missing_ok=True)
    return counts


def chains_scored(folder):
    return sum(path.read_bytes().count(b'"chain"') for path in folder.rglob(".scoring/*.jsonl"))


def chains_generated(folder):
    return len(list(folder.rglob("chains/*/done.json")))


COUNTS = {"scores": chains_scored, "chains": chains_generated}  # by the stage of a verb


def ended_or_killed(command, env, output, watch, chains=None, count=chains_scored):
    """The exit code of a program, which is killed with all its children when it has finished so many chains."""
    process = subprocess.Popen(
        command, stdout=output, stderr=output, env={**os.environ, **env}, start_new_session=True
    )
    while process.poll() is None:
        if chains is not None and count(watch) >= chains:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait() or 1
        time.sleep(0.005)
    return process.returncode


def main(program, *words):
    if program == "sbatch":
        sbatch(Path(os.environ["STAND_IN"]), *words)
    elif program == "srun":
        command = [word for place, word in enumerate(words) if word[0] != "-" and words[place - 1] != "-n"]
        raise SystemExit(subprocess.run(command).returncode)
    else:
        print(words[-1])


if __name__ == "__main__":
    main(*sys.argv[1:])
