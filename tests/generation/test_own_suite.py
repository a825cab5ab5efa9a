"""One's own pictures and programs, from a folder and a TOML file to the dataset; and what fits an amount of money."""

import json
import shutil
from collections import Counter
from pathlib import Path

import datasets
import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.publishing import verify
from convergebench.generation import plan, programs, suites
from convergebench.generation.plan import case_of
from convergebench.generation.records import UserError
from convergebench.generation.reversibility import classify
from PIL import Image
from verbs import invoke

MINE = """
rounds = 2
short_side = 96
pictures = "shots"
programs = ["logo", "red-ball", "flip-horizontally"]
editors = ["oracle", "identity"]

[[picture]]
file = "mug.png"
kind = "object"
licence = "CC0-1.0"
attribution = "me"
unfit = ["logo"]

[[picture]]
file = "Two words.png"
kind = "object"

[[program]]
id = "logo"
cycle = ["add a yellow umbrella", "remove the yellow umbrella"]
shows = "a yellow umbrella"
fits = ["object", "scene"]
"""


@pytest.fixture
def folder(tmp_path):
    """Three pictures, one of them in a folder that says its kind."""
    for name, seed in (("mug.png", 1), ("Two words.png", 2), ("scene/yard.jpg", 3)):
        stores.write(tmp_path / "shots" / name, stores.picture(seed, (160, 120), name[-3:]))
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path


def test_a_smaller_banana100_keeps_seeds_and_resolutions(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "banana100.md").read_text()
    (tmp_path / "small.toml").write_text(page.split("```toml\n")[1].split("```")[0])
    made = plan.make_plan(suites.load(str(tmp_path / "small.toml")))
    options = ("seed", "temperature", "resolution")
    assert Counter(tuple(map(chain.settings.get, options)) for chain in made.chains) == {
        ("per-step", None, "2K"): 2,  # a copy and an addition
        ("fixed", None, "2K"): 1,
        ("per-step", 0.0, "2K"): 1,
        ("per-step", None, "1K/2K/4K"): 1,
    }
    assert {chain.calls for chain in made.chains} == {10}


@pytest.mark.parametrize(
    ("cycle", "name"),
    [
        ('["remove the dog", "put the dog back"]', "destroys information"),
        ('["make the apple green", "make the apple red"]', "partial"),
        ('["turn the whole picture black", "undo that"]', "destroys information"),
        ('["make it nicer", "make it as before"]', "partial"),
    ],
)
def test_words_say_how_reversible_a_program_is(folder, cycle, name):
    before = '["add a yellow umbrella", "remove the yellow umbrella"]'
    (folder / "mine.toml").write_text(MINE.replace(before, cycle))
    suite = suites.load(str(folder / "mine.toml"))
    program = suite.program("logo")
    assert (program.cycle, program.reversibility) == (tuple(json.loads(cycle)), name)
    warned = plan.warnings(plan.make_plan(suite))
    assert any("'logo' is unsure" in sentence for sentence in warned) == ("nicer" in cycle)


def test_words_agree_with_people_on_the_shipped_programs():
    classed = [program for program in programs.load().values() if program.category != "out and back"]
    wrong = [one.id for one in classed if classify(one.cycle, one.closes)[0] != one.reversibility]
    assert (len(classed), wrong) == (65, [])


