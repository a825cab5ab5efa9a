"""Writes a report's results as the Hub's `.eval_results`, and proposes them to model repositories."""

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
_GROUP = "round trips"  # of programs; its rounds kept are proposed to model repositories
NAME = "ConvergeBench"  # also marks a results file as written by this benchmark
_IN_REPO = ".eval_results/convergebench.yaml"
_REPO = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # which also keeps the file inside its folder


def model_repos(folder: str | Path) -> dict[str, str]:
    """The Hub model repository of each editor that has one: its settings name it as `model`."""
    models = {chain.editor: chain.chain.settings.get("model") for chain in Reader(folder).chains()}
    return {
        editor: model for editor, model in sorted(models.items()) if isinstance(model, str) and _REPO.fullmatch(model)
    }


def write_results(
    folder: Path, out: Path, leaderboard: Path, repo: str, revision: str | None, date: str
) -> dict[str, Path]:
    """Write an `.eval_results` file for the model repository of each editor that has one; returns the paths by model.

    The value is the rounds kept. Options that differ from the editor's defaults are in the notes.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    board = json_file(leaderboard) if leaderboard.suffix == ".json" else None
    all_rows = board.get("rows") if isinstance(board, dict) else None
    if not isinstance(all_rows, list):
        raise UserError(f"{leaderboard} is not a leaderboard; `convergebench report` writes leaderboard.json")
    rows = [row for row in all_rows if row.get("group") == _GROUP]
    values = {row["editor"]: float(row["rounds_kept"]) for row in rows if row.get("rounds_kept") is not None}
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
                    source_name=NAME,
                    notes=editor if ":" in editor else None,
                )
            )
    written = {}
    for model, model_entries in entries.items():
        path = out / model / _IN_REPO
        refuse_strangers_file(path, _is_ours)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(eval_result_entries_to_yaml(model_entries), sort_keys=False), encoding="utf-8")
        written[model] = path
    return written


def _is_ours(data: bytes) -> bool:
    return NAME.encode() in data


def propose(api: "HfApi", written: Mapping[str, Path], repo: str) -> dict[str, str]:
    """Open a pull request with the results file in each model repository; returns the requests' addresses by model."""
    for model in written:
        remote = hub.read_repo(api, model, "model")
        if _IN_REPO in remote.files:
            with hub.hub_errors_explained(model):
                published = Path(api.hf_hub_download(model, _IN_REPO, revision=remote.revision))
            if not _is_ours(published.read_bytes()):
                raise UserError(f"{model} holds {_IN_REPO}, which this benchmark did not write; nothing was proposed")
    opened = {}
    for model, path in written.items():
        with hub.hub_errors_explained(model):
            request = api.upload_file(
                path_or_fileobj=path,
                path_in_repo=_IN_REPO,
                repo_id=model,
                commit_message="Add results of ConvergeBench",
                commit_description=f"The mean number of rounds that the model keeps a picture, measured on {repo}.",
                create_pr=True,
            )
        opened[model] = str(request.pr_url)
    return opened
