"""Import layout `table`: other sizes, gaps, turns of other words each, hostile rows, and the page of columns."""

import csv
import io
import json
import os
import re
from pathlib import Path

import convergebench
import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.importing import layout_table
from convergebench.generation import store_reader
from convergebench.generation.records import UserError
from convergebench.spaces_app.reporting.write import read_analysis
from verbs import invoke

PAGE = (Path(__file__).parents[2] / "docs" / "import.md").read_text()
# Short sides of a 12-megapixel photograph's source and answers, a tenth of what editors send.
SIZES = {(400, 300): [(160, 120), (133, 100), (102, 77), (400, 300)], (64, 64): [(64, 64), (102, 102)]}


def write_table(folder, rows, name="table.csv", path="path"):
    """The rows as a table, with a picture for each path that has none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, row in enumerate(rows):
        if row.get(path) and not (folder / row[path]).exists():
            stores.write(folder / row[path], stores.picture(number))
    with (folder / name).open("w", newline="") as file:
        if name.endswith(".jsonl"):
            file.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
            writer.writeheader()
            writer.writerows(rows)
    return folder / name


def imported(path, out, **options):
    made = convergebench.import_chains(path, "table", "mine", out, **options)
    chains = store_reader.find_finished([out]).done.values()
    return made, {chain.chain.settings["case"]: chain for chain in chains}


ROWS = [
    {"case": "one", "n": 0, "file": "one.png", "words": "", "kind": "face"},
    {"case": "one", "n": 1, "file": "a.png", "words": "add", "latency": 1.5},
    {"case": "one", "n": 1, "file": "b.png", "words": "remove", "cost": 0.25},
    {"case": "one", "n": 2, "file": "", "words": "add", "status": "refused", "reason": "not that"},
    {"case": "two", "n": 1, "file": "a.png", "words": "add"},
    {"case": "three", "n": "x", "file": "a.png"},
]
COLUMNS = {"chain": "case", "round": "n", "path": "file", "instruction": "words"}


@pytest.fixture(params=["csv", "jsonl"])
def sheet(request, tmp_path):
    return write_table(tmp_path / "pictures", ROWS, f"table.{request.param}", "file")


def test_a_table_of_paths_becomes_chains_under_mapped_columns(sheet, tmp_path):
    made, chains = imported(sheet, tmp_path / "run", columns=COLUMNS)
    [one] = chains.values()
    assert (one.chain.editor, one.chain.source.kind, one.status) == ("mine", "face", "refused")
    assert one.chain.program.cycle == ("add", "remove")
    steps = store_reader.read_steps(one)
    placed = [(step.round, step.position, step.status) for step in steps[1:]]
    assert placed == [(1, 1, "ok"), (1, 2, "ok"), (2, 1, "refused")]
    assert (steps[1].latency, steps[2].cost, steps[3].reason) == (1.5, 0.25, "not that")
    assert [problem.reason for problem in made.problems] == [
        "round must be a whole number from 0 to 2147483647, got 'x'",
        "chain 'two' has 0 sources; exactly one row must have round 0, with a path",
    ]


def test_a_table_without_a_needed_column_is_refused(sheet, tmp_path):
    with pytest.raises(UserError, match=r"has no column 'chain' for chain; its columns are case, n, file"):
        list(layout_table.find_chains(sheet, "mine", {}))
    with pytest.raises(UserError, match="row 1 names no editor; pass --editor or map a column to editor"):
        list(layout_table.find_chains(sheet, None, COLUMNS))
    with pytest.raises(UserError, match="no column 'pathh' to map; the columns are chain, round, path"):
        list(layout_table.find_chains(sheet, "mine", {"pathh": "file"}))
    with pytest.raises(UserError, match="tabel"):
        convergebench.import_chains(sheet, "tabel", "mine")
    with pytest.raises(UserError, match=r"no such file: .*none.csv"):
        list(layout_table.find_chains(tmp_path / "none.csv", "mine", COLUMNS))


def test_answers_at_another_size_are_whole_chains_judged_at_that_size(tmp_path):
    rows, pairs = [], [(source, answer) for source, all in SIZES.items() for answer in all]
    for chain, (source, answer) in enumerate(pairs):
        for round in (0, 1, 2):
            name = f"{chain}-{round}.png"
            stores.write(tmp_path / "t" / name, stores.picture(chain, answer if round else source))
            rows.append({"chain": str(chain), "round": round, "path": name, "instruction": "copy it"})
    made, chains = imported(write_table(tmp_path / "t", rows), tmp_path / "run")
    assert [problem.is_note for problem in made.problems] == [True] * 3, "those below half"
    judged = [(chain.status, chain.chain.settings["short_side"]) for _, chain in sorted(chains.items())]
    assert judged == [("complete", side) for side in (120, 100, 77, 300, 64, 64)]


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
    assert convergebench.status(tmp_path / "run")["whole"]["done"] == 3
    assert convergebench.verify(tmp_path / "run") == []
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


# Tables of strangers


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"path": "../secret.png"}, "path must be inside the table's folder"),
        ({"path": "link.png"}, "path must be inside the table's folder"),
        ({"path": "a\0b.png"}, "path must be text"),
        ({"path": "1.png", "text": "\ud800"}, "text must be text"),
        ({"path": "1.png", "text": "x" * 200_000}, "text must be text of at most 100,000"),
        ({"path": "1.png", "round": 10**9}, "more than 100,000 answers"),
        ({"path": "1.png", "seed": -1}, "seed must be"),
        ({"path": "1.png", "run": 2**40}, "run must be"),
        ({"path": "1.png", "cost": -5}, "cost must be a number from 0"),
        ({"path": "1.png", "latency": float("nan")}, "latency must be a number from 0"),
        ({"path": "1.png", "round": [1]}, "round must be"),
        ({"path": "1.png", "status": "input"}, "one of these statuses: ok, shrunk"),
        ({"status": "shrunk"}, "the file is missing"),
        ({"path": "pipe.png"}, "not an ordinary file"),
        ({"path": "large.png"}, "a file of 1,000,000,000 bytes"),
    ],
)
def test_a_hostile_row_is_refused_and_the_rest_can_be_built(tmp_path, row, says):
    folder = tmp_path / "table"
    stores.write(tmp_path / "secret.png", stores.picture(9))
    whole = [{"chain": "good", "round": number, "path": f"{number}.png"} for number in (0, 1)]
    odd = [{"chain": "odd", "round": 0, "path": "0.png"}, {"chain": "odd", "round": 1, **row}]
    path = write_table(folder, whole, "table.jsonl")
    path.write_text(path.read_text() + "".join(json.dumps(row) + "\n" for row in odd))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(folder / "pipe.png")
    with (folder / "large.png").open("wb") as large:
        large.truncate(10**9)
    made, chains = imported(path, tmp_path / "run")
    assert any(says in problem.reason for problem in made.problems), made.problems
    assert not any("\n" in problem.reason for problem in made.problems)
    assert "good" in chains
    stores.built(tmp_path / "convergebench", tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("latin.csv", "chain,round,path\ncaf\xe9,0,0.png\n".encode("latin-1")),
        ("field.csv", b"chain,round,path\n" + b"x" * 200_000 + b",0,0.png\n"),
        ("deep.jsonl", b"[" * 200_000),
        ("deep.json", b"[" * 200_000),
        ("numbers.jsonl", b"1\n2\n"),
        ("longer.csv", b"chain,round,path\na,0,0.png,1,2\n"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=name) as caught:
        list(layout_table.find_chains(tmp_path / name, "mine", {}))
    assert "\n" not in str(caught.value)
