"""The metrics of other libraries: their install line, tiny checkpoints, and a signature that tells all."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from convergebench.metric_modules.no_reference import measure
from convergebench.metric_modules.no_reference.ranges import COLUMNS, PI_CAP, RANGES, normalised
from skimage import data

PICTURES = [np.ascontiguousarray(data.astronaut()[:160, :224]), np.ascontiguousarray(data.coffee()[:160, :224])]


def test_the_ends_of_every_range_are_0_and_100():
    assert {name for name, row in RANGES.items() if not row[2]} == {"BRISQUE", "ILNIQE", "NIQE", "PI", "PIQE"}
    for name, (low, high, higher) in RANGES.items():
        assert (normalised(low, name), normalised(high, name)) == pytest.approx((0, 100) if higher else (100, 0))
    assert ((10 - RANGES["NRQM"][0]) + RANGES["NIQE"][1]) / 2 == PI_CAP == RANGES["PI"][1]


def test_score_says_the_install_line_of_what_is_not_here(monkeypatch):
    monkeypatch.setattr(measure.importlib.util, "find_spec", lambda name: None)
    for metric in ("musiq", "maniqa"):
        with pytest.raises(FileNotFoundError, match=r"pip install 'convergebench\[no-reference\]'.*torchvision"):
            measure.Scorer("cpu", "float32", {}, metric=metric)


@pytest.mark.parametrize(("together", "calls"), [(1, [1, 1, 1]), (2, [2, 1])])
def test_no_more_pictures_go_together_than_the_signature_tells(monkeypatch, together, calls):
    seen = []

    def brightness(pictures):
        seen.append(len(pictures))
        return [float(picture.mean()) for picture in pictures]

    monkeypatch.setattr(measure, "_judge_of", lambda metric, device: (brightness, together, {"model": "bright"}))
    scorer = measure.Scorer("cpu", "float32", {}, metric="musiq")
    rows = scorer.compare(None, [PICTURES[0], PICTURES[1], PICTURES[0]], [{}] * 3)
    assert seen == calls
    assert [row["musiq"] for row in rows] == [picture.mean() for picture in (*PICTURES, PICTURES[0])]
    assert scorer.signature == {"version": 1, "model": "bright", "device": "cpu", "batch": together}


def hiding(seed):
    """A network that keeps a part in a list and numbers in an array, as those of pyiqa do that are made of CLIP."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    network = torch.nn.Linear(2, 1)
    with torch.no_grad():
        network.weight.fill_(1)
        network.bias.fill_(0)
    network.kept_apart = [torch.nn.Linear(3, 3)]
    network.trees = {"thresholds": np.arange(4.0), "name": "made up"}
    return network


def test_the_digest_covers_what_is_beside_the_state():
    digest = lambda network: measure.digest_of(measure._tensors_of(network))  # noqa: E731
    one, same, other_part, other_trees = hiding(0), hiding(0), hiding(1), hiding(0)
    other_trees.trees["thresholds"] = np.arange(4.0) + 1e-9
    assert digest(one) == digest(same)
    assert len({digest(one), digest(other_part), digest(other_trees), measure.digest_of(one.state_dict())}) == 4


@pytest.fixture
def pyiqa_of(monkeypatch):
    """A function that has pyiqa's place: its one metric is a network's `forward`."""
    torch = pytest.importorskip("torch")

    def made(forward):
        model = torch.nn.Module()
        model.net = hiding(0)
        model.forward = forward
        monkeypatch.setattr(measure.importlib.util, "find_spec", lambda name: True)
        monkeypatch.setattr(measure, "_create", lambda name, device: model)

    return made


def test_a_network_without_a_number_says_why(pyiqa_of):
    import torch

    def forward(batch):
        if batch.mean() > 0.4:
            raise AttributeError("this version has no such thing\nand more")
        return batch.view(len(batch), -1).mean(1, keepdim=True)  # a view, which ILNIQE takes too

    pyiqa_of(forward)
    scorer = measure.Scorer("cpu", "float32", {}, metric="musiq")
    bright, dark = np.full((8, 8, 3), 200, np.uint8), np.full((8, 8, 3), 51, np.uint8)
    rows = scorer.compare(None, [bright, dark], [{}] * 2)
    assert rows[0]["musiq"] == ("network_failed", "this version has no such thing")
    assert rows[1]["musiq"] == pytest.approx(0.2)

    def full(batch):
        raise torch.OutOfMemoryError("no room")

    pyiqa_of(full)
    with pytest.raises(torch.OutOfMemoryError):  # says nothing of the picture
        measure.Scorer("cpu", "float32", {}, metric="musiq").compare(None, [dark], [{}])


