"""Reads the dataset's Parquet directly, from a folder here or from the Hub: tables whole, pictures by row group.

`load_dataset` copies every picture into its cache first; scores need none of them and one picture needs one row group.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from convergebench.generation.records import EditorInfo, FinishedChain, Source, Step, UserError

from . import manifest
from .columns import Row
from .digests import TableDigest, known_digests
from .rows import BUILT, ChainRow, EditorRow, SourceRow, StepRow, made_by
from .schema import DIGESTS, MEANINGS, extent

if TYPE_CHECKING:
    from huggingface_hub import HfApi


R = TypeVar("R", bound=Row)
OTHER_BYTES = "damaged: its bytes are not those that its sha256 names"


class Place(NamedTuple):
    """Where a row lies, so that its picture can be had without the others."""

    file: str
    group: int
    row: int


class PlacedStep(NamedTuple):
    """A step, the id of its chain and the place of its picture."""

    chain: str
    step: Step
    place: Place


class UnreadableFile(UserError, OSError):
    """A file in a dataset's folder is damaged; the message says which, and what to do."""


class Reader:
    """A dataset folder, or a Hub dataset as `hf://datasets/NAMESPACE/NAME@REVISION`. Threads may share one."""

    def __init__(self, where: str | Path, api: "HfApi | None" = None):
        self.where = str(where)
        self.api = api
        self.remote = None
        self.copied: Path | None = None  # the small tables of a Hub dataset, once `copy_tables` fetched them
        if self.where.startswith("hf://"):
            from huggingface_hub import HfFileSystem

            self.remote = HfFileSystem(endpoint=api.endpoint, token=api.token) if api else HfFileSystem()
            self.root = self.where.removeprefix("hf://")
        else:
            self.root = self.where
        self.footer = lru_cache(maxsize=4096)(self._footer)
        self._cached_bounds = lru_cache(maxsize=4096)(self._bounds)
        self._cached_pictures = lru_cache(maxsize=4)(self._pictures)
        self._cached_steps = lru_cache(maxsize=256)(self._steps)
        self._cached_files = lru_cache(maxsize=1)(lambda: self.files("steps"))
        self._cached_sources = lru_cache(maxsize=1)(self._sources)
        self._cached_chains = lru_cache(maxsize=1)(self._chains)
        self._cached_references = lru_cache(maxsize=1)(self._references)

    @property
    def folder(self) -> Path:
        """The folder with the small tables: the dataset's own, or the copy of a Hub dataset's."""
        return self.copied or Path(self.root)

    # Files and tables

    def files(self, config: str) -> list[str]:
        """The config's files, in the order of its rows; none where the config does not exist."""
        if self.remote and not (self.copied and (self.copied / "data" / config).is_dir()):
            found = self.remote.glob(f"{self.root}/data/{config}/**/*.parquet")
            return sorted(str(path).removeprefix(self.root + "/") for path in found)
        root = self.folder
        return sorted(path.relative_to(root).as_posix() for path in (root / "data" / config).rglob("*.parquet"))

    def configs(self) -> list[str]:
        """The configs that have files: those of a build in their order, then others such as the scores."""
        there = {path.name for path in (self.folder / "data").glob("*") if self.files(path.name)}
        built = [table.name for table in BUILT]
        return [name for name in built if name in there] + sorted(there - {*built})

    def copy_tables(self, configs: Sequence[str]) -> Path:
        """Fetch some configs of a Hub dataset whole into the Hub's cache; this reader stays at their commit."""
        from huggingface_hub import snapshot_download

        namespace, name, revision = re.fullmatch(r"datasets/([^/]+)/([^@]+)(?:@(.+))?", self.root).groups()  # type: ignore[union-attr]
        about: dict[str, Any] = {"endpoint": self.api.endpoint, "token": self.api.token} if self.api else {}
        wanted = ["README.md", *(f"data/{config}/**" for config in configs)]
        repo = f"{namespace}/{name}"
        self.copied = Path(
            snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=wanted, **about)
        )
        self.root = f"datasets/{repo}@{self.copied.name}"
        return self.copied

    def open(self, file: str, dictionaries: Sequence[str] = (), source: Any = None) -> pq.ParquetFile:
        """A new handle, on what is already fetched of the file where `source` holds that.

        Two threads must not use one handle of pyarrow's at once.
        """
        about = {"metadata": self.footer(file), "read_dictionary": list(dictionaries), "pre_buffer": False}
        return pq.ParquetFile(source or self._source(file), page_checksum_verification=True, **about)

    def read(
        self, file: str, group: int, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()
    ) -> pa.Table:
        """Some columns of one row group, from the Hub in one request."""
        names = list(columns) if columns is not None else None
        if not self._is_remote(file):
            with self.open(file, dictionaries) as opened:
                return opened.read_row_group(group, columns=names)
        start, end = extent(self.footer(file), group, names)
        path = f"{self.root}/{file}"
        data = self.remote.cat_file(path, start, end, cache_type="none")  # type: ignore[union-attr]
        held = {"data": {(start, end): data}, "strict": True}
        with self.remote.open(path, "rb", cache_type="parts", cache_options=held) as source:  # type: ignore[union-attr]
            # pyarrow's own threads would call Python to read, and can outlive the interpreter.
            opened = self.open(file, dictionaries, source)
            return opened.read_row_group(group, columns=names, use_threads=False)

    def _is_remote(self, file: str) -> bool:
        return self.remote is not None and not (self.copied and (self.copied / file).exists())

    def _source(self, file: str) -> Any:
        if self._is_remote(file):
            return self.remote.open(f"{self.root}/{file}", "rb", cache_type="none")  # type: ignore[union-attr]
        return self.folder / file

    def _footer(self, file: str) -> pq.FileMetaData:
        with self.damage_explained(file):
            return pq.read_metadata(self._source(file))

    def describes_itself(self, file: str) -> bool:
        """Whether a file says what its columns mean, as all that we write beside the pictures do."""
        try:
            return MEANINGS in (self.footer(file).metadata or {})
        except OSError:
            return False

    def digests(self, file: str) -> list[Mapping[str, str]]:
        """The digests of a file's columns, of each content that it may have; raises where it is another file."""
        own = (self.footer(file).metadata or {}).get(DIGESTS)
        listed = [] if self._is_remote(file) else manifest.entries_of(self.folder, file)
        return known_digests(own, [entry.get("columns") or {} for entry in listed], self.plain_columns(file))

    def check_values(self, file: str, read: TableDigest) -> None:
        """Raise where values that were read are not those that were written."""
        with self.damage_explained(file):
            if wrong := read.differing(self.digests(file)):
                raise OSError(f"the values of its column {wrong[0]!r} are not those that were written")

    def groups(self, config: str) -> Iterator[tuple[str, int]]:
        """Every row group of a config, in the order of its rows."""
        for file in self.files(config):
            for group in range(self.footer(file).num_row_groups):
                yield file, group

    def plain_columns(self, file: str) -> list[str]:
        """The columns that hold no pictures."""
        schema = self.footer(file).schema.to_arrow_schema()
        return [field.name for field in schema if not pa.types.is_struct(field.type)]

    def table(self, config: str, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()) -> pa.Table:
        """All rows of a config without its pictures, or the columns named.

        `dictionaries` names columns of words that repeat: each word is held once, so that millions of rows fit.
        """
        files = self.files(config)
        if not files:
            file = f"data/{config}/**/*.parquet"
            raise UnreadableFile(f"{self.root} has no config {config!r}: there is no {file}; {made_by(file)} makes it")
        tables = [self.file_table(file, columns, dictionaries) for file in files]
        return pa.concat_tables(tables, promote_options="default").replace_schema_metadata()

    def file_table(self, file: str, columns: Sequence[str] | None, dictionaries: Sequence[str] = ()) -> pa.Table:
        """Some columns of a file, or all without pictures, checked against what was written."""
        with self.damage_explained(file):
            names, footer = list(columns or self.plain_columns(file)), self.footer(file)
            if not self._is_remote(file):
                with self.open(file, dictionaries) as opened:
                    table = opened.read(columns=names)
            elif not footer.num_row_groups:
                table = self.open(file, dictionaries).schema_arrow.empty_table().select(names)
            else:
                groups = range(footer.num_row_groups)
                table = pa.concat_tables([self.read(file, group, names, dictionaries) for group in groups])
            read = TableDigest()
            read.update(table)
        self.check_values(file, read)
        return table

    def file_rows(self, file: str) -> list[dict[str, Any]]:
        """All rows of a file without pictures."""
        return self.file_table(file, None).to_pylist()

    def rows_of(self, kind: type[R], columns: Sequence[str] | None = None) -> Iterator[R]:
        """The rows of a table, none if it is not there: with the columns named, or with all that hold no pictures.

        One row group is in memory at a time. A file of somebody else is noticed before its first row, a damaged value
        after the last row of its file at the latest: use rows only when all have come.
        """
        names = [column.name for column in kind.columns() if column.type != "image"] if columns is None else columns
        kind.check(names)
        return map(kind.from_values, self.rows(kind.TABLE, names))

    def rows(self, config: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Rows with their pictures as {"bytes", "path"}, one row group in memory at a time.

        Another file than ours is told before its first row; a damaged value after the last at the latest: use them
        when all have come.
        """
        for file in self.files(config):
            with self.damage_explained(file):
                self.digests(file)
            read = TableDigest()
            for group in range(self.footer(file).num_row_groups):
                with self.damage_explained(file):
                    part = self.read(file, group, columns)
                    read.update(part)
                    rows = part.to_pylist()
                yield from rows
            self.check_values(file, read)

    @contextlib.contextmanager
    def damage_explained(self, file: str) -> Iterator[None]:
        """Name the file of a dataset's folder that cannot be read."""
        try:
            yield
        except UnreadableFile:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            if self._is_remote(file):
                raise
            cause = (str(error).splitlines() or [type(error).__name__])[0][:200]
            advice = f"restore it, or let `convergebench verify --repair` set it aside and {made_by(file)} make it anew"
            raise UnreadableFile(f"{self.folder / file} cannot be read: {cause}; {advice}") from error

    def places(self, config: str = "steps") -> list[Place]:
        """Where each row of `table(config)` lies, in the same order."""
        return [
            Place(file, group, row)
            for file, group in self.groups(config)
            for row in range(self.footer(file).row_group(group).num_rows)
        ]

    # Records

    def sources(self) -> dict[str, Source]:
        """The starting pictures by id."""
        return self._cached_sources()

    def _sources(self) -> dict[str, Source]:
        return {row.source: row.record() for row in self.rows_of(SourceRow)}

    def chains(self) -> list[FinishedChain]:
        """Every chain, in the order of the rows."""
        return list(self._cached_chains().values())

    def chain(self, chain_id: str) -> FinishedChain:
        """The chain of an id."""
        try:
            return self._cached_chains()[chain_id]
        except KeyError:
            raise UserError(f"no chain {str(chain_id)[:40]!r} in {self.where}") from None

    def _chains(self) -> dict[str, FinishedChain]:
        rows = map(ChainRow.from_values, self.table("chains").to_pylist())
        return {row.chain: row.record(self.sources().get(row.source)) for row in rows}

    def editors(self) -> dict[str, EditorInfo]:
        """Every editor by its label; one of which the dataset says nothing is an ordinary editor."""
        labels = dict.fromkeys(self.table("chains", ["editor"])["editor"].to_pylist())
        found = {label: EditorInfo(label.split(":")[0]) for label in labels}
        for row in self.rows_of(EditorRow):
            found[row.editor] = row.record()
        return found

    def steps_of(self, chain: FinishedChain) -> list[Step]:
        """The steps of a chain with its input first, from the row groups that can hold them."""
        return [placed.step for placed in self._placed_steps(chain).values()]

    def all_steps(self, skip_unreadable: bool = False) -> Iterator[PlacedStep]:
        """Every step of the dataset in the order of the rows, without its picture."""
        for file in self.files("steps"):
            try:
                table = self.file_table(file, None)
            except OSError:
                if skip_unreadable:
                    continue
                raise
            rows = map(StepRow.from_values, table.to_pylist())
            for group in range(self.footer(file).num_row_groups):
                for number in range(self.footer(file).row_group(group).num_rows):
                    row = next(rows)
                    yield PlacedStep(row.chain, row.record(), Place(file, group, number))

    # The steps of one chain

    def _placed_steps(self, chain: FinishedChain) -> dict[int, PlacedStep]:
        return self._cached_steps(chain.id, chain.editor, chain.source.id, chain.program.id)

    def _steps(self, chain: str, editor: str, source: str, program: str) -> dict[int, PlacedStep]:
        values = {"chain": chain, "editor": editor, "source": source, "program": program}
        files = sorted(self._cached_files(), key=lambda file: not named_after(file, editor))
        for file in files:
            found: dict[int, PlacedStep] = {}
            with self.damage_explained(file):
                for group, bounds in enumerate(self._cached_bounds(file)):
                    if all(low <= values[key] <= high for key, (low, high) in bounds.items()):
                        for number, row in enumerate(self.read(file, group, self.plain_columns(file)).to_pylist()):
                            if row["chain"] == chain:
                                step = StepRow.from_values(row).record()
                                found[step.step] = PlacedStep(chain, step, Place(file, group, number))
            if found:
                return dict(sorted(found.items()))  # a chain's steps lie in one file
        return {}

    def _bounds(self, file: str) -> list[dict[str, tuple[str, str]]]:
        """For each row group the first and last value of the columns that name a chain, where the file tells them."""
        footer = self.footer(file)
        columns = {footer.schema.column(number).path: number for number in range(footer.num_columns)}
        found = []
        for group in range(footer.num_row_groups):
            bounds = {}
            for key in columns.keys() & {"chain", "editor", "source", "program"}:
                known = footer.row_group(group).column(columns[key]).statistics
                if known is not None and known.has_min_max:
                    bounds[key] = (known.min, known.max)
            found.append(bounds)
        return found

    # Pictures

    def picture(self, chain_id: str, step: int) -> bytes | None:
        """The bytes of a step's picture as received; None where there is none."""
        placed = self._placed_steps(self.chain(chain_id)).get(step)
        data = self.picture_at(placed.place) if placed else None
        if placed and data and placed.step.sha256 not in (None, sha256(data).hexdigest()):
            raise UnreadableFile(f"{self.where}/{placed.place.file}: step {step} of {chain_id} is {OTHER_BYTES}")
        return data

    def reference(self, chain_id: str) -> bytes | None:
        """The picture that a finished round of a chain should equal, where it is another than the chain's input."""
        place = self._cached_references().get(chain_id)
        data = self.picture_at(place, "reference") if place else None
        if place and data and self.reference_hash(place) not in (None, sha256(data).hexdigest()):
            raise UnreadableFile(f"{self.where}/{place.file}: the reference of {chain_id} is {OTHER_BYTES}")
        return data

    def reference_hash(self, place: Place) -> str | None:
        """The sha256 that a reference had when it was written, where the manifest knows it."""
        if self._is_remote(place.file):
            return None
        footer = self.footer(place.file)
        row = sum(footer.row_group(group).num_rows for group in range(place.group)) + place.row
        for entry in manifest.entries_of(self.folder, place.file):
            known = (entry.get("pictures") or {}).get("reference") or []
            if len(known) == footer.num_rows:
                return str(known[row]) if known[row] else None
        return None

    def _references(self) -> dict[str, Place]:
        names = self.table("chains", ["chain", "reference.path"]).to_pylist()
        return {
            row["chain"]: place for row, place in zip(names, self.places("chains"), strict=True) if row["reference"]
        }

    def picture_at(self, place: Place, column: str = "image") -> bytes | None:
        """The bytes of one picture; the last few row groups are kept, since neighbours are usually next."""
        value = self._cached_pictures(place.file, place.group, column)[place.row]
        return value.as_py() if value.is_valid else None

    def _pictures(self, file: str, group: int, column: str) -> pa.Array:
        pictures = self.read(file, group, [column]).column(0).combine_chunks()
        # Unlike `field`, `flatten` knows that a missing picture is a null struct. pyarrow.compute would cost 9 MB more.
        return pictures.flatten()[pictures.type.get_field_index("bytes")]


def named_after(file: str, editor: str) -> bool:
    """Whether a file of steps lies in a folder with the beginning of the editor's name."""
    folder = file.split("/")[-2]
    return editor.startswith(re.split("[_-]", folder)[0])
