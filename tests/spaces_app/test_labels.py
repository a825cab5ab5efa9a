"""What people said: files of labels, agreement as the package krippendorff has it, and the report's tables."""

import json

import kept_numbers
import numpy as np
import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.studies.labels.label_files import _label_from_values
from convergebench.dataset_builder.studies.labels.labels import QUESTIONS, Label
from convergebench.generation.records import UserError
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.labels.statistics.label_agreement import _krippendorff_alpha
from convergebench.spaces_app.studies.labels.tab import tab as labels_tab
from verbs import invoke, say


@pytest.mark.parametrize("measure", ["nominal", "interval"])
def test_alpha_agrees_with_the_package_krippendorff(measure):
    krippendorff = pytest.importorskip("krippendorff", reason="pip install krippendorff")
    rng = np.random.default_rng(1)
    for _ in range(12):
        people, items = int(rng.integers(2, 6)), int(rng.integers(5, 40))
        table = rng.integers(0, 6, (1, items)) + rng.integers(-1, 2, (people, items)).astype(float)
        table[rng.random(table.shape) < 0.3] = np.nan
        units = [[value for value in column if not np.isnan(value)] for column in table.T]
        theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=measure)
        assert _krippendorff_alpha(units, range(items), measure).value == pytest.approx(theirs, abs=1e-12)


def test_limits_of_alpha_are_wider_if_items_share_pictures():
    rng = np.random.default_rng(2)
    truth = np.repeat(rng.integers(0, 3, 20), 6)
    # On some pictures people agree, on others they guess: items of a picture are alike.
    guess = np.repeat(rng.random(20) < 0.4, 6)
    answers = [[rng.integers(0, 3) if guess[item] else truth[item] for _ in range(3)] for item in range(120)]
    alone = _krippendorff_alpha(answers, range(120))
    by_picture = _krippendorff_alpha(answers, [item // 6 for item in range(120)])
    assert alone.low < alone.value == by_picture.value < alone.high
    assert by_picture.high - by_picture.low > 1.5 * (alone.high - alone.low)


def test_nothing_to_disagree_about_has_no_alpha():
    assert _krippendorff_alpha([["a", "a"], ["a", "a"]], "pq") == (None, None, None)
    assert _krippendorff_alpha([["a"], ["b"]], "pq").value is None
    of_one_picture = _krippendorff_alpha([["a", "b"], ["a", "a"]], "pp")
    assert of_one_picture == (0.0, None, None)  # 1 - 3 * 2 / 6


def returns(folder, step=8):
    """The last returns: id of the chain, editor, source, program."""
    rows = Reader(folder).table("chains", ["chain", "editor", "source", "program"]).to_pylist()
    return [row | {"step": step} for row in rows]


def imported(folder, *files):
    """What the import of these files says."""
    return json.loads(say("import", "--layout", "labels", *files, "--dataset", folder, "--json"))


def write(path, labels):
    path.write_text(json.dumps({"format": 1, "labels": labels}))
    return path


def label(rater, question, answer, row, **more):
    place = {"chain": row["chain"], "step": row["step"]}
    return {"rater": rater, "question": question, "answer": answer, **place, **more}


@pytest.fixture(scope="module")
def labelled(folder):
    """Two people's labels in the dataset, added from a file each; then the report's tables."""
    everybody = {"anna": [], "ben": []}
    pairs = {(row["source"], row["program"], row["editor"]): row for row in returns(folder)}
    for (source, program, editor), row in pairs.items():
        good, other = editor == "steady", pairs[source, program, "steady"]
        for rater, labels in everybody.items():
            labels.append(label(rater, "rating", str(5 if good else 1 + (rater == "ben")), row, seconds=1.5))
            labels.append(label(rater, "failure", "none" if good else "noise", row))
        if editor == "fading":
            places = {"other_chain": other["chain"], "other_step": other["step"]}
            everybody["anna"].append(label("anna", "pair", "second", row, **places))
    imported(folder, *(write(folder.parent / f"{rater}.json", labels) for rater, labels in everybody.items()))
    return compute_tables(read_analysis(Reader(folder)))


def test_saved_labels_are_those_that_were_added(folder, labelled, tmp_path):
    say("list", "labels", "--dataset", folder, "--out", tmp_path / "all.json")
    rows = json.loads((tmp_path / "all.json").read_text())["labels"]
    files = [(folder.parent / f"{name}.json").read_text() for name in ("anna", "ben")]
    came = [label | {"at": ""} for text in files for label in json.loads(text)["labels"]]
    saved, added = (sorted(json.dumps(row, sort_keys=True) for row in each) for each in (rows, came))
    assert saved == added
    again = imported(folder, tmp_path / "all.json")
    assert (again["labels"], again["new"], again["changed"]) == (len(came), 0, 0)
    assert "config_name: labels" in (folder / "README.md").read_text()


@pytest.mark.parametrize("theirs", ["a thesis", '{"format": 1}', "[]"])
def test_labels_are_not_saved_over_a_strangers_file(folder, labelled, tmp_path, theirs):
    (tmp_path / "notes.json").write_text(theirs)
    done = invoke("list", "labels", "--dataset", folder, "--out", tmp_path / "notes.json")
    assert (done.exit_code, "notes.json was not written by this benchmark" in done.output) == (2, True)
    assert (tmp_path / "notes.json").read_text() == theirs


def test_a_later_answer_replaces_an_earlier_one(folder, labelled, tmp_path):
    row = returns(folder)[0]
    changes = {"at": "2026-11-19T01:00:00Z"}, {"chain": "f" * 16}, {"sha256": "0" * 64}
    later = [label("anna", "rating", "3", row) | change for change in changes]
    before = (folder / "data" / "labels" / "0000.parquet").read_bytes()
    done = imported(folder, write(tmp_path / "later.json", later))
    assert (done["new"], done["changed"], done["strangers"]) == (0, 1, 2)
    (folder / "data" / "labels" / "0000.parquet").write_bytes(before)


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"rater": ""}, "label 1: it has no rater"),
    ({"question": "taste"}, "the question must be one of failure, rating, .*, got 'taste'"),
    ({"answer": "6"}, "the answer to 'rating' must be 0, 1, 2, 3, 4, 5, got '6'"),
    ({"step": "first"}, "step must be a whole number from 0"),
    ({"rater": "x" * 300}, "rater must be text of at most 200 characters"),
    ({"question": "count", "answer": "1000"}, "'count' must be a number from 0 to 999, unclear, got '1000'"),
    ({"question": "count", "answer": "03"}, "got '03'"),
    ({"question": "count", "answer": "-1"}, "got '-1'"),
    ({"question": "pair", "answer": "same"}, "has other_chain and other_step"),
])  # fmt: skip
def test_a_wrong_label_is_one_sentence(changes, sentence):
    good = {"rater": "anna", "question": "rating", "answer": "4", "chain": "c", "step": 2}
    label = Label(rater="anna", question="rating", answer="4", chain="c", step=2)
    assert _label_from_values("label 1", good) == label
    with pytest.raises(UserError, match=sentence):
        _label_from_values("label 1", good | changes)


