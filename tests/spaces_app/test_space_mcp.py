"""The Space as a server of the Model Context Protocol, asked by the protocol's own client."""

import asyncio

import pytest
import small_dataset
from space_server import serving

pytest.importorskip("mcp", reason="the extra mcp is not installed")


async def ask(url):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with (
        streamablehttp_client(f"{url}/gradio_api/mcp/") as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        tools = {tool.name: tool.inputSchema["properties"] for tool in (await session.list_tools()).tools}
        calls = {
            "which_editor": {"edits": 2, "dollars": 0.1},
            "failures": {"editor": "fading"},
            "compare": {"source": "harbour", "program": "hat", "editors": ["steady", "fading"]},
        }
        answers = {name: await session.call_tool(name, arguments) for name, arguments in calls.items()}
        wrong = await session.call_tool("which_editor", {"edits": 0, "dollars": 0.0})
    return tools, answers, wrong


def test_an_mcp_client_lists_the_tools_and_calls_them(tmp_path):
    dataset = small_dataset.write(tmp_path / "convergebench")
    with serving(dataset, tmp_path / "cache") as server:
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
