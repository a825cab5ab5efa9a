"""Writes results in two formats: the Hub's `.eval_results` and Every Eval Ever.

The latter follows eval.schema.json 0.2.2 of evaleval/every_eval_ever,
with files in data/BENCHMARK/DEVELOPER/MODEL.
"""

import importlib.metadata
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from convergebench.generation.files import file_name, refuse_strangers_file, write_whole
from convergebench.generation.records import FinishedChain, Json, Setting, UserError, canonical

from ..dataset.reader import Reader
from ..importing.tables import json_file

NAME, _BENCHMARK = "ConvergeBench", "convergebench"  # the former also marks a results file as written by us
_TASK = "convergence"  # as docs/eval.yaml names it
_GROUP = "round trips"  # the programs whose rounds kept are for model repositories
_REPO = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # also keeps the file inside its folder
# Columns of the leaderboard: title, unit, description, greatest score (None: the rounds of the chains).
_MEASURES = {
    "rounds_kept": (
        "Rounds kept",
        "rounds",
        "mean number of rounds of edit and undo before the first loss",
        None,
    ),
    "survival": ("Survival", "proportion", "share of the chains that keep every round", 1.0),
}


def read_leaderboard(path: Path) -> list[Json]:
    board = json_file(path)
    if not isinstance(board, dict) or not isinstance(board.get("rows"), list):
        raise UserError(f"{path} is not a leaderboard; `convergebench report` writes leaderboard.json")
    return list(board["rows"])


def chains_by_editor(dataset: Path) -> dict[str, list[FinishedChain]]:
    editors: dict[str, list[FinishedChain]] = {}
    for chain in sorted(Reader(dataset).chains(), key=lambda chain: chain.order):
        editors.setdefault(chain.editor, []).append(chain)
    return editors


def write_results(
    editors: Mapping[str, Sequence[FinishedChain]], rows: Sequence[Json], out: Path, source: Json
) -> dict[str, Path]:
    """Write a file for each Hub repository that is the `model` of an editor's settings.

    The value is the rounds kept. `source` has the fields of the dataset and the date of an entry.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    kept: Json = {row["editor"]: row.get("rounds_kept") for row in rows if row.get("group") == _GROUP}
    entries: dict[str, list[EvalResultEntry]] = {}
    for editor, chains in editors.items():
        model = chains[0].chain.settings.get("model")
        if kept.get(editor) is not None and isinstance(model, str) and _REPO.fullmatch(model):
            value, notes = round(float(kept[editor]), 4), editor if ":" in editor else None
            entry = EvalResultEntry(task_id=_TASK, value=value, source_name=NAME, notes=notes, **source)
            entries.setdefault(model, []).append(entry)
    written = {}
    for model, model_entries in entries.items():
        written[model] = path = out / model / ".eval_results" / "convergebench.yaml"
        refuse_strangers_file(path, lambda data: NAME.encode() in data)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(eval_result_entries_to_yaml(model_entries), sort_keys=False)
        write_whole(path, text.encode())
    return written


def write_records(
    editors: Mapping[str, Sequence[FinishedChain]],
    rows: Sequence[Json],
    out: Path,
    origin: Json,
    repo: str,
    now: int,
) -> dict[str, Path]:
    """Write a record for each editor; `origin` says who measured."""
    written = {}
    library = {"name": _BENCHMARK, "version": importlib.metadata.version(_BENCHMARK)}
    for editor, chains in editors.items():
        suite = f"{chains[0].suite} {chains[0].suite_version}"
        editor_rows = [row for row in rows if row.get("editor") == editor]
        measures = [(row, name) for row in editor_rows for name in _MEASURES if row.get(name) is not None]
        results = [_result(row, name, max(chain.rounds for chain in chains), repo) for row, name in measures]
        model_info = _model_info(editor, chains[0].chain.settings)
        id = model_info["id"]
        record = {
            "schema_version": "0.2.2",
            "evaluation_id": f"{_BENCHMARK}/{id.replace('/', '_')}/{now}",
            "retrieved_timestamp": str(now),
            "source_metadata": {"source_name": NAME, "source_type": "evaluation_run", **origin},
            "eval_library": library | {"additional_details": {"suite": suite}},
            "model_info": model_info,
            "evaluation_results": results,
        }
        if results:  # equal results get the same name whenever they are written
            name = f"{uuid.uuid5(uuid.NAMESPACE_URL, canonical([model_info, results]))}.json"
            written[editor] = path = out / "data" / _BENCHMARK / id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode())
    return written


def _model_info(editor: str, settings: Mapping[str, Setting]) -> Json:
    model = re.sub("[:,=]", "-", str(settings.get("model") or editor))
    # The schema requires a model id DEVELOPER/MODEL, that of the Hub if there is one.
    id = model if _REPO.fullmatch(model) else f"{file_name(editor.partition(':')[0])}/{file_name(model)}"
    details = {key: str(value) for key, value in sorted(settings.items()) if value is not None}
    return {"name": editor, "id": id, "developer": id.split("/")[0], "additional_details": details}


def _result(row: Json, column: str, rounds: int, repo: str) -> Json:
    title, unit, description, maximum = _MEASURES[column]
    details = {"headline": row["name"], "cases": row["cases"], "rank": row["rank"]}
    details["mostly_lost_to"] = row["cause"]
    hub_dataset = {"source_type": "hf_dataset", "hf_repo": repo, "hf_split": "test"}
    return {
        "evaluation_name": f"{NAME}, {row['group']}",
        "source_data": {"dataset_name": NAME, **hub_dataset, "samples_number": row["cases"]},
        "metric_config": {
            "evaluation_description": description,
            "metric_id": f"{_BENCHMARK}.{column}",
            "metric_name": title,
            "metric_unit": unit,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": float(rounds) if maximum is None else maximum,
        },
        "score_details": {
            "score": row[column],
            "details": {key: str(value) for key, value in details.items() if value is not None},
            "uncertainty": _uncertainty(row, column),
        },
    }


def _uncertainty(row: Json, column: str) -> Json:
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None:
        return {"num_samples": row["sources"]}
    interval = {"lower": low, "upper": high, "confidence_level": 0.95, "method": "over pictures"}
    return {"num_samples": row["sources"], "confidence_interval": interval}
