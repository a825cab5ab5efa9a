"""ILNIQE is computed as pyiqa computes it, picture by picture, with a template that the user fetches or gives."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.metric_modules.ilniqe import measure
from made_up_template import template_file
from skimage import data

# What pyiqa 0.1.16 computes with the template that is made up; `make no-reference` asks it again.
PUBLISHED = {"astronaut": 24.769348114665817, "chelsea": 26.3597466906088}


@pytest.fixture(scope="module")
def scored():
    """Both pictures in one batch, and the first by itself."""
    known = measure.read_template(template_file())
    pictures = {name: getattr(data, name)() for name in PUBLISHED}
    scorer = object.__new__(measure.Scorer)
    scorer.parameters = (known,)
    batch = [row["ilniqe"] for row in scorer.compare(None, list(pictures.values()), [{}] * 2)]
    return SimpleNamespace(
        known=known, batch=dict(zip(pictures, batch, strict=True)), alone=measure.ilniqe(pictures["astronaut"], known)
    )


def test_it_agrees_with_the_published_implementation(scored):
    assert scored.batch == pytest.approx(PUBLISHED, rel=1e-6)


def test_a_batch_changes_no_number(scored):
    assert scored.batch["astronaut"] == scored.alone


def test_a_weibull_fit_finds_what_values_were_drawn_with():
    drawn = np.random.default_rng(1).weibull(1.7, (2, 100_000)) * np.array([[2.0], [5.0]])
    scale, shape = measure.weibull_fits(drawn)
    assert shape == pytest.approx([1.7, 1.7], rel=0.01)
    assert scale == pytest.approx([2, 5], rel=0.01)
    assert np.isnan(measure.weibull_fits(np.ones((1, 9)))).all()


def test_the_filters_of_one_wave_cover_all_directions_alike():
    filters = measure.log_gabor(64, 2.4)
    assert len(filters) == measure.WAVES * measure.ORIENTATIONS
    powers = [(each**2).sum() for each in filters[: measure.ORIENTATIONS]]
    assert max(powers) / min(powers) < 1.2
    assert all(each[0, 0] == 0 for each in filters)


def test_a_picture_without_statistics_has_a_reason_and_no_number(scored):
    assert measure.ilniqe(np.zeros((80, 300, 3), np.uint8), scored.known) == ("too_small_for_template", "84")
    assert measure.ilniqe(np.zeros((120, 120, 3), np.uint8), scored.known) == "too_flat"


def test_the_template_is_checked_when_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FileNotFoundError, match=r"run `convergebench weights ilniqe`.* or put them into"):
        measure.Scorer("cpu", "float32", {})
    assert measure.missing_weights() == "needs `convergebench weights ilniqe`"
    place = measure.PARAMETERS.path
    place.parent.mkdir(parents=True)
    place.write_bytes(b"no file of MATLAB")
    with pytest.raises(ValueError, match="is not a template of ILNIQE"):
        measure.Scorer("cpu", "float32", {})
    place.write_bytes(template_file())
    done = CliRunner().invoke(main, ["weights", "ilniqe", "--json"])
    assert done.exit_code == 0, done.output
    digest = json.loads(done.output.splitlines()[-1])["ilniqe"]["digest"]
    signature = measure.Scorer("cuda", "float32", {}).signature
    assert (signature["parameters"], signature["device"], signature["batch"]) == (digest[:12], "cpu", 1)
