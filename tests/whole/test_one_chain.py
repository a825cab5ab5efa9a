"""One chain from the plan to the screen: how many files it passes through, as a trace of the run counts them."""

import json
import subprocess
import sys

CORE_FILES = 100  # at most; it was 94 when this limit was set

FOLLOW = """
import json, sys, threading
from pathlib import Path
work, entered = Path(sys.argv[1]), {}
stage = ""

def note(frame, event, argument):
    caller = frame.f_back
    if event == "call" and entered is not None and caller and frame.f_code.co_flags & caller.f_code.co_flags & 1:
        entered.setdefault(frame.f_code.co_filename, set()).add(stage)

sys.settrace(note)  # of calls alone: it returns nothing that would follow lines
threading.settrace(note)
import convergebench as cb
folder = Path(cb.__file__).parent
house = folder.parent if folder.name == "package" else folder  # a checkout, or an installed package
stage = "plan"
cb.plan(["jpeg:quality=75"], "demo", limit=1, rounds=1)
stage = "generate"
cb.generate(["jpeg:quality=75"], "demo", work / "run", limit=1, rounds=1, workers=1, quiet=True)
stage = "build"
cb.build(work / "run", work / "data", quiet=True)
stage = "score"
cb.score(work / "data", ["psnr", "ssim", "registration", "edit_applied"], quiet=True)
stage = "report"
cb.report(work / "data", work / "report")
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.space.chains import tab
stage = "space"
dataset = open_dataset(str(work / "data"))
tab.chain(dataset, next(iter(dataset.chain_of)))
sys.settrace(None)
threading.settrace(None)
paths = {Path(name): stages for name, stages in entered.items() if Path(name).is_relative_to(house)}
print(json.dumps({path.relative_to(house).as_posix(): sorted(stages) for path, stages in paths.items()}))
"""


def test_one_chain_passes_few_files(tmp_path):
    words = [sys.executable, "-c", FOLLOW, str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    stages = json.loads(done.stdout.splitlines()[-1])
    core = {name for name in stages if "/studies/" not in name and not name.startswith(".")}
    of_stage = ("plan", "generate", "build", "score")
    counts = {stage: sum(stage in stages[name] for name in core) for stage in of_stage}
    assert all(count > 5 for count in counts.values()), counts  # the profile follows every stage
    assert len(core) <= CORE_FILES, sorted(core)
    assert [name for name in core if len(stages[name]) == 6] == ["generation/records.py"]  # the vocabulary alone
