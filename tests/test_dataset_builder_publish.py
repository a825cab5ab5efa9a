"""A version of the dataset on the Hub: whole or not at all, and only what is new goes there."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import hub_xet
import huggingface_hub
import pytest
import stores
from convergebench.dataset_builder import benchmark, card, chains, checks, schema
from convergebench.dataset_builder import build as building
from convergebench.dataset_builder.publish import as_published, publish
from convergebench.dataset_builder.schema import SCORES, Reader
from convergebench.dataset_builder.spaces import publish_metrics
from convergebench.generation.records import UserError
from hub_server import Cut, HubServer, Refusal
from huggingface_hub import HfApi

REPO = "NS/convergebench"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    huggingface_hub.utils.disable_progress_bars()
    with HubServer(tmp_path / "hub") as server:
        yield server


@pytest.fixture
def api(hub):
    return HfApi(endpoint=hub.url, token=hub.token)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A scored dataset of two editors, and the same with a third."""
    folder = tmp_path_factory.mktemp("made")
    for editor in ("paint", "jpeg:quality=40"):
        stores.keep(folder / "run", stores.chain(editor), kinds=("png", "jpg"), size=(96, 64))
    building.build(chains.find([folder / "run"]), folder / "first" / "convergebench")
    score(folder / "first" / "convergebench")
    shutil.copytree(folder / "first", folder / "second")
    stores.keep(folder / "more", stores.chain("blur"), size=(96, 64))
    building.build(chains.find([folder / "run", folder / "more"]), folder / "second" / "convergebench")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made / "first" / "convergebench", tmp_path / "convergebench")
    return tmp_path / "convergebench"


def score(folder):
    nothing = {column.name: None for column in SCORES.columns}
    steps = Reader(folder).table("steps").to_pylist()
    rows = [nothing | {k: step[k] for k in nothing if k in step} | {"psnr": 30.0} for step in steps if step["step"]]
    schema.write(folder / "data/scores/0000.parquet", SCORES.columns, rows)
    card.write(folder)


def local(folder):
    return {path: file.read_bytes() for path, file in sorted(as_published(folder).items())}


def test_a_version_holds_exactly_the_folder_without_the_metrics_laid_beside_it(hub, api, folder):
    stores.write(folder / "halflife" / "halflife.py", "")
    publish(api, folder, REPO, "v1.0.0")
    there = hub.store.contents("dataset", REPO, "v1.0.0")
    assert there == local(folder)
    assert {"README.md", "eval.yaml", "data/scores/0000.parquet", "data/steps/paint/0000.parquet"} < set(there)
    assert re.search(r"### v1\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- 2 chains added", there["README.md"].decode())
    assert f'load_dataset("{REPO}"' in there["README.md"].decode()


def test_data_and_card_arrive_in_one_commit(hub, api, folder):
    publish(api, folder, REPO, "v1.0.0")
    assert [commit.title for commit in api.list_repo_commits(REPO, repo_type="dataset")] == [
        "v1.0.0: 2 chains added, with the editors jpeg:quality=40, paint",
        "initial commit",
    ]


def test_another_editor_uploads_its_own_bytes_and_leaves_the_version_before_as_it_was(hub, api, made, folder):
    publish(api, folder, REPO, "v1.0.0")
    before = hub.store.contents("dataset", REPO, "v1.0.0")
    own = (made / "second/convergebench/data/steps/blur/0000.parquet").stat().st_size
    with hub.counting() as log:
        publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    assert hub.store.contents("dataset", REPO, "v1.0.0") == before
    assert hub.store.contents("dataset", REPO, "v1.1.0") == local(made / "second" / "convergebench")
    puts = [exchange.received for exchange in log if exchange.method == "PUT"]
    assert len(puts) == 2  # the editor's shard and the chains; no shard of the others
    assert max(puts) == own
    text = (made / "second/convergebench/README.md").read_text()
    assert text.index("### v1.1.0") < text.index("### v1.0.0")


