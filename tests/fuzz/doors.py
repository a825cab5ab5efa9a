"""The doors through which bytes come in from outside, and what each may do with them: use them, or say what is wrong.

A door has `seeds`, bytes that are right, and `enter`, which raises where something else happens.
"""

import base64
import io
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

import stores
from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.importing import layout_pairs, layout_table
from convergebench.dataset_builder.studies.published.published_scores import import_scores
from convergebench.generation import ledger, loop, pictures, plan, records, store, store_reader, suites
from convergebench.generation.calls import Caller, CallLimits, Fault
from convergebench.generation.records import Answer, UserError
from convergebench.generation.vendors import models, wire
from PIL import Image


class Door:
    """One reader of bytes, in a folder of its own."""

    seeds: Sequence[bytes]

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.open()

    def open(self) -> None:
        """Make what stands beside the bytes."""

    def enter(self, data: bytes) -> None:
        try:
            self.use(data)
        except UserError as error:
            if not str(error).strip():
                raise AssertionError("nothing is said") from error

    def use(self, data: bytes) -> None:
        raise NotImplementedError


class OfAChain(Door):
    """A file of a chain's folder; what is read of a finished chain is what it was, or damage."""

    file = ""
    finished = True

    def open(self) -> None:
        made = stores.chain(rounds=2)
        self.chain = stores.keep(self.folder / "run", made)
        if not self.finished:
            (self.chain / "done.json").unlink()
        else:
            self.truth = self.what_is_read()
        self.seeds = [(self.chain / self.file).read_bytes()]

    def what_is_read(self) -> object:
        found = store_reader.read_chain(self.chain, "test", "1")
        return asdict(found.chain), found.status, found.calls, found.cost, store_reader.read_steps(found)

    def use(self, data: bytes) -> None:
        (self.chain / self.file).write_bytes(data)
        if not self.finished:
            store_reader.check_unfinished(self.chain)
        elif self.what_is_read() != self.truth:
            raise AssertionError(f"silent: another {self.file} gives another chain")


class ChainJson(OfAChain):
    file = "chain.json"


class Steps(OfAChain):
    file = "steps.jsonl"


class Done(OfAChain):
    file = "done.json"


class ChainUnfinished(OfAChain):
    file, finished = "chain.json", False


class StepsUnfinished(OfAChain):
    file, finished = "steps.jsonl", False


class Run(Door):
    """What a run is of, and of whom."""

    def open(self) -> None:
        about = {"suite": "smoke", "suite_version": "1", "short_side": 64}
        store.open_run(self.folder / "run", about, {"paint": records.EditorInfo("paint")})
        self.files = [self.folder / "run" / name for name in ("run.json", "editors.json")]
        self.seeds = [path.read_bytes() for path in self.files]
        self.truth = store.read_run(self.folder / "run"), store_reader.read_editors(self.folder / "run")

    def use(self, data: bytes) -> None:
        path = self.files[b"paint" in data]
        before = path.read_bytes()
        path.write_bytes(data)
        try:
            found = store.read_run(self.folder / "run"), store_reader.read_editors(self.folder / "run")
        finally:
            path.write_bytes(before)
        checked = b"#check" in data
        if checked and found != self.truth:
            raise AssertionError(f"silent: {path.name} says something else")


class LedgerLines(Door):
    def open(self) -> None:
        self.seeds = [b'{"opening":0}\n{"call":"a-1","intent":0.04}\n{"call":"a-1","settled":0.039}\n']
        budget = ledger.Ledger(self.folder / "run", 0.5)
        with budget.turn():
            budget.settle(budget.intend(ledger.Decimal("0.04")), ledger.Decimal("0.05"))
        self.seeds.append(budget.path.read_bytes())
        self.path = budget.path

    def use(self, data: bytes) -> None:
        self.path.write_bytes(data)
        ledger.check(self.folder / "run")
        if ledger.Ledger(self.folder / "run").spent < 0:
            raise AssertionError("less than nothing was spent")


