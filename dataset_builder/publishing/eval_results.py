"""Writes what model repositories on the Hub may take up: `.eval_results` files with the rounds that a model kept."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation.files import refuse_strangers_file
from convergebench.generation.records import UserError

from ..dataset.reader import Reader
from ..importing.tables import json_file
from . import hub

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TASK = "convergence"  # as docs/eval.yaml names it
METRIC = "rounds_kept"  # of leaderboard.json
FILE = "convergebench.yaml"
IN_REPO = f".eval_results/{FILE}"
SOURCE = "ConvergeBench"  # by which a file of ours is known

REPO = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # which also keeps the file inside its folder


def model_repos(folder: str | Path) -> dict[str, str]:
    """The Hub model repository of each editor that has one: its settings name it as `model`."""
    models = {chain.editor: chain.chain.settings.get("model") for chain in Reader(folder).chains()}
    return {
        editor: model for editor, model in sorted(models.items()) if isinstance(model, str) and REPO.fullmatch(model)
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
    folder: Path, out: Path, values: Mapping[str, float], repo: str, revision: str | None, date: str
) -> dict[str, Path]:
    """For each editor with a model repository a `.eval_results` file to propose there; by model, where it lies.

    `values` are the rounds kept by editor. An editor with other options than its defaults says so in the notes.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

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
                    source_name=SOURCE,
                    notes=editor if ":" in editor else None,
                )
            )
    written = {}
    for model, listed in entries.items():
        path = out / model / IN_REPO
        refuse_strangers_file(path, is_ours)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(eval_result_entries_to_yaml(listed), sort_keys=False), encoding="utf-8")
        written[model] = path
    return written


def is_ours(data: bytes) -> bool:
    return SOURCE.encode() in data


def refuse_others(api: "HfApi", model: str) -> None:
    """Raise where the model's repository has a file of somebody else in the place of ours."""
    remote = hub.read_repo(api, model, "model")
    if IN_REPO in remote.files:
        with hub.hub_errors_explained(model):
            there = Path(api.hf_hub_download(model, IN_REPO, revision=remote.revision))
        if not is_ours(there.read_bytes()):
            raise UserError(f"{model} holds {IN_REPO}, which this benchmark did not write; nothing was proposed")


def propose(api: "HfApi", written: Mapping[str, Path], repo: str) -> dict[str, str]:
    """Open a pull request with its results file in each model repository; by model, the request's address."""
    opened = {}
    for model in written:
        refuse_others(api, model)
    for model, path in written.items():
        with hub.hub_errors_explained(model):
            made = api.upload_file(
                path_or_fileobj=path,
                path_in_repo=IN_REPO,
                repo_id=model,
                commit_message="Add results of ConvergeBench",
                commit_description=f"The mean number of rounds that the model keeps a picture, measured on {repo}.",
                create_pr=True,
            )
        opened[model] = str(made.pr_url)
    return opened