def test_labellers_never_see_an_editors_name(folder):
    dataset = open_dataset(str(folder))
    assert labels_tab.label_items(dataset, "count") == {"total": 0, "items": []}  # nothing only adds here
    for question in QUESTIONS.keys() - {"count"}:
        found = labels_tab.label_items(dataset, question)
        assert found["total"] == 12
        steps = {item["step"] for item in found["items"]}
        assert steps == {"applied": {1}, "else": {1}}.get(question, {8})
        assert not any(editor in json.dumps(found) for editor in small_dataset.EDITORS)
    left = [dataset.chain_of[item["chain"]].editor for item in labels_tab.label_items(dataset, "pair")["items"]]
    assert len(set(left)) == 3  # chance says who is on the left
    with pytest.raises(UserError, match="no question 'taste'"):
        labels_tab.label_items(dataset, "taste")


def test_people_count_additions_in_the_space(tmp_path):
    folder = small_dataset.let_only_add(small_dataset.write(tmp_path / "convergebench"))
    dataset = open_dataset(str(folder))
    found = labels_tab.label_items(dataset, "count")
    assert (found["total"], {item["step"] for item in found["items"]}) == (30, {0, 1, 2, 5, 8})
    assert {item["thing"] for item in found["items"]} == {"lamp"}
    assert not any(editor in json.dumps(found) for editor in small_dataset.EDITORS)
    labels = []
    for item in found["items"]:
        is_good = dataset.chain_of[item["chain"]].editor == "steady"
        number = str(2 + item["step"] if is_good else 2)
        given = {name: item[name] for name in ("chain", "step", "sha256")} | {"sha256": None}
        labels += [given | {"rater": rater, "question": "count", "answer": number} for rater in ("anna", "ben")]
        labels.append(given | {"rater": "carla", "question": "count", "answer": "unclear"})
    imported(folder, write(tmp_path / "counts.json", labels))
    tables = compute_tables(read_analysis(Reader(folder)))
    [row] = tables["label_agreement"].rows
    assert (row["question"], row["alpha"], row["shared"], row["labels"]) == ("How many are there", 1.0, 30, 90)
    rows = {row["editor"]: row for row in tables["additions"].rows if row["judged_by"] == "people"}
    right, error = ({name: row[key] for name, row in rows.items()} for key in ("counted_right", "count_error"))
    assert right == {"steady": 1.0, "fading": 0.0, "identity": 0.0}
    assert error == {"steady": 0, "fading": -8, "identity": -8}


def test_the_numbers_of_every_table(labelled):
    kept_numbers.check("labels", kept_numbers.rows_of(labelled))
    [pair] = labelled["preferences"].rows
    assert (pair["first"], pair["second"], pair["margin"]) == ("fading", "steady", -1.0)
    seen = {(row["failure"][:7], row["editor"]): row["share"] for row in labelled["failures_seen"].rows}
    assert (seen["nothing", "steady"], seen["noise o", "fading"]) == (1.0, 1.0)
    asked = {row["question"] for row in labelled["label_agreement"].rows}
    assert asked >= {"What went wrong", "What went wrong: the level", "How good is it", "Which one is better"}


def test_an_item_has_the_words_of_its_round(folder):
    dataset = open_dataset(str(folder))
    chain = next(chain for chain in dataset.chains if len(chain.program.cycle) == 2)
    first, third = (labels_tab._item_at(dataset, chain, step) for step in (0, 3))
    assert (first["words"], first["round"]) == ([], 1)
    assert (third["words"], third["round"]) == ([chain.program.instruction(2, 1)], 2)