def test_a_line_that_breaks_over_the_card_does_not_lose_the_versions_before(hub, api, made, folder):
    publish(api, folder, REPO, "v1.0.0")
    api.upload_file(path_or_fileobj=b"x", path_in_repo="theirs.txt", repo_id=REPO, repo_type="dataset")
    hub.fault = lambda exchange: Cut() if re.search("/[0-9a-f]{40}/README.md", exchange.path) else None
    with pytest.raises(UserError, match="the connection to the Hub broke"):
        publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    hub.fault = lambda exchange: None
    finish(api, made / "second" / "convergebench", "v1.1.0")
    text = hub.store.contents("dataset", REPO, "v1.1.0")["README.md"].decode()
    assert text.count("### v1.1.0") == text.count("### v1.0.0") == 1


def test_a_dry_run_says_what_would_change_and_changes_nothing(hub, api, folder):
    before = local(folder)
    plans = []
    assert publish(api, folder, REPO, "v1.0.0", shown=plans.append, dry_run=True) is None
    assert plans[0].rows == {"steps": (0, 10), "chains": (0, 2), "scores": (0, 8), "sources": (0, 1)}
    assert plans[0].change.bytes == sum(len(data) for path, data in before.items() if path.startswith("data/"))
    assert hub.store.repos == {}
    assert local(folder) == before


def test_a_tag_never_moves_and_keeps_its_promise(hub, api, made, folder):
    publish(api, folder, REPO, "v1.0.0")
    with pytest.raises(UserError, match=r"the tag v1\.0\.0 exists already at NS/convergebench and holds exactly this"):
        publish(api, folder, REPO, "v1.0.0")
    with pytest.raises(UserError, match=r"the tag v1\.0\.0 exists already at NS/convergebench and never moves"):
        publish(api, made / "second" / "convergebench", REPO, "v1.0.0")
    with pytest.raises(UserError, match=r"v1\.0\.1 is a patch version .* it must be v1\.1\.0 or later"):
        publish(api, made / "second" / "convergebench", REPO, "v1.0.1")
    assert list(hub.store.repo("dataset", REPO).tags) == ["v1.0.0"]
    publish(api, folder, REPO, "v1.0.1")
    assert hub.store.contents("dataset", REPO, "v1.0.1")["README.md"] != b""


def test_a_schema_change_asks_for_a_major_version(hub, api, folder, tmp_path):
    publish(api, folder, REPO, "v1.0.0")
    wider = [*schema.CHAINS.columns, schema.Column("mood", "string", "")]
    rows = [row | {"mood": "calm"} for row in Reader(folder).rows("chains")]
    schema.write(folder / "data/chains/0000.parquet", wider, rows)
    card.write(folder)
    with pytest.raises(UserError, match=r"data/chains/0000.parquet has not the columns of chains in this version"):
        publish(api, folder, REPO, "v1.1.0")


def finish(api, folder, tag="v1.0.0"):
    """Give the command again until it is through, as the sentence says."""
    for _ in range(8):
        try:
            return publish(api, folder, REPO, tag)
        except UserError as error:
            if "holds exactly this folder" in str(error):
                return None
            if "again" not in str(error):
                raise
    raise AssertionError("it never finished")


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 3)) for seed in range(20)])
def test_an_upload_cut_at_any_point_finishes_when_the_command_is_given_again(hub, api, folder, seed):
    """From there on nothing answers, as when the line is dead; then the line is back."""
    total = sum(len(data) for data in local(folder).values())
    hub.cut_at = random.Random(seed).randrange(total)
    with pytest.raises(UserError, match=r"again, what was uploaded stays there"):
        publish(api, folder, REPO, "v1.0.0")
    repo = hub.store.repos.get(("dataset", REPO))
    assert repo is None or repo.tags == {}
    hub.cut_at = None
    finish(api, folder)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)
    assert hub.store.contents("dataset", REPO, "main") == local(folder)


