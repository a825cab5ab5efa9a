"""The dataset that the Space serves: found by Parquet's index, refused in one sentence where it is none."""

import asyncio
import os
import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import UnreadableFile
from convergebench.generation.records import UserError
from convergebench.metric_modules.scores import ScoreRow
from convergebench.spaces_app.analysis import stored_rows
from convergebench.spaces_app.analysis.stored_rows import TableRows
from convergebench.spaces_app.space import served_dataset
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.leaderboard.tab import leaderboard_html
from convergebench.spaces_app.space.served_dataset import ServedDataset, open_dataset
from convergebench.spaces_app.studies.metrics.tab.tab import metrics, words
from hub_server import HubServer
from huggingface_hub import CommitOperationAdd, HfApi


def test_without_steps_the_chains_say_what_a_round_cost(dataset, monkeypatch):
    monkeypatch.setattr("convergebench.spaces_app.space.served_dataset.MANY_STEPS", 0)
    rows = {row["editor"]: row for row in leaderboard(open_dataset(str(dataset.folder))).table.rows}
    assert (rows["fading"]["cost"], rows["identity"]["cost"]) == (pytest.approx(0.08), None)
    assert all(row["seconds"] is None for row in rows.values())
    made = open_dataset(str(dataset.folder))
    assert "Seconds a round" not in leaderboard_html(leaderboard(made), made)


def test_metrics_have_lines_if_one_value_is_known(dataset):
    chain = next(chain.id for chain in dataset.chains if chain.editor == "fading")
    rows = metrics(dataset, chain)
    known = {row["metric"] for row in rows if row["value"] is not None}
    assert {row["metric"] for row in rows} == known > {"SSIM", "LPIPS"}
    assert {"SSIM", "LPIPS", "Half-life"} < {title for title, _, _ in words(dataset)["metrics"]}


def test_a_refusal_is_no_call_that_a_round_is_made_of(tmp_path, monkeypatch):
    end = {"fading": 1}  # the step that is refused; without any answer nothing is known
    folder = small_dataset.write(
        tmp_path / "no", answer=lambda name, step: b"" if step == end.get(name, 4) else None
    )
    made = open_dataset(str(folder))
    near = {case.chain.id: case.cost for case in made.cases}
    monkeypatch.setattr(served_dataset, "MANY_STEPS", made.score_table.num_rows)
    assert any(case.seconds for case in open_dataset(str(made.folder)).cases)
    monkeypatch.setattr(served_dataset, "MANY_STEPS", 0)
    far = {case.chain.id: case.cost for case in open_dataset(str(made.folder)).cases}
    assert any(near.values())
    assert far == pytest.approx(near)


def test_a_table_in_memory_gives_its_rows(monkeypatch):
    chains = pa.array(["a", "a", "b", "c", "c"]).dictionary_encode()
    table = pa.table({"chain": chains, "step": [1, 2, 3, 4, 5], "mark": [True, None, False, None, True]})
    rows = table.to_pylist()
    monkeypatch.setattr(stored_rows, "_ROWS_AT_ONCE", 2)
    stored = TableRows(table, ScoreRow)

    def values(given):
        return [{name: row.value(name) for name in table.column_names} for row in given]

    assert values(stored) == rows
    grouped = {chain: values(chain_rows) for chain, chain_rows in stored.by_chain(table.column_names)}
    assert grouped == {"a": rows[:2], "b": rows[2:3], "c": rows[3:]}
    chosen = {chain: values(chain_rows) for chain, chain_rows in stored.of_chains({"a", "c"}).items()}
    assert chosen == {"a": rows[:2], "c": rows[3:]}
    assert stored.counts == {"a": 2, "b": 1, "c": 2}
    assert list(TableRows(table.slice(0, 0), ScoreRow)) == []


