"""Judges: what they are asked, what becomes of what they say, and that nothing is asked or paid twice."""

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import judging
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.files import locked
from convergebench.generation.ledger import SIZE
from convergebench.generation.records import UserError
from convergebench.generation.vendors import image_servers
from convergebench.metric_modules._judges import asks, backends, drift, questions, run
from convergebench.metric_modules._judges.backends import paint
from convergebench.metric_modules._judges.journal import _append_to_journal
from judging import SENTINEL, Vendor
from simulations.drift import alarms
from vendors.loopback import Reply, serving, told
from verbs import invoke, say

BY_PAINT = ["--judge", "paint", "--question", "object_count"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("CONVERGEBENCH_PRICES", raising=False)
    return judging.dataset(tmp_path / "convergebench")


@pytest.fixture
def priced(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVERGEBENCH_PRICES", "")
    judging.prices(tmp_path)


# Questions


@pytest.mark.parametrize("name", questions.names())
def test_every_question_names_its_fields_and_schema(name):
    question = questions.load(name)
    assert set(re.findall(r"\{(\w+)\}", question.words)) <= set(questions.FIELDS)
    assert not question.value or question.value in question.schema["required"]


def test_the_question_on_the_page_can_be_asked(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "judges.md"
    [text] = re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "sky.toml").write_text(text)
    question = questions.load(str(tmp_path / "sky.toml"))
    assert questions.read_answer(question, '{"blue": true}')[0] == 1.0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('scale = "stars"', "no scale 'stars'"),
        ('shape = "round"', "has no field shape"),
        ('pictures = ["sketch"]', "no picture 'sketch'"),
        ('value = "x"', "must have both"),
        ("schema = {type = false}", "False is not valid under any of the given schemas"),
        ('schema = {pattern = "("}', "schema that cannot judge answers"),
        ("schema = {default = 2020-01-01}", "a schema that is not JSON"),
        ('schema = {"$ref" = "http://127.0.0.1/x"}', r"a schema with \$ref"),
    ],
)
def test_a_faulty_question_is_refused(tmp_path, line, words):
    keys = {"title": '"Why?"', "words": '"Why?"', "asked_of": '"all"', "scale": '"count"'}
    key, _, value = line.partition(" = ")
    keys |= {key: value} | ({"value": '"count"'} if key == "schema" else {})
    (tmp_path / "mine.toml").write_text("\n".join(f"{name} = {each}" for name, each in keys.items()))
    with pytest.raises(UserError, match=words):
        questions.load(str(tmp_path / "mine.toml"))


@pytest.mark.parametrize(
    ("scale", "text", "value"),
    [
        ("count", '{"count": true}', None),
        ("count", '{"count": "3"}', None),
        ("count", "[]", None),
        ("count", '{"count": 3.0}', 3.0),
        ("yes or no", '{"count": 3}', None),
        ("yes or no", '{"count": 1}', 1.0),
        ("share of the things", '{"count": ["a"]}', None),
        ("share of the things", '{"count": [2]}', 0.5),
    ],
)
def test_own_schemas_give_a_value_on_the_scale_or_none(tmp_path, scale, text, value):
    known = f'title = "Why?"\nwords = "Why?"\nasked_of = "all"\nscale = "{scale}"\nvalue = "count"\n[schema]\n'
    (tmp_path / "mine.toml").write_text(known + 'title = "anything"\n')
    read, _, reason, _ = questions.read_answer(questions.load(str(tmp_path / "mine.toml")), text, things=2)
    assert (read, reason) == (value, None if value is not None else "off_scale")


