"""The Space's endpoints over HTTP: readable names, plain values, and a server that lives on whatever it is sent."""

import io
import json
import urllib.parse

import httpx
import pytest
import small_dataset
from PIL import Image

ENDPOINTS = "about leaderboard table which_editor failures compare curves find chain pick picture metrics "
ENDPOINTS += "label_items score_yours"


def chain_of(server, editor):
    return server.ask("find", editor, "harbour", "hat", 1)[1]["chain"]


def test_every_view_has_an_endpoint_and_nothing_else(server):
    named = json.loads(server.get("/gradio_api/info")[1])["named_endpoints"]
    assert {name.strip("/") for name in named} == {*ENDPOINTS.split()}
    assert all(about["description"] for about in named.values())


def test_a_step_names_its_picture_and_the_picture_is_there(server):
    chain = chain_of(server, "steady")
    steps = server.ask("chain", chain, "convergence", 0.5)[1]["steps"]
    assert (steps[3]["instruction"], steps[3]["seed"]) == ("<b onclick=x>add</b> a hat", 1003)
    assert steps[2]["undone"] is True
    shown, exact, crop = (
        server.get(server.ask("picture", chain, step, kind, 8, f"{chain} 8")[1]["url"])[1]
        for step, kind in ((3, "view"), (0, "received"), (2, "crop"))
    )
    assert exact == small_dataset.picture(0)
    assert Image.open(io.BytesIO(shown)).size == (small_dataset.SIDE, small_dataset.SIDE)
    assert Image.open(io.BytesIO(crop)).size == (360, 270)


def test_the_rest_answers_with_plain_values(server):
    assert server.ask("about")[1]["chains"] == 20
    assert server.ask("pick", "longest", "identity")[0] == 200
    assert [server.get(f"/rows/{name}")[1][:7] for name in ("chains.csv", "scores.csv")] == [b'"chain"'] * 2
    [curve, *_] = server.ask("curves", "kept", "", "all", "all", "convergence", 0.5)[1]["curves"]
    assert [point[0] for point in curve["points"]] == [0, 1, 2, 3, 4]
    found = server.ask("compare", "market", "lamp", ["fading", "steady"], "convergence", 0.5)[1]
    assert [(row["editor"], len(row["quality"])) for row in found["rows"]] == [("fading", 4), ("steady", 4)]


def test_failures_say_what_failed_first(server):
    lost = server.ask("failures", "identity", "not changed", *FIRST)[1]
    assert [cause["title"] for cause in lost["causes"]] == ["Nothing changed"]
    assert {(row["editor"], row["clause"]) for row in lost["rows"]} == {("identity", "nothing changed")}


def test_metrics_are_on_their_own_ranges(server):
    rows = server.ask("metrics", chain_of(server, "fading"))[1]
    names = ("NIQE (no reference)", "MUSIQ (no reference)", "SSIM")
    with_value = {row["metric"] for row in rows if row["value"] is not None}
    assert {row["metric"] for row in rows} == with_value >= {"RMSE", "LPIPS", *names}
    niqe, musiq, ssim = ([row["value"] for row in rows if row["metric"] == name] for name in names)
    assert len(ssim) == small_dataset.ROUNDS
    assert niqe == pytest.approx([1 - (4 + 20 * (1 - kept)) / 100 for kept in ssim])  # lower is better, 0 to 100
    assert musiq == [0.7, 0.7, None, None]  # null and not a number alike have no value


FIRST = "", "", "all", "all", "convergence", 0.5, "first", 0, 24  # all that `failures` asks for after a cause
WRONG = [
    ("failures", ["nobody", "", *FIRST], "no editor"),
    ("failures", ["", "bad luck", *FIRST], "no cause"),
    ("picture", ["{chain}", 1, "crop", 8, "../../etc 1"], "no chain"),
    ("table", ["docx", "", "all", "all", "convergence", 0.5, []], "no form"),
    ("picture", ["../../../etc/passwd", 1, "view", 8, ""], "no chain"),
    ("picture", ["{chain}", 1, "../view", 8, ""], "no kind"),
    ("picture", ["{chain}", 1, "difference", 10**9, ""], "no gain"),
    ("picture", [{"a": 1}, 1, "view", 8, ""], "chain is"),
    ("leaderboard", ["../..", "all", "all", "convergence", 0.5, []], "no group"),
    ("leaderboard", ["", "../etc", "all", "convergence", 0.5, []], "no kind"),
    ("leaderboard", ["", "all", "<b>", "convergence", 0.5, []], "no category"),
    ("leaderboard", ["", "all", "all", "pnsr", 0.5, []], "no metric"),
    ("leaderboard", ["", "all", "all", "convergence", 0.5, ["none"]], "no editor"),
    ("leaderboard", ["", "all", "all", "convergence", "NaN", []], "threshold is"),
    ("curves", ["../../x", "", "all", "all", "convergence", 0.5], "no metric"),
    ("leaderboard", ["", "all", "all", "convergence", 0.5, 7], "editors is"),
    ("pick", ["best", ""], "surprise, worst, longest"),
    ("find", ["<script>", "", "", 1], "no editor"),
    ("find", ["steady", "", "", "many"], "run is"),
    ("score_yours", ["not base64!", [], [], [], []], "base64"),
]


