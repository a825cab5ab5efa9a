"""Writes results in the schema of Every Eval Ever: a file for each editor, with its headline in each group of programs.

The schema is eval.schema.json 0.2.2 of evaleval/every_eval_ever. Its data lies in data/BENCHMARK/DEVELOPER/MODEL.
"""

import importlib.metadata
import json
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.generation.records import FinishedChain, UserError, canonical

from ..dataset.reader import Reader
from ..importing.tables import json_file

SCHEMA = "0.2.2"
BENCHMARK = "convergebench"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
Row = Mapping[str, Any]


class Measure(NamedTuple):
    """A column of the leaderboard as the schema describes a metric."""

    column: str
    name: str
    unit: str
    about: str
    most: float | None  # of the scores; None: the rounds of the chains


MEASURES = (
    Measure(
        "rounds_kept", "Rounds kept", "rounds", "mean number of rounds of edit and undo before the first loss", None
    ),
    Measure("survival", "Survival", "proportion", "share of the chains that keep every round", 1.0),
)


class Publisher(NamedTuple):
    """Who measured, and where the pictures behind it are."""

    organization: str
    relationship: str
    repo: str | None = None


def write_records(dataset: Path, leaderboard: Path, out: Path, publisher: Publisher, now: int) -> dict[str, Path]:
    """Write the records of a report; by editor, where each lies."""
    if publisher.relationship not in RELATIONSHIPS:
        raise UserError(f"no relationship {publisher.relationship!r}; it is one of {', '.join(RELATIONSHIPS)}")
    rows = json_file(leaderboard).get("rows") if leaderboard.suffix == ".json" else None
    if not isinstance(rows, list):
        raise UserError(f"{leaderboard} is no leaderboard; `convergebench report` writes leaderboard.json")
    chains: dict[str, list[FinishedChain]] = defaultdict(list)
    for chain in Reader(dataset).chains():
        chains[chain.editor].append(chain)
    written = {}
    for editor, own in sorted(chains.items()):
        made = record(editor, own, [row for row in rows if row.get("editor") == editor], publisher, now)
        if made["evaluation_results"]:
            written[editor] = path = out / "data" / BENCHMARK / made["model_info"]["id"] / file_name(made)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return written


def file_name(made: Mapping[str, Any]) -> str:
    """The same for the same results, whenever they are written."""
    same = canonical([made["model_info"], made["evaluation_results"]])
    return f"{uuid.uuid5(uuid.NAMESPACE_URL, same)}.json"


def record(
    editor: str, chains: Sequence[FinishedChain], rows: Sequence[Row], publisher: Publisher, now: int
) -> dict[str, Any]:
    """All results of one editor."""
    model = model_info(editor, chains[0])
    suite = f"{chains[0].suite} {chains[0].suite_version}"
    source = {"source_name": "ConvergeBench", "source_type": "evaluation_run"}
    source |= {"source_organization_name": publisher.organization, "evaluator_relationship": publisher.relationship}
    version = importlib.metadata.version(BENCHMARK)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{BENCHMARK}/{model['id'].replace('/', '_')}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": source,
        "eval_library": {"name": BENCHMARK, "version": version, "additional_details": {"suite": suite}},
        "model_info": model,
        "evaluation_results": [
            result(row, measure, chains, publisher)
            for row in rows
            for measure in MEASURES
            if row.get(measure.column) is not None
        ],
    }


def model_info(editor: str, chain: FinishedChain) -> dict[str, Any]:
    """The model as the schema names it: DEVELOPER/MODEL, of the Hub where it is there."""
    settings = chain.chain.settings
    name, model = editor.partition(":")[0], settings.get("model")
    plain = str(model or editor).replace(":", "-").replace(",", "-").replace("=", "-")
    id = plain if plain.count("/") == 1 else f"{name}/{plain.replace('/', '-')}"
    details = {key: str(value) for key, value in sorted(settings.items()) if value is not None}
    return {"name": editor, "id": id, "developer": id.split("/")[0], "additional_details": details}


def result(row: Row, measure: Measure, chains: Sequence[FinishedChain], publisher: Publisher) -> dict[str, Any]:
    """One number with its limits."""
    data: dict[str, Any] = {"dataset_name": "ConvergeBench", "source_type": "other"}
    if publisher.repo:
        data |= {"source_type": "hf_dataset", "hf_repo": publisher.repo, "hf_split": "test"}
        data |= {"samples_number": row["cases"]}
    most = measure.most if measure.most is not None else float(max(chain.rounds for chain in chains))
    low, high = row.get(f"{measure.column}_low"), row.get(f"{measure.column}_high")
    uncertainty: dict[str, Any] = {"num_samples": row["sources"]}
    if low is not None and high is not None:
        method = "over pictures: chains of one picture are not independent"
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95, "method": method}
    named = {"headline": row["name"], "cases": row["cases"], "rank": row["rank"], "mostly_lost_to": row["cause"]}
    details = {key: str(value) for key, value in named.items() if value is not None}
    return {
        "evaluation_result_id": f"{BENCHMARK}/{row['group'].replace(' ', '-')}/{measure.column}",
        "evaluation_name": f"ConvergeBench, {row['group']}",
        "source_data": data,
        "metric_config": {
            "evaluation_description": measure.about,
            "metric_id": f"{BENCHMARK}.{measure.column}",
            "metric_name": measure.name,
            "metric_unit": measure.unit,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": most,
        },
        "score_details": {"score": row[measure.column], "details": details, "uncertainty": uncertainty},
    }
