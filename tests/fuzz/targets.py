"""What is mutated, and what must hold then. Each target takes the workshop and a chance, and says what came of it:
"named" where a sentence said what is wrong, "the same" where nothing changed, "taken" where it was another valid input.
"""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
from convergebench.cli import __main__ as cli
from convergebench.dataset_builder.dataset.reader import UnreadableFile
from convergebench.generation import pictures
from convergebench.generation.records import UserError
from convergebench.metric_modules.lpips import weights
from convergebench.spaces_app.space import served_dataset, server
from fuzz.mutations import HOSTILE, mutate
from fuzz.workshop import METRICS, SCORED, TABLES, Workshop, Wrong, files_below, invoke, rows_of, tables_of


def store(shop: Workshop, chance: Random) -> str:
    """A file of a run: a build makes the same rows or says why not, and so does a resume."""
    run, out = shop.copy(shop.run, "run"), shop.scratch / "out"
    file = chance.choice(files_below(run))
    text = file.suffix in (".json", ".jsonl")
    others = files_below(shop.run)
    if not shop.alter(file, chance, text, lambda: others):
        return "the same"
    known, told = invoke("verify", run)[0], shop.told(run)
    code, words = invoke("build", run, "--out", out)
    whole = not code and "left out" not in words
    if whole and rows_of(out, TABLES) != shop.tables:
        raise Wrong(f"silent: {file.relative_to(run)} was altered, and its dataset is another")
    if code and not known:
        raise Wrong(f"verify finds nothing in {file.relative_to(run)}, and build says {words[-300:]}")
    if not known and whole and told is not None and told != shop.status:
        raise Wrong(f"silent: {file.relative_to(run)} was altered, and status says {told} instead of {shop.status}")
    if chance.random() < 0.3:
        again = invoke(*shop.generate, "--out", run)[0]
        after, words = invoke("build", run, "--out", shop.scratch / "again")
        if (
            not again
            and not after
            and "left out" not in words
            and rows_of(shop.scratch / "again", TABLES) != shop.tables
        ):
            raise Wrong(f"silent: {file.relative_to(run)} was altered, and a resume makes another dataset")
    return "named" if known or code or not whole else "the same"


def suites(shop: Workshop, chance: Random) -> str:
    """A suite of one's own is planned or refused in a sentence."""
    folder = shop.copy(shop.root / "suite", "suite")
    shop.alter(folder / "mine.toml", chance, text=True)
    if not (folder / "mine.toml").exists():
        return "the same"
    code, _ = invoke("plan", "--suite", folder / "mine.toml", "--editor", "identity", "--json")
    return "named" if code else "taken"


def manifests(shop: Workshop, chance: Random) -> str:
    """A list of our files: whatever it says, a stranger's files stay, and no number changes unnoticed."""
    which = chance.choice(("build", "score", "verify", "import") * 5 + ("report",))
    folder = shop.copy(shop.root / "report" if which == "report" else shop.dataset, "folder")
    strangers = [folder / "thesis.txt", folder / "data" / "notes.txt", folder / "figures" / "mine.svg"]
    for path in strangers:
        path.parent.mkdir(exist_ok=True)
        path.write_text("theirs")
    shop.alter(folder / (".report-manifest" if which == "report" else ".manifest.json"), chance, text=True)
    verbs: dict[str, tuple[object, ...]] = {
        "build": ("build", shop.small_run, "--out", folder),
        "score": ("score", folder, *METRICS),
        "report": ("report", shop.dataset, "--out", folder),
        "verify": ("verify", folder, "--repair"),
        "import": ("import", shop.root / "published.csv", "--layout", "scores", "--dataset", folder),
    }
    code, words = invoke(*verbs[which])
    for path in strangers:
        if not path.exists() or path.read_text() != "theirs":
            raise Wrong(f"{which} touched {path.relative_to(folder)} after its manifest was altered: {words[-200:]}")
    if which == "report":
        if not code and (folder / "leaderboard.json").read_bytes() != shop.board:
            raise Wrong("silent: the report has another leaderboard")
    elif not code and which != "verify":
        same_numbers(shop, folder)
    return "named" if code else "the same"


