"""MSE-Bench, PaintBench and EdiVal-Bench as their own code names and reads them, and folders of restored pictures."""

import csv
import json

import datasets
import pytest
import small_dataset
import verbs
from convergebench import spaces_app
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules.scores import missing_values
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.statistics import compute_tables
from PIL import Image


def invoke(*words, code=0):
    done = verbs.invoke(*words)
    assert done.exit_code == code, done.output
    return done


def bring_in(folder, layout, path, *more, code=0):
    words = ["import", path, "--layout", layout, "--editor", "m", "--out", folder / "run", "--json", *more]
    return invoke(*words, code=code)


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
    assert len(json.loads(done.stdout)["made"]) == 2
    found = chains(tmp_path)
    assert set(found) == {"40", "41"}
    assert found["41"]["program"]["cycle"] == CONTEXT
    assert not found["41"]["program"]["closes"]
    fourth = [Image.open(path).getpixel((0, 0)) for path in (tmp_path / "run" / "chains").glob("*/0004.png")]
    assert sorted(fourth) == [(0, 3, 9), (1, 3, 9)]


def test_a_question_without_answers_is_a_problem(tmp_path):
    questions = [{"image": coloured(9, 9, row), "index": row, "context": CONTEXT} for row in range(2)]
    results = [{f"turn_{turn}_image": coloured(0, turn, 9) for turn in range(5)}]
    bring_in(tmp_path, "mse-bench", *published(tmp_path, results, questions), code=1)
    assert set(chains(tmp_path)) == {"0"}
    rows = [{"image": coloured(1, 2, 3), "words": "x"}]
    bring_in(tmp_path, "mse-bench", *published(tmp_path / "other", rows, rows), code=2)


def test_a_dataset_cannot_name_a_file_outside_itself(tmp_path):
    coloured(1, 2, 3).save(tmp_path / "private.png")
    rows = [{"image": {"bytes": None, "path": str(tmp_path / "private.png")}, "turn_1_image": coloured(3, 2, 1)}]
    folder, *_ = published(tmp_path, rows, [{"words": "x"}])
    turns = ["--source-column", "image", "--turn", "turn_1_image", "--split", "m"]
    done = bring_in(tmp_path, "dataset", folder, *turns, code=2)
    assert "which is not inside it" in done.stderr
    assert not list((tmp_path / "run").rglob("*.png"))


@pytest.mark.parametrize("place", ["raw", "model/multipass"])
def test_a_link_in_a_folder_of_edival_is_refused(answers, place):
    folder, _ = answers
    (folder / "raw").mkdir()
    coloured(1, 2, 3).save(folder / "private.png")
    (folder / place / "40_input_raw.png").symlink_to(folder / "private.png")
    done = bring_in(folder, "edival", folder / "model", "--originals", folder / "raw", code=2)
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
    assert len(json.loads(done.stdout)["notes"]) == 1, "recolor 004 has no answer; legend was not asked"
    [chain] = chains(paintbench).values()
    assert (chain["program"]["cycle"], chain["program"]["category"]) == (["Paint 003 red"], "recolor")
    [folder] = (paintbench / "run" / "chains").iterdir()
    with Image.open(folder / "reference.png") as reference:
        assert reference.getpixel((0, 0)) == (200, 10, 3)
    coloured(1, 1, 1).save(outputs / "recolor" / "0077_output.png")  # an answer to no problem
    bring_in(paintbench, "paintbench", outputs, "--benchmark", problems, code=1)


@pytest.mark.parametrize("layout", ["paintbench", "edival"])
def test_a_folder_without_outputs_is_an_error(paintbench, layout):
    problems = paintbench / "benchmarks"
    options = ["--benchmark", problems] if layout == "paintbench" else []
    assert "holds no " in bring_in(paintbench, layout, problems, *options, code=2).stderr


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
    bring_in(folder, "edival", folder / "model", "--words", folder / "words.csv", code=1)  # one picture has a gap
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
    bring_in(folder, "edival", folder / "model", "--originals", folder / "raw", code=1)
    sources = {path.read_bytes() for path in (folder / "run" / "sources").iterdir()}
    assert (folder / "raw" / "3_input_raw.jpg").read_bytes() in sources


# A folder of restored pictures is imported as a method and stands beside others in the report

CLEAN = ("harbour", "market", "tower")


