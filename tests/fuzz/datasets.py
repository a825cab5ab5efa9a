"""Datasets whose files are whole but not those that the card lists, in a folder and on a Hub of the loopback."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from random import Random
from unittest import mock

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.records import UserError
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.space.served_dataset import COPIED_TABLES, ServedDataset
from fuzz.mutations import HOSTILE
from fuzz.workshop import SCORED, TABLES, Workshop, Wrong, files_below, invoke, rows_of, tables_from, tables_of
from hub_server import HubServer
from hub_store import BINARY, File
from huggingface_hub import HfApi


def with_other_values(table: pa.Table, chance: Random) -> pa.Table:
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


def with_other_rows(table: pa.Table, chance: Random) -> pa.Table:
    """Rows are missing, twice there, or in another order."""
    rows = list(range(table.num_rows))
    some = chance.sample(rows, chance.randrange(len(rows) + 1))
    return table.take(pa.array(chance.choice((some, sorted(some), rows + some)), pa.int64()))


def rewritten(change: Callable[[pa.Table, Random], pa.Table]) -> Callable[[Path, Path, Random], None]:
    """A table of other values, with the digests that belong to them."""

    def damage(folder: Path, file: Path, chance: Random) -> None:
        small_dataset.rewrite(file, change(pq.read_table(file), chance), listed=False)

    return damage


def gone(folder: Path, file: Path, chance: Random) -> None:
    if chance.random() < 0.5:
        shutil.rmtree(file.parent)
    else:
        file.unlink()


def stray(folder: Path, file: Path, chance: Random) -> None:
    other = chance.choice((file.parent, folder / "data" / "notes", folder / "data" / "published"))
    other.mkdir(exist_ok=True)
    shutil.copy(file, other / chance.choice(("0001.parquet", "zzzz.parquet")))


def moved(folder: Path, file: Path, chance: Random) -> None:
    """Another table is in its place."""
    data = chance.choice(sorted((folder / "data").rglob("*.parquet"))).read_bytes()
    file.write_bytes(data)


WAYS = (*(rewritten(with_other_values), rewritten(with_other_rows)) * 3, gone, stray, moved)


def damage_unlisted(folder: Path, chance: Random) -> bool:
    """Files that are whole, and not those that the card lists; whether there are any."""
    before = {path: path.read_bytes() for path in files_below(folder)}
    config = chance.choice(("scores", "scores", "floors", "chains", "chains", "steps", "editors", "sources"))
    file = chance.choice(sorted((folder / "data" / config).rglob("*.parquet")))
    chance.choice(WAYS)(folder, file, chance)
    return {path: path.read_bytes() for path in files_below(folder)} != before


def unlisted(shop: Workshop, chance: Random) -> str:
    """In a folder: a report has the whole one's numbers or is refused, and verify names the file."""
    folder = shop.copy(shop.dataset, "dataset")
    if not damage_unlisted(folder, chance):
        return "the same"
    outcome = same_or_named(lambda: tables_of(folder), shop.report)
    if not invoke("verify", folder)[0]:
        raise Wrong(f"verify finds nothing, and a report is {outcome}")
    return "named"


def on_the_hub(shop: Workshop, chance: Random) -> str:
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
    return (
        same_or_named(lambda: shelf.tables(folder, shelf.analyse), shop.report) if found == "the same" else found
    )


def same_or_named(read: Callable[[], dict[str, str]], expected: dict[str, str]) -> str:
    try:
        found = read()
    except UserError:
        return "named"
    if other := [name for name in {*found, *expected} if found.get(name) != expected.get(name)]:
        raise Wrong(f"silent: other values in {sorted(other)[:5]}")
    return "the same"


class Shelf:
    """A Hub with a repository for each folder that is put there."""

    def __init__(self, root: Path):
        root.mkdir(parents=True)
        self.count, self.served = 0, dict[str, str]()
        self.server = HubServer(root / "hub").__enter__()
        self.api = HfApi(endpoint=self.server.url, token=self.server.token)
        huggingface_hub.utils.disable_progress_bars()
        constants = huggingface_hub.constants
        constants.HF_HUB_DISABLE_XET, constants.HF_HUB_CACHE = True, str(root / "cache")

    def put(self, folder: Path) -> Reader:
        self.count += 1
        repo, store = f"NS/number-{self.count}", self.server.store
        store.create("dataset", repo, None)
        kept = store.repo("dataset", repo)
        files = {path.relative_to(folder).as_posix(): self.keep(path) for path in files_below(folder)}
        kept.branches["main"] = kept.add(kept.branches["main"], "all", "", files)
        return Reader(f"hf://datasets/{repo}", self.api)

    def keep(self, path: Path) -> File:
        data = path.read_bytes()
        if path.suffix not in BINARY:
            return self.server.store.regular(data)
        name = sha256(data).hexdigest()
        self.server.store.large(name).write_bytes(data)
        return self.server.store.pointer(name, len(data))

    def tables(self, folder: Path, read: Callable[[Reader], Analysis]) -> dict[str, str]:
        with online():
            return tables_from(lambda: read(self.put(folder)))

    def rows(self, folder: Path, config: str) -> dict[str, str]:
        with online():
            return rows_of(self.put(folder), (config,))

    def analyse(self, reader: Reader) -> Analysis:
        reader.refuse_unfinished()
        return read_analysis(reader)

    def serve(self, reader: Reader) -> Analysis:
        """As the Space does."""
        reader.copy_tables(COPIED_TABLES)
        return ServedDataset(reader)


def online() -> AbstractContextManager[object]:
    """The campaign's network is off but for its own Hub."""
    return mock.patch.object(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
