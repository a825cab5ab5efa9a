"""Pictures that resemble each other: encodings of one picture are no strangers, and an emptied board says why."""

from itertools import permutations
from types import SimpleNamespace

import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import FloorRow
from convergebench.spaces_app.analysis.floors import Floors
from convergebench.spaces_app.reporting.sentences import methods_paragraph, page_sentences
from convergebench.spaces_app.reporting.write import headline
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.served_dataset import ServedDataset
from simulated import dataset, report

NEAR = {"rmse": 6.0, "ssim": 0.9, "lpips": 0.05, "damage": 0.06}
FAR = {"rmse": 70.0, "ssim": 0.35, "lpips": 0.75, "damage": 0.95}


def floors_of(names, near):
    """Floors of imported sources NAME-DIGEST; `near` are the pairs of names and digests that resemble each other."""
    ids = [f"{name}-{digest * 8}" for name, digest in names]
    sources = [SimpleNamespace(id=each, sha256=each[-8:] * 8) for each in ids]
    chains = [SimpleNamespace(source=source, suite="imported", short_side=512) for source in sources]
    rows = []
    for one, other in permutations(ids, 2):
        for metric, value in (NEAR if near(one, other) else FAR).items():
            rows.append({"source": one, "other": other, "short_side": 512, "metric": metric, "value": value})
    return Floors(map(FloorRow.from_values, rows), chains), chains, ids


def test_two_encodings_of_one_picture_exclude_nothing():
    names = [("eiffel", "a"), ("eiffel", "b"), ("taj", "c"), ("taj", "d")]
    floors, chains, _ = floors_of(names, lambda one, other: one[:3] == other[:3])
    assert floors.look_alikes(chains) == {}
    assert all(floors.floor(chain, "rmse") == FAR["rmse"] for chain in chains)
    assert all(len(floors.unrelated_values(chain)["ssim"]) == 2 for chain in chains)


@pytest.mark.parametrize("names", ["input input input", "input input other"])
def test_one_name_alone_makes_no_picture_related(names):
    floors, chains, ids = floors_of(list(zip(names.split(), "abc", strict=True)), lambda one, other: False)
    assert set(floors.unrelated_values(chains[0])["rmse"]) == set(ids[1:])


def test_resembling_strangers_are_excluded_by_name():
    names = [("brick", "a"), ("gravel", "b"), ("taj", "c"), ("face", "d")]
    floors, chains, ids = floors_of(names, lambda one, other: {one[0], other[0]} == {"b", "g"})
    assert floors.look_alikes(chains) == {ids[0]: [ids[1]], ids[1]: [ids[0]]}


def test_the_space_says_why_nothing_counts(tmp_path, monkeypatch):
    dataset = ServedDataset(Reader(small_dataset.write(tmp_path / "convergebench")))
    assert "resemble" not in dataset.why_nothing_counts
    dataset.look_alikes = {"brick": ["a", "b", "c", "d"]}
    dataset.groups = {}
    board = leaderboard(dataset).table
    assert "resemble them: brick (like a, b, c and 1 more)" in board.note
    assert board.rows == []


def test_an_emptied_board_names_the_excluded_pictures():
    """In a dataset in which every picture has another that resembles it."""
    scores, chains, floors = dataset({"one": 1.0}, sources=4, programs=1, rounds=3)
    pairs = {"picture-00": "picture-01", "picture-02": "picture-03"}
    pairs |= {other: one for one, other in pairs.items()}
    near = NEAR | {"clip": 0.9}
    floors += [row | {"metric": "damage", "value": FAR["damage"]} for row in floors if row["metric"] == "rmse"]
    for row in floors:
        row["value"] = near[row["metric"]] if pairs[row["source"]] == row["other"] else row["value"]
    emptied = report(scores, chains, floors)
    why = "too many unrelated pictures resemble them: picture-00 (like picture-01), picture-01 (like picture-00)"
    assert why in headline(emptied.tables).title, "the terminal"
    assert why in page_sentences(emptied.tables)["lead"][0], "the page"
    assert "picture-02 (like picture-03)" in methods_paragraph(emptied.tables)
    assert not emptied.tables["leaderboard"].rows
