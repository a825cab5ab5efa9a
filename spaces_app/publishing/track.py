"""Sends a report to a tracker of experiments: a run for each editor, a step for each round."""

import importlib
import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError, one_of

TRACKERS = ("trackio", "wandb", "tensorboard")
_Log = Callable[[dict[str, float], int], object]


def track(report: str | Path, to: str, project: str = "convergebench") -> list[str]:
    """Send the curves of a report's folder to trackio, wandb or tensorboard; returns the runs, one for each editor.

    The numbers of the first table are the run's config. tensorboard writes
    into a folder named after the project. Trackio's page smooths curves at
    first; with its smoothing factor at 0 it shows the numbers themselves.
    """
    one_of("tracker", to, TRACKERS)
    path = Path(report) / "tables.json"
    if not path.exists():
        raise UserError(f"{report} is not a report: it has no tables.json; `convergebench report` writes one")
    tables = json.loads(path.read_text(encoding="utf-8"))
    rounds: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in tables.get("curves", {"rows": []})["rows"]:
        if row["slice"] == "all":
            for key in ("mean", "mean_low", "mean_high"):
                if row[key] is not None:
                    name = f"{row['group']}/{row['metric']}{key.removeprefix('mean')}"
                    rounds[row["editor"]][row["round"]][name] = row[key]
    results = {row["editor"]: row for row in reversed(tables["leaderboard"]["rows"])}
    for editor, curve in rounds.items():
        numbers = {key: value for key, value in results.get(editor, {}).items() if value is not None}
        log, finish = _start(to, project, editor, numbers)
        for number, values in sorted(curve.items()):
            log(values, number)
        finish()
    return list(rounds)


def _start(to: str, project: str, editor: str, config: dict[str, Any]) -> tuple[_Log, Callable[[], object]]:
    try:
        tracker = importlib.import_module("torch.utils.tensorboard" if to == "tensorboard" else to)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed: pip install {error.name}") from error
    if to != "tensorboard":  # trackio has the functions of wandb
        run = tracker.init(project=project, name=editor, config=config)
        return lambda values, step: run.log(values, step=step), tracker.finish
    writer = tracker.SummaryWriter(str(Path(project) / re.sub(r"[^\w.-]+", "-", editor)))
    return lambda values, step: [writer.add_scalar(name, values[name], step) for name in values], writer.close