def same_numbers(shop: Workshop, folder: Path) -> None:
    for config in (*TABLES, *SCORED):
        try:
            if rows_of(folder, (config,))[config] != shop.numbers[config]:
                raise Wrong(f"silent: {config} has other rows")
        except UnreadableFile:
            continue


def picture_bytes(shop: Workshop, chance: Random) -> str:
    """A picture is decoded or refused, from the decoder or through an import."""
    data = mutate(chance.choice(shop.pictures), chance, shop.pictures) or b""
    if chance.random() < 0.1:
        rows = shop.copy(shop.root / "rows", "rows")
        (rows / "a1.png").write_bytes(data)
        return imported(shop, "import", rows / "table.csv", "--layout", "table")
    try:
        found = pictures.decode(data)
    except pictures.Undecodable as error:
        return "named" if str(error) else "the same"
    if found.mode != "RGB":
        raise Wrong(f"silent: a picture of mode {found.mode}")
    return "taken"


def parquet(shop: Workshop, chance: Random) -> str:
    """A table of a dataset: what is read is what was written, or is named; verify names every changed byte."""
    folder = shop.copy(shop.dataset, "dataset")
    files = sorted((folder / "data").rglob("*.parquet"))
    file = chance.choice(files)
    config = file.relative_to(folder / "data").parts[0]
    if not shop.alter(file, chance, others=lambda: files):
        return "the same"
    try:
        if rows_of(folder, (config,))[config] != shop.numbers[config] and file.exists():
            raise Wrong(f"silent: {file.relative_to(folder)} is read as other rows")
    except UnreadableFile:
        pass
    if not invoke("verify", folder)[0]:
        raise Wrong(f"verify finds nothing in {file.relative_to(folder)}")
    if chance.random() < 0.3:
        report_is_the_same(shop, folder, chance)
    if chance.random() < 0.2:
        code, _ = invoke("score", folder, *METRICS)
        if not code:
            same_numbers(shop, folder)
    return "named"


def report_is_the_same(shop: Workshop, folder: Path, chance: Random) -> str:
    """A report of a damaged dataset has the numbers of the whole one, or is refused in a sentence."""
    try:
        if tables_of(folder) != shop.report:
            raise Wrong("silent: a report with other numbers")
    except UserError:
        return "named"
    if chance.random() < 0.1:
        invoke("report", folder, "--out", shop.scratch / "report")
    return "the same"


