"""Chains as people publish them: other sizes, gaps, turns of other words each, and the page of columns."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.importing import chains as importing
from convergebench.dataset_builder.importing import layout_table
from convergebench.generation import store_reader
from convergebench.spaces_app.reporting.write import read_analysis
from PIL import Image
from verbs import invoke

PAGE = (Path(__file__).parents[2] / "docs" / "import.md").read_text()
# Short sides of a 12-megapixel photograph's source and answers, a tenth of what editors send.
SIZES = {(400, 300): [(160, 120), (133, 100), (102, 77), (400, 300)], (64, 64): [(64, 64), (102, 102)]}


def write_table(folder, rows):
    """The rows as table.csv, with a picture for each path that has none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, row in enumerate(rows):
        if row.get("path") and not (folder / row["path"]).exists():
            stores.write(folder / row["path"], stores.picture(number))
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return folder / "table.csv"


def imported(path, out, **options):
    made = importing.import_chains(layout_table.find_chains(path, "mine", {}, **options), out)
    chains = store_reader.find_finished([out]).done.values()
    return made, {chain.chain.settings["case"]: chain for chain in chains}


def smooth(size, seed):
    buffer = io.BytesIO()
    picture = Image.open(io.BytesIO(stores.picture(seed, (8, 6))))
    picture.resize(size, Image.Resampling.BICUBIC).save(buffer, "PNG")
    return buffer.getvalue()


def test_24_answers_at_another_size_are_24_judged_answers(tmp_path):
    rows, answers = [], [(source, answer) for source, all in SIZES.items() for answer in all] * 2
    for chain, (source, answer) in enumerate(answers):
        for round in (0, 1, 2):
            name = f"{chain}-{round}.png"
            stores.write(tmp_path / "t" / name, smooth(answer if round else source, seed=chain))
            rows.append({"chain": str(chain), "round": round, "path": name, "instruction": "copy it"})
    made, chains = imported(write_table(tmp_path / "t", rows), tmp_path / "run")
    assert {chain.status for chain in chains.values()} == {"complete"}
    assert sum(problem.is_note for problem in made.problems) == len(made.problems) == 6, "those below half"
    stores.built(tmp_path / "data", tmp_path / "run")
    assert invoke("score", tmp_path / "data", "--metrics", "psnr,ssim").exit_code == 0
    scores = Reader(tmp_path / "data").table("scores").to_pylist()
    assert len([row for row in scores if row["status"] == "ok" and row["ssim"] > 0.5]) == 24
    sizes = {json.loads(row["signature"])["engine"]["size"] for row in scores}
    assert {"160x120", "133x100", "103x77"} <= sizes, "judged at the answer's size"


def test_an_editor_that_shrinks_its_own_answers_is_still_shrunk(tmp_path):
    rows = [{"chain": "a", "round": number, "path": f"{number}.png"} for number in range(4)]
    for number, size in enumerate([(400, 300), (160, 120), (90, 68), (70, 50)]):
        stores.write(tmp_path / "t" / f"{number}.png", stores.picture(number, size))
    _, chains = imported(write_table(tmp_path / "t", rows), tmp_path / "run")
    assert (chains["a"].status, chains["a"].chain.settings["short_side"]) == ("shrunk", 120)


def test_a_gap_is_not_measured_and_a_later_good_round_keeps_it(tmp_path):
    rows = [{"chain": name, "round": number, "path": f"{name}.png", "instruction": "copy it"}
            for name in ("a", "b", "c") for number in (0, 1, 2, 5)]  # fmt: skip
    made, chains = imported(write_table(tmp_path / "t", rows), tmp_path / "run")
    assert [problem.is_note for problem in made.problems] == [True] * 3
    assert (chains["a"].status, chains["a"].rounds) == ("complete", 5)
    stores.built(tmp_path / "data", tmp_path / "run")
    assert invoke("score", tmp_path / "data", "--metrics", "psnr,ssim").exit_code == 0
    rows = Reader(tmp_path / "data").table("scores").to_pylist()
    assert {row["psnr"] for row in rows if row["round"] in (3, 4)} == {None}
    analysis = read_analysis(Reader(tmp_path / "data"))
    outcomes = [one for editors in analysis.outcomes.values() for all in editors.values() for one in all]
    assert [(one.kept, one.lost_at, one.failed) for one in outcomes] == [(5, None, False)] * 3


def test_turns_are_not_judged_by_the_first_instruction(tmp_path):
    words = ["", "add a hat", "make it blue", "add a scarf"]
    rows = [{"chain": "a", "round": n, "path": f"{n}.png", "instruction": word} for n, word in enumerate(words)]
    path = write_table(tmp_path / "t", rows)
    made, chains = imported(path, tmp_path / "turns")
    program = chains["a"].chain.program
    assert (program.cycle, program.closes, chains["a"].rounds) == (tuple(words[1:]), False, 1)
    assert [problem.is_note for problem in made.problems] == [True]
    made, chains = imported(path, tmp_path / "copies", closes=True)
    assert (chains["a"].chain.program.cycle, chains["a"].rounds) == (("add a hat",), 3)
    assert "is judged by the instructions of round 1; those of round 2 differ" in made.problems[0].reason


def test_the_table_says_what_a_program_shows_and_covers(tmp_path):
    said = {"shows": "a hat on the head", "small": "no", "kind": "face", "category": "clothes"}
    rows = [{"chain": "a", "round": 0, "path": "0.png", **said},
            {"chain": "a", "round": 1, "path": "1.png", "instruction": "put on glasses"}]  # fmt: skip
    _, chains = imported(write_table(tmp_path / "t", rows), tmp_path / "run")
    program = chains["a"].chain.program
    assert (program.shows, program.small, program.category) == ("a hat on the head", False, "clothes")
    assert chains["a"].source.kind == "face"
    made, _ = imported(write_table(tmp_path / "u", [rows[0] | {"small": "perhaps"}, rows[1]]), tmp_path / "other")
    assert "small must be true or false" in made.problems[0].reason


@pytest.mark.parametrize(
    ("title", "cycle", "closes", "rounds"),
    [
        ("Round trips", ("add a hat", "remove the hat"), True, 2),
        ("Turns", ("add a hat", "make the hat blue", "add a scarf"), False, 1),
        ("Copies", ("Produce an exact replica of the provided image.",), True, 5),
    ],
)
def test_the_examples_of_the_page_are_imported(tmp_path, title, cycle, closes, rounds):
    [example] = re.findall(r"```csv\n(.*?)```", PAGE.split(f"### {title}\n")[1].split("\n##")[0], re.DOTALL)
    path = write_table(tmp_path / "t", list(csv.DictReader(io.StringIO(example))))
    path.write_text(example)
    options = {"closes": False} if title == "Turns" else {}
    made, chains = imported(path, tmp_path / "run", **options)
    assert all(problem.is_note for problem in made.problems), made.problems
    [chain] = chains.values()
    program = chain.chain.program
    assert (program.cycle, program.closes, chain.rounds) == (cycle, closes, rounds)
