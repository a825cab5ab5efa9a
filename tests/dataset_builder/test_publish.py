"""A version of the dataset on the Hub: whole or not at all, only what is new goes there, and nothing that must not."""

import random
import re
import shutil
from dataclasses import replace

import convergebench
import datasets
import pytest
import stores
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.columns import Column
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import CHAINS, configs
from convergebench.dataset_builder.publishing import publish as versions
from convergebench.dataset_builder.publishing.add import add
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.generation.records import UserError
from hub_fixtures import REPO, local, score
from hub_server import Cut, Refusal
from huggingface_hub import HfApi

pytest_plugins = ["hub_fixtures"]


def test_a_version_holds_the_dataset_without_the_metrics(hub, api, folder, monkeypatch):
    monkeypatch.setattr("huggingface_hub.HfApi", lambda library_name: api)
    stores.write(folder / "halflife" / "halflife.py", "")
    before = local(folder)
    plan = publish(api, folder, REPO, "v1.0.0", dry_run=True)
    after = {name: count for name, (_, count) in plan["rows"].items()}
    assert after == {"steps": 10, "chains": 2, "sources": 1, "editors": 2, "scores": 8}
    assert plan["bytes"] == sum(len(data) for path, data in before.items() if path.startswith("data/"))
    assert plan["commit"] is None
    assert convergebench.publish(folder, REPO, "v1.0.0", dry_run=True) is None
    assert hub.store.repos == {}
    assert local(folder) == before
    commit = convergebench.publish(folder, REPO, "v1.0.0")
    there = hub.store.contents("dataset", REPO, "v1.0.0")
    assert there == local(folder)
    assert {"README.md", "data/scores/0000.parquet", "data/steps/paint/0000.parquet"} < set(there)
    assert re.search(r"### v1\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- 2 chains added", there["README.md"].decode())
    assert f'load_dataset("{REPO}"' in there["README.md"].decode()
    last, first = api.list_repo_commits(REPO, repo_type="dataset")
    assert (last.commit_id, first.title) == (commit, "initial commit")
    assert last.title == "v1.0.0: 2 chains added, with the editors jpeg:quality=40, paint"


def test_a_versions_card_begins_with_headline_and_picture(hub, api, folder):
    headline = ("Best: A <b>, 3.0 [2.0, 4.0].", b"\x89PNG of strips")
    publish(api, folder, REPO, "v1.0.0", headline_of=lambda folder: headline)
    there = hub.store.contents("dataset", REPO, "v1.0.0")
    assert there == local(folder)
    assert there[card.PICTURE] == headline[1]
    shown = there["README.md"].decode().split("# ConvergeBench\n\n")[1]
    assert shown.startswith(
        "**Best: A &lt;b&gt;, 3.0 &#91;2.0, 4.0&#93;.**\n\n![Strips of a typical test](headline.png)"
    )
    nothing_new = publish(api, folder, REPO, "next", headline_of=lambda folder: None)
    assert nothing_new["tag"] == "v1.0.0"
    card.write(folder, configs())  # after a build or new scores, another headline may be true
    assert card.PICTURE not in (folder / "README.md").read_text()
    assert card.PICTURE not in local(folder)


def test_another_editor_uploads_only_its_own_bytes_and_one_less_is_deleted(hub, api, made, folder):
    publish(api, folder, REPO, "v1.0.0")
    before = hub.store.contents("dataset", REPO, "v1.0.0")
    blur_size = (made / "second/convergebench/data/steps/blur/0000.parquet").stat().st_size
    with hub.counting() as log:
        publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    assert hub.store.contents("dataset", REPO, "v1.0.0") == before
    assert hub.store.contents("dataset", REPO, "v1.1.0") == local(made / "second" / "convergebench")
    puts = [exchange.received for exchange in log if exchange.method == "PUT"]
    assert len(puts) == 3  # the editor's shard, the chains and the editors; no shard of the others
    assert max(puts) == blur_size
    text = (made / "second/convergebench/README.md").read_text()
    assert text.index("### v1.1.0") < text.index("### v1.0.0")
    assert publish(api, folder, REPO, "v2.0.0")["removed"] == ["data/steps/blur/0000.parquet"]
    assert hub.store.contents("dataset", REPO, "v2.0.0") == local(folder)