@pytest.mark.parametrize(
    ("name", "text", "value", "reason"),
    [
        ("edit_applied", '{"applied": true}', 1.0, None),
        ("edit_applied", '```json\n{"applied": false}\n```', 0.0, None),
        ("edit_applied", '{"applied": true', None, "not_json"),
        ("edit_applied", "I cannot tell.", None, "not_json"),
        ("edit_applied", '{"applied": "maybe"}', None, "off_schema"),
        ("edit_applied", '{"applied": true, "sure": 1}', None, "off_schema"),
        ("edit_applied", "[" * 100_000, None, "not_json"),
        ("edit_applied", "NaN", None, "not_json"),
        ("edit_applied", "  ", None, "empty"),
        ("object_count", '{"count": 7}', 7.0, None),
        ("object_count", '{"count": -1}', None, "off_schema"),
        ("object_count", '{"count": 1' + "0" * 400 + "}", None, "off_scale"),
        ("object_count", '{"count": 2.5}', None, "off_schema"),
        ("additions_there", '{"there": [1, 3, 3, 9]}', 0.5, None),
        ("self_evaluation", "Yes.", 1.0, None),
        ("self_evaluation", '"no"', 0.0, None),
        ("self_evaluation", "The summary says yes, and later no.", None, "off_scale"),
    ],
)
def test_nonsense_is_a_reason_and_never_no(name, text, value, reason):
    read, _, unread, _ = questions.read_answer(questions.load(name), text, things=4)
    assert (read, unread) == (value, reason)


# One run


def test_every_forward_step_is_asked_exactly_once(data):
    with serving(Vendor()) as server:
        one_editor = judging.judge(data, server.base, sample=4, editors=["steady"])
        others, again = (judging.judge(data, server.base, sample=4) for _ in range(2))
    forward = 3 * 2 * 2 * 4  # editors, sources, programs, rounds
    assert (one_editor.asked, one_editor.calibration, one_editor.clean) == (16 + 32, 32, True)
    assert (others.asked - others.calibration, others.already) == (32, 16)
    assert (again.asked, again.already, again.session) == (0, forward, None)
    rows = [row for row in judging.rows_of(data) if row["purpose"] == "dataset"]
    assert len(rows) == forward
    assert {(row["model"], row["position"]) for row in rows} == {("judge-1-2026", 1)}
    assert {row["question_sha256"] for row in rows} == {questions.load("edit_applied").sha256}
    assert all(json.loads(row["raw"])["applied"] == (row["value"] == 1.0) for row in rows)
    assert "judgements" in (data / "README.md").read_text()


def test_a_judge_sees_the_pictures_in_their_order_and_the_schema(data):
    seen = []

    def answer(request, asked, number):
        seen.append(request)
        return True

    judging.ask(data, Vendor(answer))
    body = seen[0].json()
    words = body["messages"][0]["content"][-1]["text"]
    before, after = judging.pictures_of(seen[0])
    assert 'with this instruction: "add a ' in words
    assert before != after
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["applied"]
    assert "authorization" not in seen[0].headers  # OpenAI's key goes to no other server


def test_refusals_and_nonsense_have_a_reason_and_no_value(data):
    def kind(request):
        return int(judging.item_of(request)[:8], 16) % 6

    def answer(request, asked, number):
        return ["{'applied': yes}", '{"applied": tr', "", True][kind(request) % 4]

    def fail(vendor, number, request):
        if kind(request) == 4:
            return told({"error": {"message": "not this", "code": "content_policy_violation"}}, 400)
        message = {"content": None, "refusal": "I will not look at that."}
        refused = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
        return told(refused) if kind(request) == 5 else None

    outcome, again = judging.ask(data, Vendor(answer, fail), times=2)
    rows = judging.rows_of(data)
    assert again.asked == 0  # nonsense was paid for, and the same would come back
    assert {row["reason"] for row in rows} == {None, "not_json", "empty", "refused"}
    assert sum(outcome.without_value.values()) == sum(row["value"] is None for row in rows) > 10
    assert {row["value"] for row in rows if row["reason"] is None} == {1.0}
    details = {row["detail"].partition(":")[0] for row in rows if row["reason"] == "refused"}
    assert details == {"content_policy_violation", "I will not look at that."}


