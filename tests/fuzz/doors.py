"""The doors through which bytes come in from outside, and what each may do with them: use them, or say what is wrong.

A door has `seeds`, bytes that are right, and `use`, which raises if something else happens.
"""

import base64
import json
import os
import shutil
from pathlib import Path
from unittest import mock

import scored
import small_dataset
import stores
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import configs
from convergebench.dataset_builder.studies.labels.label_files import _read_label_file, import_labels
from convergebench.dataset_builder.studies.labels.labels import latest
from convergebench.dataset_builder.studies.published.published_scores import import_scores
from convergebench.dataset_builder.studies.submissions import submission
from convergebench.generation import ledger, pictures, plan, store_reader, suites
from convergebench.generation.records import UserError
from convergebench.generation.vendors import models
from convergebench.metric_modules._evaluate import images
from convergebench.metric_modules._judges import asks, questions
from convergebench.metric_modules.lpips import weights
from convergebench.spaces_app.space import served_dataset, server, tabs
from fuzz.mutations import mutate
from fuzz.workshop import KINDS, SUITE
from PIL import Image


class Door:
    """One reader of bytes, in a folder of its own. If they are a file, its whole bytes are the seed."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path = self.open()
        if not hasattr(self, "seeds"):
            self.seeds = [self.path.read_bytes()]

    def open(self):
        """Make what is needed beside the bytes; the file that they are, or None."""

    def enter(self, data):
        """Use the bytes; whether they were "taken" or "named" as wrong."""
        try:
            if self.path:
                self.path.write_bytes(data)
            self.use(data)
        except UserError as error:
            said(error)
            return "named"
        return "taken"

    def enter_mutated(self, chance):
        return self.enter(mutate(chance.choice(self.seeds), chance, self.seeds, text=True) or b"")


def said(error):
    """Raise if an error says nothing."""
    if not str(error).strip():
        raise AssertionError("nothing is said") from error


def json_list(data):
    """A JSON list; nothing if the bytes are not one."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return []
    return values if isinstance(values, list) else []


class UnfinishedSteps(Door):
    """The steps of a chain that goes on, or what it is of."""

    file = "steps.jsonl"

    def open(self):
        self.chain = stores.keep(self.folder / "run", stores.chain(rounds=2), done=False)
        return self.chain / self.file

    def use(self, data):
        store_reader.check_unfinished(self.chain)


class UnfinishedChain(UnfinishedSteps):
    file = "chain.json"


class LedgerLines(Door):
    def open(self):
        budget = ledger.Budget(run=self.folder / "run", opening=0.5)
        with budget.turn():
            budget.settle(budget.intend(ledger.Decimal("0.04")), ledger.Decimal("0.05"))
        calls = b"".join(
            b'{"call":"a-%d","intent":0.04}\n{"call":"a-%d","settled":0.039}\n' % (n, n) for n in range(3)
        )
        self.seeds = [budget.path.read_bytes(), b'{"opening":0}\n' + calls]
        return budget.path

    def use(self, data):
        (self.path.parent / ledger.SIZE).unlink(missing_ok=True)  # shorter bytes than before would not be read
        ledger.Budget(run=self.folder / "run", check_only=True)
        if ledger.Budget(run=self.folder / "run").spent < 0:
            raise AssertionError("less than nothing was spent")


class OwnSuite(Door):
    """A suite of one's own is planned, or refused."""

    def open(self):
        return stores.own_suite(self.folder, SUITE)

    def use(self, data):
        suite = suites.load(str(self.path))
        if suite.rounds * suite.runs * len(suite.programs) < 10_000:
            plan.summary(plan.make_plan(suite, ["identity"]))


