"""Results in the schema of Every Eval Ever: what eval.schema.json 0.2.2 requires, allows and forbids."""

import json

import jsonschema
import pytest
import stores
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.dataset_builder.building import build
from convergebench.generation import store_reader
from convergebench.generation.records import Chain

TEXT, NUMBER, TEXTS = (
    {"type": "string"},
    {"type": "number"},
    {"type": "object", "additionalProperties": {"type": "string"}},
)


def fields(required, closed=False, **properties):
    more = {"additionalProperties": False} if closed else {}
    return {"type": "object", "required": required.split(), "properties": properties, **more}


# The rules of the public schema, in few words: what it says in prose is left out.
SCHEMA = fields(
    "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    closed=True,
    schema_version=TEXT,
    evaluation_id=TEXT,
    evaluation_timestamp=TEXT,
    retrieved_timestamp=TEXT,
    detailed_evaluation_results={"type": "object"},
    source_metadata=fields(
        "source_type source_organization_name evaluator_relationship",
        source_type={"enum": ["documentation", "evaluation_run"]},
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
        additional_details=TEXTS,
    ),
    eval_library=fields("name version", name=TEXT, version=TEXT, additional_details=TEXTS),
    model_info=fields("name id", name=TEXT, id=TEXT, developer=TEXT, additional_details=TEXTS),
    evaluation_results={
        "type": "array",
        "items": fields(
            "evaluation_name source_data metric_config score_details",
            evaluation_name=TEXT,
            evaluation_result_id=TEXT,
            source_data={
                "oneOf": [
                    fields("dataset_name source_type", source_type={"const": "other"}, additional_details=TEXTS),
                    fields(
                        "dataset_name source_type",
                        source_type={"const": "hf_dataset"},
                        hf_repo=TEXT,
                        hf_split=TEXT,
                        samples_number={"type": "integer"},
                    ),
                ]
            },
            metric_config=fields(
                "lower_is_better min_score max_score",  # the last two because the scores are continuous
                lower_is_better={"type": "boolean"},
                score_type={"const": "continuous"},
                min_score=NUMBER,
                max_score=NUMBER,
                additional_details=TEXTS,
            ),
            score_details=fields(
                "score",
                score=NUMBER,
                details=TEXTS,
                uncertainty=fields(
                    "",
                    num_samples={"type": "integer"},
                    confidence_interval=fields("lower upper", lower=NUMBER, upper=NUMBER, confidence_level=NUMBER),
                ),
            ),
        ),
    },
)
ROW = {"editor": "diffusers", "group": "round trips", "name": "convergence", "rank": None, "cause": "quality (40%)"}
ROW |= {"rounds_kept": 1.25, "rounds_kept_low": 1.0, "rounds_kept_high": 1.5, "survival": 0.5, "cases": 4, "sources": 2}


def export(*words):
    return CliRunner().invoke(main, ["publish", "results", "board.json", "--dataset", "out", *words])


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = stores.chain("diffusers")
    stores.keep(tmp_path / "run", Chain(base.source, base.program, "diffusers", {"model": "org/Editor-1"}, 1, 2))
    build.build(store_reader.find_finished([tmp_path / "run"]), tmp_path / "out")
    (tmp_path / "board.json").write_text(json.dumps({"rows": [ROW, ROW | {"editor": "elsewhere"}]}))
    return tmp_path


def test_results_are_valid_in_the_schema_and_lie_where_its_data_does(dataset):
    told = export("--organization", "A laboratory", "--repo", "NS/convergebench", "--json")
    assert told.exit_code == 0, told.output
    [(editor, path)] = json.loads(told.stdout).items()
    assert (editor, path.rpartition("/")[0]) == ("diffusers", "every_eval_ever/data/convergebench/org/Editor-1")
    made = json.loads((dataset / path).read_text())
    jsonschema.validate(made, SCHEMA)
    kept, survival = made["evaluation_results"]
    assert kept["score_details"]["score"] == 1.25
    assert kept["score_details"]["uncertainty"]["confidence_interval"]["upper"] == 1.5
    assert (kept["metric_config"]["max_score"], survival["metric_config"]["max_score"]) == (2.0, 1.0)
    assert kept["source_data"]["hf_repo"] == "NS/convergebench"
    assert made["source_metadata"]["evaluator_relationship"] == "third_party"
    assert [*export("--organization", "A laboratory", "--repo", "NS/convergebench", "--json").stdout] == [*told.stdout]


def test_what_the_schema_does_not_know_is_refused_and_without_a_repository_the_source_is_another(dataset):
    assert export().exit_code == 2
    told = export("--organization", "A laboratory", "--relationship", "friends")
    assert "must be one of first_party, third_party, collaborative, other, got 'friends'" in told.stderr
    told = export("--organization", "A laboratory", "--json")
    made = json.loads((dataset / json.loads(told.stdout)["diffusers"]).read_text())
    jsonschema.validate(made, SCHEMA)
    assert made["evaluation_results"][0]["source_data"] == {"dataset_name": "ConvergeBench", "source_type": "other"}
    (dataset / "board.json").write_text("{}")
    assert "board.json is not a leaderboard" in export("--organization", "A laboratory").stderr
