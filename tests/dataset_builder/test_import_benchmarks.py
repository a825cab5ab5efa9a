"""MSE-Bench, PaintBench and EdiVal-Bench as their own code names and reads them."""

import csv
import json

import datasets
import pytest
from PIL import Image
from verbs import invoke


def bring_in(folder, layout, path, *more):
    words = ["import", path, "--layout", layout, "--editor", "m", "--out", folder / "run", "--json", *more]
    return invoke(*words)


def chains(folder):
    read = (json.loads(path.read_text()) for path in (folder / "run" / "chains").glob("*/chain.json"))
    return {chain["settings"]["case"]: chain for chain in read}


def coloured(*levels):
    return Image.new("RGB", (64, 64), levels)


CONTEXT = [f"edit number {turn}" for turn in range(5)]


def published(folder, results, questions):
    """The two datasets as folders of Parquet, a split a model."""
    for name, split, rows in (("results", "m", results), ("questions", "train", questions)):
        datasets.Dataset.from_list(rows).to_parquet(folder / name / f"data/{split}-00000-of-00001.parquet")
    return folder / "results", "--questions", folder / "questions"


def test_mse_bench_has_five_turns_for_each_question(tmp_path):
    questions = [{"image": coloured(9, 9, row), "index": 40 + row, "context": CONTEXT} for row in range(2)]
    results = [{f"turn_{turn}_image": coloured(row, turn, 9) for turn in range(5)} for row in range(2)]
    done = bring_in(tmp_path, "mse-bench", *published(tmp_path, results, questions))
    assert done.exit_code == 0, done.output
    found = chains(tmp_path)
    assert set(found) == {"40", "41"}
    assert found["41"]["program"]["cycle"] == CONTEXT
    assert not found["41"]["program"]["closes"]
    fourth = [Image.open(path).getpixel((0, 0)) for path in (tmp_path / "run" / "chains").glob("*/0004.png")]
    assert sorted(fourth) == [(0, 3, 9), (1, 3, 9)]


def test_a_question_without_answers_is_a_problem(tmp_path):
    questions = [{"image": coloured(9, 9, row), "index": row, "context": CONTEXT} for row in range(2)]
    results = [{f"turn_{turn}_image": coloured(0, turn, 9) for turn in range(5)}]
    done = bring_in(tmp_path, "mse-bench", *published(tmp_path, results, questions))
    assert done.exit_code == 1
    assert set(chains(tmp_path)) == {"0"}
    rows = [{"image": coloured(1, 2, 3), "words": "x"}]
    assert bring_in(tmp_path, "mse-bench", *published(tmp_path / "other", rows, rows)).exit_code == 2


def test_a_dataset_cannot_name_a_file_outside_itself(tmp_path):
    coloured(1, 2, 3).save(tmp_path / "private.png")
    rows = [{"image": {"bytes": None, "path": str(tmp_path / "private.png")}, "turn_1_image": coloured(3, 2, 1)}]
    folder, *_ = published(tmp_path, rows, [{"words": "x"}])
    turns = ["--source-column", "image", "--turn", "turn_1_image", "--split", "m"]
    done = bring_in(tmp_path, "dataset", folder, *turns)
    assert done.exit_code == 2
    assert "which is not inside it" in done.stderr
    assert not list((tmp_path / "run").rglob("*.png"))


@pytest.mark.parametrize("place", ["raw", "model/multipass"])
def test_a_link_in_a_folder_of_edival_is_refused(answers, place):
    folder, _ = answers
    (folder / "raw").mkdir()
    coloured(1, 2, 3).save(folder / "private.png")
    (folder / place / "40_input_raw.png").symlink_to(folder / "private.png")
    done = bring_in(folder, "edival", folder / "model", "--originals", folder / "raw")
    assert done.exit_code == 2
    assert "is a symbolic link" in done.stderr


