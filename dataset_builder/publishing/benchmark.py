"""How the Hub learns that this is a benchmark: eval.yaml in the dataset, .eval_results beside the models."""

import json
from collections.abc import Mapping
from pathlib import Path

from convergebench.generation.records import UserError

from ..dataset.schema import SPLIT, Reader
from ..importing.tables import json_file

TASK = "convergence"
FRAMEWORK = "convergebench"
METRIC = "rounds_kept"
DESCRIPTION = (
    "How long does an image editor survive being used again and again? An editor makes a change and takes it back, "
    "round after round; the value is the mean number of rounds it keeps the picture."
)


def eval_yaml(configs: Mapping[str, object]) -> str:
    """The file that registers the dataset as a benchmark, with the scores as its task where there are scores."""
    import yaml

    task = {"id": TASK, "config": "scores" if "scores" in configs else "steps", "split": SPLIT}
    metric = {"id": METRIC, "higher_is_better": True, "primary": True}
    about = {"name": "ConvergeBench", "description": DESCRIPTION, "evaluation_framework": FRAMEWORK}
    return yaml.safe_dump({**about, "metrics": [metric], "tasks": [task]}, sort_keys=False, width=100)


def model_repos(folder: str | Path) -> dict[str, str]:
    """The Hub model repository of each editor that has one: its settings name it as `model`."""
    rows = Reader(folder).table("chains", ["editor", "settings"]).to_pylist()
    models = {row["editor"]: json.loads(row["settings"]).get("model") for row in rows}
    return {
        editor: model for editor, model in sorted(models.items()) if isinstance(model, str) and model.count("/") == 1
    }


def leaderboard_values(path: Path, group: str = "round trips") -> dict[str, float]:
    """The rounds kept by editor, from the report's leaderboard.json."""
    rows = json_file(path).get("rows") if path.suffix == ".json" else None
    if not isinstance(rows, list):
        raise UserError(f"{path} is no leaderboard; `convergebench report` writes leaderboard.json")
    return {
        row["editor"]: float(row[METRIC]) for row in rows if row.get("group") == group and row.get(METRIC) is not None
    }


def write_results(
    folder: Path, out: Path, values: Mapping[str, float], repo: str, revision: str, date: str
) -> dict[str, Path]:
    """For each editor with a model repository a `.eval_results` file to propose there; by model, where it lies.

    `values` are the rounds kept by editor. An editor with other options than its defaults says so in the notes.
    """
    import yaml
    from huggingface_hub import EvalResultEntry
    from huggingface_hub._eval_results import eval_result_entries_to_yaml

    entries: dict[str, list[EvalResultEntry]] = {}
    for editor, model in model_repos(folder).items():
        if editor in values:
            entries.setdefault(model, []).append(
                EvalResultEntry(
                    dataset_id=repo,
                    task_id=TASK,
                    value=round(values[editor], 4),
                    dataset_revision=revision,
                    date=date,
                    source_url=f"https://huggingface.co/datasets/{repo}",
                    source_name="ConvergeBench",
                    notes=editor if ":" in editor else None,
                )
            )
    written = {}
    for model, listed in entries.items():
        path = out / model / ".eval_results" / f"{FRAMEWORK}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(eval_result_entries_to_yaml(listed), sort_keys=False), encoding="utf-8")
        written[model] = path
    return written
