"""The answers of EdiVal-Bench, as its own code names and reads them."""

import csv
import json

import pytest
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from PIL import Image


@pytest.fixture
def answers(tmp_path):
    """Three pictures of a model: a whole one, one whose second turn is missing, one without words."""
    folder = tmp_path / "model" / "multipass"
    folder.mkdir(parents=True)
    for index, turns in ((3, (1, 2, 3)), (12, (1, 3)), (20, (1, 2))):
        Image.new("RGB", (64, 64), (index, 80, 80)).save(folder / f"{index}_input_raw.png")
        for turn in turns:
            Image.new("RGB", (64, 64), (index, 80, 100 + turn)).save(folder / f"{index}_input_raw_turn_{turn}.png")
    words = ["Add a fish, please", "Make the fish's skin glass", "Remove [text: 'sale']"]
    with (tmp_path / "words.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image_index", "turns", "instructions"])
        writer.writerows([3, count, repr(words[:count])] for count in (1, 2, 3))
    return tmp_path, words


def bring_in(folder, *more):
    words = ("import", str(folder / "model"), "--layout", "edival", "--editor", "m", "--out", str(folder / "run"))
    return CliRunner().invoke(main, [*words, *more, "--json"])


def chains(folder):
    paths = sorted((folder / "run" / "chains").glob("*/chain.json"))
    return {chain["program"]["id"]: chain for chain in (json.loads(path.read_text()) for path in paths)}


def test_turns_words_and_bytes_come_in(answers):
    folder, words = answers
    done = bring_in(folder, "--words", str(folder / "words.csv"))
    assert done.exit_code == 1  # one picture has a gap
    found = chains(folder)
    assert set(found) == {"edival-3", "edival-20"}
    assert tuple(found["edival-3"]["program"]["cycle"]) == tuple(words)
    assert not found["edival-3"]["program"]["closes"]
    assert len(found["edival-20"]["program"]["cycle"]) == 2
    kept = {path.read_bytes() for path in (folder / "run" / "chains").glob("*/0003.png")}
    assert kept == {(folder / "model" / "multipass" / "3_input_raw_turn_3.png").read_bytes()}


def test_originals_replace_a_models_own_inputs(answers):
    folder, _ = answers
    (folder / "raw").mkdir()
    Image.new("RGB", (64, 64), "navy").save(folder / "raw" / "3_input_raw.jpg")
    bring_in(folder, "--originals", str(folder / "raw"))
    sources = {path.read_bytes() for path in (folder / "run" / "sources").iterdir()}
    assert (folder / "raw" / "3_input_raw.jpg").read_bytes() in sources


def test_a_folder_without_answers_is_an_error(tmp_path):
    (tmp_path / "model").mkdir()
    assert bring_in(tmp_path).exit_code == 2