@pytest.fixture
def paintbench(tmp_path):
    """Two problems of one task, one answered; one of a task that the model was not given."""
    for task, number in (("recolor", "003"), ("recolor", "004"), ("legend", "001")):
        problem = tmp_path / "benchmarks" / task
        problem.mkdir(parents=True, exist_ok=True)
        coloured(10, 10, 10).save(problem / f"{number}_input.png")
        coloured(200, 10, int(number)).save(problem / f"{number}_answer.png")
        (problem / f"{number}.json").write_text(json.dumps({"task": task, "instruction": f"Paint {number} red"}))
    (tmp_path / "outputs" / "recolor").mkdir(parents=True)
    coloured(190, 10, 10).save(tmp_path / "outputs" / "recolor" / "0003_output.png")
    return tmp_path


def test_paintbench_is_compared_with_the_right_answer(paintbench):
    outputs, problems = paintbench / "outputs", paintbench / "benchmarks"
    done = bring_in(paintbench, "paintbench", outputs, "--benchmark", problems)
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["notes"]) == 1, "recolor 004 has no answer; legend was not asked"
    [chain] = chains(paintbench).values()
    assert (chain["program"]["cycle"], chain["program"]["category"]) == (["Paint 003 red"], "recolor")
    [folder] = (paintbench / "run" / "chains").iterdir()
    with Image.open(folder / "reference.png") as reference:
        assert reference.getpixel((0, 0)) == (200, 10, 3)
    coloured(1, 1, 1).save(outputs / "recolor" / "0077_output.png")  # an answer to no problem
    assert bring_in(paintbench, "paintbench", outputs, "--benchmark", problems).exit_code == 1


@pytest.mark.parametrize("layout", ["paintbench", "edival"])
def test_a_folder_without_outputs_is_an_error(paintbench, layout):
    problems = paintbench / "benchmarks"
    options = ["--benchmark", problems] if layout == "paintbench" else []
    done = bring_in(paintbench, layout, problems, *options)
    assert (done.exit_code, "holds no " in done.stderr) == (2, True)


@pytest.fixture
def answers(tmp_path):
    """Three pictures of a model: a whole one, one whose second turn is missing, one without words."""
    folder = tmp_path / "model" / "multipass"
    folder.mkdir(parents=True)
    for index, turns in ((3, (1, 2, 3)), (12, (1, 3)), (20, (1, 2))):
        coloured(index, 80, 80).save(folder / f"{index}_input_raw.png")
        for turn in turns:
            coloured(index, 80, 100 + turn).save(folder / f"{index}_input_raw_turn_{turn}.png")
    words = ["Add a fish, please", "Make the fish's skin glass", "Remove [text: 'sale']"]
    with (tmp_path / "words.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image_index", "turns", "instructions"])
        writer.writerows([3, count, repr(words[:count])] for count in (1, 2, 3))
    return tmp_path, words


def test_turns_words_and_bytes_come_in(answers):
    folder, words = answers
    done = bring_in(folder, "edival", folder / "model", "--words", folder / "words.csv")
    assert done.exit_code == 1  # one picture has a gap
    found = chains(folder)
    assert set(found) == {"3", "20"}
    assert (found["3"]["program"]["cycle"], found["3"]["program"]["closes"]) == (words, False)
    assert len(found["20"]["program"]["cycle"]) == 2
    kept = {path.read_bytes() for path in (folder / "run" / "chains").glob("*/0003.png")}
    assert kept == {(folder / "model" / "multipass" / "3_input_raw_turn_3.png").read_bytes()}


def test_originals_replace_a_models_own_inputs(answers):
    folder, _ = answers
    (folder / "raw").mkdir()
    Image.new("RGB", (64, 64), "navy").save(folder / "raw" / "3_input_raw.jpg")
    bring_in(folder, "edival", folder / "model", "--originals", folder / "raw")
    sources = {path.read_bytes() for path in (folder / "run" / "sources").iterdir()}
    assert (folder / "raw" / "3_input_raw.jpg").read_bytes() in sources
