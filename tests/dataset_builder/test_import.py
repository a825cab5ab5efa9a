"""Chains made elsewhere become chains here, byte for byte, once, and with everything that could not be read said."""

import csv
import json
import os
from pathlib import Path

import datasets
import pytest
import stores
from benchmarks.verdicts.labelled import CHAINS
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.importing import chains as importing
from convergebench.dataset_builder.importing import layout_pairs, layout_table, layout_turns
from convergebench.dataset_builder.studies.published import published_scores
from convergebench.generation import store_reader
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.generation.records import UserError
from convergebench.metric_modules.psnr import measure as psnr
from convergebench.metric_modules.ssim import measure as ssim
from verbs import invoke


@pytest.fixture
def case(tmp_path):
    """One case of two rounds; its answers have three types, whatever their names say."""
    folder = tmp_path / "flux" / "portrait_01_glasses_add_remove"
    stores.write(folder / "I0_source.png", stores.picture(1))
    for number, (name, kind) in enumerate(
        [("I1_forward", "png"), ("I1_backward", "jpg"), ("I2_forward", "webp"), ("I2_backward", "png")]
    ):
        stores.write(folder / f"{name}.png", stores.picture(10 + number, kind=kind))
    return folder


def read(out):
    """Everything a store holds, read and checked as a build does it."""
    findings = store_reader.find_finished([out])
    for one in findings.done.values():
        store_reader.read_source(one)
        for step in store_reader.read_steps(one):
            store_reader.read_picture(one, step)
    return sorted(findings.done.values(), key=lambda one: one.order)


def from_pairs(path, out, **options):
    return importing.import_chains(layout_pairs.find_chains(path, "flux", **options), out)


def test_a_case_becomes_a_chain_with_its_bytes_and_true_types(case, tmp_path):
    made = from_pairs(case.parent, tmp_path / "run")
    assert (len(made.written), made.problems) == (1, [])
    (one,) = read(tmp_path / "run")
    assert (one.chain.editor, one.chain.rounds, one.status) == ("flux", 2, "complete")
    assert (one.chain.source.title, one.chain.source.kind) == ("portrait_01", "face")
    assert one.chain.program.id == "glasses_add_remove"
    steps = store_reader.read_steps(one)
    assert [step.type for step in steps] == ["png", "png", "jpg", "webp", "png"]
    assert [(step.round, step.position) for step in steps[1:]] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    names = ("I0_source", "I1_forward", "I1_backward", "I2_forward", "I2_backward")
    for step, name in zip(steps, names, strict=True):
        assert store_reader.read_picture(one, step) == (case / f"{name}.png").read_bytes()
    assert one.chain.settings["short_side"] == 16  # the reference's own
    assert one.chain.program.cycle[0] == "[forward of glasses_add_remove; the words were not recorded]"


def test_imported_twice_is_stored_once(case, tmp_path):
    first = from_pairs(case, tmp_path / "run")
    again = from_pairs(case.parent, tmp_path / "run")
    assert (again.written, again.already_there) == ([], first.written)
    stores.write(case / "I2_backward.png", stores.picture(99))
    other = from_pairs(case, tmp_path / "run")
    assert other.written != first.written
    assert len(read(tmp_path / "run")) == 2
    case.parent.rename(tmp_path / "elsewhere")
    assert from_pairs(tmp_path / "elsewhere", tmp_path / "other").written == other.written


def test_an_unreadable_answer_ends_its_chain_as_failed(case, tmp_path):
    (case / "I2_forward.png").write_bytes((case / "I2_forward.png").read_bytes()[:40])
    stores.write(case / "notes.txt", "mine")
    stores.write(case.parent / "empty" / "nothing.txt", "")
    made = from_pairs(case.parent, tmp_path / "run")
    listed = [(Path(problem.where).name, problem.reason.split(" (")[0]) for problem in made.problems]
    assert listed == [
        ("empty", "is not a case of this layout: it has no I0_source.png"),
        ("notes.txt", "is not a part of this layout"),
        ("I2_forward.png", "a webp that cannot be decoded"),
        (case.name, "1 answers after step 3"),
    ]
    (one,) = read(tmp_path / "run")
    assert [step.status for step in store_reader.read_steps(one)] == ["input", "ok", "ok", "failed"]
    assert (one.status, one.chain.rounds) == ("failed", 2)


