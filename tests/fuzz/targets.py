"""What is mutated on disk, or on a Hub of the loopback, and read by a verb. A target takes the workshop and a chance
and says what came of it: "named" if an error said what is wrong, "the same" if nothing changed, "taken" if it was
another valid input.
"""

import os
import shutil
from pathlib import Path
from unittest import mock

import click
import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import small_dataset
from convergebench.cli import __main__ as cli
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.generation.records import UserError
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.space.served_dataset import COPIED_TABLES, ServedDataset
from fuzz.mutations import HOSTILE
from fuzz.workshop import METRICS, SCORED, TABLES, Wrong, files_below, invoke, rows_of, tables_from, tables_of
from hub_server import HubServer
from huggingface_hub import HfApi


def store(shop, chance):
    """A file of a run: a build makes the same rows or says why not, and so does a resume."""
    run, out = shop.copy(shop.run, "run"), shop.scratch / "out"
    file = chance.choice(files_below(run))
    if not shop.alter(file, chance, file.suffix in (".json", ".jsonl"), files_below(shop.run)):
        return "the same"
    name = f"{file.relative_to(run)} was altered"
    is_known, status = invoke("verify", run)[0], shop.status_of(run)
    code, words = invoke("build", run, "--out", out)
    is_whole = not code and "left out" not in words
    if is_whole and rows_of(out, TABLES) != shop.tables:
        raise Wrong(f"silent: {name}, and its dataset is another")
    if code and not is_known:
        raise Wrong(f"{name}: verify finds nothing, and build says {words[-300:]}")
    if not is_known and is_whole and status is not None and status != shop.status:
        raise Wrong(f"silent: {name}, and status says {status} instead of {shop.status}")
    if chance.random() < 0.3:
        again = shop.scratch / "again"
        if not invoke(*shop.generate, "--out", run)[0]:
            after, words = invoke("build", run, "--out", again)
            if not after and "left out" not in words and rows_of(again, TABLES) != shop.tables:
                raise Wrong(f"silent: {name}, and a resume makes another dataset")
    return "named" if is_known or code or not is_whole else "the same"


def manifests(shop, chance):
    """A list of our files: whatever it says, a stranger's files stay, and no number changes unnoticed."""
    which = chance.choice(("build", "score", "verify", "import") * 5 + ("report",))
    folder = shop.copy(shop.root / "report" if which == "report" else shop.dataset, "folder")
    strangers = [folder / "thesis.txt", folder / "data" / "notes.txt", folder / "figures" / "mine.svg"]
    for path in strangers:
        path.parent.mkdir(exist_ok=True)
        path.write_text("theirs")
    shop.alter(folder / (".report-manifest" if which == "report" else "README.md"), chance, text=True)
    verbs = {
        "build": ("build", shop.small_run, "--out", folder),
        "score": ("score", folder, *METRICS),
        "report": ("report", shop.dataset, "--out", folder),
        "verify": ("verify", folder, "--repair"),
        "import": ("import", shop.root / "published.csv", "--layout", "scores", "--dataset", folder),
    }
    code, words = invoke(*verbs[which])
    for path in strangers:
        if not path.exists() or path.read_text() != "theirs":
            raise Wrong(
                f"{which} touched {path.relative_to(folder)} after its manifest was altered: {words[-200:]}"
            )
    if not code and which == "report":
        if (folder / "leaderboard.json").read_bytes() != shop.board:
            raise Wrong("silent: the report has another leaderboard")
    elif not code and which != "verify":
        same_numbers(shop, folder)
    return "named" if code else "the same"


def same_numbers(shop, folder):
    """Raise if a table that can be read has other rows than it was written with."""
    for config in (*TABLES, *SCORED):
        try:
            if rows_of(folder, (config,))[config] != shop.numbers[config]:
                raise Wrong(f"silent: {config} has other rows")
        except UnreadableFile:
            continue