@pytest.mark.parametrize("lost", ["/api/repos/create", "/commit/", "/tag/", "/lfs/put", "/lfs/verify", "/preupload/"])
def test_an_answer_that_is_lost_leaves_nothing_half_done(hub, api, folder, lost):
    left = [True] * 3
    hub.after = lambda exchange: Cut() if lost in exchange.path and left and left.pop() else None
    finish(api, folder)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)
    assert len(hub.store.repo("dataset", REPO).commits) == 2


@pytest.mark.parametrize("status", [429, 500])
def test_a_hub_that_is_busy_or_broken_for_a_while_is_asked_again(hub, api, folder, status):
    asked = {}

    def fault(exchange):
        asked[exchange.path] = asked.get(exchange.path, 0) + 1
        headers = {"Retry-After": "1"} if status == 429 else {}
        return Refusal(status, "not now", headers=headers) if asked[exchange.path] == 1 else None

    hub.fault = fault
    finish(api, folder)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)


def test_a_commit_that_came_between_is_not_overwritten(hub, api, folder):
    publish(api, folder, REPO, "v1.0.0")
    (folder / "eval.yaml").write_text("name: mine\n")
    other = HfApi(endpoint=hub.url, token=hub.token)

    def between(exchange):
        if "/preupload/" in exchange.path:
            hub.fault = lambda exchange: None
            other.upload_file(path_or_fileobj=b"x", path_in_repo="theirs.txt", repo_id=REPO, repo_type="dataset")

    hub.fault = between
    with pytest.raises(UserError, match=r"the Hub answered 412 .* somebody committed meanwhile"):
        publish(api, folder, REPO, "v1.0.1")
    assert hub.store.contents("dataset", REPO, "main")["theirs.txt"] == b"x"
    assert "v1.0.1" not in hub.store.repo("dataset", REPO).tags


def test_a_token_that_may_not_write_is_one_sentence(hub, folder):
    with pytest.raises(UserError, match=r"the Hub answered 401 for NS/convergebench .*hf auth login"):
        publish(HfApi(endpoint=hub.url, token=hub.token + "x"), folder, REPO, "v1.0.0")


def test_large_files_may_go_up_in_parts(hub, api, folder):
    hub.part_size = 5_000
    publish(api, folder, REPO, "v1.0.0")
    assert any("/lfs/part/" in exchange.path for exchange in hub.log)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)


def test_a_version_goes_up_and_comes_down_through_xet(hub, api, made, folder, tmp_path, monkeypatch):
    """The way that is taken unless HF_HUB_DISABLE_XET says otherwise; chunks that are there do not travel again."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", False)
    hub_xet.enable(hub)
    publish(api, folder, REPO, "v1.0.0")
    publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)
    assert not any("/lfs/" in exchange.path for exchange in hub.log)
    with hub.counting() as log:
        copy = api.snapshot_download(REPO, repo_type="dataset", revision="v1.0.0", local_dir=tmp_path / "copy")
    assert {path: (Path(copy) / path).read_bytes() for path in local(folder)} == local(folder)
    assert not any("/content/" in exchange.path for exchange in log)


def rewrite(file, **changes):
    """Write a file's rows again with some values changed, and the card with them."""

    def damage(folder):
        path = folder / file
        columns = schema.CONFIGS[file.split("/")[1]].columns
        rows = [row | changes for row in Reader(folder).rows(file.split("/")[1]) if path.exists()]
        schema.write(path, columns, [row for row in rows if row.get("editor", "paint") == "paint"])
        card.write(folder)

    return damage


def edit(old, new):
    def damage(folder):
        path = folder / "README.md"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return damage