def test_a_cut_connection_loses_no_earlier_version(hub, api, made, folder):
    publish(api, folder, REPO, "v1.0.0")
    api.upload_file(path_or_fileobj=b"x", path_in_repo="theirs.txt", repo_id=REPO, repo_type="dataset")
    hub.fault = lambda exchange: Cut() if re.search("/[0-9a-f]{40}/README.md", exchange.path) else None
    with pytest.raises(UserError, match="the connection to the Hub broke"):
        publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    hub.fault = lambda exchange: None
    finish(api, made / "second" / "convergebench", "v1.1.0")
    text = hub.store.contents("dataset", REPO, "v1.1.0")["README.md"].decode()
    assert text.count("### v1.1.0") == text.count("### v1.0.0") == 1


def test_a_tag_never_moves_and_keeps_its_promise(hub, api, made, folder):
    commit = publish(api, folder, REPO, "v1.0.0")["commit"]
    assert publish(api, folder, REPO, "v1.0.0")["commit"] == commit  # as after a process that died after the tag
    with pytest.raises(UserError, match=r"the tag v1\.0\.0 exists already at NS/convergebench and never moves"):
        publish(api, made / "second" / "convergebench", REPO, "v1.0.0")
    with pytest.raises(UserError, match=r"v1\.0\.1 is a patch version .* it must be a minor"):
        publish(api, made / "second" / "convergebench", REPO, "v1.0.1")
    assert list(hub.store.repo("dataset", REPO).tags) == ["v1.0.0"]
    publish(api, folder, REPO, "v1.0.1")
    assert hub.store.contents("dataset", REPO, "v1.0.1")["README.md"] != b""


def finish(api, folder, tag="v1.0.0"):
    """Give the command again until it is through, as the sentence says."""
    for _ in range(8):
        try:
            return publish(api, folder, REPO, tag)
        except UserError as error:
            if "again" not in str(error):
                raise
    raise AssertionError("it never finished")


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 3)) for seed in range(20)]
)
def test_an_upload_cut_anywhere_finishes_when_repeated(hub, api, folder, seed):
    """From there on nothing answers, as when the line is dead; then the line is back."""
    total = sum(len(data) for data in local(folder).values())
    hub.cut_at = random.Random(seed).randrange(total)
    with pytest.raises(UserError, match=r"again; files already uploaded stay"):
        publish(api, folder, REPO, "v1.0.0")
    repo = hub.store.repos.get(("dataset", REPO))
    assert repo is None or repo.tags == {}
    hub.cut_at = None
    finish(api, folder)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)
    assert hub.store.contents("dataset", REPO, "main") == local(folder)


@pytest.mark.parametrize(
    "lost", ["/api/repos/create", "/commit/", "/tag/", "/lfs/put", "/lfs/verify", "/preupload/"]
)
def test_an_answer_that_is_lost_leaves_nothing_half_done(hub, api, folder, lost):
    losses = [True] * 3
    hub.after = lambda exchange: Cut() if lost in exchange.path and losses and losses.pop() else None
    finish(api, folder)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)
    assert len(hub.store.repo("dataset", REPO).commits) == 2


def test_a_hub_that_is_busy_or_broken_for_a_while_is_asked_again(hub, api, folder):
    paths, busy = set(), Refusal(429, "not now", headers={"Retry-After": "1"})

    def fault(exchange):
        if exchange.path in paths:
            return None
        paths.add(exchange.path)
        return Refusal(500, "not now") if len(paths) % 2 else busy

    hub.fault = fault
    finish(api, folder)
    assert hub.store.contents("dataset", REPO, "v1.0.0") == local(folder)