def test_money_is_exact_with_cut_and_retried_answers(data, priced):
    failed = {}

    def fail(vendor, number, request):
        with vendor.lock:
            item = judging.item_of(request)
            failed[item] = failed.get(item, 0) + 1
        if int(item[:8], 16) % 3 == 0 and failed[item] == 1:
            return told({"error": {"message": "slow down"}}, 429, retry_after="0.01")
        if int(item[:8], 16) % 4 == 0 and failed[item] == 2:
            vendor.billed_without_answer += price
            return Reply(body=b'{"id": "req-0", "choices": [{"message": {"content": "{', type="application/json")
        return None

    vendor = Vendor(fail=fail)
    with serving(vendor) as server:
        plan = judging.planned_run(data, server.base, sample=4)
        price = Decimal(str(plan.price))
        outcome = judging.judge(data, server.base, sample=4)
    billed = sum(vendor.bills.values()) + vendor.billed_without_answer
    assert outcome.clean
    assert vendor.billed_without_answer > 0
    assert sum(Decimal(str(row["cost"])) for row in judging.rows_of(data)) == billed
    ledger = judging.ledger_of(data)
    assert (ledger.settled, ledger.unsettled) == (billed, {})
    assert Decimal(str(outcome.spent)) == billed
    assert len(vendor.bills) == outcome.asked == len(plan.calls)


def test_max_cost_holds_over_runs_and_needs_a_price(data, priced, monkeypatch):
    vendor = Vendor()
    with serving(vendor) as server:
        first = judging.judge(data, server.base, max_cost=0.1)
        assert "would pass the limit of $0.1" in first.stopped
        assert sum(vendor.bills.values()) == Decimal(str(first.spent)) <= Decimal("0.1")
        second = judging.judge(data, server.base, max_cost=0.1)
        assert (second.asked, second.before) == (0, first.spent)
        third = judging.judge(data, server.base, max_cost=5)
        assert third.clean
        monkeypatch.setenv("CONVERGEBENCH_PRICES", "")
        monkeypatch.setattr(image_servers, "costs_nothing", lambda address: False)
        with pytest.raises(UserError, match="--max-cost needs the price of a call"):
            judging.judge(data, server.base, "edit_undone", max_cost=5)
    assert len(vendor.bills) == 48


def test_an_unsettled_answer_is_settled_and_not_asked_again(data, priced):
    vendor = Vendor()
    with serving(vendor) as server:
        judging.judge(data, server.base, limit=3)
        [path] = (data / ".judging").glob("*/ledger/calls.jsonl")
        lines = path.read_text().splitlines(keepends=True)
        last = json.loads(lines[-1])
        path.write_text("".join(lines[:-1]))  # the process dies between the two lines
        (path.parent / SIZE).write_text(str(path.stat().st_size))
        assert list(judging.ledger_of(data).unsettled) == [last["call"]]
        kept = judging.planned_run(data, server.base)
        row = dict(next(iter(kept.rows.values())).values)
        _append_to_journal(kept.journal, {"judgement": row, "call": last["call"], "own": last["settled"]})
        outcome = judging.judge(data, server.base, limit=3)
    assert (outcome.asked, judging.ledger_of(data).unsettled) == (0, {})
    assert judging.ledger_of(data).settled == sum(vendor.bills.values())


def test_a_failed_call_is_asked_again_the_next_time(data):
    def fail(vendor, number, request):
        return told({"error": {"message": "bad request"}}, 400) if number in (10, 11) else None

    first, second = judging.ask(data, Vendor(fail=fail), times=2)
    assert not first.clean
    assert (first.asked, len(first.left)) == (46, 2)
    assert (second.asked, second.session, second.clean) == (2, 1, True)


def test_answers_wait_while_the_dataset_is_locked(data):
    with serving(Vendor()) as server:
        with locked(data):
            first = judging.judge(data, server.base, limit=5)
        assert (first.asked, first.clean) == (5, False)
        assert "not in the dataset yet" in first.stopped
        assert not (data / "data" / "judgements").exists()
        second = judging.judge(data, server.base, limit=5)
    assert second.asked == 0
    assert len({row["key"] for row in judging.rows_of(data)}) == 5