def test_a_missing_answer_and_a_broken_source_are_listed(case, tmp_path):
    (case / "I1_backward.png").unlink()
    broken = case.parent / "scene_02_ball_add_remove"
    stores.write(broken / "I0_source.png", b"no picture")
    stores.write(broken / "I1_forward.png", stores.picture(4))
    made = from_pairs(case.parent, tmp_path / "run")
    assert [(problem.reason, problem.is_note) for problem in made.problems] == [
        ("1 of 4 answers are not published; those steps are not measured", True),
        ("the source cannot be read: 10 bytes that are not a picture", False),
    ]
    (one,) = read(tmp_path / "run")
    assert (one.status, one.calls) == ("complete", 4)
    assert [step.status for step in store_reader.read_steps(one)] == ["input", "ok", "unpublished", "ok", "ok"]


def test_an_answer_below_half_the_size_ends_the_chain_as_shrunk(case, tmp_path):
    stores.write(case / "I2_forward.png", stores.picture(5, (12, 7)))
    made = from_pairs(case, tmp_path / "run")
    (one,) = read(tmp_path / "run")
    assert one.status == "shrunk"
    assert [problem.reason for problem in made.problems] == ["1 answers after step 3 (shrunk) are left out"]
    stores.write(case / "I1000000000_forward.png", stores.picture(1))
    assert "more than 100,000 answers" in from_pairs(case, tmp_path / "other").problems[0].reason


def test_folders_that_are_something_else_are_left_alone(case, tmp_path):
    with pytest.raises(UserError, match=r"holds no case; give one editor's folder, such as .*flux"):
        from_pairs(tmp_path, tmp_path / "run")
    stores.write(tmp_path / "mine" / "letter.txt", "dear")
    with pytest.raises(UserError, match=r"holds 'letter.txt' but no run"):
        from_pairs(case, tmp_path / "mine")
    stores.keep(tmp_path / "generated", stores.chain())
    with pytest.raises(UserError, match="holds another run"):
        from_pairs(case, tmp_path / "generated")


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
    for number, name in enumerate(("one", "a", "b")):
        stores.write(tmp_path / "pictures" / f"{name}.png", stores.picture(number))
    path = tmp_path / "pictures" / f"table.{request.param}"
    if request.param == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        with path.open("w", newline="") as file:
            names = list(dict.fromkeys(name for row in ROWS for name in row))
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(ROWS)
    return path


def test_a_table_of_paths_becomes_chains_under_mapped_columns(sheet, tmp_path):
    made = importing.import_chains(layout_table.find_chains(sheet, "mine", COLUMNS), tmp_path / "run")
    (one,) = read(tmp_path / "run")
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
    with pytest.raises(UserError, match=r"no such file: .*none.csv"):
        list(layout_table.find_chains(tmp_path / "none.csv", "mine", COLUMNS))


def test_a_turn_without_an_answer_is_a_gap(tmp_path):
    data = [{"bytes": stores.picture(number), "path": None} for number in range(3)]
    values = {
        "image": data[:1],
        "turn_1_image": [None],
        "turn_2_image": data[2:],
        "turn_1_prompt": ["make it red"],
    }
    features = {name: datasets.Value("string") if "prompt" in name else datasets.Image() for name in values}
    folder = str(tmp_path / "there")
    datasets.Dataset.from_dict(values, datasets.Features(features)).to_parquet(f"{folder}/test.parquet")
    findings = layout_turns.find_chains(folder, "mine", "image", ["turn_1_image", "turn_2_image"])
    made = importing.import_chains(findings, tmp_path / "run")
    [one] = read(tmp_path / "run")
    assert (one.status, one.chain.program.closes) == ("complete", False)
    assert [problem.is_note for problem in made.problems] == [True]
    with pytest.raises(UserError, match=r"has no column 'turn_9_image'; its columns are image, turn_1_image"):
        list(layout_turns.find_chains(folder, "mine", "image", ["turn_9_image"]))


NAMED = {"forward": "Add glasses", "backward": "Remove them"}
RESULT = {
    "image_filename": "portrait_01.jpg",
    "edit_pair_name": "glasses_add_remove",
    "edit_category": "accessories",
}
RESULT |= {"forward_prompt": "Add glasses", "backward_prompt": "Remove them"}


