"""Stand-ins for Slurm and Hub Jobs on this machine: the scripts that they are given really run.

`python cluster.py sbatch ...`, `srun ...` and `scontrol ...` are Slurm's programs; `slurm(folder)` makes a folder of
them for PATH. `Jobs` takes the place of two functions of huggingface_hub.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

AT_ONCE = 2  # tasks; a task that is to be killed is killed after so many seconds of the file `kills`


def slurm(folder: Path) -> Path:
    """A folder with sbatch, srun and scontrol."""
    folder.mkdir(parents=True)
    for name in ("sbatch", "srun", "scontrol"):
        path = folder / name
        path.write_text(f'#!/bin/sh\nSTAND_IN={folder} exec {sys.executable} {Path(__file__).resolve()} {name} "$@"\n')
        path.chmod(0o755)
    return folder


def sbatch(here: Path, *words: str) -> None:
    """Run the script's array, and answer when it is done; what waits for a job that failed is not run."""
    text = Path(words[-1]).read_text()
    about = dict(re.findall(r"^#SBATCH --([a-z-]+)=?(.*)$", text, re.MULTILINE))
    about |= dict(word.removeprefix("--").split("=", 1) for word in words[:-1])
    number = len(list(here.glob("*.slurm"))) + 1
    script = here / f"{number}.slurm"
    script.write_text(text)
    watched(here, number)
    waits = [each.split(":")[1] for each in about.get("dependency", "").split(",") if each.startswith("afterok")]
    ended = [1] if any((here / f"{wait}.failed").exists() for wait in waits) else array(here, number, script, about)
    if any(ended):
        (here / f"{number}.failed").touch()
    print("Submitted batch job", number)


def watched(here: Path, number: int) -> None:
    """Keep a copy of the folder that the file `watch` names, as it was before this job."""
    if (here / "watch").exists() and (folder := Path((here / "watch").read_text())).exists():
        shutil.copytree(folder, here / "seen" / str(number))


def array(here: Path, number: int, script: Path, about: dict[str, str]) -> list[int]:
    """The ends of all tasks of an array, of which a few run at once."""
    last = int(re.match(r"0-(\d+)", about["array"])[1])
    kills = [float(word) for word in (here / "kills").read_text().split()] if (here / "kills").exists() else []
    kills = kills if last else []  # not a lonely one, which merges or writes
    (here / "kills").unlink(missing_ok=True) if kills else None
    gate, ended = threading.Semaphore(AT_ONCE), []

    def run(index: int) -> None:
        with gate, Path(about["output"].replace("%A", str(number)).replace("%a", str(index))).open("a") as output:
            own = {"SLURM_ARRAY_TASK_ID": str(index), "SLURM_JOB_ID": str(number), "SLURM_NODELIST": "localhost"}
            own |= dict(pair.split("=") for pair in about.get("export", "").split(",") if "=" in pair)
            ended.append(ended_or_killed(["bash", str(script)], own, output, kills.pop() if kills else None))

    threads = [threading.Thread(target=run, args=(index,)) for index in range(last + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def ended_or_killed(command: list[str], own: dict[str, str], output, seconds: float | None) -> int:
    """How a program ended, which is killed with all its children after so many seconds."""
    about = {"stdout": output, "stderr": output, "env": {**os.environ, **own}, "start_new_session": True}
    process = subprocess.Popen(command, **about)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


class Jobs:
    """Hub Jobs: each runs the script that it is given in a process with a disk and a home of its own."""

    def __init__(self, folder: Path, kills: list[float] | None = None):
        self.folder, self.kills, self.stages = folder, kills or [], {}

    def run_uv_job(self, script: str, *, script_args: list[str], env: dict[str, str], secrets: dict, **about):
        number = str(len(self.stages))
        home = self.folder / number
        (home / "tmp").mkdir(parents=True)
        own = {**env, **secrets, "TMPDIR": str(home / "tmp"), "HF_HOME": str(home / "hf"), "HOME": str(home)}
        self.stages[number] = "RUNNING"

        def run() -> None:
            with (home / "log").open("w") as output:
                seconds = self.kills.pop() if self.kills else None
                ended = ended_or_killed([sys.executable, script, *script_args], own, output, seconds)
            self.stages[number] = "ERROR" if ended else "COMPLETED"

        threading.Thread(target=run).start()
        return SimpleNamespace(id=number, url=str(home))

    def inspect_job(self, *, job_id: str, **about):
        return SimpleNamespace(status=SimpleNamespace(stage=self.stages[job_id]))


def main(program: str, *words: str) -> None:
    if program == "sbatch":
        sbatch(Path(os.environ["STAND_IN"]), *words)
    elif program == "srun":
        command = [word for place, word in enumerate(words) if word[0] != "-" and words[place - 1] != "-n"]
        raise SystemExit(subprocess.run(command).returncode)
    else:
        print(words[-1])


if __name__ == "__main__":
    main(*sys.argv[1:])