class Prices(Door):
    seeds = (
        b'read = "2026"\n[bfl]\nflux-2-pro = 0.05\n[openai]\ngpt-image-2 = { low = 0.01, high = 1 }\n[openai_tokens]\n',
    )

    def use(self, data):
        (self.folder / "prices.toml").write_bytes(data)
        models._user_prices.cache_clear()
        with mock.patch.dict(os.environ, {"CONVERGEBENCH_PRICES": str(self.folder / "prices.toml")}):
            for vendor, name in (("bfl", "flux-2-pro"), ("openai", "gpt-image-2")):
                price = models.find(vendor, name).price
                for dollars in price.values() if isinstance(price, dict) else [price]:
                    if dollars is not None and not 0 <= dollars < float("inf"):
                        raise AssertionError(f"a price of {dollars}")


class Pictures(Door):
    """The one decoder, and what the metrics' own modules open."""

    def open(self):
        modes = [(kind, mode) for kind in KINDS for mode in ("RGB", "L")]
        modes += [("PNG", mode) for mode in ("RGBA", "I;16", "1", "LA", "P")]
        noise = Image.effect_noise((24, 12), 90)
        made = {mode: noise.convert("I" if mode == "I;16" else "RGB").convert(mode) for _, mode in modes}
        self.seeds = [stores.encoded(made[mode], kind) for kind, mode in modes]

    def use(self, data):
        try:
            picture = pictures.decode(data, 2**20)
            if picture.mode != "RGB" or picture.width * picture.height > 2**20:
                raise AssertionError(f"a picture of {picture.mode} {picture.size}")
        except pictures.Undecodable as error:
            said(error)
        try:
            pixels = images.pixels(data)
            if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != "uint8":
                raise AssertionError(f"an array of {pixels.shape} {pixels.dtype}")
        except ValueError as error:
            said(error)


class NetworkWeights(Door):
    """The weights of LPIPS are those that were fetched, or are not used."""

    def open(self):
        scored.lpips_weights(self.folder)
        with self.cache():
            self.digest = weights.load_weights("alex")[1]
            return weights.weights_file("alex")

    def cache(self):
        return mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.folder)})

    def use(self, data):
        try:
            with self.cache():
                if weights.load_weights("alex")[1] != self.digest:
                    raise AssertionError("silent: other weights are loaded")
        except (ValueError, FileNotFoundError) as error:
            said(error)


class OfADataset(Door):
    """A door with a small dataset."""

    def open(self):
        self.dataset = small_dataset.write(self.folder / "dataset")
        self.card = (self.dataset / "README.md").read_bytes()
        return self.made()

    def made(self):
        """Go on when the dataset is there; the file of the bytes."""


class Published(OfADataset):
    """A table of scores from elsewhere is taken whole, or refused."""

    seeds = (
        b"case,image,editor,round,lpips,ssim\n"
        + b"".join(b"c%d,i%d,flux,1,0.1,0.8\n" % (n, n) for n in range(3)),
        b"case,editor,round,position,psnr\nc,flux,1,1,20.5\n",
    )

    def use(self, data):
        (self.folder / "published.csv").write_bytes(data)
        shutil.rmtree(self.dataset / "data" / "published", ignore_errors=True)
        (self.dataset / "README.md").write_bytes(self.card)
        import_scores(self.folder / "published.csv", self.dataset, {})


class Card(OfADataset):
    """The list of a dataset's files: whatever it says, rows are those that were written, or it is named."""

    file = "README.md"

    def made(self):
        self.truth = self.rows()
        return self.dataset / self.file

    def use(self, data):
        if self.rows() != self.truth:
            raise AssertionError("silent: other rows")

    def rows(self):
        reader = Reader(self.dataset)
        reader.refuse_unfinished()
        return [*reader.rows("scores"), *reader.rows("chains"), *reader.rows("floors")]


class Table(Card):
    """The bytes of a table."""

    file = "data/scores/0000.parquet"


