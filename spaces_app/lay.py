"""Lays the Space's folder: the app on top, and beside it what it imports, under the same names."""

import shutil
from pathlib import Path

HERE = Path(__file__).parent
TOP = ("app.py", "README.md", "requirements.txt")
METRICS = ("edit_applied", "halflife", "lpips", "nr_gap", "psnr", "retained", "ssim")
LEFT = ("__pycache__", "*.pyc", "README.md", "requirements.txt", "app.py")


def lay(out: Path) -> Path:
    """Everything that the Space needs, in `out`; what an earlier laying left there is replaced."""
    out.mkdir(parents=True, exist_ok=True)
    for name in TOP:
        shutil.copyfile(HERE / name, out / name)
    shutil.rmtree(out / "convergebench", ignore_errors=True)
    shutil.copytree(HERE, out / "convergebench" / "spaces_app", ignore=shutil.ignore_patterns(*LEFT))
    from convergebench import metric_modules

    folder = Path(str(metric_modules.__path__[0]))
    for name in METRICS:
        # Links are followed, so that each folder is complete.
        place = out / "convergebench" / "metric_modules" / name
        shutil.copytree(folder / name, place, ignore=shutil.ignore_patterns(*LEFT))
    return out