class Manifest(Door):
    seeds = (manifest.text({"data/a.parquet": {"sha256": "0" * 64, "columns": {"a": "1"}, "pictures": {}}}),)

    def use(self, data: bytes) -> None:
        files, replacing = manifest.parse(data)
        for path in (*files, *replacing):
            if not (self.folder / path).resolve().is_relative_to(self.folder.resolve()):
                raise AssertionError(f"{path!r} is outside")
        manifest.text(files, replacing).decode()


class OwnSuite(Door):
    def open(self) -> None:
        from fuzz.workshop import SUITE

        for name in ("one", "two", "three"):
            stores.write(self.folder / "shots" / f"{name}.png", stores.picture(len(name), (96, 64)))
        self.seeds = [SUITE.encode()]

    def use(self, data: bytes) -> None:
        (self.folder / "mine.toml").write_bytes(data)
        found = suites.load(str(self.folder / "mine.toml"))
        if found.rounds * found.runs * len(found.programs) < 10_000:
            plan.summary(plan.make_plan(found, ["identity"]))


class Prices(Door):
    seeds = (
        b'read = "2026"\n[bfl]\nflux-2-pro = 0.05\n[openai]\ngpt-image-2 = { low = 0.01, high = 1 }\n[openai_tokens]\n',
    )

    def use(self, data: bytes) -> None:
        (self.folder / "prices.toml").write_bytes(data)
        models.own_prices.cache_clear()
        with mock.patch.dict(os.environ, {"CONVERGEBENCH_PRICES": str(self.folder / "prices.toml")}):
            for vendor, name in (("bfl", "flux-2-pro"), ("openai", "gpt-image-2")):
                price = models.find(vendor, name).price
                for dollars in price.values() if isinstance(price, dict) else [price]:
                    if dollars is not None and not 0 <= dollars < float("inf"):
                        raise AssertionError(f"a price of {dollars}")


class Pictures(Door):
    """The one decoder, and what the metrics' own modules open."""

    def open(self) -> None:
        from fuzz.workshop import KINDS

        self.seeds = [self.encoded(kind, mode) for kind in KINDS for mode in ("RGB", "L")]
        self.seeds += [self.encoded("PNG", mode) for mode in ("RGBA", "I;16", "1", "LA", "P")]

    def encoded(self, kind: str, mode: str) -> bytes:
        buffer = io.BytesIO()
        made = Image.effect_noise((24, 12), 90)
        (made.convert("RGB").convert(mode) if mode != "I;16" else made.convert("I").convert("I;16")).save(buffer, kind)
        return buffer.getvalue()

    def use(self, data: bytes) -> None:
        try:
            found = pictures.decode(data, 2**20)
        except pictures.Undecodable as error:
            if not str(error):
                raise AssertionError("nothing is said") from error
            return
        if found.mode != "RGB" or found.width * found.height > 2**20:
            raise AssertionError(f"a picture of {found.mode} {found.size}")


class MetricPictures(Pictures):
    def use(self, data: bytes) -> None:
        from convergebench.metric_modules._shared import images

        try:
            found = images.pixels(data)
        except ValueError as error:
            if not str(error):
                raise AssertionError("nothing is said") from error
            return
        if found.ndim != 3 or found.shape[2] != 3 or found.dtype != "uint8":
            raise AssertionError(f"an array of {found.shape} {found.dtype}")


class Parquet(Door):
    """A table of scores: what is read is what was written, or damage."""

    def open(self) -> None:
        import small_dataset

        self.dataset = small_dataset.write(self.folder / "dataset")
        self.path = self.dataset / "data" / "scores" / "0000.parquet"
        self.seeds = [self.path.read_bytes()]
        self.truth = self.what_is_read()

    def what_is_read(self) -> str:
        from convergebench.dataset_builder.dataset.reader import Reader

        return repr(list(Reader(self.dataset).rows("scores")))

    def use(self, data: bytes) -> None:
        self.path.write_bytes(data)
        if self.what_is_read() != self.truth:
            raise AssertionError("silent: other scores are read")