def report_inputs(shop: Workshop, chance: Random) -> str:
    """Values that no verb of ours writes, in a table without our checks: report and Space say so or show them."""
    folder = shop.copy(shop.dataset, "dataset")
    config = chance.choice(("scores", "scores", "floors", "chains", "editors", "sources"))
    file = chance.choice(sorted((folder / "data" / config).rglob("*.parquet")))
    table = pq.read_table(file)
    name = chance.choice(table.column_names)
    values, kind = table[name].to_pylist(), table.schema.field(name).type
    for place in chance.sample(range(len(values)), max(1, len(values) // chance.choice((1, 2, 10)))):
        values[place] = chance.choice(values) if chance.random() < 0.2 else chance.choice(HOSTILE)
    try:
        changed = pa.array(values, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeEncodeError):
        changed = pa.nulls(len(values), kind)
    table = table.set_column(table.column_names.index(name), table.schema.field(name), changed)
    pq.write_table(table if chance.random() < 0.5 else table.replace_schema_metadata(None), file)
    same = changed.to_pylist() == pq.read_table(shop.dataset / file.relative_to(folder))[name].to_pylist()
    told = report_is_the_same(shop, folder, chance)
    known, _ = invoke("verify", folder)
    if not known and not same:
        raise Wrong(f"verify finds nothing where {config}.{name} was altered")
    return "named" if known else told


def shards(shop: Workshop, chance: Random) -> str:
    """Finished work of a scoring that was cut short: the numbers come out the same."""
    folder = shop.copy(shop.unfinished, "unfinished")
    shop.alter(folder / ".scoring" / "0000.jsonl", chance, text=True)
    code, words = invoke("score", folder, *METRICS)
    if code:
        return "named"
    if rows_of(folder, SCORED) != {config: shop.numbers[config] for config in SCORED}:
        raise Wrong(f"silent: a shard was altered, and the scores are others: {words[-200:]}")
    return "the same"


def network_weights(shop: Workshop, chance: Random) -> str:
    """The weights of LPIPS are those that were fetched, or are not used."""
    path = weights.path("alex")
    path.write_bytes(mutate(shop.weights, chance) or b"")
    try:
        if weights.load("alex")[1] != shop.digest:
            raise Wrong("silent: other weights are loaded")
    except (ValueError, FileNotFoundError):
        return "named"
    finally:
        path.write_bytes(shop.weights)
    return "the same"


def import_layouts(shop: Workshop, chance: Random) -> str:
    """Tables, folders and words from elsewhere: what comes in can be built."""
    which = chance.choice(("csv", "jsonl", "prompts", "folder"))
    if which in ("csv", "jsonl"):
        rows = shop.copy(shop.root / "rows", "rows")
        shop.alter(rows / f"table.{which}", chance, text=True)
        return imported(shop, "import", rows / f"table.{which}", "--layout", "table")
    cases, prompts = shop.copy(shop.root / "cases", "cases"), shop.scratch / "prompts.json"
    prompts.write_bytes((shop.root / "prompts.json").read_bytes())
    if which == "prompts":
        shop.alter(prompts, chance, text=True)
    else:
        files = files_below(cases)
        one = chance.choice(files)
        if chance.random() < 0.5:
            shop.alter(one, chance, others=lambda: files)
        else:
            names = (
                "I1_forward.jpg",
                "I99999999_forward.png",
                "I0_source.webp",
                "I3_backward.png",
                "x\n.png",
                "I1_forward",
            )
            one.rename(one.with_name(chance.choice(names)))
    return imported(shop, "import", cases, "--layout", "edit-converge-bench", "--editor", "e", "--prompts", prompts)


def imported(shop: Workshop, *words: object) -> str:
    run = shop.scratch / "imported"
    code, said = invoke(*words, "--out", run)
    if (run / "run.json").exists() and any((run / "chains").glob("*/done.json")):
        built, why = invoke("build", run, "--out", shop.scratch / "out")
        if built or invoke("verify", run)[0]:
            raise Wrong(f"what was imported cannot be built: {why[-400:]}")
    return "named" if code or "; 0 problems" not in said else "taken"


def published_scores(shop: Workshop, chance: Random) -> str:
    """A table of scores from elsewhere is taken whole, or refused."""
    table, folder = shop.scratch / "published.csv", shop.copy(shop.dataset, "dataset")
    table.write_bytes((shop.root / "published.csv").read_bytes())
    shop.alter(table, chance, text=True)
    code, _ = invoke("import", "--layout", "scores", table, "--dataset", folder)
    if not code:
        tables_of(folder)
    return "named" if code else "taken"


LONG = ("demo", "space", "weights", "sources", "publish")  # they serve, fetch, upload, or take minutes
VALUES = (
    "identity",
    "jpeg:quality=40",
    "jpeg:quality=x",
    "paint",
    "nobody",
    "openai",
    "psnr,ssim",
    "psnr",
    "1/2",
    "cpu",
    "cuda",
)


def words_of_a_call(shop: Workshop, chance: Random) -> list[str]:
    """A verb with options and values that make sense, or do not."""
    group = cli.main
    assert isinstance(group, cli.Verbs)
    context = click.Context(group)
    names = [name for name in group.list_commands(context) if name not in LONG]
    verb = chance.choice(names) if chance.random() < 0.97 else str(chance.choice(HOSTILE))
    command = group.get_command(context, verb)
    if command is None:
        return [verb]
    places = [
        shop.run,
        shop.dataset,
        shop.root / "rows" / "table.csv",
        shop.root / "cases",
        shop.root / "suite" / "mine.toml",
    ]
    places += [shop.root, shop.root / "nowhere", Path("/dev/null"), Path("/proc/self/mem"), shop.root / "published.csv"]

    def value(parameter: click.Parameter) -> str:
        kind = chance.random()
        if isinstance(parameter.type, click.Choice) and kind < 0.7:
            return chance.choice(list(map(str, parameter.type.choices)))
        if isinstance(parameter.type, click.Path) and kind < 0.8:
            return str(chance.choice(places))
        text = str(chance.choice((*VALUES, *HOSTILE, *places, chance.randrange(-3, 9))))
        return text.replace("\0", "")

    words = [verb]
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            words += [value(parameter) for _ in range(chance.choice((1, 1, 1, 1, 0, 2)))]
        elif parameter.name == "out":
            words += ["--out", str(shop.scratch / chance.choice(("out", "", "a/b/c", "x" * 300)))]
        elif chance.random() < 0.25:
            words.append(chance.choice(parameter.opts))
            if not getattr(parameter, "is_flag", False):
                words += [value(parameter) for _ in range(parameter.nargs)]
    if verb in ("generate", "plan"):
        words += ["--limit", "1", "--rounds", "1", "--suite", "smoke", "--editor", "identity"][
            : chance.choice((4, 6, 8))
        ]
    return [
        word.encode("utf-8", "surrogateescape" if "\ud800" not in word else "replace").decode("utf-8", "replace")
        for word in words
    ]


def command_line(shop: Workshop, chance: Random) -> str:
    """Any words after `convergebench` end in an exit code of 0, 1 or 2, and whoever only reads changes nothing."""
    words = words_of_a_call(shop, chance)
    os.chdir(shop.scratch)
    mine = shop.copy(shop.dataset, "mine")
    words = [word.replace(str(shop.dataset), str(mine)) for word in words]
    code, said = invoke(*words)
    os.chdir("/")
    if code not in (0, 1, 2):
        raise Wrong(f"exit code {code} of {words}: {said[-300:]}")
    return "named" if code else "taken"


def endpoints(shop: Workshop, chance: Random) -> str:
    """Every endpoint of the Space answers or says in a sentence why not, whatever values it is given."""
    import gradio as gr

    if not hasattr(shop, "served"):
        served = served_dataset.open_dataset(str(shop.dataset))
        answers = server.answers(served, "PUBLIC") | server.answers(served, "FOR_THE_PAGE")
        shop.served, shop.answers = served, answers  # type: ignore[attr-defined]
    served, answers = shop.served, shop.answers  # type: ignore[attr-defined]
    known: list[Any] = [*served.chains, *served.names["editor"], *served.names["source"], *served.names["program"]]
    known += [
        "all",
        "scene",
        "convergence",
        "view",
        "thumb",
        "csv",
        "tex",
        "json",
        "quality",
        "kept",
        "worst",
        1,
        2,
        3,
        0.5,
        8,
    ]
    name = chance.choice(list(answers))
    given: list[Any] = []
    for _ in range(chance.randrange(0, 8)):
        given.append(chance.choice(known) if chance.random() < 0.7 else chance.choice(HOSTILE))
        if chance.random() < 0.1:
            given[-1] = [chance.choice(known) for _ in range(chance.randrange(4))]
    try:
        answer = answers[name](*given)
    except gr.Error as error:
        return "named" if str(error) else "the same"
    except TypeError as error:  # a number of arguments that Gradio refuses before us
        if "argument" in str(error):
            return "named"
        raise
    json.dumps(answer)
    return "taken"


TARGETS = {
    "store": (store, 5),
    "suites": (suites, 3),
    "manifests": (manifests, 2),
    "pictures": (picture_bytes, 6),
    "parquet": (parquet, 3),
    "report inputs": (report_inputs, 2),
    "shards": (shards, 2),
    "weights": (network_weights, 2),
    "import layouts": (import_layouts, 4),
    "published scores": (published_scores, 2),
    "command line": (command_line, 5),
    "endpoints": (endpoints, 6),
}  # each with its share