def test_the_server_starts_without_what_its_first_page_does_not_need():
    """OpenCV takes 16 MB, pyplot 20."""
    code = (
        "import sys\nfrom convergebench.spaces_app import app\nfrom convergebench.spaces_app.space import server\n"
        "sys.exit(str({'cv2', 'matplotlib.pyplot', 'torch'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"


def test_a_dataset_on_the_hub_is_opened_at_its_revision(tmp_path, monkeypatch):
    asked = []
    reader = SimpleNamespace(copy_tables=list)
    monkeypatch.setattr(served_dataset, "Reader", lambda address: asked.append(address) or reader)
    monkeypatch.setattr(served_dataset, "ServedDataset", lambda reader: None)
    monkeypatch.setattr(served_dataset, "PUBLISHED", tmp_path / "published.json")
    served_dataset.PUBLISHED.write_text('{"dataset": "me/published", "revision": "r1"}')
    for given in ((), ("me/own",), ("me/own", "r2")):
        open_dataset(*given)
    monkeypatch.setenv("CONVERGEBENCH_DATASET", "me/env")
    monkeypatch.setenv("CONVERGEBENCH_REVISION", "r3")
    open_dataset()
    names = ("published@r1", "own", "own@r2", "env@r3")
    assert asked == [f"hf://datasets/me/{name}" for name in names]
    hub = SimpleNamespace(reader=SimpleNamespace(root="datasets/me/own@0123456789abcdef", remote=True))
    assert ServedDataset.link.func(hub) == "https://huggingface.co/datasets/me/own/tree/0123456789abcdef"
    assert ServedDataset.version.func(hub) == "0123456789ab"


def test_scores_in_any_order_are_those_of_their_chains(tmp_path):
    made = open_dataset(str(small_dataset.write(tmp_path / "mixed")))
    path = made.folder / "data" / "scores" / "0000.parquet"
    rows = pq.read_table(path)
    small_dataset.rewrite(path, rows.take([*range(1, len(rows)), 0]))
    again = open_dataset(str(made.folder))
    assert {name: again.scores_of(name) for name in made.chain_of} == {
        name: made.scores_of(name) for name in made.chain_of
    }


@pytest.mark.parametrize(("error", "sentence"), [
    (UserError("see /a/b"), "see /a/b"), (OSError(), "a file of this dataset cannot be read (OSError)"),
    (OSError("cannot read /a/b\nat all"), "a file of this dataset cannot be read (cannot read)"),
    (UnreadableFile("/a/b is damaged"), "a file of this dataset cannot be read (is damaged)"),
    (OSError("x" * 201), f"a file of this dataset cannot be read ({'x' * 200})"),
])  # fmt: skip
def test_an_error_is_explained_without_paths(error, sentence):
    assert served_dataset.explain(error) == sentence


# On the Hub

CODE = """
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.served_dataset import open_dataset
made = open_dataset("NS/small", "v1.0.0")
print(sorted((row["editor"], row["cost"] and round(row["cost"], 6)) for row in leaderboard(made).table.rows))
chain = next(chain for chain in made.reader.chains() if chain.editor == "steady")
print(made.reader.steps_of(chain)[0].status, len(made.reader.picture(chain.id, 0)))
"""


def test_a_hub_dataset_is_read_without_fetching_its_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    folder = small_dataset.write(tmp_path / "small")
    with HubServer(tmp_path / "hub") as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo("NS/small", repo_type="dataset")
        files = [path for path in folder.rglob("*") if path.is_file()]
        adds = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in files]
        api.create_commit("NS/small", adds, commit_message="first", repo_type="dataset")
        api.create_tag("NS/small", tag="v1.0.0", repo_type="dataset")
        gone = [each for each in adds if "steps" in each.path_in_repo]
        api.delete_files("NS/small", [each.path_in_repo for each in gone], repo_type="dataset")
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_OFFLINE": "0"}
        environment |= {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
        done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    editors, picture = done.stdout.splitlines()
    assert editors == str([("fading", 0.08), ("identity", None), ("steady", 0.12)])
    assert picture == f"input {len(small_dataset.picture(0))}"
    fetched = {path.parent.name for path in (tmp_path / "home").rglob("*.parquet")}
    assert fetched == {"chains", "scores", "floors", "sources", "editors"}


# As a server of the Model Context Protocol, asked by the protocol's own client


async def ask(url):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with (
        streamablehttp_client(f"{url}/gradio_api/mcp/") as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        tools = {tool.name: tool.inputSchema["properties"] for tool in (await session.list_tools()).tools}
        which = {"source": "harbour", "program": "hat", "editors": ["steady", "fading"]}
        calls = {"which_editor": {"edits": 2, "dollars": 0.1}, "failures": {"editor": "fading"}, "compare": which}
        answers = {name: await session.call_tool(name, arguments) for name, arguments in calls.items()}
        wrong = await session.call_tool("which_editor", {"edits": 0, "dollars": 0.0})
    return tools, answers, wrong


def test_an_mcp_client_lists_the_tools_and_calls_them(server):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    tools, answers, wrong = asyncio.run(ask(server.address))
    assert {*tools} >= {"which_editor", "failures", "compare", "leaderboard"}
    assert {*tools["which_editor"]} == {"edits", "dollars"}
    assert "story" not in tools, "what only the page calls is not a tool"
    assert [answer.isError for answer in answers.values()] == [False] * 3
    texts = {name: answer.content[0].text for name, answer in answers.items()}
    assert "'fading'" in texts["which_editor"]
    assert "'steady'" not in texts["which_editor"], "two of its calls cost 12 cents"
    assert "quality" in texts["failures"]
    assert "steady" in texts["compare"]
    assert wrong.isError