class Table(Door):
    """A table of pictures from elsewhere."""

    suffix = "csv"

    def open(self) -> None:
        for number in range(3):
            stores.write(self.folder / f"a{number}.png", stores.picture(number))
        rows = [{"chain": "a", "round": n, "position": 1, "path": f"a{n}.png", "instruction": "x", "editor": "flux",
                 "status": "ok", "cost": 0.04, "seed": n} for n in range(3)]  # fmt: skip
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        self.seeds = ["\n".join(lines if self.suffix == "csv" else map(json.dumps, rows)).encode() + b"\n"]

    def use(self, data: bytes) -> None:
        path = self.folder / f"table.{self.suffix}"
        path.write_bytes(data)
        for found in layout_table.find_chains(path, "flux", {}):
            repr(found)


class JsonTable(Table):
    suffix = "jsonl"


class Prompts(Door):
    seeds = (
        b'{"glasses": {"forward": "Add glasses", "backward": "Remove them", "category": "objects"}}',
        b'[{"name": "glasses", "forward": "Add", "backward": "Remove"}]',
        b'{"a": {"b": {"glasses": {"forward": "Add", "backward": "Remove"}}}}',
    )

    def use(self, data: bytes) -> None:
        (self.folder / "prompts.json").write_bytes(data)
        layout_pairs.prompts_by_name(self.folder / "prompts.json", "flux")


class Published(Door):
    seeds = (
        b"case,image,editor,round,lpips,ssim\n" + b"".join(b"c%d,i%d,flux,1,0.1,0.8\n" % (n, n) for n in range(3)),
        b"case,editor,round,position,psnr\nc,flux,1,1,20.5\n",
    )

    def open(self) -> None:
        import small_dataset

        self.dataset = small_dataset.write(self.folder / "dataset")

    def use(self, data: bytes) -> None:
        (self.folder / "published.csv").write_bytes(data)
        shutil.rmtree(self.dataset / "data" / "published", ignore_errors=True)
        import_scores(self.folder / "published.csv", self.dataset, {})


