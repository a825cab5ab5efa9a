"""What is damaged or cannot be computed is null with its reason, is said aloud, and costs no other row its numbers."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
import scored
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import STEPS, configs
from convergebench.dataset_builder.publishing import verify
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import chains, results
from convergebench.metric_modules.scores import SCORES
from PIL import Image
from verbs import invoke

ASKED = ["psnr", "ssim", "registration"]


def scores(folder):
    rows = pq.read_table(folder / "data" / "scores").to_pylist()
    return {(row["editor"], row["source"], row["program"], row["step"]): row for row in rows}


def score(folder):
    return scored.score(folder, ASKED)


def rewrite(folder, editor, change):
    """Change rows of an editor's steps in place, as a fault on a disk or in somebody's script would."""
    path = folder / "data" / "steps" / editor / "0000.parquet"
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        change(row)
    schema.write(path, STEPS, rows)


def flip(path, place, bit=0):
    """Change one bit of a file in place."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


def place_of(path, picture):
    """The offset of a picture's last bytes in a Parquet file."""
    return path.read_bytes().index(picture) + len(picture) - 30


def damage(row):
    place = row["source"], row["program"], row["step"]
    if place == ("source-1", "dot", 3):
        row["image"]["bytes"] = row["image"]["bytes"][:-1] + b"?"
    if place == ("source-2", "copy", 2):
        row["image"] = None
    if place == ("source-3", "copy", 0):  # other chains have the same input
        row["image"]["bytes"] = b"<html>not found</html>"


def test_a_damaged_picture_costs_its_own_row_only_until_it_is_repaired(clean, dataset):
    rewrite(dataset, "rough", damage)
    whole = shutil.copytree(clean, dataset.parent / "whole")
    score(whole)
    result = invoke("score", dataset, "--metrics", ",".join(ASKED))
    assert result.exit_code == 1
    assert "damaged: chain" in result.output
    expected, found = scores(whole), scores(dataset)
    lost = {
        ("rough", "source-1", "dot", 3): "bytes that are not those received",
        ("rough", "source-2", "copy", 2): "the picture's bytes are not in the dataset",
    }
    for key, detail in lost.items():
        code, said = json.loads(found[key]["reasons"])["ssim"]
        assert (found[key]["psnr"], found[key]["status"], code) == (None, "ok", "unreadable")
        assert said.endswith(detail)
    after = found["rough", "source-2", "copy", 3]  # compared with the return before it, which is lost
    assert json.loads(after["reasons"])["rmse_previous"] == "previous_missing"
    unlike = {"rmse_previous": None, "reasons": None}
    assert after | unlike == expected["rough", "source-2", "copy", 3] | unlike
    changed = {key for key, row in found.items() if row != expected[key]}
    assert changed == {*lost, ("rough", "source-2", "copy", 3)}
    shutil.copytree(clean / "data" / "steps", dataset / "data" / "steps", dirs_exist_ok=True)
    mended = score(dataset)
    assert (mended.damage, mended.chains) == ([], 2)
    assert scores(dataset) == expected


@pytest.mark.parametrize("how", ["gone", "torn"])
def test_a_file_that_is_gone_or_torn_leaves_rows_that_say_so(dataset, how):
    path = dataset / "data" / "steps" / "gentle" / "0000.parquet"
    path.unlink() if how == "gone" else path.write_bytes(path.read_bytes()[:-400])
    outcome = score(dataset)
    found = scores(dataset)
    assert len(found) == 59
    assert len(outcome.damage) == 3 * 6 + 3 * 3
    for row in found.values():
        assert (row["psnr"] is None) == (row["editor"] == "gentle" or row["status"] == "refused")
    assert found["gentle", "source-1", "dot", 3]["status"] == "missing"
    assert found["gentle", "source-1", "dot", 3]["round"] == 2


def test_an_answer_is_resized_to_its_reference(tmp_path):
    chain = scored.chain("larger", 1, "copy", rounds=4)
    source, sizes = Image.fromarray(scored.picture(1)), ((160, 100), (160, 110), (150, 110), (150, 110))
    answers = [scored.encoded(np.asarray(source.resize(size, Image.Resampling.BICUBIC))) for size in sizes]
    scored.keep(tmp_path / "run", chain, answers)
    dataset = scored.built(tmp_path / "run", tmp_path / "dataset")
    score(dataset)
    found = [scores(dataset)["larger", "source-1", "copy", step] for step in (1, 2, 3, 4)]
    assert [row["changed_size"] for row in found] == [True, True, True, False]
    assert all(row["psnr"] > 30 and json.loads(row["signature"])["engine"]["size"] == "64x48" for row in found)


