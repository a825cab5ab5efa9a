"""How little of a large dataset has to travel before its first picture or its scores are there."""

import os
import random
import subprocess
import sys
from urllib.parse import unquote

import huggingface_hub
import pytest
import stores
from convergebench.dataset_builder.publishing.publish import publish
from hub_fixtures import REPO, score
from hub_server import HubServer
from huggingface_hub import HfApi

SIZE = 2_000_000
CODE = """
import os, urllib.error, urllib.request
import datasets
from convergebench.dataset_builder.dataset.reader import Reader

def mark(name):
    try:
        urllib.request.urlopen(os.environ["HF_ENDPOINT"] + "/mark/" + name.replace(" ", "%20"))
    except urllib.error.HTTPError:
        pass

reader = Reader("hf://datasets/NS/convergebench@v1.0.0")
row = next(reader.rows("steps"))
assert row["step"] == 0 and len(row["image"]["bytes"]) == 2_000_000
mark("row")
assert len(reader.picture_at([*reader.places()][-1])) == 2_000_000
mark("picture")
assert Reader("hf://datasets/NS/convergebench@v1.0.0").table("scores")["psnr"][0].as_py() == 30.0
mark("scores")
assert datasets.load_dataset("NS/convergebench", "scores", split="test", revision="v1.0.0")["psnr"][0] == 30.0
mark("scores loaded")
rows = datasets.load_dataset("NS/convergebench", split="test", revision="v1.0.0", streaming=True)
assert next(iter(rows))["image"].size == (64, 64)
mark("row streamed")
os._exit(0)  # pyarrow still reads ahead, and a thread of its that calls Python may hang the interpreter's orderly end
"""


def large(folder, megabytes):
    """A dataset of 2 MB pictures: a real PNG each, and random bytes behind its end, which decoders do not read."""
    chance = random.Random(1)
    head = stores.picture(1, (64, 64))
    calls = 20
    for run in range(1, megabytes // (2 * (calls + 1)) + 1):
        made = stores.chain(rounds=calls // 2, run=run)
        at = stores.keep(folder / "run", made, done=False)
        (at / "steps.jsonl").unlink()
        lines = []
        for number, round, position, words in [(0, 0, 0, ""), *made.asks()]:
            step = stores.Step(number, round, position, words, "ok" if number else "input")
            data = head + chance.randbytes(SIZE - len(head))
            lines.append(stores.canonical(stores.kept(at, step, data, (64, 64)).to_dict()) + "\n")
        stores.write(at / "steps.jsonl", "".join(lines))
        stores.finish(at, calls)
    return score(stores.built(folder / "convergebench", folder / "run"))


@pytest.mark.parametrize("megabytes", [42, pytest.param(500, marks=pytest.mark.slow)])
def test_the_first_row_one_picture_and_the_scores_cost_little(tmp_path, monkeypatch, megabytes):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    huggingface_hub.utils.disable_progress_bars()
    folder = large(tmp_path, megabytes)
    with HubServer(tmp_path / "hub") as hub:
        publish(HfApi(endpoint=hub.url, token=hub.token), folder, REPO, "v1.0.0")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment = inherited | {
            "HF_ENDPOINT": hub.url,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HOME": str(tmp_path / "home"),
        }
        with hub.counting() as log:
            done = subprocess.run(
                [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=300
            )
        assert done.returncode == 0, done.stderr
    sent, passed = {}, 0
    for exchange in log:
        passed += exchange.sent
        if exchange.path.startswith("/mark/"):
            sent[unquote(exchange.path.removeprefix("/mark/"))], passed = passed, 0
    print({name: f"{size / 1e6:.2f} MB" for name, size in sent.items()})
    assert SIZE < sent["row"] < 10_000_000
    assert SIZE < sent["picture"] < 10_000_000
    assert SIZE < sent["row streamed"] < 60_000_000
    assert sent["scores loaded"] < 1_000_000
    assert sent["scores"] < 1_000_000
