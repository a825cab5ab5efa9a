"""The manifest is complete and honest, and its pictures are the ones it means."""

from collections import Counter

import pytest
from convergebench.generation import pictures, programs, suites
from convergebench.generation.records import KINDS, ORIGINS
from convergebench.generation.sources import catalogue

V1 = [catalogue.row(id) for id in suites.load("v1").sources]
HERE = [row for row in catalogue.manifest().values() if row.package in ("installed:scikit-image", "painted")]
LICENCES = {
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


@pytest.mark.parametrize("row", catalogue.manifest().values(), ids=lambda row: row.id)
def test_every_row_of_the_manifest_is_complete(row):
    assert row.kind in KINDS
    assert row.origin in ORIGINS
    assert row.licence in LICENCES
    assert row.attribution.strip()
    assert row.intent.strip()
    assert row.title.strip()
    assert len(row.sha256) == 64
    assert bool(row.crop) == bool(row.cropped)
    assert set(row.unfit) <= set(programs.load())
    if row.crop:
        assert row.crop[2:] == [row.width, row.height]


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


def test_every_attribution_is_in_the_card_of_v1():
    from convergebench.dataset_builder.building.card import licence_fields, licences_table
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
