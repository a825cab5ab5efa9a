"""Reads Parquet from a folder or the Hub: tables whole, pictures by row group.

`load_dataset` copies every picture into its cache first;
scores need none of them and one picture needs one row group.
"""

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from convergebench.generation.records import EditorInfo, FinishedChain, Source, Step, UserError

from . import manifest
from .columns import Row, Values
from .manifest import Entries, UnreadableFile
from .rows import BUILT, ChainRow, EditorRow, SourceRow, StepRow, command_that_makes, table_of
from .schema import DIGESTS, REFERENCES, TableDigest, extent, may_hold, refuse_large, refuse_nulls, values_digest

if TYPE_CHECKING:
    from huggingface_hub import HfApi, HfFileSystem

R = TypeVar("R", bound=Row)
_AT_ONCE = 10_000  # rows as objects, which take ten times as much
_OTHER_BYTES = "damaged: its bytes are not those that its sha256 names"


class Place(NamedTuple):
    """Where a row is, so that its picture can be read without the others."""

    file: str
    group: int
    row: int


class PlacedStep(NamedTuple):
    """A step, the id of its chain and the place of its picture."""

    chain: str
    step: Step
    place: Place


class Reader:
    """A folder, or hf://datasets/NAMESPACE/NAME@REVISION, which each reader lists anew. Threads may share one."""

    def __init__(self, where: str | Path, api: "HfApi | None" = None, makes: Collection[str] = ()):
        self.where = str(where)
        self.makes = makes  # tables that whoever reads will make anew: their files may be gone
        self.api = api
        self.root = self.where.removeprefix("hf://")
        self.copied: Path | None = None  # a folder with files of a Hub dataset, such as `copy_tables` fetches
        self.remote: HfFileSystem | None = None
        if self.where.startswith("hf://"):
            import huggingface_hub as hub

            client = api or hub.HfApi()
            self.remote = hub.HfFileSystem(endpoint=client.endpoint, token=client.token, skip_instance_cache=True)
        self.footer = lru_cache(maxsize=4096)(self._footer)
        self._pictures = lru_cache(maxsize=2)(self._read_pictures)  # neighbours are usually next; each is 8 MB
        self.plain_rows = lru_cache(maxsize=8)(
            lambda file, group: self.read(file, group, self.plain_columns(file))
        )
        self._steps = lru_cache(maxsize=256)(self._read_steps)

    @property
    def folder(self) -> Path:
        """The dataset's folder, or that with copies of a Hub dataset's files."""
        return self.copied or Path(self.root)

    # Files and tables

    @property
    def listing(self) -> tuple[Entries, Entries]:
        """The files that the card lists, and those about to be replaced."""
        return self._remote_listing if self.remote and not self.copied else manifest.read(self.folder)

    @cached_property
    def _remote_listing(self) -> tuple[Entries, Entries]:
        card = f"{self.root}/{manifest.CARD}"
        return manifest.parse(self.remote.cat_file(card) if self.remote and self.remote.exists(card) else b"")

    def files(self, config: str) -> list[str]:
        """The files of a config, in order; raises if they are not those that the card lists."""
        present = self.files_present(config)
        listed = {file for part in self.listing for file in part if file.startswith(f"data/{config}/")}
        for file in sorted(listed ^ {*present}):
            if file not in listed:
                problem = "is not a file that the dataset's card lists"
                raise UnreadableFile(f"{self.where}/{file} {problem}; move it away")
            if file not in self.listing[1] and config not in self.makes:
                again = f"let `convergebench verify --repair` note it and {command_that_makes(file)} make it anew"
                raise UnreadableFile(f"{self.where}/{file} is missing; restore it, or {again}")
        return present

    def files_present(self, config: str) -> list[str]:
        return [file for file in self._all_files() if file.startswith(f"data/{config}/")]

    def _all_files(self) -> list[str]:
        here = (self.folder / "data").rglob("*.parquet") if self.copied or not self.remote else ()
        return sorted({*(path.relative_to(self.folder).as_posix() for path in here), *self._remote_files})

    @cached_property
    def _remote_files(self) -> list[str]:
        paths = self.remote.glob(f"{self.root}/data/**/*.parquet") if self.remote else ()
        return sorted(str(path).removeprefix(self.root + "/") for path in paths)

    def size(self, file: str) -> int:
        remote = self._remote_for(file)
        return int(remote.size(f"{self.root}/{file}")) if remote else (self.folder / file).stat().st_size

    def data_files(self) -> list[str]:
        return [file for config in self.configs() for file in self.files_present(config)]

    def configs(self) -> list[str]:
        """The configs that have files; those of a build come first."""
        present = {table_of(file) for file in self._all_files()} - {""}
        built = [table.name for table in BUILT]
        return [name for name in built if name in present] + sorted(present - {*built})

    def refuse_unfinished(self, besides: str = "", only: Sequence[str] = ()) -> None:
        """Raise if a table is not as the card lists it, or a command stopped while it was replacing it."""
        written, replacing = self.listing
        names = {table_of(file) for file in (*written, *replacing, *self.data_files())} - {besides}
        names = names & {*only} if only else names
        for config in sorted(names):
            self.files(config)
        for file in sorted(file for file in replacing if table_of(file) in names):
            what = "was set aside, or its command stopped while it was being replaced"
            raise UnreadableFile(f"{self.where}/{file} {what}; give {command_that_makes(file)} again")

    def copy_tables(self, configs: Sequence[str]) -> None:
        """Fetch some configs whole into the Hub's cache; the reader stays at their commit."""
        from huggingface_hub import HfApi

        repo, _, at = self.root.removeprefix("datasets/").partition("@")
        small = [manifest.CARD, *(f"data/{config}/**" for config in configs)]
        download = (self.api or HfApi()).snapshot_download
        self.copied = Path(download(repo, repo_type="dataset", revision=at or None, allow_patterns=small))
        self.root = f"datasets/{repo}@{self.copied.name}"

    def read(
        self, file: str, group: int, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()
    ) -> pa.Table:
        """Some columns of one row group, from the Hub in one request."""
        names = list(columns) if columns is not None else None
        remote = self._remote_for(file)
        # Without pyarrow's own threads: each keeps memory that it has freed, and they
        # would call Python to read from the Hub, even after the interpreter's end.
        with self._damage_explained(file):
            if remote is None:
                with self._open(file, self.folder / file, dictionaries) as opened:
                    return opened.read_row_group(group, names, use_threads=False)
            place, path = extent(self.footer(file), group, names), f"{self.root}/{file}"
            fetched = {"data": {place: remote.cat_file(path, *place, cache_type="none")}, "strict": True}
            with remote.open(path, "rb", cache_type="parts", cache_options=fetched) as source:
                return self._open(file, source, dictionaries).read_row_group(group, names, use_threads=False)

    def _open(self, file: str, source: Any, dictionaries: Sequence[str]) -> pq.ParquetFile:
        """A new handle, because pyarrow allows one thread for each."""
        options = {"read_dictionary": list(dictionaries), "page_checksum_verification": True, "pre_buffer": False}
        # With a buffer a column's bytes are not all in memory beside its values.
        return pq.ParquetFile(source, metadata=self.footer(file), buffer_size=1_000_000, **options)

    def _remote_for(self, file: str) -> "HfFileSystem | None":
        return None if self.copied and (self.copied / file).exists() else self.remote

    def _source(self, file: str) -> Any:
        remote = self._remote_for(file)
        return remote.open(f"{self.root}/{file}", "rb", cache_type="none") if remote else self.folder / file

    def _footer(self, file: str) -> pq.FileMetaData:
        with self._damage_explained(file):
            footer = pq.read_metadata(self._source(file))
            refuse_large(footer)
        return footer

    def is_ours(self, file: str) -> bool:
        """Whether a file carries the digests of its columns."""
        try:
            return DIGESTS in (self.footer(file).metadata or {})
        except OSError:
            return False

    def digests(self, file: str) -> dict[str, str]:
        """The digests of a file's columns without pictures; raises if it is not the one that was written."""
        with self._damage_explained(file):
            footer, listed = self.footer(file), [part[file] for part in self.listing if file in part]
            if not self.is_ours(file):
                raise OSError("it has no digests of its columns, so this benchmark did not write it")
            if not listed:
                raise OSError("the dataset's card does not list it")
            if any(map(len, listed)) and values_digest(footer) not in [entry.get("values") for entry in listed]:
                raise OSError("it is another file than the one that was written in its place")
            digests: dict[str, str] = json.loads(footer.metadata[DIGESTS])
            if digests.keys() != {*self.plain_columns(file)}:
                raise OSError("its columns are not those that were written")
        return digests

    def groups(self, config: str) -> Iterator[tuple[str, int]]:
        for file in self.files(config):
            for group in range(self.footer(file).num_row_groups):
                yield file, group

    def plain_columns(self, file: str) -> list[str]:
        schema = self.footer(file).schema.to_arrow_schema()
        return [field.name for field in schema if not pa.types.is_struct(field.type)]

    def table(
        self, config: str, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()
    ) -> pa.Table:
        """All rows, with these columns or with all but pictures; `dictionaries` are columns whose values repeat."""
        if not (files := self.files(config)):
            file = f"data/{config}/**/*.parquet"
            problem = f"{self.root} has no config {config!r}: there is no {file}"
            raise UnreadableFile(f"{problem}; {command_that_makes(file)} makes it")
        tables = [self.file_table(file, columns, dictionaries) for file in files]
        return pa.concat_tables(tables, promote_options="default").replace_schema_metadata()

    def file_table(
        self, file: str, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()
    ) -> pa.Table:
        """Some columns of a file, by default all without pictures, checked."""
        names = list(columns or self.plain_columns(file))
        if parts := list(self._parts(file, names, dictionaries)):
            return pa.concat_tables(parts)
        return self._open(file, self._source(file), dictionaries).schema_arrow.empty_table().select(names)

    def _parts(
        self, file: str, columns: Sequence[str] | None, dictionaries: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Each row group; raises after the last one if a value is not as written."""
        written, read = self.digests(file), TableDigest()
        with self._damage_explained(file):
            for group in range(self.footer(file).num_row_groups):
                part = self.read(file, group, columns, dictionaries)
                read.update(part)
                refuse_nulls(file, part)
                yield part
            for name, digest in read.hexdigests().items():
                if written.get(name) != digest:
                    raise OSError(f"the values of its column {name!r} are not those that were written")

    def rows_of(self, kind: type[R], columns: Sequence[str] | None = None) -> Iterator[R]:
        """The rows of a table, by default without its pictures.

        One row group is in memory at a time. A damaged value may raise as late
        as after the last row of its file: use no row before all are read.
        """
        names = [column.name for column in kind.columns() if columns is not None or column.type != "image"]
        if unknown := [name for name in columns or () if name not in names]:
            raise KeyError(f"no column {unknown[0]!r} in {kind.TABLE}; its columns are {', '.join(names)}")
        return map(kind.from_values, self.rows(kind.TABLE, names if columns is None else columns))

    def rows(self, config: str, columns: Sequence[str] | None = None) -> Iterator[Values]:
        """As `rows_of`, as plain values and with pictures."""
        for file in self.files(config):
            yield from self.file_rows(file, columns)

    def file_rows(self, file: str, columns: Sequence[str] | None = None) -> Iterator[Values]:
        for part in self._parts(file, columns):
            with self._damage_explained(file):
                rows = part.to_pylist()
            yield from rows

    @contextlib.contextmanager
    def _damage_explained(self, file: str) -> Iterator[None]:
        """Turn a read error into one that names the file and says what to do."""
        try:
            yield
        except UnreadableFile:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            cause = (str(error).splitlines() or [type(error).__name__])[0][:200]
            command = command_that_makes(file)
            advice = f"restore it, or let `convergebench verify --repair` set it aside and {command} rewrite it"
            raise UnreadableFile(f"{self.where}/{file} cannot be read: {cause}; {advice}") from error

    def places(self, config: str = "steps") -> Iterator[Place]:
        """The place of each row of `table(config)`, in the same order."""
        return (place for file in self.files(config) for place in self._places(file))

    def _places(self, file: str) -> Iterator[Place]:
        footer = self.footer(file)
        for group in range(footer.num_row_groups):
            yield from (Place(file, group, row) for row in range(footer.row_group(group).num_rows))

    # Records

    def sources(self) -> dict[str, Source]:
        return {row.source: row.record() for row in self.rows_of(SourceRow)}

    def chains(self) -> list[FinishedChain]:
        return list(self._chains.values())

    @cached_property
    def _chains(self) -> dict[str, FinishedChain]:
        sources = self.sources()
        rows = (row for part in self.table("chains").to_batches(_AT_ONCE) for row in part.to_pylist())
        return {row.chain: row.record(sources.get(row.source)) for row in map(ChainRow.from_values, rows)}

    def chain(self, chain_id: str) -> FinishedChain:
        try:
            return self._chains[chain_id]
        except KeyError:
            raise UserError(f"no chain {str(chain_id)[:40]!r} in {self.where}") from None

    def editors(self) -> dict[str, EditorInfo]:
        """Every editor by its label; one without a row is an ordinary one."""
        labels = dict.fromkeys(self.table("chains", ["editor"])["editor"].to_pylist())
        editors = {label: EditorInfo(label.split(":")[0]) for label in labels}
        return editors | {row.editor: row.record() for row in self.rows_of(EditorRow)}

    def steps_of(self, chain: FinishedChain) -> list[Step]:
        return [placed.step for placed in self._steps(chain.id).values()]

    def all_steps(self, skip_unreadable: bool = False) -> Iterator[PlacedStep]:
        """Every step of the dataset in the order of the rows, without its picture."""
        for file in self.files_present("steps") if skip_unreadable else self.files("steps"):
            try:
                table = self.file_table(file)
            except OSError:
                if skip_unreadable:
                    continue
                raise
            rows = (StepRow.from_values(row) for part in table.to_batches(_AT_ONCE) for row in part.to_pylist())
            for row, place in zip(rows, self._places(file), strict=True):
                yield PlacedStep(row.chain, row.record(), place)

    def _read_steps(self, chain_id: str) -> dict[int, PlacedStep]:
        chain = self.chain(chain_id)
        source, program = chain.source.id, chain.program.id
        place = {"chain": chain_id, "editor": chain.editor, "source": source, "program": program}
        # First the files whose folder begins as the editor's name does.
        beginnings = {file: re.split("[_-]", file.split("/")[-2])[0] for file in self._step_files}
        for file in sorted(beginnings, key=lambda file: not chain.editor.startswith(beginnings[file])):
            if steps := {placed.step.step: placed for placed in self._steps_in(file, place)}:
                return dict(sorted(steps.items()))  # all steps of a chain are in one file
        return {}

    def _steps_in(self, file: str, place: Values) -> Iterator[PlacedStep]:
        with self._damage_explained(file):
            for group in range(self.footer(file).num_row_groups):
                if not may_hold(self.footer(file), group, place):
                    continue
                part = self.read(file, group, self.plain_columns(file))
                refuse_nulls(file, part)
                for number, row in enumerate(part.to_pylist()):
                    if row["chain"] == place["chain"]:
                        step = StepRow.from_values(row).record()
                        yield PlacedStep(row["chain"], step, Place(file, group, number))

    @cached_property
    def _step_files(self) -> list[str]:
        return self.files("steps")

    # Pictures

    def picture(self, chain_id: str, step: int) -> bytes | None:
        """The bytes of a step's picture as received; None if it has none."""
        placed = self._steps(chain_id).get(step)
        data = self.picture_at(placed.place) if placed else None
        if placed and data and placed.step.sha256 not in (None, sha256(data).hexdigest()):
            raise UnreadableFile(f"{self.where}/{placed.place.file}: step {step} of {chain_id} is {_OTHER_BYTES}")
        return data

    def reference(self, chain_id: str) -> bytes | None:
        """What a finished round should equal, if that is not the input."""
        place = self._references.get(chain_id)
        return self.picture_at(place, "reference") if place else None

    @cached_property
    def _references(self) -> dict[str, Place]:
        rows = self.table("chains", ["chain", "reference.path"]).to_pylist()
        places = zip(rows, self.places("chains"), strict=True)
        return {row["chain"]: place for row, place in places if row["reference"]}

    def picture_at(self, place: Place, column: str = "image") -> bytes | None:
        """The bytes of one picture; a reference's are checked."""
        pictures, digests = self._pictures(place.file, place.group, column)
        data: bytes | None = pictures[place.row].as_py()
        if column == "reference" and (data and sha256(data).hexdigest()) != digests.get(place):
            raise UnreadableFile(f"{self.where}/{place.file}: the reference in row {place.row} is {_OTHER_BYTES}")
        return data

    def _read_pictures(
        self, file: str, group: int, column: str
    ) -> tuple[pa.ChunkedArray, dict[Place, str | None]]:
        """The pictures of a row group, and the hash of each reference of its file."""
        hashes = json.loads((self.footer(file).metadata or {}).get(REFERENCES, b"[]"))
        pictures = self.read(file, group, [column]).column(0)
        # Unlike `field`, `flatten` keeps a missing picture null. pyarrow.compute would cost 9 MB more.
        data = pictures.flatten()[pictures.type.get_field_index("bytes")]
        return data, dict(zip(self._places(file), hashes, strict=False))
