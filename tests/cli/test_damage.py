"""Whatever is broken in a dataset, every verb says so in one sentence, and makes no other number of it."""

import contextlib
import shutil
from random import Random

import pytest
import scored
import verbs
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import configs
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine
from convergebench.spaces_app.space import served_dataset
from fuzz.mutations import flipped

CONFIGS = ("scores", "floors", "steps", "chains", "sources", "editors")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    folder = scored.built(scored.runs(root / "run"), root / "dataset")
    engine.run(engine.prepare(folder, ["psnr", "ssim"], "cpu", None))
    card.write(folder, configs())
    return root


def invoke(*words):
    """The exit code and the last line of a verb; a traceback fails the test."""
    result = verbs.invoke(*words)
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    return result.exit_code, result.output


def broken(data, how, chance):
    if how == "flips":
        for _ in range(30):
            data = flipped(data, chance.randrange(len(data)), chance)
        return data
    ways = {"cut": data[: chance.randrange(8, len(data))], "empty": b"", "random": chance.randbytes(500)}
    return (ways | {"alike": b"PAR1" + b"hello" * 50 + b"PAR1"})[how]


def numbers(folder):
    return {config: repr(list(Reader(folder).rows(config))) for config in ("scores", "floors")}


@pytest.mark.parametrize(("config", "how"), [
    pytest.param(config, how, marks=() if (config, how) == ("steps", "cut") else pytest.mark.slow)
    for config in CONFIGS
    for how in ("cut", "empty", "random", "alike", "flips")
])  # fmt: skip
def test_every_verb_reports_a_broken_dataset_file(made, tmp_path, config, how):
    folder = shutil.copytree(made / "dataset", tmp_path / "dataset")
    path, expected = sorted((folder / "data" / config).rglob("*.parquet"))[0], numbers(made / "dataset")
    path.write_bytes(broken(path.read_bytes(), how, Random(f"{config} {how}")))
    assert invoke("verify", folder)[0] == 1
    code, words = invoke("report", folder, "--out", tmp_path / "report")
    assert code == 0 or "restore it, or let `convergebench verify --repair` set it aside" in words
    with contextlib.suppress(UserError):
        served_dataset.open_dataset(str(folder))
    again = shutil.copytree(folder, tmp_path / "again")
    code, words = invoke("build", made / "run", "--out", again)
    assert code == 0 or "restore it, or let" in words
    assert code or numbers(again) == expected or config in ("scores", "floors")
    code, words = invoke("score", folder, "--metrics", "psnr,ssim")
    assert code in (1, 2)
    invoke("verify", folder, "--repair")
    assert invoke("build", made / "run", "--out", folder)[0] == 0
    assert invoke("score", folder, "--metrics", "psnr,ssim")[0] == 0
    assert numbers(folder) == expected
    assert invoke("verify", folder) == (0, f"{folder}: nothing is broken\n")


@pytest.mark.parametrize("content", ["{}", '{"status": []}', '{"status": null}'])
def test_a_chain_without_its_end_causes_no_traceback(tmp_path, content):
    words = ["generate", "--suite", "smoke", "--editor", "identity", "--limit", 1, "--out", tmp_path / "run"]
    assert invoke(*words)[0] == 0
    [path] = (tmp_path / "run" / "chains").glob("*/done.json")
    path.write_text(content)
    invoke(*words)
    assert invoke("verify", tmp_path / "run")[0] == 1