@pytest.mark.parametrize(("name", "data", "words"), WRONG)
def test_what_is_not_there_is_refused_in_one_sentence(server, name, data, words):
    data = [chain_of(server, "steady") if each == "{chain}" else each for each in data]
    status, answer = server.ask(name, *data)
    assert status == 500
    assert words in answer["error"]
    assert "Traceback" not in answer["error"]
    assert len(answer["error"]) < 400


PATHS = "/etc/passwd ../../../../etc/passwd {cache}/../server.log {cache}/../../etc/passwd {data}/README.md"


@pytest.mark.parametrize("path", [*PATHS.split(), "http://127.0.0.1:1/", "~/.ssh/id_rsa"])
def test_no_file_but_a_preview_is_served(server, path):
    shown = server.ask("picture", chain_of(server, "steady"), 1, "view", 8, "")[1]["url"]
    [folder] = server.log.parent.glob(f"*/{shown.rpartition('/')[2]}")
    asked = path.format(cache=folder.parent, data=server.log.parent.parent / "convergebench")
    for form in (asked, urllib.parse.quote(asked, safe=""), asked.replace("../", "..%2f")):
        for door in ("/gradio_api/file=", shown.rpartition("/")[0] + "/", "/page/x/"):
            status, body = server.get(door + form)
            assert status in (403, 404), form
            assert b"root:" not in body


def test_a_corrupt_shard_is_said_and_the_others_are_shown(server):
    chain = chain_of(server, "broken")
    answers = [server.ask("picture", chain, step, "view", 1, "")[1] for step in range(9)]
    assert any(answer["reason"] and "cannot be read" in answer["reason"] for answer in answers)
    assert all(answer["url"] or answer["reason"] for answer in answers)
    assert all(str(server.log.parent.parent) not in str(answer["reason"]) for answer in answers)
    assert server.ask("chain", chain_of(server, "steady"), "convergence", 0.5)[0] == 200


def test_an_upload_that_is_too_large_is_refused_and_not_kept(server):
    def stored():
        return sum(path.stat().st_size for path in server.log.parent.rglob("*") if path.is_file())

    before, boundary = stored(), "----limit"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n'.encode()
    body = head + bytes(200_000_000) + f"\r\n--{boundary}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    try:
        address = server.address + "/gradio_api/upload"
        status = httpx.post(address, content=body, headers=kind, timeout=60).status_code
    except httpx.TransportError:
        status = 413  # the door was closed while we were still talking
    assert status in (400, 403, 413)
    assert stored() - before < 1_000_000
    assert server.ask("about")[0] == 200


def test_no_way_leads_to_another_endpoint_or_an_upload(server):
    for path in ("run/undo", "api/undo", "call/undo", "call/v2/undo", "run/%ff", "call/x/1"):
        assert httpx.post(f"{server.address}/gradio_api/{path}", json={"data": []}).status_code == 404, path
    for path in ("/gradio_api/upload", "/gradio_api/upload/", "/upload", "/upload/"):
        status = httpx.post(server.address + path, files={"files": ("a.bin", b"x" * 1000)}).status_code
        assert status in (403, 404, 405), path
    assert list((server.log.parent / "uploads").rglob("*.*")) == []  # nor is what an earlier server left


def test_a_body_without_end_is_refused(server):
    status, answer = server.ask("leaderboard", "x" * 100_000_000)
    assert status == 413
    assert "bytes" in answer["error"]
    assert server.ask("about")[0] == 200