def test_a_missing_package_is_named_and_stdout_stays_clean(monkeypatch, capsys):
    def lacks(name, device):
        print("Downloading something")
        raise ModuleNotFoundError("No module named 'pkg_resources'")

    monkeypatch.setitem(sys.modules, "pyiqa", SimpleNamespace(create_metric=lacks))
    with pytest.raises(FileNotFoundError, match=r"clipiqa of pyiqa does not load: .*pip install 'setuptools<82'"):
        measure._create("clipiqa", "cpu")
    assert capsys.readouterr() == ("", "Downloading something\n")


def test_what_takes_one_picture_gets_one_picture_on_a_gpu_too(pyiqa_of):
    pyiqa_of(lambda batch: batch.mean((1, 2, 3)))
    together = {name: measure._pyiqa_network(name, "cuda")[1] for name in ("musiq", "qalign")}
    assert together == {"musiq": 8, "qalign": 1}


@pytest.fixture
def models():
    pytest.importorskip("torch")
    from convergebench.metric_modules.no_reference import transformers_models

    return transformers_models


def scores_by(metric, folder, monkeypatch):
    """The scores of both pictures by the checkpoint in a folder; a batch changes none."""
    monkeypatch.setitem(measure.COLUMNS, metric, COLUMNS[metric]._replace(library_name=str(folder)))
    scorer = measure.Scorer("cpu", "float32", {}, metric=metric)
    together = [row[metric] for row in scorer.compare(None, PICTURES, [{}] * 2)]
    assert together == [scorer.compare(None, [picture], [{}])[0][metric] for picture in PICTURES]
    assert {"weights", "transformers", "device", "batch"} <= scorer.signature.keys()
    return together


@pytest.mark.slow
def test_rali_is_read_in_its_published_layout(tmp_path, monkeypatch):
    folder = pytest.importorskip("tiny_judges").rali(tmp_path / "tiny")
    one, other = scores_by("rali", folder, monkeypatch)
    assert one != other
    assert all(1 <= score <= 5 for score in (one, other))
    (folder / "RALI" / "ckpt.pt").unlink()
    with pytest.raises(FileNotFoundError, match="is not a complete checkpoint of RALI"):
        scores_by("rali", folder, monkeypatch)


def test_prototypes_and_words_become_scores(models):
    import torch

    parts = {"pca_mean": torch.zeros(2), "pca_scale": torch.tensor([1.0, -1.0]), "pca_components": torch.eye(2)}
    parts |= {"prototypes": torch.eye(2), "proto_scores": torch.tensor([1.0, 5.0])}
    parts["logit_scale"] = torch.tensor(1 / 0.07)
    found = models._score_of(torch.tensor([[3.0, 0.0], [0.0, 9.0], [2.0, 2.0]]), parts)
    assert found.tolist() == pytest.approx([1, 5, 3], abs=1e-3)
    assert models._read_score("<answer>0.85</answer>") == 0.85  # below the scale: its own number stays
    assert models._read_score("<think>2 or 3</think><answer> 2.75 </answer>") == 2.75
    assert models._read_score(" 4 ") == 4
    assert models._read_score("<answer>good</answer>") == ("no_score_in_answer", "<answer>good</answer>")


def test_a_pickle_of_anything_but_components_is_refused(models, tmp_path):
    path = tmp_path / "pca.pkl"
    for content, refusal in (
        (print, r"asks for builtins\.print; only plain numpy"),
        ({"mean_": [0.0]}, r"pca\.pkl holds dict, no principal"),
    ):
        path.write_bytes(pickle.dumps(content))
        with pytest.raises(ValueError, match=refusal):
            models._read_pickle(path)


def test_an_array_of_joblib_is_read_without_joblib(models, tmp_path):
    """As joblib writes them: a head in the pickle, then the length of a padding, the padding and the bytes."""
    values = np.arange(6.0).reshape(2, 3)
    head = {"dtype": np.dtype("<f8"), "shape": (2, 3), "order": "C", "numpy_array_alignment_bytes": 16}
    begin = b"\x80\x02csklearn.pca\nPCA\n)\x81}X\x05\x00\x00\x00mean_"
    begin += b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81"
    path = tmp_path / "pca.pkl"
    array = b"\x02\xff\xff" + values.tobytes()
    path.write_bytes(begin + pickle.dumps(head, 3)[2:-1] + b"b" + array + b"sb.")
    assert (models._read_pickle(path)["mean_"] == values).all()


@pytest.mark.slow
def test_visualquality_r1_gives_a_number_or_a_reason(tmp_path, monkeypatch):
    language_model = pytest.importorskip("tiny_judges").language_model
    scores = scores_by("visualquality_r1", language_model(tmp_path / "answers", False), monkeypatch)
    assert all(0.5 <= score <= 5 for score in scores)
    scores = scores_by("visualquality_r1", language_model(tmp_path / "refuses", True), monkeypatch)
    assert {score[0] for score in scores} == {"no_score_in_answer"}