def test_a_commit_that_came_between_is_not_overwritten(hub, api, folder):
    publish(api, folder, REPO, "v1.0.0")
    (folder / "README.md").write_text((folder / "README.md").read_text() + "\nMore.\n")
    other = HfApi(endpoint=hub.url, token=hub.token)

    def between(exchange):
        if "/preupload/" in exchange.path:
            hub.fault = lambda exchange: None
            other.upload_file(path_or_fileobj=b"x", path_in_repo="theirs.txt", repo_id=REPO, repo_type="dataset")

    hub.fault = between
    with pytest.raises(UserError, match=r"the Hub answered 412 .* the repository changed meanwhile"):
        publish(api, folder, REPO, "v1.0.1")
    assert hub.store.contents("dataset", REPO, "main")["theirs.txt"] == b"x"
    assert "v1.0.1" not in hub.store.repo("dataset", REPO).tags


def test_files_of_others_in_the_repository_stay_and_are_named(hub, api, made, folder):
    api.create_repo(REPO, repo_type="dataset")
    for path in ("train.csv", "data/train.parquet"):
        api.upload_file(path_or_fileobj=b"theirs", path_in_repo=path, repo_id=REPO, repo_type="dataset")
    publish(api, folder, REPO, "v1.0.0")
    api.upload_file(path_or_fileobj=b"later", path_in_repo="later.csv", repo_id=REPO, repo_type="dataset")
    plan = publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    there = hub.store.contents("dataset", REPO, "v1.1.0")
    assert there["train.csv"] == there["data/train.parquet"] == b"theirs"
    assert there["later.csv"] == b"later"
    assert plan["foreign"] == ["data/train.parquet", "later.csv", "train.csv"]
    assert plan["removed"] == []


@pytest.mark.parametrize("path", ["README.md", "data/steps/paint/0001.parquet"])
def test_a_strangers_file_in_our_place_is_refused(hub, api, folder, path):
    api.create_repo(REPO, repo_type="dataset")
    api.upload_file(path_or_fileobj=b"theirs", path_in_repo=path, repo_id=REPO, repo_type="dataset")
    for dry_run in (True, False):
        with pytest.raises(
            UserError, match=rf"NS/convergebench holds {path}, which no manifest of this benchmark"
        ):
            publish(api, folder, REPO, "v1.0.0", dry_run=dry_run)
    assert hub.store.contents("dataset", REPO, "main")[path] == b"theirs"


def test_a_token_that_may_not_write_is_one_sentence(hub, folder):
    with pytest.raises(UserError, match=r"the Hub answered 401 for NS/convergebench .*hf auth login"):
        publish(HfApi(endpoint=hub.url, token=hub.token + "x"), folder, REPO, "v1.0.0")


# An editor joins a published version from its own run alone


@pytest.fixture
def joining(tmp_path):
    """The scored dataset of a run of another editor."""
    stores.keep(tmp_path / "joining", stores.chain("blur"), size=(96, 64))
    return score(stores.built(tmp_path / "mine" / "convergebench", tmp_path / "joining"))


