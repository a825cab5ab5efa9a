"""Chains made elsewhere become chains here, byte for byte, once, and with everything that could not be read said."""

import json
import shutil
from pathlib import Path

import datasets
import pytest
import stores
from benchmarks.verdicts.labelled import CHAINS
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.importing import chains as importing
from convergebench.dataset_builder.importing import layout_pairs, layout_turns
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
    assert [problem.is_note for problem in made.problems] == [True, True, False, False]
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
        {
            "gpt": {"portrait_01_glasses_add_remove": {"forward": "other", "backward": "words"}},
            "flux": {"portrait_01_glasses_add_remove": NAMED | {"category": "accessories", "small": True}},
        },
    ],
    ids=["pairs", "results", "at any depth"],
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
    stores.write(tmp_path / "p.json", json.dumps({case.name: NAMED}))
    second = from_pairs(case, tmp_path / "run", prompts=tmp_path / "p.json")
    assert (second.replaced, len(second.written)) == (first.written, 1)
    (one,) = read(tmp_path / "run")
    assert one.chain.program.cycle == ("Add glasses", "Remove them")
    assert from_pairs(case, tmp_path / "run", prompts=tmp_path / "p.json").replaced == []
    stores.built(tmp_path / "convergebench", tmp_path / "run")


def test_originals_give_all_editors_one_step_0(case, tmp_path):
    other = shutil.copytree(case, tmp_path / "gemini" / case.name)
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