def test_no_key_stands_in_what_is_kept(data, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    judging.ask(data, Vendor(lambda *_: f"your key is {SENTINEL}"), limit=3)
    for path in (path for path in data.rglob("*") if path.is_file()):
        assert SENTINEL.encode() not in path.read_bytes()
    assert {row["raw"] for row in judging.rows_of(data)} == {"your key is [key]"}


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_run_asks_nothing_twice(tmp_path, kills):
    words = [sys.executable, str(Path(judging.__file__)), str(tmp_path), str(kills)]
    environment = {**os.environ, "no_proxy": "127.0.0.1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["kills"], facts["wrong"]) == (kills, [])
    assert facts["rows"] == facts["identities"] == facts["planned"]
    assert facts["sessions"] == [1]
    assert facts["without value"] == ["not_json"]
    assert facts["cost of rows"] == facts["billed for rows"] == facts["settled"]
    assert facts["delivered"] - facts["rows"] <= facts["in flight"]  # what was lost counts at its full price


# Drift


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [({}, 0.0, 0.05), ({"moved": 0.1}, 0.95, 1.0), ({"wavering": 0.1}, 0.95, 1.0)],
    ids=["no drift", "one question in ten is answered otherwise", "one answer in ten is another"],
)
def test_drift_is_found_in_noise_and_noise_is_not_drift(words, least, most):
    assert least <= alarms(0.1, words, 200) <= most


def test_declining_to_answer_more_often_is_drift_too():
    same = [([1.0] * 4, [1.0] * 4)] * 30
    declined = [([1.0] * 4, ["refused"] * 4)] * 4
    assert drift._compare_runs(same)[2] == 1.0
    assert drift._compare_runs(same + declined)[2] <= 0.001


def test_a_judge_that_drifts_is_told_of_when_it_is_asked_again(data):
    drifted, few = False, {"sample": 24, "limit": 6}

    def answer(request, asked, number):
        turned = drifted and int(judging.item_of(request)[8:16], 16) % 5 == 0
        return judging.truth(request) ^ turned

    vendor = Vendor(answer)
    with serving(vendor) as server:
        first, second = (judging.judge(data, server.base, again=True, **few) for _ in range(2))
        assert first.alarms == second.alarms == []
        assert (first.calibration, second.calibration) == (24 * drift.FIRST_REPEATS, 24 * drift.REPEATS)
        assert drift.FIRST_REPEATS == 2 * drift.REPEATS
        drifted, vendor.model = True, "judge-1-2027"
        [alarm] = judging.judge(data, server.base, again=True, **few).alarms
    assert "run 3" in alarm
    assert "judge-1-2027" in alarm
    found = [(each.session, each.alarm, each.other_model) for each in drift.find_drift(judging.rows_of(data))]
    assert found == [(2, False, False), (3, True, True)]


# Judges


def test_gemini_is_asked_in_its_own_form(data, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", SENTINEL)
    seen = []

    def vendor(server, request):
        assert request.path == "/v1beta/models/gemini-3-flash-preview:generateContent"
        assert request.headers["x-goog-api-key"] == SENTINEL
        seen.append(request.json())
        if len(seen) == 2:
            return told({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}})
        if len(seen) == 3:
            details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"}]
            return told({"error": {"code": 429, "message": "quota", "details": details}}, 429)
        parts = [{"text": "no, wait", "thought": True}, {"text": '{"applied": true}'}]
        usage = {"promptTokenCount": 1000, "candidatesTokenCount": 10, "thoughtsTokenCount": 90}
        candidate = {"content": {"parts": parts}, "finishReason": "STOP"}
        return told({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-flash-001"})

    with serving(vendor) as server:
        judge = f"gemini:base_url={server.base},concurrency=1"
        outcome = run.judge(data, judge, "edit_applied", calibration=0, limit=4, quiet=True)
    rows = judging.rows_of(data)
    assert (outcome.asked, outcome.without_value) == (4, {"refused": 1})
    assert {row["model"] for row in rows if row["value"] == 1.0} == {"gemini-3-flash-001"}
    # 1,000 tokens at $0.50 and 100 at $3 a million
    assert {row["cost"] for row in rows if row["value"] == 1.0} == {0.0008}
    parts = seen[0]["contents"][0]["parts"]
    assert [*parts[0], *parts[1]] == ["text", "inlineData"]
    assert seen[0]["generationConfig"]["responseJsonSchema"]["required"] == ["applied"]
    assert seen[0]["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "low"}


@pytest.fixture(scope="module")
def painted(tmp_path_factory):
    """Two chains of paint that only add, and what paint knows of them."""
    folder = tmp_path_factory.mktemp("painted")
    (folder / "adds.toml").write_text(
        'title = "adds"\nshort_side = 160\nrounds = 6\nsources = ["coffee"]\n'
        'programs = ["add-apples", "add-100-fruits"]\n'
    )
    say("generate", "--suite", folder / "adds.toml", "--editor", "paint", "--out", folder / "run")
    say("build", folder / "run", "--out", folder / "data")
    say("judge", folder / "data", *BY_PAINT, "--question", "additions_there")
    return folder / "data"


def test_paint_knows_where_it_drew_each_thing(painted):
    reader = Reader(painted)
    chain = next(chain for chain in reader.chains() if chain.program.id == "add-apples")
    for step in reader.steps_of(chain)[1:]:
        before, after = (np.asarray(asks.read_step(reader, chain, step.step - back)) for back in (1, 0))
        left, top, cover = paint._draw_again(before, step.instruction, step.seed)
        changed = abs(after.astype(int) - before).max(2)
        rows, columns = slice(top, top + cover.shape[0]), slice(left, left + cover.shape[1])
        assert np.median(changed[rows, columns][cover]) > 5 * max(np.median(changed), 1)


def test_a_thing_that_is_covered_is_no_longer_there():
    thing, large = (10, 10, np.ones((10, 10), np.bool_)), np.ones((40, 20), np.bool_)
    assert paint._is_seen(thing, [])
    assert paint._is_seen(thing, [(17, 0, large)])
    assert not paint._is_seen(thing, [(14, 10, large)])
    assert not paint._is_seen(thing, [(8, 13, large)])


def test_paint_counts_what_it_drew(painted):
    rows = [row for row in judging.rows_of(painted) if row["question"] == "object_count"]
    assert {row["purpose"] for row in rows} == {"dataset"}  # what is computed cannot drift
    assert sorted(row["value"] for row in rows if row["program"] == "add-apples") == [0, 1, 2, 3, 4, 5, 6]


def test_the_plan_says_calls_and_dollars_and_asks_nothing(data, priced):
    words = ["judge", str(data), "--question", "edit_applied", "--plan"]
    plan = say(*words, "--judge", "openai:model=judge-1,base_url=http://127.0.0.1:9/v1")
    assert "432 calls for $" in plan  # 48 steps, and all of them eight times
    assert not list((data / ".judging").glob("**/*.json*"))
    assert not (data / "data" / "judgements").exists()


@pytest.mark.parametrize("more", [[], ["--plan"]])
def test_a_folder_that_is_no_dataset_is_left_as_it_is(tmp_path, more):
    done = invoke("judge", tmp_path / "typo", *BY_PAINT, *more)
    assert (done.exit_code, "is not a dataset" in done.output) == (2, True)
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("more", [[], ["--plan"]])
def test_a_strangers_table_stays_and_is_named(data, more):
    file = data / run.Run(data, backends.choose("paint"), questions.load("object_count")).file
    file.parent.mkdir()
    pq.write_table(pa.table({"chain": ["theirs"]}), file)
    theirs = file.read_bytes()
    done = invoke("judge", data, *BY_PAINT, *more)
    assert (done.exit_code, file.name in done.output, file.read_bytes()) == (2, True, theirs)