STEPS = "data/steps/paint/0000.parquet"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "README.md").unlink(), "has no card"),
        (lambda folder: shutil.rmtree(folder / "data/chains"), "has no data/chains"),
        (
            lambda folder: shutil.rmtree(folder / "data/scores"),
            "the card describes .*'scores'.* but there are files of",
        ),
        (
            lambda folder: shutil.copy(folder / "data/chains/0000.parquet", folder / STEPS),
            "has other columns than the first file of steps",
        ),
        (edit("| `seed` |", "| seed |"), "the card does not explain the column 'seed'"),
        (edit("num_examples: 10", "num_examples: 11"), "the card counts other rows of steps than the 10 in its files"),
        (edit("content sha256 ", "content sha256 0"), "are not those the card was written for"),
        (edit("## Cite", "{{cite}}"), "the card is incomplete"),
        (edit("## Cite", "by hf_abcdefghijklmnopqrstuvwx"), "README.md holds what looks like an access token"),
        (edit("## Cite", "see /home/ada/data"), "README.md holds the local path '/home/ada'"),
        (rewrite("data/sources/0000.parquet", licence=""), "source 'source-1' has no known licence"),
        (rewrite("data/sources/0000.parquet", attribution=None), "source 'source-1' has no known attribution"),
        (rewrite(STEPS, sha256="0" * 64), "is not the picture of its sha256"),
        (rewrite(STEPS, image=None), "is 'input' but has no picture"),
        (rewrite(STEPS, details='{"url":"Bearer abcdefghijklmnop"}'), "column details holds what looks like an access"),
        (rewrite(STEPS, text="saved to C:\\Users\\ada"), r"column text holds the local path"),
        (rewrite(STEPS, text="my key is correct-horse-battery"), "column text holds the value of SOME_API_KEY"),
    ],
)
def test_what_must_not_be_published_is_named_before_anything_leaves(hub, api, folder, monkeypatch, damage, says):
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    damage(folder)
    with pytest.raises(UserError, match=says) as caught:
        publish(api, folder, REPO, "v1.0.0")
    assert hub.log == []
    assert "correct-horse" not in str(caught.value)
    assert "abcdefghijklmnop" not in str(caught.value)


def test_an_honest_dataset_passes_every_check(folder):
    seen = []
    checks.check(folder, seen.append)
    assert seen == [
        *Reader(folder).files("steps"),
        *(f"data/{name}/0000.parquet" for name in ("chains", "scores", "sources")),
    ]


def test_results_are_entries_for_the_editors_that_have_a_model_repository(tmp_path):
    import yaml
    from convergebench.generation.records import Chain

    for editor, model in (("diffusers", "org/Editor-1"), ("diffusers:steps=8", "org/Editor-1"), ("paint", None)):
        base = stores.chain(editor)
        made = Chain(base.source, base.program, editor, {"model": model} if model else {}, 1, 1)
        stores.keep(tmp_path / "run", made)
    building.build(chains.find([tmp_path / "run"]), tmp_path / "out")
    board = [{"editor": "diffusers", "group": "round trips", "rounds_kept": 3.25}]
    board += [{"editor": "diffusers:steps=8", "group": "round trips", "rounds_kept": 2.0}]
    board += [{"editor": "paint", "group": "round trips", "rounds_kept": 9.0}]
    board += [{"editor": "diffusers", "group": "replication", "rounds_kept": 1.0}]
    stores.write(tmp_path / "leaderboard.json", json.dumps({"rows": board}))
    values = benchmark.leaderboard_values(tmp_path / "leaderboard.json")
    written = benchmark.write_results(tmp_path / "out", tmp_path / "results", values, REPO, "a" * 40, "2026-01-01")
    assert list(written) == ["org/Editor-1"]
    entries = huggingface_hub.hf_api.parse_eval_result_entries(yaml.safe_load(written["org/Editor-1"].read_text()))
    assert [(entry.value, entry.notes) for entry in entries] == [(3.25, None), (2.0, "diffusers:steps=8")]
    registered = yaml.safe_load((tmp_path / "out/eval.yaml").read_text())
    assert {entry.task_id for entry in entries} == {task["id"] for task in registered["tasks"]}
    assert registered["tasks"][0]["config"] == "steps"