class VendorAnswer(Door):
    """What vendors answer in JSON: an answer, or a fault of theirs that says what it is."""

    seeds = (
        json.dumps(["bfl", {"status": "Ready", "result": {"sample": "http://127.0.0.1/x", "seed": 7}}]).encode(),
        json.dumps(["openai", {"data": [{"b64_json": "aGk=", "revised_prompt": "y"}], "output_format": "png",
            "usage": {"output_tokens": 5, "input_tokens_details": {"text_tokens": 2, "image_tokens": 3}}}]).encode(),
        json.dumps(["seedream", {"model": "m", "data": [{"b64_json": "aGk=", "size": "1x1"}], "usage": {}}]).encode(),
        json.dumps(["seedream", {"error": {"code": "x", "message": "y"}}]).encode(),
        json.dumps(["qwen", {"output": {"choices": [{"finish_reason": "stop", "message": {"content":
            [{"image": "http://127.0.0.1/x"}, {"text": "t"}]}}]}, "request_id": "1", "usage": {}}]).encode(),
        json.dumps(["qwen", {"code": "x", "message": "y", "request_id": "1"}]).encode(),
        json.dumps(["xai", {"data": [{"url": "http://127.0.0.1/x", "revised_prompt": "r"}], "usage": {}}]).encode(),
        json.dumps(["xai", {"error": {"code": "x", "message": "y"}}]).encode(),
        json.dumps(["fal", {"images": [{"url": "http://127.0.0.1/x"}], "seed": 1, "has_nsfw_concepts": [False],
            "status": "COMPLETED", "status_url": "http://127.0.0.1/s", "response_url": "http://127.0.0.1/r"}]).encode(),
        json.dumps(["replicate", {"id": "1", "status": "succeeded", "output": ["http://127.0.0.1/x"], "metrics": {},
            "urls": {"get": "http://127.0.0.1/x"}, "error": None}]).encode(),
        json.dumps(["gemini", {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "t", "thought":
            True}, {"inlineData": {"data": "aGk=", "mimeType": "image/png"}, "thoughtSignature": "s"}]}}],
            "promptFeedback": {"blockReason": ""}, "usageMetadata": {}}]).encode(),
    )  # fmt: skip

    def open(self) -> None:
        import httpx
        import httpx2
        from convergebench.generation import editors

        names = ("BFL_API_KEY", "OPENAI_API_KEY", "ARK_API_KEY", "DASHSCOPE_API_KEY", "XAI_API_KEY", "FAL_KEY",
            "REPLICATE_API_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY")  # fmt: skip
        self.environment = dict.fromkeys(names, "sentinel-of-the-doors")
        self.body = b""

        def answer(http: Any) -> Callable[..., Any]:
            return lambda package="httpx", **options: http.Client(
                transport=http.MockTransport(lambda request: http.Response(200, content=self.body)), **options
            )

        clients = {"httpx": answer(httpx), "httpx2": answer(httpx2)}
        self.client = lambda package="httpx", **more: clients[package](**more)
        base = "base_url=http://127.0.0.1"
        kinds = {name: f"{name}:{base}" for name in ("bfl", "openai", "seedream", "qwen", "xai", "fal", "replicate")}
        self.editors = {name: editors.choose(spec, find_out=False).editor for name, spec in kinds.items()}
        self.picture = Image.new("RGB", (32, 32), "olive")
        self.left = 0
        self.caller = Caller(CallLimits(attempts=2, first_wait=0.0, longest_wait=0.0), price=0.04)

    def tire(self, seconds: float) -> None:
        self.left -= 1
        if self.left < 0:
            raise wire.Transient("no picture before the time limit", charged=True)

    def use(self, data: bytes) -> None:
        try:
            name, self.body = json.loads(data)
        except (ValueError, RecursionError, TypeError):
            return
        self.body = json.dumps(self.body).encode()
        self.left = 3
        edit = gemini_answer if name == "gemini" else self.edit(name)
        if edit is None:
            return
        self.caller._failures = 0
        try:
            with (
                mock.patch.object(wire, "client", self.client),
                mock.patch.object(wire, "pause", self.tire),
                mock.patch.dict(os.environ, self.environment),
            ):
                reply = self.caller.ask(lambda: edit(self.body), lambda answer: loop.judge(answer, 4)[0])
        except Fault as fault:
            said = {"reason": str(fault)}
            if not str(fault):
                raise AssertionError("nothing is said") from fault
        else:
            said = reply.answer.step_fields()
            if reply.answer.cost is not None and not 0 <= reply.answer.cost < float("inf"):
                raise AssertionError(f"a cost of {reply.answer.cost}")
        step = records.Step(1, 1, 1, "x", "failed", **said)
        (self.folder / "steps.jsonl").write_bytes(records.canonical(step.to_dict()).encode() + b"\n")
        line = json.loads((self.folder / "steps.jsonl").read_bytes(), parse_constant=self.refuse)
        if records.Step.from_dict(line) != step:
            raise AssertionError(f"{line} is not {step}")

    def refuse(self, word: str) -> None:
        raise AssertionError(f"{word} in a step")

    def edit(self, name: object) -> Callable[[bytes], Answer] | None:
        editor = self.editors.get(name) if isinstance(name, str) else None
        return None if editor is None else lambda body: editor.edit(self.picture, "x", 1)


def gemini_answer(body: bytes) -> Answer:
    """As the editor reads it once the SDK has handed the response on."""
    from convergebench.generation.editors import gemini

    editor = gemini.Editor()
    response = mock.Mock(sdk_http_response=mock.Mock(body=body.decode(), headers={}))
    client = mock.Mock()
    client.models.generate_content.return_value = response
    with mock.patch.dict(editor.__dict__, {"sdk": client}):
        return editor.edit(Image.new("RGB", (32, 32)), "x", 1)