class Labels(OfADataset):
    """A file of what people said of pictures: what is taken is in the dataset afterwards."""

    def made(self):
        first, other, *_ = Reader(self.dataset).chains()
        place = {"chain": first.id, "step": 2}
        rating = {"rater": "anna", "question": "rating", "answer": "3", **place, "seconds": 1.5}
        pair = {"rater": "ben", "question": "pair", "answer": "first", **place, "at": "2026-11-19"}
        pair |= {"other_chain": other.id, "other_step": 2}
        table = (
            f"rater,question,answer,chain,step\nanna,failure,count,{first.id},1\nben,applied,yes,{first.id},1\n"
        )
        lines = "".join(json.dumps(row) + "\n" for row in (rating, pair))
        self.names = {b"{": "labels.json", b"r": "labels.csv", b"\n": "labels.jsonl"}
        whole = json.dumps({"format": 1, "labels": [rating, pair]})
        self.seeds = [whole.encode(), table.encode(), b"\n" + lines.encode()]

    def use(self, data):
        path = self.folder / self.names.get(data[:1], "labels.json")
        path.write_bytes(data)
        labels, before = latest(_read_label_file(path)), len(list(Reader(self.dataset).rows("labels", ["rater"])))
        done = import_labels([path], self.dataset)
        if done["labels"] != before + done["new"] or done["new"] + done["changed"] > len(labels):
            raise AssertionError("more labels than were given")


class Questions(OfADataset):
    """A question of one's own to judges."""

    def made(self):
        self.seeds = [path.read_bytes() for path in sorted(Path(str(questions.__file__)).parent.glob("*.toml"))]
        self.reader = Reader(self.dataset)
        return self.folder / "mine.toml"

    def use(self, data):
        question = questions.load(str(self.path))
        for ask in asks.plan_asks(self.reader, question, lambda *_: True)[0][:3]:
            ask.key.encode()
            ask.words.encode()
        for answer in ('{"applied": true}', "3", "[]", json.dumps({question.value: 1})):
            questions.read_answer(question, answer, 1)


class Submission(Door):
    """What a submission says of itself: other chains, files or signatures than its own are named."""

    def open(self):
        self.made = scored.built(scored.runs(self.folder / "run"), self.folder / "submission")
        scored.score(self.made, ["psnr"])
        card.write(self.made, configs())
        self.truth = submission.write(self.made)
        return self.made / submission.FILE

    def use(self, data):
        with mock.patch.object(submission, "verify_dataset", return_value=[]):  # of files that are the same
            wrong = submission.check(self.made)
        values = submission.read(self.made)
        if not all(wrong) or not (wrong or all(values[part] == self.truth[part] for part in ("chains", "files"))):
            raise AssertionError(f"silent: {wrong}")


class Endpoints(OfADataset):
    """A request to the Space: the name of an endpoint and its values, pictures to score among them."""

    def made(self):
        os.environ.setdefault("CONVERGEBENCH_PREVIEWS", str(self.folder / "previews"))
        served = served_dataset.open_dataset(str(self.dataset))
        functions = [function for kind in ("PUBLIC", "FOR_THE_PAGE") for function in tabs.listed_by_tabs(kind)]
        self.answers = {function.__name__: server._endpoint(function, served) for function in functions}
        chain, made = next(iter(served.chain_of)), base64.b64encode(stores.picture(1, (64, 64))).decode()
        values = {"chain": [chain], "picture": [chain, 1, "view", 8, ""],
            "leaderboard": ["", "all", "all", "convergence", 0.5, []],
            "compare": ["", "", ["steady", "fading"]], "find": ["steady", "", "", 1], "pick": ["worst", "steady"],
            "which_editor": [6, 2.5], "metrics": [chain], "curves": ["quality", "", "all", "all"],
            "score_yours": [made, [made], [made], ["a", "b"], []]}  # fmt: skip
        self.seeds = [json.dumps([name, *values.get(name, [])]).encode() for name in self.answers]

    def use(self, data):
        import gradio as gr

        name, *values = json_list(data) or [None]
        if not isinstance(name, str) or name not in self.answers:
            return
        try:
            json.dumps(self.answers[name](*values))
        except gr.Error as error:
            raise UserError(str(error)) from error
        except TypeError as error:  # a number of arguments that Gradio refuses before us
            if "argument" not in str(error):
                raise


DOORS = {name: kind for name, kind in list(vars().items()) if isinstance(kind, type) and hasattr(kind, "use")}