def test_a_flipped_bit_in_a_source_stops_the_scoring_by_name(clean, dataset):
    whole = shutil.copytree(clean, dataset.parent / "whole")
    score(whole)
    path = dataset / "data" / "sources" / "0000.parquet"
    flip(path, place_of(path, scored.encoded(scored.picture(2, scored.SIZES[2]))))
    result = invoke("score", dataset, "--metrics", ",".join(ASKED))
    assert (result.exit_code, "source source-2: " in result.output) == (2, True)
    with pytest.raises(UserError, match=r"the files of sources are not those the card was written for"):
        verify.check_publishable(dataset)
    shutil.copytree(clean / "data" / "sources", dataset / "data" / "sources", dirs_exist_ok=True)
    assert score(dataset).damage == []
    assert scores(dataset) == scores(whole)


def test_a_chain_is_compared_with_its_own_intact_reference(tmp_path):
    chain = scored.chain("restorer", 1, "copy")
    truth = scored.encoded(scored.picture(9))
    scored.keep(tmp_path / "run", chain, [truth, scored.encoded(scored.picture(1)), truth], reference=truth)
    dataset = scored.built(tmp_path / "run", tmp_path / "dataset")
    path = dataset / "data" / "chains" / "0000.parquet"
    score(shutil.copytree(dataset, tmp_path / "whole"))
    rmse = [scores(tmp_path / "whole")["restorer", "source-1", "copy", step]["rmse"] for step in (1, 2, 3)]
    assert rmse[0] == rmse[2] == 0 < rmse[1]
    flip(path, place_of(path, truth))
    outcome = score(dataset)
    assert any("the reference: " in line for line in outcome.damage)
    for row in scores(dataset).values():
        code, detail = json.loads(row["reasons"])["rmse"]
        assert (row["rmse"], code, detail.startswith("the reference: ")) == (None, "unreadable", True)


def test_scores_of_another_picture_or_engine_are_computed_again(clean, dataset):
    scored.score(dataset, ["psnr"])
    reader = Reader(dataset)
    chain = next(chain for chain in chains.find_chains(reader) if len(chain.scored_steps) > 1)
    rows = [row for row in reader.rows("scores") if row["chain"] == chain.chain.id]
    later = json.dumps({**json.loads(rows[0]["signature"]), "engine": {"version": 2}})
    assert results._are_of_pictures(rows, chain)
    for changed in ({"sha256": "0" * 64}, {"step": 99}, {"signature": later}):
        assert not results._are_of_pictures([{**rows[0], **changed}, *rows[1:]], chain)
    assert not results._are_of_pictures([{**row, "signature": later} for row in rows], chain)


def test_damaged_scores_are_refused_and_never_hashed(clean, dataset):
    score(dataset)
    card.write(dataset, configs())
    path = dataset / "data" / "scores" / "0000.parquet"
    names = [column.name for column in SCORES.columns]
    psnr = pq.read_metadata(path).row_group(0).column(names.index("psnr"))
    flip(path, psnr.data_page_offset + psnr.total_compressed_size // 2)
    before = (dataset / "README.md").read_text()
    card.write(dataset, configs())
    assert (dataset / "README.md").read_text() == before
    sentence = r"scores/0000\.parquet cannot be read: .* `convergebench score` rewrite it"
    for attempt in (lambda: score(dataset), lambda: scored.built(clean.parent / "run", dataset)):
        with pytest.raises(UserError, match=sentence):
            attempt()
    path.unlink()
    assert score(dataset).damage == []


def test_a_changed_shard_line_is_computed_again(tmp_path):
    lines = [
        {"task": "a", "parts": {}, "values": {"b": {"rmse": 0.1 + 0.2}}},
        {"chain": "c", "rows": {"1": None}},
    ]
    with results.open_shard(tmp_path, "0000.jsonl") as shard:
        for line in lines:
            results.add_line(shard, line)
    path = tmp_path / "0000.jsonl"
    read = list(results.new_lines([path], {}))
    assert [load() for _, load in read] == [line for line, _ in read]
    assert [{**line, "check": None} for line, _ in read] == [{**line, "check": None} for line in lines]
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert len(list(results.new_lines([path], {}))) < len(lines), whole[:place]
