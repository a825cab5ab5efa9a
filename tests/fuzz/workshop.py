"""What is mutated: a small run, its dataset with scores, a report, tables to import; and what is true of them."""

import contextlib
import json
import os
import shutil
import traceback
from pathlib import Path
from unittest import mock

import scored
import stores
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import configs
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine
from convergebench.spaces_app.analysis.tables import as_json
from convergebench.spaces_app.reporting.write import open_scored, read_analysis
from convergebench.spaces_app.statistics import compute_tables
from fuzz.mutations import mutate
from verbs import say

PICTURES = ("image", "reference")
TABLES = ("steps", "chains", "sources", "editors")
SCORED = ("scores", "floors")
METRICS = ("--metrics", "psnr,ssim")
SUITE = Path(__file__).with_name("mine.toml").read_text()
KINDS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", "PPM")


class Wrong(AssertionError):
    """What must not happen: a traceback, or a changed number that nobody named."""


def invoke(*words):
    """The exit code of a verb and all that it says."""
    result = CliRunner().invoke(main, list(map(str, words)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        trace = "".join(traceback.format_exception(result.exception)[-4:])
        raise Wrong(f"traceback of {' '.join(map(str, words))[:200]}: {trace}")
    if "Traceback" in result.output:
        raise Wrong(f"traceback in what {' '.join(map(str, words))[:200]} says: {result.output[-600:]}")
    return result.exit_code, result.output


def rows_of(where, configs):
    """What readers get of each config, pictures through their hashes as everywhere."""
    reader = where if isinstance(where, Reader) else Reader(where)
    results = {}
    for config in configs:
        rows = [
            {name: value for name, value in row.items() if name not in PICTURES} for row in reader.rows(config)
        ]
        seen = []
        if config == "steps":
            seen = [reader.picture(row["chain"], row["step"]) for row in rows]
        elif config == "chains":
            seen = [reader.reference(row["chain"]) for row in rows]
        results[config] = repr((rows, seen))
    return results


def tables_of(folder):
    """Every table of a dataset's report, without its drawings; raises UserError as the verb does."""
    return tables_from(lambda: read_analysis(open_scored(folder)))


def tables_from(read):
    try:
        tables = compute_tables(read())
    except (ValueError, UnreadableFile) as error:
        raise UserError(str(error)) from error
    return {name: as_json(table) for name, table in tables.items()}


def files_below(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"]


class Workshop:
    """Made once; every mutation works on a copy of a part of it."""

    def __init__(self, root):
        self.root = root
        self.scratch = root / "scratch"
        self.doors = {}
        self.scratch.mkdir(parents=True)
        os.environ["XDG_CACHE_HOME"] = str(root / "cache")
        options = "--suite smoke --editor identity --editor jpeg --limit 2 --rounds 2"
        self.generate = ("generate", *options.split())
        self.run = root / "run"
        say(*self.generate, "--out", self.run)
        say("build", self.run, "--out", root / "built")
        self.tables = rows_of(root / "built", TABLES)
        self.status = self.status_of(self.run)
        self.small_run = scored.runs(root / "small-run")
        self.dataset = scored.built(self.small_run, root / "dataset")
        self.unfinished = self.with_shards(root / "unfinished")
        scored.score(self.dataset, ["psnr", "ssim"])
        card.write(self.dataset, configs())
        self.numbers = rows_of(self.dataset, (*TABLES, *SCORED))
        say("report", self.dataset, "--out", root / "report")
        self.board = (root / "report" / "leaderboard.json").read_bytes()
        self.report = tables_of(self.dataset)
        self.layouts()

    def status_of(self, run):
        """What status says that must not change; None if it says that something is wrong."""
        code, output = invoke("status", run, "--json")
        if code:
            return None
        status = json.loads(output.splitlines()[-1])
        return {name: status.get(name) for name in ("chains", "done", "ends", "spent", "cost", "editors")}

    def with_shards(self, folder):
        """The dataset as scoring leaves it that was cut short before its files were written."""
        shutil.copytree(self.dataset, folder)
        finish = mock.patch.object(engine, "_finish", side_effect=InterruptedError)
        with finish, contextlib.suppress(InterruptedError):
            scored.score(folder, ["psnr", "ssim"])
        return folder

    def door(self, name, kind):
        """A door, made when it is first asked for."""
        if name not in self.doors:
            self.doors[name] = kind(self.root / "doors" / name)
        return self.doors[name]

    def layouts(self):
        """A folder of cases with its prompts, a table with its pictures, a suite of one's own, published scores."""
        case = self.root / "cases" / "portrait_01_glasses_add_remove"
        for number, name in enumerate(("I0_source", "I1_forward", "I1_backward", "I2_forward", "I2_backward")):
            stores.write(case / f"{name}.png", stores.picture(number))
        prompts = {
            "glasses_add_remove": {"forward": "Add glasses", "backward": "Remove them", "category": "objects"}
        }
        stores.write(self.root / "prompts" / "prompts.json", json.dumps(prompts))
        rows = [
            {"chain": chain, "round": round, "position": 1 + (number - 1) % 2, "path": f"{chain}{number}.png",
             "instruction": "words", "editor": "flux", "status": "ok", "cost": 0.04, "seed": number}
            for chain in ("a", "b") for number, round in enumerate((0, 1, 1, 2, 2))
        ]  # fmt: skip
        for row in rows:
            stores.write(self.root / "rows" / str(row["path"]), stores.picture(100 + int(row["seed"])))
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        stores.write(self.root / "rows" / "table.csv", "\n".join(lines) + "\n")
        stores.write(self.root / "rows" / "table.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        stores.own_suite(self.root / "suite", SUITE)
        published = [f"c{n},i{n % 3},flux,{round},0.{round}{n},0.8{n}" for n in range(4) for round in (1, 2, 3)]
        stores.write(
            self.root / "published.csv", "case,image,editor,round,lpips,ssim\n" + "\n".join(published) + "\n"
        )

    def copy(self, folder, name="copy"):
        return shutil.copytree(folder, self.scratch / name)

    def clean(self):
        shutil.rmtree(self.scratch)
        self.scratch.mkdir()

    def alter(self, path, chance, text=False, others=()):
        """Change a file in place, perhaps into another of its kind; whether its bytes are others now."""
        before = path.read_bytes()
        data = mutate(
            before, chance, [other.read_bytes() for other in others if other.suffix == path.suffix], text
        )
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
        return data != before
