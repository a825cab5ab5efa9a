"""One chain from the plan to the screen: how many files it passes through, as a trace of the run counts them."""

import subprocess
import sys

CORE_FILES = 100  # at most; it was 94 when this limit was set

FOLLOW = """
import sys, threading
from pathlib import Path
import convergebench as cb
from convergebench.spaces_app.space.chains import tab
from convergebench.spaces_app.space.served_dataset import open_dataset
work, entered = Path(sys.argv[1]), set()

def note(frame, event, argument):  # of calls by functions: what an import runs does not count
    if frame.f_back and frame.f_code.co_flags & frame.f_back.f_code.co_flags & 1:
        entered.add(frame.f_code.co_filename)

threading.settrace(note)
sys.settrace(note)
cb.plan(["jpeg:quality=75"], "demo", limit=1, rounds=1)
cb.generate(["jpeg:quality=75"], "demo", work / "run", limit=1, rounds=1, workers=1, quiet=True)
cb.build(work / "run", work / "data", quiet=True)
cb.score(work / "data", ["psnr", "ssim", "registration", "edit_applied"], quiet=True)
cb.report(work / "data", work / "report")
dataset = open_dataset(str(work / "data"))
tab.chain(dataset, next(iter(dataset.chain_of)))
sys.settrace(None)
threading.settrace(None)
folder = Path(cb.__file__).parent
house = folder.parent if folder.name == "package" else folder  # a checkout, or an installed package
print(*(Path(name).relative_to(house).as_posix() for name in entered if Path(name).is_relative_to(house)))
"""


def test_one_chain_passes_few_files(tmp_path):
    words = [sys.executable, "-c", FOLLOW, str(tmp_path)]
    names = subprocess.check_output(words, cwd=tmp_path, text=True).splitlines()[-1].split()
    core = {name for name in names if "/studies/" not in name and not name.startswith(".")}
    assert 50 < len(core) <= CORE_FILES, sorted(core)
    assert {"generation/loop.py", "generation/records.py"} < core
