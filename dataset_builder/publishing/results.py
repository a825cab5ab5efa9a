"""Writes a report's results in two external formats: the Hub's `.eval_results`, and Every Eval Ever.

The latter is eval.schema.json 0.2.2 of evaleval/every_eval_ever, whose data is in data/BENCHMARK/DEVELOPER/MODEL.
"""

import importlib.metadata
import json
import re
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from convergebench.generation.files import refuse_strangers_file
from convergebench.generation.records import FinishedChain, UserError, canonical

from ..dataset.reader import Reader
from ..importing.tables import json_file
from . import hub

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TASK = "convergence"  # as docs/eval.yaml names it
_GROUP = "round trips"  # of programs; its rounds kept are proposed to model repositories
NAME = "ConvergeBench"  # also marks a results file as written by this benchmark
_IN_REPO = ".eval_results/convergebench.yaml"
_RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_Json = dict[str, Any]
_SCHEMA = "0.2.2"
_BENCHMARK = "convergebench"
_REPO = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # which also keeps the file inside its folder
# The columns of the leaderboard as Every Eval Ever describes metrics: title, unit, description, greatest score (None:
# the rounds of the chains).
_MEASURES = {
    "rounds_kept": ("Rounds kept", "rounds", "mean number of rounds of edit and undo before the first loss", None),
    "survival": ("Survival", "proportion", "share of the chains that keep every round", 1.0),
}


def _read_leaderboard(path: Path) -> list[_Json]:
    """The rows of a report's leaderboard.json."""
    board = json_file(path) if path.suffix == ".json" else None
    rows = board.get("rows") if isinstance(board, dict) else None
    if not isinstance(rows, list):
        raise UserError(f"{path} is not a leaderboard; `convergebench report` writes leaderboard.json")
    return rows


# For model repositories on the Hub


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

    rows = [row for row in _read_leaderboard(leaderboard) if row.get("group") == _GROUP]
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


# For Every Eval Ever


class Publisher(NamedTuple):
    """The organisation that measured, and the dataset with its pictures."""

    organization: str
    relationship: str
    repo: str | None = None


def write_records(dataset: Path, leaderboard: Path, out: Path, publisher: Publisher, now: int) -> dict[str, Path]:
    """Write a record for each editor with its headline in each group of programs; returns the paths by editor."""
    if publisher.relationship not in _RELATIONSHIPS:
        raise UserError(f"the relationship must be one of {', '.join(_RELATIONSHIPS)}, got {publisher.relationship!r}")
    rows = _read_leaderboard(leaderboard)
    chains: dict[str, list[FinishedChain]] = defaultdict(list)
    for chain in Reader(dataset).chains():
        chains[chain.editor].append(chain)
    written = {}
    for editor, editor_chains in sorted(chains.items()):
        editor_rows = [row for row in rows if row.get("editor") == editor]
        record = _record(editor, editor_chains, editor_rows, publisher, now)
        if record["evaluation_results"]:
            # Equal results get the same name whenever they are written.
            content = canonical([record["model_info"], record["evaluation_results"]])
            name = f"{uuid.uuid5(uuid.NAMESPACE_URL, content)}.json"
            written[editor] = path = out / "data" / _BENCHMARK / record["model_info"]["id"] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return written


def _record(
    editor: str, chains: Sequence[FinishedChain], rows: Sequence[_Json], publisher: Publisher, now: int
) -> _Json:
    """All results of one editor; the schema requires a model id DEVELOPER/MODEL, that of the Hub if there is one."""
    settings = chains[0].chain.settings
    model = re.sub("[:,=]", "-", str(settings.get("model") or editor))
    id = model if model.count("/") == 1 else f"{editor.partition(':')[0]}/{model.replace('/', '-')}"
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": f"{_BENCHMARK}/{id.replace('/', '_')}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": {
            "source_name": NAME,
            "source_type": "evaluation_run",
            "source_organization_name": publisher.organization,
            "evaluator_relationship": publisher.relationship,
        },
        "eval_library": {
            "name": _BENCHMARK,
            "version": importlib.metadata.version(_BENCHMARK),
            "additional_details": {"suite": f"{chains[0].suite} {chains[0].suite_version}"},
        },
        "model_info": {
            "name": editor,
            "id": id,
            "developer": id.split("/")[0],
            "additional_details": {key: str(value) for key, value in sorted(settings.items()) if value is not None},
        },
        "evaluation_results": [
            _result(row, column, chains, publisher)
            for row in rows
            for column in _MEASURES
            if row.get(column) is not None
        ],
    }


def _result(row: _Json, column: str, chains: Sequence[FinishedChain], publisher: Publisher) -> _Json:
    """One number with its confidence interval."""
    title, unit, description, most = _MEASURES[column]
    data: _Json = {"dataset_name": NAME, "source_type": "other"}
    if publisher.repo:
        data |= {"source_type": "hf_dataset", "hf_repo": publisher.repo, "hf_split": "test"}
        data |= {"samples_number": row["cases"]}
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    uncertainty: _Json = {"num_samples": row["sources"]}
    if low is not None and high is not None:
        method = "over pictures: chains of one picture are not independent"
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95, "method": method}
    details = {"headline": row["name"], "cases": row["cases"], "rank": row["rank"], "mostly_lost_to": row["cause"]}
    return {
        "evaluation_result_id": f"{_BENCHMARK}/{row['group'].replace(' ', '-')}/{column}",
        "evaluation_name": f"{NAME}, {row['group']}",
        "source_data": data,
        "metric_config": {
            "evaluation_description": description,
            "metric_id": f"{_BENCHMARK}.{column}",
            "metric_name": title,
            "metric_unit": unit,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": float(max(chain.rounds for chain in chains)) if most is None else most,
        },
        "score_details": {
            "score": row[column],
            "details": {key: str(value) for key, value in details.items() if value is not None},
            "uncertainty": uncertainty,
        },
    }