def parquet(shop, chance):
    """A table of a dataset: what is read is what was written, or is named; verify names every changed byte."""
    folder = shop.copy(shop.dataset, "dataset")
    files = sorted((folder / "data").rglob("*.parquet"))
    file = chance.choice(files)
    config = file.relative_to(folder / "data").parts[0]
    if not shop.alter(file, chance, others=files):
        return "the same"
    try:
        if rows_of(folder, (config,))[config] != shop.numbers[config] and file.exists():
            raise Wrong(f"silent: {file.relative_to(folder)} is read as other rows")
    except UnreadableFile:
        pass
    if not invoke("verify", folder)[0]:
        raise Wrong(f"verify finds nothing in {file.relative_to(folder)}")
    if chance.random() < 0.3:
        same_or_named(lambda: tables_of(folder), shop.report)
    if chance.random() < 0.2 and not invoke("score", folder, *METRICS)[0]:
        same_numbers(shop, folder)
    return "named"


def with_other_values(table, chance):
    """Some values of one column are others, or hostile."""
    name = chance.choice([field.name for field in table.schema if not pa.types.is_struct(field.type)])
    kind = table.schema.field(name).type
    values = table[name].to_pylist()
    for place in chance.sample(range(len(values)), max(1, len(values) // chance.choice((1, 2, 10)))):
        values[place] = chance.choice(values) if chance.random() < 0.2 else chance.choice(HOSTILE)
    try:
        changed = pa.array(values, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeEncodeError):
        changed = pa.nulls(len(values), kind)
    return table.set_column(table.column_names.index(name), table.schema.field(name), changed)


def with_other_rows(table, chance):
    """Rows are missing, twice there, or in another order."""
    rows = list(range(table.num_rows))
    some = chance.sample(rows, chance.randrange(len(rows) + 1))
    return table.take(pa.array(chance.choice((some, sorted(some), rows + some)), pa.int64()))


def rewritten(folder, file, chance):
    """A table of other values or rows, with the digests that belong to them."""
    change = chance.choice((with_other_values, with_other_rows))
    small_dataset.rewrite(file, change(pq.read_table(file), chance), listed=False)


def gone(folder, file, chance):
    if chance.random() < 0.5:
        shutil.rmtree(file.parent)
    else:
        file.unlink()


def stray(folder, file, chance):
    other = chance.choice((file.parent, folder / "data" / "notes", folder / "data" / "published"))
    other.mkdir(exist_ok=True)
    shutil.copy(file, other / chance.choice(("0001.parquet", "zzzz.parquet")))


def moved(folder, file, chance):
    """Another table is in its place."""
    shutil.copyfile(chance.choice(sorted({*(folder / "data").rglob("*.parquet")} - {file})), file)


WAYS = (*(rewritten,) * 6, gone, stray, moved)


def damage_unlisted(folder, chance):
    """Files that are whole, and not those that the card lists; whether there are any."""
    before = {path: path.read_bytes() for path in files_below(folder)}
    config = chance.choice(("scores", "scores", "floors", "chains", "chains", "steps", "editors", "sources"))
    file = chance.choice(sorted((folder / "data" / config).rglob("*.parquet")))
    chance.choice(WAYS)(folder, file, chance)
    return {path: path.read_bytes() for path in files_below(folder)} != before


def unlisted(shop, chance):
    """In a folder: a report has the whole one's numbers or is refused, and verify names the file."""
    folder = shop.copy(shop.dataset, "dataset")
    if not damage_unlisted(folder, chance):
        return "the same"
    outcome = same_or_named(lambda: tables_of(folder), shop.report)
    if not invoke("verify", folder)[0]:
        raise Wrong(f"verify finds nothing, and a report is {outcome}")
    return "named"


def on_the_hub(shop, chance):
    """On the Hub: who reads it from there, or serves it, has the whole one's numbers and pictures, or a sentence."""
    shelf = shop.door("shelf", Shelf)
    if not shelf.served:
        shelf.served = shelf.tables(shop.dataset, shelf.serve)
    folder, how = shop.copy(shop.dataset, "dataset"), chance.randrange(4)
    files = sorted((folder / "data").rglob("*.parquet"))
    if how == 0:
        shop.alter(folder / "README.md", chance, text=True)
    elif how == 1:
        shop.alter(chance.choice(files), chance, others=files)
    else:
        damage_unlisted(folder, chance)
    if chance.random() < 0.5:
        return same_or_named(lambda: shelf.tables(folder, shelf.serve), shelf.served)
    config = chance.choice((*TABLES, *SCORED))
    found = same_or_named(lambda: shelf.rows(folder, config), {config: shop.numbers[config]})
    return found if found == "named" else same_or_named(lambda: shelf.tables(folder, shelf.analyse), shop.report)


def same_or_named(read, expected):
    try:
        found = read()
    except UserError:
        return "named"
    if other := [name for name in {*found, *expected} if found.get(name) != expected.get(name)]:
        raise Wrong(f"silent: other values in {sorted(other)[:5]}")
    return "the same"


# The campaign's network is off but for its own Hub.
ONLINE = mock.patch.object(huggingface_hub.constants, "HF_HUB_OFFLINE", False)


class Shelf:
    """A Hub with a repository for each folder that is put there."""

    def __init__(self, root):
        root.mkdir(parents=True)
        self.count, self.served = 0, {}
        self.server = HubServer(root / "hub").__enter__()
        self.api = HfApi(endpoint=self.server.url, token=self.server.token)
        huggingface_hub.utils.disable_progress_bars()
        constants = huggingface_hub.constants
        constants.HF_HUB_DISABLE_XET, constants.HF_HUB_CACHE = True, str(root / "cache")

    def put(self, folder):
        self.count += 1
        repo, store = f"NS/number-{self.count}", self.server.store
        store.create("dataset", repo, None)
        kept = store.repo("dataset", repo)
        paths = {path.relative_to(folder).as_posix(): path for path in files_below(folder)}
        files = {name: store.regular(path.read_bytes()) for name, path in paths.items()}
        kept.branches["main"] = kept.add(kept.branches["main"], "all", "", files)
        return Reader(f"hf://datasets/{repo}", self.api)

    def tables(self, folder, read):
        with ONLINE:
            return tables_from(lambda: read(self.put(folder)))

    def rows(self, folder, config):
        with ONLINE:
            return rows_of(self.put(folder), (config,))

    def analyse(self, reader):
        reader.refuse_unfinished()
        return read_analysis(reader)

    def serve(self, reader):
        """As the Space does."""
        reader.copy_tables(COPIED_TABLES)
        return ServedDataset(reader)


def shards(shop, chance):
    """Finished work of a scoring that was cut short: the numbers come out the same."""
    folder = shop.copy(shop.unfinished, "unfinished")
    shop.alter(chance.choice(sorted((folder / ".scoring").glob("*.jsonl"))), chance, text=True)
    code, words = invoke("score", folder, *METRICS)
    if not code and rows_of(folder, SCORED) != {config: shop.numbers[config] for config in SCORED}:
        raise Wrong(f"silent: a shard was altered, and the scores are others: {words[-200:]}")
    return "named" if code else "the same"


def imports(shop, chance):
    """Tables, pictures, folders and instructions from elsewhere: what is imported can be built."""
    which = chance.choice(("csv", "jsonl", "picture", "prompts", "file", "name"))
    run = shop.scratch / "imported"
    rows, cases = shop.copy(shop.root / "rows", "rows"), shop.copy(shop.root / "cases", "cases")
    prompts = shop.copy(shop.root / "prompts", "prompts") / "prompts.json"
    files = files_below(cases)
    if which == "name":
        stems = ("I1_forward.jpg", "I1_forward", "I99999999_forward.png", "I0_source.webp", "I3_backward.png")
        chance.choice(files).rename(files[0].with_name(chance.choice((*stems, "x\n.png"))))
    elif which == "file":
        shop.alter(chance.choice(files), chance, others=files)
    else:
        paths = {"prompts": prompts, "picture": rows / "a1.png"}
        shop.alter(paths.get(which, rows / f"table.{which}"), chance, text=which != "picture")
    words = (cases, "--layout", "edit-converge-bench", "--editor", "e", "--prompts", prompts)
    if which in ("csv", "jsonl", "picture"):
        words = (rows / f"table.{'jsonl' if which == 'jsonl' else 'csv'}", "--layout", "table")
    code, output = invoke("import", *words, "--out", run)
    if (run / "run.json").exists() and any((run / "chains").glob("*/done.json")):
        built, reason = invoke("build", run, "--out", shop.scratch / "out")
        if built or invoke("verify", run)[0]:
            raise Wrong(f"what was imported cannot be built: {reason[-400:]}")
    return "named" if code or "; 0 problems" not in output else "taken"


LONG = ("demo", "space", "weights", "sources", "prices", "publish")  # they serve, fetch, upload, or take minutes
VALUES = (
    *("identity", "jpeg:quality=40", "jpeg:quality=x", "paint", "nobody", "openai"),
    *("psnr,ssim", "psnr", "1/2"),
)


def words_of_a_call(shop, chance):
    """A verb with options and values that make sense, or do not."""
    group = cli.main
    assert isinstance(group, click.Group)
    context = click.Context(group)
    names = [name for name in group.list_commands(context) if name not in LONG]
    words = [chance.choice(names) if chance.random() < 0.97 else str(chance.choice(HOSTILE))]
    command = group.get_command(context, words[0])
    while isinstance(command, click.Group):
        words.append(chance.choice([kind for kind in command.list_commands(context) if kind not in LONG]))
        command = command.get_command(context, words[-1])
    if command is None:
        return words
    inside = ("rows/table.csv", "cases", "suite/mine.toml", "nowhere", "published.csv", "")
    places = [shop.run, shop.dataset, *map(shop.root.joinpath, inside), Path("/dev/null"), Path("/proc/self/mem")]

    def value(parameter):
        if isinstance(parameter.type, click.Choice) and chance.random() < 0.7:
            return chance.choice(list(map(str, parameter.type.choices)))
        if isinstance(parameter.type, click.Path) and chance.random() < 0.8:
            return str(chance.choice(places))
        return str(chance.choice((*VALUES, *HOSTILE, *places, chance.randrange(-3, 9)))).replace("\0", "")

    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            words += [value(parameter) for _ in range(chance.choice((1, 1, 1, 1, 0, 2)))]
        elif parameter.name == "out":
            words += ["--out", str(shop.scratch / chance.choice(("out", "", "a/b/c", "x" * 300)))]
        elif chance.random() < 0.25:
            words.append(chance.choice(parameter.opts))
            if not getattr(parameter, "is_flag", False):
                words += [value(parameter) for _ in range(parameter.nargs)]
    if words[0] in ("generate", "plan"):
        least = ["--limit", "1", "--rounds", "1", "--suite", "smoke", "--editor", "identity"]
        words += least[: chance.choice((4, 6, 8))]
    return [word.encode("utf-8", "replace").decode("utf-8", "replace") for word in words]


def command_line(shop, chance):
    """Any words after `convergebench` end in an exit status of 0, 1 or 2."""
    copy = shop.copy(shop.dataset, "own")
    words = [word.replace(str(shop.dataset), str(copy)) for word in words_of_a_call(shop, chance)]
    os.chdir(shop.scratch)
    try:
        code, output = invoke(*words)
    finally:
        os.chdir("/")
    if code not in (0, 1, 2):
        raise Wrong(f"exit status {code} of {words}: {output[-300:]}")
    return "named" if code else "taken"


TARGETS = {
    "store": (store, 5),
    "manifests": (manifests, 2),
    "tables of a dataset": (parquet, 3),
    "tables not listed": (unlisted, 3),
    "a dataset on the Hub": (on_the_hub, 3),
    "shards": (shards, 2),
    "imports": (imports, 4),
    "words": (command_line, 5),
}  # each with its share