def test_a_licence_is_asked_for_before_pictures_are_published(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert invoke("generate", "--suite", "mine.toml", "--editor", "identity", "--rounds", 1).exit_code == 0
    assert invoke("build", "runs/mine", "--out", "set").exit_code == 0
    with pytest.raises(UserError, match="no known licence; `build --licence` says it"):
        verify.check_publishable(folder / "set")
    invoke("build", "runs/mine", "--out", "set", "--licence", "CC-BY-4.0", "--attribution", "A. Body")
    verify.check_publishable(folder / "set")
    rows = {row["source"]: row for row in Reader(folder / "set").table("sources").to_pylist()}
    assert (rows["mug"]["licence"], rows["yard"]["licence"]) == ("CC0-1.0", "CC-BY-4.0")
    assert rows["yard"]["kind"] == "scene"
    cases = {(chain.source.id, chain.program.id) for chain in Reader(folder / "set").chains()}
    assert cases > {("yard", "logo"), ("mug", "red-ball")}
    assert ("mug", "logo") not in cases


def test_a_shipped_suite_runs_on_the_pictures_of_a_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    told = invoke("plan", "--suite", "demo", "--pictures", "shots", "--pictures-kind", "scene", "--json")
    assert json.loads(told.stdout)["suite"] == "demo-shots"
    made = plan.make_plan(suites.load("demo", folder / "shots", "scene"), ["identity"])
    assert {chain.source.id for chain in made.chains} == {"mug", "two-words", "yard"}
    assert {"red-ball", "chair-left"} <= {chain.program.id for chain in made.chains}
    assert not plan.warnings(made)
    assert not plan.warnings(plan.make_plan(suites.load("demo-exact"), ["identity"]))  # its scenes are drawn
    two = plan.make_plan(suites.load("demo", folder / "shots", "scene"), ["identity"], sources=["mug", "yard"])
    assert [sentence[-16:] for sentence in plan.warnings(two)] == [" give at least 3"]
    with pytest.raises(UserError, match="has no kind"):
        suites.load("demo", folder / "shots")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("rounds = 2", "round = 2"), "has no field round"),
        (('file = "mug.png"', 'file = "cup.png"'), "'cup.png'; it must be one of Two words.png"),
        (('kind = "object"', 'kind = "mug"'), "no kind 'mug'"),
        (('kind = "object"', 'colour = "red"'), "picture 'mug.png' has no field colour"),
        (('id = "logo"', 'id = "hat"'), "program 'hat' has the name of a shipped one"),
        (('id = "logo"\ncycle', 'id = "logo"\nsteps'), "program 'logo' has no field steps; its fields are id"),
        (('"red-ball"', '"red-balls"'), "no program 'red-balls'"),
        (('pictures = "shots"', 'pictures = "shoots"'), "no such folder"),
        (('pictures = "shots"', f'pictures = "{"x" * 400}"'), "cannot be read: File name too long"),
        (('pictures = "shots"', ""), "it also needs pictures"),
        (("rounds = 2", "rounds = "), "is not TOML"),
        (("rounds = 2", 'rounds = "2"'), "has '2' for rounds, which must be a whole number"),
        (("rounds = 2", "rounds = 0"), "rounds of suite 'mine' must be a whole number from 1, got 0"),
        (("rounds = 2", "steps = 0"), "steps of suite 'mine' must be a whole number from 1, got 0"),
        (('pictures = "shots"', "pictures = 3"), "has 3 for pictures; it must be the name of a folder"),
        (('unfit = ["logo"]', "unfit = 5"), "has '5' for unfit, which must be a list"),
        (("[[program]]", "[program]"), "needs tables for program"),
        (("[[program]]", '[variants]\nname = "x"\n[[program]]'), "needs tables for variants"),
        (
            ("[[program]]", '[[variants]]\nname = "x"\nsedd = 1\n[[program]]'),
            "variant 'x' of suite 'mine' has no",
        ),
        (("[[program]]", '[[program]]\nid = "logo"\ncycle = ["hat"]\n[[program]]'), "'logo' is given twice"),
    ],
)
def test_what_is_wrong_with_a_file_of_ones_own_is_one_sentence(folder, change, words):
    (folder / "mine.toml").write_text(MINE.replace(*change))
    with pytest.raises(UserError, match=words):
        suites.load(str(folder / "mine.toml"))


def test_a_name_that_is_taken_or_given_twice_is_refused(folder):
    shutil.copy(folder / "mine.toml", folder / "demo.toml")
    with pytest.raises(UserError, match="name of a shipped suite"):
        suites.load(str(folder / "demo.toml"))
    shutil.copy(folder / "shots" / "mug.png", folder / "shots" / "Mug.jpg")
    with pytest.raises(UserError, match="picture 'mug' is given twice"):
        suites.load("demo", folder / "shots", "object")
    (folder / "shots" / "Mug.jpg").rename(folder / "shots" / "coffee.jpg")
    with pytest.raises(UserError, match="picture 'coffee' has the name of a shipped one"):
        suites.load("demo", folder / "shots", "object")