def test_an_editor_is_added_without_downloading_pictures(hub, api, folder, joining, tmp_path):
    publish(api, folder, REPO, "v1.0.0")
    before = hub.store.contents("dataset", REPO, "v1.0.0")
    with hub.counting() as log:
        outcome = add(api, joining, REPO)
    assert outcome["tag"] == "v1.1.0"
    assert outcome["pull_request"] is None
    there = hub.store.contents("dataset", REPO, "v1.1.0")
    before.pop("README.md")
    assert {path: there[path] for path in before} == before
    assert there["data/steps/blur/0000.parquet"] == (joining / "data/steps/blur/0000.parquet").read_bytes()
    steps = [exchange for exchange in log if exchange.method == "GET" and "data/steps/" in exchange.path]
    assert all("range" in str(exchange.headers).lower() for exchange in steps), "no shard is fetched whole"
    for path, data in there.items():
        stores.write(tmp_path / "copy" / "convergebench" / path, data)
    copy = Reader(tmp_path / "copy" / "convergebench")
    copy.refuse_unfinished()
    assert set(copy.editors()) == {"paint", "jpeg:quality=40", "blur"}
    assert len(copy.chains()) == 3
    words = {"split": "test", "cache_dir": str(tmp_path / "cached")}
    loaded = datasets.load_dataset(str(tmp_path / "copy" / "convergebench"), "scores", **words)
    assert len(loaded) == copy.table("scores").num_rows == 12
    with pytest.raises(UserError, match="blur is published already"):
        add(api, joining, REPO)


def test_an_editor_of_somebody_else_is_a_pull_request_that_loads(hub, api, folder, joining, tmp_path):
    publish(api, folder, REPO, "v1.0.0")
    ben = HfApi(endpoint=hub.url, token=hub.token_of("ben"))
    outcome = add(ben, joining, REPO)
    assert outcome["pull_request"].endswith("/discussions/1")
    assert set(hub.store.repo("dataset", REPO).tags) == {"v1.0.0"}
    assert Reader(f"hf://datasets/{REPO}@main", api).editors().keys() == {"jpeg:quality=40", "paint"}
    proposed = Reader(f"hf://datasets/{REPO}@refs/pr/1", api)
    proposed.refuse_unfinished()
    assert proposed.editors().keys() == {"blur", "jpeg:quality=40", "paint"}
    add(HfApi(endpoint=hub.url, token=hub.token_of("NS")), joining, REPO)
    assert set(hub.store.repo("dataset", REPO).tags) == {"v1.0.0", "v1.1.0"}, "its owner needs no pull request"


def test_a_dataset_without_a_version_is_refused(api, joining):
    with pytest.raises(UserError, match="no published version yet"):
        add(api, joining, REPO)


# What must not be published, or not under this version, is found before anything leaves


def rewrite(config, columns=None, last=None, **changes):
    """Write paint's rows again with some values changed, and the card with them."""

    def damage(folder):
        file = STEPS if config == "steps" else f"data/{config}/0000.parquet"
        rows = [row | changes for row in Reader(folder).rows(config) if row.get("editor", "paint") == "paint"]
        table = configs()[config]
        schema.write(folder / file, replace(table, columns=columns or table.columns), rows[:last], folder)
        card.write(folder, configs())

    return damage


def edit(old, new):
    def damage(folder):
        path = folder / "README.md"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return damage


STEPS = "data/steps/paint/0000.parquet"
WIDER_CHAINS = (*CHAINS.columns, Column("mood", "string", ""))


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
        (
            edit("num_examples: 10", "num_examples: 11"),
            "the card counts other rows of steps than the 10 in its files",
        ),
        (edit("content sha256 ", "content sha256 0"), "are not those the card was written for"),
        (
            edit("## Cite", "by hf_" + "abcdefghijklmnopqrstuvwx"),
            "README.md holds what looks like an access token",
        ),
        (edit("## Cite", "see /home/ada/data"), "README.md holds the local path '/home/ada'"),
        (rewrite("sources", licence=""), "source 'source-1' has no known licence"),
        (rewrite("sources", attribution=""), "source 'source-1' has no known attribution"),
        (
            rewrite("chains", WIDER_CHAINS, mood="calm"),
            r"data/chains/0000.parquet does not have the columns of chains in this",
        ),
        (rewrite("steps", last=-1), r"chain \w+ has 4 steps instead of 5; affected: the scores"),
        (rewrite("steps", sha256="0" * 64), "is not the picture of its sha256"),
        (rewrite("steps", image=None), "is 'input' but has no picture"),
        (
            rewrite("steps", details='{"url":"Bearer abcdefghijklmnop"}'),
            "column details holds what looks like an access",
        ),
        (rewrite("steps", text="saved to C:\\Users\\ada"), r"column text holds the local path"),
        (rewrite("steps", text="my key is correct-horse-battery"), "column text holds the value of SOME_API_KEY"),
    ],
)
def test_what_must_not_be_published_is_named_before_upload(hub, api, folder, monkeypatch, damage, says):
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    damage(folder)
    with pytest.raises(UserError, match=says) as caught:
        publish(api, folder, REPO, "v1.0.0")
    assert hub.log == []
    assert "correct-horse" not in str(caught.value)
    assert "abcdefghijklmnop" not in str(caught.value)