@pytest.mark.parametrize(
    "prompts",
    [
        [NAMED | {"name": "glasses_add_remove", "category": "accessories"}],
        {"metadata": {"model": "x"}, "evaluations": [RESULT]},
        {"glasses_add_remove": NAMED | {"category": "accessories"}},
        {
            "gpt": {"portrait_01_glasses_add_remove": {"forward": "other", "backward": "words"}},
            "flux": {"portrait_01_glasses_add_remove": NAMED | {"category": "accessories", "small": True}},
        },
    ],
    ids=["pairs", "results", "by name", "at any depth"],
)
def test_prompts_of_that_repository_are_read_in_every_form(case, tmp_path, prompts):
    stores.write(tmp_path / "p.json", json.dumps(prompts))
    from_pairs(case, tmp_path / "run", prompts=tmp_path / "p.json")
    (one,) = read(tmp_path / "run")
    program = one.chain.program
    assert program.cycle == ("Add glasses", "Remove them")
    assert (program.category, program.small) == ("accessories", True)


def test_what_covers_little_is_known_by_its_words():
    little = ("Add glasses to the person", "put earrings on her", "add a ring")
    much = ("add two glasses of wine", "add a hat", "bring a red ball", "they watch a boat")
    for words in (*little, *much):
        assert importing.imported_program("p", [words, "undo it"], {}).small == (words in little), words


@pytest.mark.parametrize(
    "prompts",
    [
        {"glasses_add_remove": {"add": "Add glasses", "remove": "Remove them"}},
        {"glasses_add_remove": NAMED | {"backward": None}},
        {"hat_add_remove": NAMED},
        ["Add glasses"],
        *({"glasses_add_remove": NAMED | {"shows": value}} for value in (0.5, {}, ["a"], None, "\ud800")),
    ],
)
def test_prompts_of_another_form_are_refused(case, tmp_path, prompts):
    stores.write(tmp_path / "p.json", json.dumps(prompts))
    with pytest.raises(UserError, match=r'must be (\{"NAME": \{"forward": "Add \.\.\."|a text)'):
        from_pairs(case, tmp_path / "run", prompts=tmp_path / "p.json")


def test_importing_again_with_better_words_replaces_the_chain(case, tmp_path):
    first = from_pairs(case, tmp_path / "run")
    stores.write(
        tmp_path / "p.json", json.dumps({case.name: {"forward": "Add glasses", "backward": "Remove them"}})
    )
    second = from_pairs(case, tmp_path / "run", prompts=tmp_path / "p.json")
    assert (second.replaced, len(second.written)) == (first.written, 1)
    (one,) = read(tmp_path / "run")
    assert one.chain.program.cycle == ("Add glasses", "Remove them")
    assert from_pairs(case, tmp_path / "run", prompts=tmp_path / "p.json").replaced == []
    stores.built(tmp_path / "convergebench", tmp_path / "run")


def test_originals_give_all_editors_one_step_0(case, tmp_path):
    other = tmp_path / "gemini" / case.name
    other.mkdir(parents=True)
    for path in case.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    stores.write(other / "I0_source.png", stores.picture(1, kind="jpg"))
    stores.write(tmp_path / "originals" / "portrait_01.png", stores.picture(1))
    originals = importing.find_pictures(tmp_path / "originals")
    for folder in (case, other):
        findings = layout_pairs.find_chains(folder, folder.parent.name)
        importing.import_chains(findings, tmp_path / "run", originals=originals)
    done = read(tmp_path / "run")
    assert len(done) == 2
    assert len({one.chain.source.id for one in done}) == 1
    inputs = {store_reader.read_picture(one, store_reader.read_steps(one)[0]) for one in done}
    assert inputs == {stores.picture(1)}
    made = importing.import_chains(layout_pairs.find_chains(case, "flux"), tmp_path / "no", originals={})
    assert "there is no original 'portrait_01'; the originals are none" in made.problems[0].reason