class Words(Door):
    """Words on the command line, one a line, for the verbs that only read."""

    seeds = (
        b"plan\n--suite\nsmoke\n--editor\njpeg:quality=40\n--rounds\n2\n--json",
        b"plan\n--suite\nsmoke\n--editor\nidentity\n--max-cost\n3\n--program\nflip-horizontally",
        b"plan\n--suite\nsmoke\n--editor\nbfl:model=flux-2-max\n--limit\n3\n--runs\n2",
        b"verify\nDATASET\n--json",
        b"status\nRUN\n--json",
        b"metrics\n--json",
        b"editors",
        b"suites",
        b"report\nDATASET\n--threshold\n0.4\n--compare\nsteady\nfading",
    )
    reading = ("plan", "verify", "status", "metrics", "editors", "suites", "report")

    def open(self) -> None:
        import small_dataset
        from convergebench.cli.__main__ import main

        self.main = main
        self.dataset = small_dataset.write(self.folder / "dataset")
        stores.keep(self.folder / "run", stores.chain(rounds=1))

    def use(self, data: bytes) -> None:
        from click.testing import CliRunner

        words = data.decode(errors="surrogateescape").replace("\0", "").split("\n")[:16]
        places = {"DATASET": str(self.dataset), "RUN": str(self.folder / "run")}
        words = [places.get(word, word) for word in words]
        if words[0] not in self.reading or "--refresh" in words or "check" in words:
            return
        if words[0] == "report":
            words += ["--compare", "steady", "fading"]
        os.chdir(self.folder)
        result = CliRunner().invoke(self.main, words)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if result.exit_code not in (0, 1, 2):
            raise AssertionError(f"exit code {result.exit_code}")


class Endpoints(Door):
    """A request to the Space: the name of an endpoint and its values."""

    def open(self) -> None:
        import small_dataset
        from convergebench.spaces_app.space import served_dataset, server

        os.environ.setdefault("CONVERGEBENCH_PREVIEWS", str(self.folder / "previews"))
        served = served_dataset.open_dataset(str(small_dataset.write(self.folder / "dataset")))
        self.answers = server.answers(served, "PUBLIC") | server.answers(served, "FOR_THE_PAGE")
        chain = next(iter(served.chains))
        about: dict[str, list[object]] = {"chain": [chain], "step": [chain, 1], "chains": ["steady", "", "", 0],
            "leaderboard": ["", "all", "all", "convergence", 0.5, []], "curves": ["quality", "", "all", "all", 0.5],
            "compare": ["steady", "fading", 0.5], "find": ["hat"], "pick": ["worst", "", "", 1]}  # fmt: skip
        self.seeds = [json.dumps([name, *about.get(name, [])]).encode() for name in self.answers]

    def use(self, data: bytes) -> None:
        import gradio as gr

        try:
            name, *values = json.loads(data)
        except (ValueError, RecursionError, TypeError):
            return
        if not isinstance(name, str) or name not in self.answers:
            return
        try:
            json.dumps(self.answers[name](*values))
        except gr.Error as error:
            if not str(error):
                raise AssertionError("nothing is said") from error
        except TypeError as error:  # a number of arguments that Gradio refuses before us
            if "argument" not in str(error):
                raise


class Upload(Door):
    """Pictures that a visitor sends to be scored."""

    def open(self) -> None:
        made = base64.b64encode(stores.picture(1, (40, 30))).decode()
        values = ([made, [made, made], 0.5], ["data:image/png;base64," + made, [made], 0.5, [made], ["a", "b"]])
        self.seeds = [json.dumps(each).encode() for each in values]
        import small_dataset
        from convergebench.spaces_app.space import served_dataset, server

        served = served_dataset.open_dataset(str(small_dataset.write(self.folder / "dataset")))
        self.score = server.answers(served, "QUEUED")["score_yours"]

    def use(self, data: bytes) -> None:
        import gradio as gr

        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(values, list):
            return
        try:
            json.dumps(self.score(*values))
        except gr.Error as error:
            if not str(error):
                raise AssertionError("nothing is said") from error
        except TypeError as error:
            if "argument" not in str(error):
                raise


DOORS: dict[str, type[Door]] = {
    "chain.json": ChainJson,
    "steps.jsonl": Steps,
    "done.json": Done,
    "chain.json, unfinished": ChainUnfinished,
    "steps.jsonl, unfinished": StepsUnfinished,
    "run.json": Run,
    "ledger": LedgerLines,
    "manifest": Manifest,
    "suite": OwnSuite,
    "prices": Prices,
    "pictures": Pictures,
    "pictures of metrics": MetricPictures,
    "parquet": Parquet,
    "table.csv": Table,
    "table.jsonl": JsonTable,
    "prompts": Prompts,
    "published scores": Published,
    "vendors": VendorAnswer,
    "command line": Words,
    "endpoints": Endpoints,
    "uploads": Upload,
}
