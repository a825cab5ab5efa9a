"""The manifest is complete and honest, and its pictures are the ones it means."""

import importlib.util
import itertools
from collections import Counter
from pathlib import Path

import numpy
import pytest
from convergebench.generation import pictures, programs, suites
from convergebench.generation.records import KINDS, ORIGINS, UserError
from convergebench.generation.sources import catalogue
from PIL import Image
from scipy.fft import dctn

HOUSE = Path(__file__).parents[2]
V1 = [catalogue.row(id) for id in suites.load("v1").sources]
HERE = [row for row in catalogue.manifest().values() if row.package in ("installed:scikit-image", "painted")]
SMALL = [row for row in HERE if row.width * row.height <= 2**21]


def contact_sheets():
    spec = importlib.util.spec_from_file_location("contact_sheets", HOUSE / "docs" / "contact_sheets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def thumbnails() -> dict[str, Image.Image]:
    """Every picture of v1 as docs/ shows it."""
    drawn = contact_sheets()
    found = {}
    for kind in ("face", "object", "scene", "texture"):
        page = Image.open(HOUSE / "docs" / f"sources-{kind}.webp").convert("RGB")
        for index, row in enumerate(row for row in V1 if row.kind == kind):
            left, top = index % drawn.COLUMNS * drawn.CELL, index // drawn.COLUMNS * (drawn.CELL + drawn.LINE)
            small = Image.new("L", (row.width, row.height))
            small.thumbnail((drawn.CELL - 4, drawn.CELL - 4))
            left, top = left + (drawn.CELL - small.width) // 2, top + (drawn.CELL - small.height) // 2
            found[row.id] = page.crop((left, top, left + small.width, top + small.height))
    return found


def perceptual_hash(picture: Image.Image) -> numpy.ndarray:
    """63 signs of the lowest cosines, as two pictures of one thing share them."""
    grey = numpy.asarray(picture.convert("L").resize((32, 32), Image.Resampling.LANCZOS), float)
    low = dctn(grey)[:8, :8].ravel()[1:]
    return low > numpy.median(low)


def test_v1_has_a_hundred_pictures_in_the_promised_shares():
    assert len(V1) == len({row.id for row in V1}) == len({row.cropped or row.sha256 for row in V1}) == 100
    kinds, origins = Counter(row.kind for row in V1), Counter(row.origin for row in V1)
    assert kinds["face"] >= 30
    assert kinds["object"] >= 30
    assert kinds["scene"] >= 30
    assert kinds["texture"] >= 10
    assert min(origins["real"], origins["synthetic"]) >= 40


@pytest.mark.parametrize("row", catalogue.manifest().values(), ids=lambda row: row.id)
def test_every_row_of_the_manifest_is_complete(row):
    assert row.kind in KINDS
    assert row.origin in ORIGINS
    assert row.licence in catalogue._LICENCES
    assert row.attribution.strip()
    assert row.intent.strip()
    assert row.title.strip()
    assert len(row.sha256) == 64
    assert bool(row.crop) == bool(row.cropped)
    assert set(row.unfit) <= set(programs.load())
    if row.crop:
        assert row.crop[2:] == (row.width, row.height)


def test_packages_from_the_python_index_are_pinned():
    places = {row.package for row in catalogue.manifest().values()}
    assert all("==" in place for place in places if place.startswith("pypi:"))
    assert not any("/" in place or "http" in place for place in places)


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


def test_no_two_pictures_of_v1_are_alike():
    hashes = {id: perceptual_hash(picture) for id, picture in thumbnails().items()}
    assert len(hashes) == 100
    distances = {(a, b): int((hashes[a] != hashes[b]).sum()) for a, b in itertools.combinations(hashes, 2)}
    nearest = min(distances, key=distances.get)
    assert distances[nearest] > 10, nearest


def test_the_perceptual_hash_recognises_a_changed_copy():
    picture = pictures.decode(catalogue.read("astronaut"))
    copy = picture.crop((8, 8, 500, 500)).resize((200, 200))
    assert (perceptual_hash(picture) != perceptual_hash(copy)).sum() <= 10


def test_the_contact_sheets_show_the_manifests_pictures_upright():
    shown = thumbnails()
    checked = [row for row in HERE if row.id in shown and row.package != "painted"]
    assert len(checked) >= 8
    for row in checked:
        small = pictures.decode(catalogue.read(row.id)).resize(shown[row.id].size, Image.Resampling.LANCZOS)
        away = numpy.abs(numpy.asarray(small, float) - numpy.asarray(shown[row.id], float)).mean()
        assert away < 12, row.id


def test_an_unknown_source_is_answered_with_some_that_exist():
    with pytest.raises(UserError, match=r"no source 'astronot'; the manifest has .* astronaut"):
        catalogue.source("astronot")


def test_a_row_with_a_licence_that_is_not_listed_does_not_get_in():
    row = {"id": "x", "licence": "all rights reserved"}
    with pytest.raises(UserError, match=r"'all rights reserved'; it must be one of Apache-2\.0, CC0-1\.0"):
        catalogue.from_row(row)
    with pytest.raises(UserError, match="has no field colour"):
        catalogue.from_row({**row, "colour": "red"})


def test_every_attribution_is_in_the_card_of_v1():
    from convergebench.dataset_builder.building.card_tables import licence_fields, licences_table
    from convergebench.dataset_builder.dataset.rows import source_row

    rows = [source_row(catalogue.source(row.id), b"", "") for row in V1]
    text = licences_table(rows)
    for row in V1:
        line = next(line for line in text.splitlines() if f"`{row.id}`" in line)
        assert row.attribution in line
        assert row.licence in line
    fields = licence_fields(rows, "NS/convergebench")
    assert "cc-by-4.0" in fields["license"]
    assert ("other" in fields["license"], fields["license_name"]) == (True, "public-domain")
    assert fields["license_link"] == "https://huggingface.co/datasets/NS/convergebench#licences-and-attributions"