CLIENTS = """
import datasets
from convergebench.dataset_builder.schema import Reader

old = datasets.load_dataset("NS/convergebench", "scores", split="test", revision="v1.0.0")
assert set(old["psnr"]) == {30.0} and set(old["editor"]) == {"paint", "jpeg:quality=40"}, old
assert datasets.load_dataset("NS/convergebench", split="test", revision="v1.1.0").num_rows == 15
assert datasets.load_dataset("NS/convergebench", split="test", revision="v1.0.0").num_rows == 10
first, *others = datasets.load_dataset("NS/convergebench", split="test", revision="v1.0.0", streaming=True)
assert first["image"].size == (96, 64) and first["step"] == 0 and len(others) == 9
reader = Reader("hf://datasets/NS/convergebench@v1.0.0")
assert reader.picture(reader.places()[0])[:4] == b"\\x89PNG"
"""


@pytest.fixture
def run(hub, tmp_path):
    """Runs a program that knows the Hub by its environment alone; the token must not be in what it says."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    hub_here = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1"}
    environment = inherited | hub_here | {"HF_HOME": str(tmp_path / "home")}

    def program(*command):
        command = (str(Path(sys.executable).parent / command[0]), *command[1:])
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        assert hub.token not in output
        return output

    return program


def test_the_real_clients_read_what_was_published(hub, api, made, folder, tmp_path, run):
    """datasets, streaming too, our reader and the hf command."""
    output = run("convergebench", "publish", "dataset", str(folder), "--repo", REPO, "--tag", "v1.0.0")
    assert "v1.0.0 (the first version)" in output
    assert "steps: 0 -> 10 rows" in output
    publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    run("python", "-c", CLIENTS)
    run("hf", "download", REPO, "--repo-type", "dataset", "--revision", "v1.0.0", "--local-dir", str(tmp_path / "copy"))
    shutil.rmtree(tmp_path / "copy" / ".cache")
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "copy").as_posix(): path.read_bytes() for path in files} == local(folder)
    for path, data in hub.store.contents("dataset", REPO, "main").items():
        assert hub.token.encode() not in data, path


@pytest.mark.parametrize("arguments", [("publish",), ("publish", "--json"), ("publish", "--dry-run")])
def test_the_token_is_never_said_whatever_goes_wrong(hub, folder, monkeypatch, arguments):
    """Not in the output, not in an error, not on its way to where large files lie."""
    from click.testing import CliRunner
    from convergebench.cli.__main__ import main

    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    faults = [Refusal(500, f"broken, says {hub.token}"), Cut(), Refusal(403, hub.token), None]
    for fault in faults:
        hub.fault = lambda exchange, fault=fault: fault if exchange.method in ("POST", "PUT") else None
        command = ["publish", "dataset", str(folder), "--repo", REPO, "--tag", "v1.0.0", *arguments[1:]]
        done = CliRunner().invoke(main, command)
        assert hub.token not in done.output + str(done.exception)
        assert (done.exit_code == 0) == (fault is None or "--dry-run" in arguments), done.output
    (folder / "README.md").write_text((folder / "README.md").read_text().replace("## Cite", hub.token))
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 2
    assert "README.md holds what looks like an access token" in done.output
    assert hub.token not in done.output
    content = [exchange for exchange in hub.log if exchange.path.startswith(("/content/", "/lfs/"))]
    assert not any("Authorization" in exchange.headers for exchange in content if exchange.method in ("GET", "PUT"))


HALFLIFE = """
import evaluate
found = evaluate.load("NS/halflife").compute(predictions=[[0.9, 0.6, 0.4], [0.8, 0.3, 0.1]], ends=["complete"] * 2)
print("half-life", found["half_life"], found["mean_rounds_kept"])
"""


@pytest.mark.slow
def test_a_metric_that_was_published_computes(hub, api, run):
    """`import evaluate` alone takes seconds. Below ten rounds there is no median, but there are rounds kept."""
    metric = Path(__file__).parents[1] / "metric_modules" / "halflife"
    publish_metrics(api, metric, "NS", "v1.0.0")
    assert "half-life None 1.5" in run("python", "-c", HALFLIFE)
    for path, data in hub.store.contents("space", "NS/halflife", "v1.0.0").items():
        assert hub.token.encode() not in data, path
