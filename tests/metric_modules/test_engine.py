"""The engine's numbers are those of the metrics themselves, whatever the batch, the dtype and what was done before."""

import io
import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
import scored
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules import specs
from convergebench.metric_modules._engine import engine, score_chain, worker
from convergebench.metric_modules._engine.floors import floor_place, is_near_threshold, retained_value
from convergebench.metric_modules.clip_similarity import measure as clip
from convergebench.metric_modules.edit_applied import measure as edit_applied
from convergebench.metric_modules.honesty import measure as honesty
from convergebench.metric_modules.lpips import measure as lpips
from convergebench.metric_modules.lpips import weights
from convergebench.metric_modules.scores import SCORES
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from verbs import invoke


@pytest.fixture(autouse=True, scope="module")
def small_networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    scored.lpips_weights(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setattr(clip, "CHECKPOINT", scored.clip_model(folder / "clip"))
        yield


@pytest.fixture(scope="module")
def scored_by_all(clean, tmp_path_factory):
    """The dataset after every metric; only to be read."""
    folder = shutil.copytree(clean, tmp_path_factory.mktemp("scored") / "dataset")
    assert scored.score(folder).images == scored.PICTURES
    return folder


def scores(folder):
    rows = pq.read_table(folder / "data" / "scores").to_pylist()
    return {(row["chain"], row["step"]): row for row in rows}


def pictures(folder):
    """Every scored step's pixels beside its reference's."""
    steps = {(row["chain"], row["step"]): row["image"] for row in Reader(folder).rows("steps")}
    pixels = {
        key: np.asarray(Image.open(io.BytesIO(image["bytes"])).convert("RGB"))
        for key, image in steps.items()
        if image
    }
    return {key: (pixels[key[0], 0], shown) for key, shown in pixels.items() if key[1]}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_every_value_agrees_with_its_reference_implementation(dataset, dtype):
    scored.score(dataset, ["psnr", "ssim", "lpips", "clip"], dtype)
    near = {"float32": (1e-5, 1e-6, 1e-5, 1e-5), "bfloat16": (1e-4, 1e-5, 2e-3, 2e-3)}[dtype]
    model = lpips.model("alex", *[weights.load_weights("alex")[0]], "cpu", "float32", "")
    known = clip.load(clip.CHECKPOINT)
    compared = pictures(dataset)
    found = scores(dataset)
    for key in sorted(compared)[::3]:
        row, (reference, picture) = found[key], compared[key]
        if not np.array_equal(reference, picture):
            assert row["psnr"] == pytest.approx(peak_signal_noise_ratio(reference, picture), abs=near[0])
        window = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
        theirs = structural_similarity(reference, picture, channel_axis=2, data_range=255, **window)
        assert row["ssim"] == pytest.approx(theirs, abs=near[1])
        [apart] = lpips.compare(lpips.features(model, [reference]), lpips.features(model, [picture]))
        assert row["lpips"] == pytest.approx(apart["lpips"], abs=near[2])
        [alike] = clip.compare(clip.embed(known, [reference]), clip.embed(known, [picture]))
        assert row["clip"] == pytest.approx(alike, abs=near[3])
    assert len(compared) == scored.PICTURES


@pytest.fixture(scope="module")
def three_chains(tmp_path_factory):
    """Of two sizes, one ended by a refusal; only to be copied."""
    folder = tmp_path_factory.mktemp("three")
    for editor, seed, program in (("gentle", 1, "dot"), ("gentle", 2, "copy"), ("rough", 3, "dot")):
        chain = scored.chain(editor, seed, program)
        answers = scored.answers(chain, 8)
        scored.keep(folder / "run", chain, [*answers[:4], "refused"] if editor == "rough" else answers)
    return scored.built(folder / "run", folder / "dataset")


def test_values_do_not_depend_on_batch_or_order_and_are_computed_once(three_chains, tmp_path):
    whole, one, later = (shutil.copytree(three_chains, tmp_path / name) for name in ("whole", "one", "later"))
    scored.score(whole)
    scored.score(one, batch=1)
    scored.score(later, ["lpips"])
    scored.score(later, ["ssim", "registration"])
    scored.score(later, batch=3)
    assert scored.score(whole).images == 0
    assert engine.prepare(later, ["lpips", "ssim"], "cpu").unfinished == ([], [])
    assert scored.content(one) == scored.content(later) == scored.content(whole)


def test_metrics_added_later_leave_the_others_alone(dataset, monkeypatch):
    scored.score(dataset, ["psnr"])
    before = {key: row["psnr"] for key, row in scores(dataset).items()}
    monkeypatch.setattr("convergebench.metric_modules.psnr.measure.psnr_and_rmse", None)  # to call it would fail
    assert scored.score(dataset, ["ssim"]).images == scored.PICTURES
    after = scores(dataset)
    assert {key: row["psnr"] for key, row in after.items()} == before
    assert all(row["ssim"] is not None for row in after.values() if row["status"] == "ok")
    assert json.loads(after[next(iter(after))]["reasons"])["lpips"] == ["not_asked", "lpips"]


def test_nulls_have_reasons_and_floors_are_medians_of_all_stored_pairs(scored_by_all):
    values = {column.name for column in SCORES.columns if column.type in ("float64", "bool")}
    for row in scores(scored_by_all).values():
        reasons = json.loads(row["reasons"])
        assert {name for name in values if row[name] is None} == set(reasons) & values
        assert all(reasons.values())
    [refused] = [row for row in scores(scored_by_all).values() if row["status"] == "refused"]
    assert json.loads(refused["reasons"])["lpips"] == ["refused", "it would rather not"]
    assert refused["psnr"] is None
    pairs = pq.read_table(scored_by_all / "data" / "floors").to_pylist()
    assert len(pairs) == 3 * 2 * 5
    row = next(
        row for row in scores(scored_by_all).values() if row["status"] == "ok" and row["source"] == "source-2"
    )
    values = [pair["value"] for pair in pairs if (pair["source"], pair["metric"]) == ("source-2", "rmse")]
    assert row["retained_rmse"] == pytest.approx(max(0, 1 - row["rmse"] / np.median(values)))


def test_clip_has_a_say_in_applied_edits(dataset, monkeypatch):
    asked, said = [], [scored.dotted(np.full((48, 64, 3), 128, np.uint8))]
    embed = lambda scorer, text: asked.append(text) or scorer.embed_pictures(said)[0]  # noqa: E731
    monkeypatch.setattr(clip.Scorer, "embed_words", embed)
    scored.score(dataset, ["clip", "edit_applied"])
    rows = [row for row in scores(dataset).values() if row["program"] == "dot"]
    rows = [row for row in rows if row["edit_changed"] is not None]
    assert set(asked) == {"a red dot"}
    assert all(json.loads(row["signature"])["edit_applied"]["clip"] == "yes" for row in rows)
    gentle = [row for row in rows if row["editor"] == "gentle" and row["position"] == 1]
    assert all(row["edit_changed"] for row in gentle)
    assert not all(row["edit_as_asked"] for row in gentle)
    idle = [row for row in scores(dataset).values() if row["editor"] == "idle"]
    assert [row["edit_changed"] for row in idle] == [False, None] * 3


def test_a_return_is_compared_with_the_return_before_it(dataset):
    scored.score(dataset, ["psnr"], batch=4)
    seen, compared = pictures(dataset), 0
    for chain in Reader(dataset).chains():
        length = len(chain.program.cycle)
        for (owner, step), row in scores(dataset).items():
            if owner != chain.id or row["status"] != "ok":
                continue
            reference, shown = seen[chain.id, step]
            before = reference if step == length else seen.get((chain.id, step - length), (0, None))[1]
            if chain.program.closes and step % length == 0 and before is not None:
                gap = shown.astype(float) - before
                assert row["rmse_previous"] == pytest.approx(np.sqrt((gap**2).mean())), (chain.id, step)
                compared += 1
            else:
                assert row["rmse_previous"] is None
                assert json.loads(row["reasons"])["rmse_previous"] in ("ends_no_round", "previous_missing")
    assert compared > 10


@given(value=st.floats(-1e6, 1e6), worse=st.floats(0, 1e6), bottom=st.floats(1, 1e3))
def test_worse_never_retains_more(value, worse, bottom):
    better, lower = retained_value(value, bottom, 0.0), retained_value(value + worse, bottom, 0.0)
    assert 0 <= lower <= better <= 1


@pytest.mark.parametrize(("value", "is_near"), [(0.29, False), (0.291, True), (0.309, True), (0.311, False)])
def test_half_way_between_ceiling_and_floor_decides(value, is_near):
    columns = {"lpips": replace(specs.specs()["lpips"].columns[0], bfloat16_error=0.0095)}
    assert is_near_threshold(columns, {"lpips": 0.6}, "lpips", value) is is_near


@pytest.mark.parametrize(
    ("given", "size", "side"), [(512, (300, 200), 512), (None, (300, 200), 200), (None, None, 0)]
)
def test_floors_belong_to_the_size_at_which_a_chain_is_compared(given, size, side):
    chain = SimpleNamespace(short_side=given, suite="v1", source=SimpleNamespace(id="coffee"))
    assert floor_place(SimpleNamespace(chain=chain, input_size=size)) == ("v1", "coffee", side)


def test_near_a_threshold_bfloat16_gives_way_to_float32(clean, tmp_path, monkeypatch):
    found = {}
    for name, dtype, tolerance in (("exact", "float32", 0), ("fast", "bfloat16", -1), ("mended", "bfloat16", 9)):

        def near(columns, *words, error=tolerance):
            own = {name: replace(column, bfloat16_error=error) for name, column in columns.items()}
            return is_near_threshold(own, *words)

        monkeypatch.setattr(worker, "is_near_threshold", near)
        folder = shutil.copytree(clean, tmp_path / name)
        scored.score(folder, ["lpips"], dtype)
        found[name] = [row["lpips"] for row in scores(folder).values() if row["lpips"]]
    assert found["fast"] != found["exact"]
    assert found["mended"] == found["exact"]


def test_absent_weights_leave_out_one_metric_by_name(three_chains, tmp_path, monkeypatch):
    dataset = shutil.copytree(three_chains, tmp_path / "dataset")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(clip, "CHECKPOINT", str(tmp_path / "nowhere"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    result = invoke("score", dataset, "--json")
    said = json.loads(result.stdout)
    assert result.exit_code == 0
    assert set(said["absent"]) == {"lpips", "damage", "clip"}
    assert all(row["ssim"] is not None for row in scores(dataset).values() if row["status"] == "ok")
    code, sentence = json.loads(next(iter(scores(dataset).values()))["reasons"])["lpips"]
    assert code == "absent"
    assert "convergebench weights lpips" in sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--metrics", "pnsr"], "no metric 'pnsr'; the metrics are psnr, ssim, lpips"),
        (["--metrics", ","], "no metric was requested; the metrics are psnr"),
        (["--device", "gpu"], "no device 'gpu'; it must be one of cpu, cuda"),
        (["--dtype", "int8"], "no dtype 'int8'; it must be one of float32, bfloat16"),
    ],
)
def test_bad_usage_is_one_sentence(dataset, words, sentence):
    result = invoke("score", dataset, *words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert invoke("score", dataset.parent, *words).exit_code == 2


def test_metrics_that_look_alike_at_a_picture_share_one_look():
    scorers = [honesty.Scorer("cpu", "float32", {}), edit_applied.Scorer("cpu", "float32", {})]
    runs = [SimpleNamespace(name=str(number), scorer=scorer) for number, scorer in enumerate(scorers)]
    first, second = score_chain._reduced(np.zeros((64, 64, 3), np.uint8), (64, 64), runs)[1].values()
    assert first is second