# Which of major, minor and patch a change asks for


def state(chains="a", schema=("chain",), suite="1", **rows):
    """A version with these chains, columns of `steps` and rows of further configs."""
    configs = {name: (("chain",), count) for name, count in rows.items() if isinstance(count, int)}
    configs |= {name: value for name, value in rows.items() if isinstance(value, tuple)} | {"steps": (schema, 10)}
    infos = {
        name: {"features": [{"name": n, "dtype": "string"} for n in columns], "splits": [{"num_examples": count}]}
        for name, (columns, count) in configs.items()
    }
    return infos, frozenset((chain, {"a": "paint"}.get(chain, "jpeg"), "demo", suite) for chain in chains)


OLD, MORE, WIDER = state(), state("ab"), state("ab", ("chain", "mood"))
SCORED = state(scores=9)


@pytest.mark.parametrize(
    ("old", "new", "level", "says"),
    [
        (OLD, OLD, "patch", "the card changed"),
        (OLD, MORE, "minor", "1 chain added, with the editors jpeg"),
        (OLD, SCORED, "minor", "the config scores is new"),
        (SCORED, state(scores=20), "minor", "scores went from 9 to 20 rows"),
        (MORE, WIDER, "major", r"the schema of steps changed \(\+mood:string\)"),
        (WIDER, MORE, "major", r"the schema of steps changed \(-mood:string\)"),
        (MORE, OLD, "major", "1 chain gone"),
        (SCORED, OLD, "major", "the config scores is gone"),
        (OLD, state(suite="2"), "major", "suite demo went from version 1 to 2"),
    ],
)
def test_the_level_is_that_of_the_largest_change(old, new, level, says):
    change = versions._describe_change(old, new)
    assert change[0] == level
    assert re.match(says, change[1][0])
    wider = state(scores=(("chain", "niqe"), 9))  # a metric added to the scores
    assert versions._describe_change(SCORED, wider, has_other_files=True) == ("minor", ["data files changed"])


@pytest.mark.parametrize(
    ("tag", "old", "new", "says"),
    [
        ("v1.0.1", OLD, MORE, "v1.0.1 is a patch version after v1.0.0, but 1 chain added.* a minor version"),
        ("v1.1.0", MORE, WIDER, "is a minor version .*, but the schema of steps changed .* a major version"),
        ("v0.9.0", OLD, OLD, "the tag v0.9.0 does not come after the last one, v1.0.0"),
        ("1.0", OLD, OLD, "'1.0' is not a tag; a tag is vMAJOR.MINOR.PATCH"),
        ("v1.01.0", OLD, OLD, "'v1.01.0'"),
    ],
)
def test_a_tag_that_promises_less_than_the_change_is_refused(tag, old, new, says):
    with pytest.raises(UserError, match=says):
        versions._check_tag(tag, ["v1.0.0", "a-branch-point"], versions._describe_change(old, new))


def test_a_tag_that_promises_enough_is_taken():
    for tag, tags in (("v1.1.0", ["v1.0.0", "v0.1.0"]), ("v2.0.0", ["v1.0.0"]), ("v0.3.0", [])):
        versions._check_tag(tag, tags, versions._describe_change(OLD, MORE))