def write(folder, pictures):
    folder.mkdir(parents=True)
    for name, data in pictures.items():
        (folder / f"{name}.png").write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two methods on six degraded pictures of three clean ones and on one real photograph without a clean one."""
    base = tmp_path_factory.mktemp("methods")
    names = {f"{name}~{kind}": place for place, name in enumerate(CLEAN) for kind in ("motion-blur", "old-film")}
    clean = write(base / "clean", {name: small_dataset.picture(place) for place, name in enumerate(CLEAN)})
    inputs = {name: small_dataset.picture(place, 0.3) for name, place in names.items()}
    degraded = write(base / "degraded", inputs | {"attic": small_dataset.picture(9, 0.3)})
    inputs_table = base / "about.csv"
    rows = "".join(f"{name},crowd,\n" for name in names)
    inputs_table.write_text("name,scene,degradation\n" + rows + "attic,,old photo\n")
    for method, noise in (("sharp", 0.05), ("dull", 0.2)):
        restored = {name: small_dataset.picture(place, noise) for name, place in names.items()}
        folder = write(base / method, restored | {"attic": small_dataset.picture(9, noise), "stray": b"?"})
        words = ["--editor", method, "--inputs", degraded, "--clean", clean, "--about", inputs_table]
        done = invoke("import", folder, "--layout", "restored", *words, "--out", base / "runs" / method)
        assert "7 chains imported" in done.output
        assert "has the name of no degraded picture" in done.stderr
    invoke("build", base / "runs" / "sharp", base / "runs" / "dull", "--out", base / "dataset")
    invoke("score", base / "dataset", "--metrics", "psnr,ssim,piqe")
    return base / "dataset"


def test_methods_are_compared_only_over_clean_pictures(dataset):
    tables = compute_tables(read_analysis(Reader(dataset)))
    rows = {row["editor"]: row for row in tables["restoration_methods"].rows}
    assert rows["sharp"]["psnr"] > rows["dull"]["psnr"] + 5
    assert rows["sharp"]["best_in"].startswith("PSNR, SSIM")
    assert (rows["sharp"]["pictures"], rows["sharp"]["clean"], rows["sharp"]["prompt"]) == (7, 4, None)
    scenes = {(row["slice"], row["editor"]): row for row in tables["restoration_scenes"].rows}
    assert scenes["crowd", "sharp"]["clean"] == 3
    reader = Reader(dataset)
    attic = {chain.id for chain in reader.chains() if chain.source.title == "attic"}
    rows = [row for row in reader.rows("scores") if row["chain"] in attic]
    assert len(rows) == 2
    for row in rows:
        assert row["psnr"] is row["ssim"] is row["retained_rmse"] is None
        assert missing_values(row)["psnr"].code == "no_clean_picture"
        assert row["piqe"] > 0


def test_the_report_shows_typical_restored_pictures(dataset, tmp_path):
    spaces_app.report(dataset, tmp_path / "report")
    shown = compute_tables(read_analysis(Reader(dataset)))["restoration_pictures"].rows
    typical = {row["degradation"]: (row["of_pictures"], row["by"]) for row in shown}
    assert typical == {"motion-blur": (3, "psnr"), "old-film": (3, "psnr"), "old photo": (1, "piqe")}
    page = (tmp_path / "report" / "index.html").read_text()
    section = page.partition('id="restoration"')[2].partition("</section>")[0]
    strips = section.split('<div class="strip">')[1:]
    assert [strip.count("<img ") for strip in strips] == [3 + ("attic" not in strip) for strip in strips]
    assert sum("not known" in strip for strip in strips) == 1  # of the photograph without a clean one


def test_a_picture_that_was_not_restored_is_named(tmp_path):
    picture = small_dataset.picture(1)
    degraded = write(tmp_path / "degraded", {"a": picture, "b": picture})
    folder = write(tmp_path / "mine", {"a": picture})
    words = ["--layout", "restored", "--editor", "mine", "--inputs", degraded, "--out", tmp_path / "run"]
    done = invoke("import", folder, *words, "--json", code=1)
    assert "b.png" in json.loads(done.stdout.splitlines()[-1])["problems"][0]["where"]
    none = invoke("import", write(tmp_path / "other", {"x": picture}), *words, code=2)
    assert "has no picture with the name of a degraded one, such as a.png" in none.output
    assert "no --inputs given" in invoke("import", folder, "--layout", "restored", "--editor", "m", code=2).output


@pytest.mark.slow
def test_a_suites_own_pictures_keep_their_ids(tmp_path, monkeypatch):
    from convergebench.generation import suites

    values = {"title": "r", "version": "1", "short_side": 128, "rounds": 1, "runs": 1}
    values |= {"sources": ["painted-text~old-film"], "programs": ["restore-s1"]}
    restored = suites.from_values("restoration", values)
    monkeypatch.setattr(suites, "load", lambda name: restored)
    listed = ["list", "sources", "restoration", "--inputs", tmp_path / "degraded", "--out", tmp_path / "cache"]
    invoke(*listed)
    words = ["--layout", "restored", "--editor", "nothing", "--suite", "restoration"]
    invoke("import", tmp_path / "degraded", *words, "--out", tmp_path / "run")
    invoke("build", tmp_path / "run", "--out", tmp_path / "dataset")
    [chain] = Reader(tmp_path / "dataset").chains()
    assert chain.source == restored.source("painted-text~old-film")
    assert (chain.source.scene, chain.source.degradation, chain.short_side) == ("text", "old-film", 128)
    theirs = tmp_path / "degraded" / "painted-text~old-film.png"
    invoke(*listed)  # the same again
    theirs.write_bytes(b"theirs")
    assert f"{theirs} was not written by this benchmark" in invoke(*listed, code=2).output
    assert theirs.read_bytes() == b"theirs"