def test_what_fits_an_amount_of_money_is_what_limit_takes():
    whole = plan.make_plan(suites.load("v1-mini"), ["bfl:model=flux-kontext-pro"])
    cases, of, dollars = plan.what_fits(whole, 25)
    assert 0 < cases < of == len({case_of(chain) for chain in whole.chains})
    few = plan.make_plan(suites.load("v1-mini"), ["bfl:model=flux-kontext-pro"], limit=cases)
    assert plan.summary(few)[0]["dollars"] == pytest.approx(dollars, abs=0.01)
    told = invoke("plan", "--suite", "v1-mini", "--editor", "bfl:model=flux-kontext-pro", "--max-cost", 25)
    assert f"--limit {cases} fits $25: {cases} of {of} cases" in told.stdout
    for amount in (float("nan"), float("inf"), -1.0):
        with pytest.raises(UserError, match="--max-cost must be a number of US dollars from 0"):
            plan.what_fits(whole, amount)


def test_collected_pictures_record_licence_hash_and_intent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in range(6):
        for kind in ("scene", "object")[: 1 + (place < 2)]:
            path = tmp_path / "found" / kind / f"Picture {place}.png"
            stores.write(path, stores.picture(place + 6 * (kind == "object"), (64, 48)))
    (tmp_path / "found" / "scene" / "broken.txt").write_text("no picture")
    words = ["sources", "add", "found", "--out", "mine", "--limit", 20]
    words += ["--licence", "CC0-1.0", "--intent", "sell it"]
    assert json.loads(invoke(*words, "--json").stdout) == {"scene": 4, "object": 2}
    assert json.loads(invoke(*words, "--json").stdout) == {"scene": 4, "object": 2}  # nothing twice
    suite = suites.load("mine/mine.toml")
    rows = suite.own_pictures
    assert {row.licence for row in rows.values()} == {"CC0-1.0"}
    assert {row.intent for row in rows.values()} == {"sell it"}
    assert len({row.sha256 for row in rows.values()}) == 6 == len(plan.make_plan(suite, ["identity"]).chains)
    some = next(iter(rows.values()))
    Image.new("RGB", (64, 48)).save(some.path)
    with pytest.raises(UserError, match="its hash is another"):
        suites.load("mine/mine.toml")


def test_pictures_are_collected_from_a_dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pictures = [Image.new("RGB", (32, 32), colour) for colour in ("navy", "teal", "olive")]
    columns = {"photo": pictures, "what": ["face", "face", "text"]}
    columns["number"] = [7, 8, 9]
    kinds = {"what": datasets.Value("string"), "number": datasets.Value("int64")}
    features = datasets.Features({"photo": datasets.Image(), **kinds})
    datasets.Dataset.from_dict(columns, features).to_parquet(tmp_path / "theirs" / "train.parquet")
    words = ["theirs", "--column", "image=photo", "--column"]
    done = invoke("sources", "add", *words, "kind=what", "--out", "mine", "--json")
    assert json.loads(done.stdout) == {"face": 2, "text": 1}
    assert {row.kind for row in suites.load("mine/mine.toml").own_pictures.values()} == {"face", "text"}

    refused = {
        ("theirs", "--column", "image=photo"): "give --kind",
        ("theirs",): "theirs has no column 'image', but photo, what, number; give --column image=COLUMN",
        (*words, "sort=what"): "no field 'sort'",
        ("./photos",): "./photos is neither a folder nor a dataset that can be opened",
    }
    for given, reason in refused.items():
        done = invoke("sources", "add", *given, "--out", "other")
        assert (done.exit_code, reason in done.stderr) == (2, True), done.output
    words += ["title=number", "--kind", "scene", "--limit", 10, "--out", "two", "--json"]
    assert json.loads(invoke("sources", "add", *words).stdout) == {"scene": 2}
    assert {row.title for row in suites.load("two/two.toml").own_pictures.values()} == {"7", "8"}