def test_the_command_says_what_it_could_not_import_and_fails(case, tmp_path):
    out = ["--layout", "edit-converge-bench", "--editor", "flux", "--out", str(tmp_path / "run")]
    done = invoke("import", case.parent, *out, "--json")
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["made"]) == 1
    stores.write(case.parent / "README.txt", "mine")
    done = invoke("import", case.parent, *out)
    assert done.exit_code == 0, "all that is a case came in"
    assert "README.txt: is not a case of this layout" in done.stderr
    (case / "I1_forward.png").write_bytes(b"no picture")
    done = invoke("import", case.parent, *out)
    assert done.exit_code == 1
    assert "I1_forward.png: 10 bytes that are not a picture" in done.stderr


@pytest.mark.skipif(not CHAINS.is_dir(), reason="the real chains are not beside the checkout")
def test_real_chains_score_as_they_were_published(tmp_path):
    table, editor = CHAINS / "published_scores.json", "flux-kontext-dev"
    findings = layout_pairs.find_chains(CHAINS / editor, editor, table)
    assert importing.import_chains(findings, tmp_path / "run").problems == []
    reader = Reader(stores.built(tmp_path / "out", tmp_path / "run"))
    assert invoke("score", tmp_path / "out", "--metrics", "psnr").exit_code == 0
    columns = {"editor": "level_1", "case": "level_2", "clip": "clip_similarity"}
    made = published_scores.import_scores(table, tmp_path / "out", columns, signature="uniform 7x7, Lanczos")
    assert (made["rows"], made["matched"]) == (72, 36)
    for row in filter(lambda row: row["editor"] == editor, Reader(tmp_path / "out").rows("published")):
        steps = (0, 2 * row["round"])
        source, answer = (decode_array(reader.picture(row["chain"], step)) for step in steps)
        answer = resize_to(answer, *source.shape[1::-1])
        assert psnr.psnr_and_rmse(source, answer)["psnr"] == pytest.approx(row["psnr"], abs=1e-6)
        assert ssim.ssim(ssim.reference(source, "uniform7"), answer) == pytest.approx(row["ssim"], abs=1e-6)


def table(folder, rows):
    """A table with a whole chain, and these rows beside it."""
    whole = [{"chain": "good", "round": number, "path": f"{number}.png"} for number in (0, 1)]
    for number in (0, 1):
        stores.write(folder / f"{number}.png", stores.picture(number))
    stores.write(folder / "table.jsonl", "".join(json.dumps(row) + "\n" for row in [*whole, *rows]))
    return folder / "table.jsonl"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"path": "../secret.png"}, "path must be inside the table's folder"),
        ({"path": "/etc/hostname"}, "path must be inside the table's folder"),
        ({"path": "link.png"}, "path must be inside the table's folder"),
        ({"path": "a\0b.png"}, "path must be text"),
        ({"path": "1.png", "text": "\ud800"}, "text must be text"),
        ({"path": "1.png", "text": "x" * 200_000}, "text must be text of at most 100,000"),
        ({"path": "1.png", "round": 10**9}, "more than 100,000 answers"),
        ({"path": "1.png", "position": 10**9}, "more than 100,000 answers"),
        ({"path": "1.png", "round": 10**30}, "round must be"),
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
    path = table(folder, [{"chain": "odd", "round": 0, "path": "0.png"}, {"chain": "odd", "round": 1, **row}])
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(folder / "pipe.png")
    with (folder / "large.png").open("wb") as large:
        large.truncate(10**9)
    made = importing.import_chains(layout_table.find_chains(path, "mine", {}), tmp_path / "run")
    assert any(says in problem.reason for problem in made.problems), made.problems
    assert not any("\n" in problem.reason for problem in made.problems)
    assert any(one.chain.settings["case"] == "good" for one in read(tmp_path / "run"))
    stores.built(tmp_path / "convergebench", tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("latin.csv", "chain,round,path\ncaf\xe9,0,0.png\n".encode("latin-1")),
        ("wide.csv", "chain,round,path\n".encode("utf-16")),
        ("wide.jsonl", '{"chain": 1}\n'.encode("utf-16")),
        ("field.csv", b"chain,round,path\n" + b"x" * 200_000 + b",0,0.png\n"),
        ("deep.jsonl", b"[" * 200_000),
        ("deep.json", b"[" * 200_000),
        ("numbers.jsonl", b"1\n2\n"),
        ("object.json", b"{}"),
        ("longer.csv", b"chain,round,path\na,0,0.png,1,2\n"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=name) as caught:
        list(layout_table.find_chains(tmp_path / name, "mine", {}))
    assert "\n" not in str(caught.value)
