"""Datasets whose files are whole but not those that the card lists."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import small_dataset
from convergebench.generation.records import UserError
from fuzz.mutations import HOSTILE
from fuzz.workshop import Workshop, Wrong, files_below, invoke, tables_of


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
    """A report has the whole one's numbers or is refused, and verify names the file."""
    folder = shop.copy(shop.dataset, "dataset")
    if not damage_unlisted(folder, chance):
        return "the same"
    outcome = same_or_named(lambda: tables_of(folder), shop.report)
    if not invoke("verify", folder)[0]:
        raise Wrong(f"verify finds nothing, and a report is {outcome}")
    return "named"


def same_or_named(read: Callable[[], dict[str, str]], expected: dict[str, str]) -> str:
    try:
        found = read()
    except UserError:
        return "named"
    if other := [name for name in {*found, *expected} if found.get(name) != expected.get(name)]:
        raise Wrong(f"silent: other values in {sorted(other)[:5]}")
    return "the same"
