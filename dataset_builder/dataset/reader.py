"""Reads the dataset's Parquet directly, from a local folder or the Hub: tables whole, pictures by row group.

`load_dataset` copies every picture into its cache first; scores need none of them and one picture needs one row group.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from convergebench.generation.records import EditorInfo, FinishedChain, Source, Step, UserError

from . import manifest
from .columns import Row, Values
from .manifest import TableDigest, possible_digests
from .rows import BUILT, ChainRow, EditorRow, SourceRow, StepRow, made_by
from .schema import DIGESTS, MEANINGS, extent

if TYPE_CHECKING:
    from huggingface_hub import HfApi, HfFileSystem

R = TypeVar("R", bound=Row)
_OTHER_BYTES = "damaged: its bytes are not those that its sha256 names"
_PLACE = ("chain", "editor", "source", "program")  # the columns whose bounds say which row groups hold a chain


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


class UnreadableFile(UserError, OSError):
    """A file in a dataset's folder is damaged; the message says which, and what to do."""


class Reader:
    """A dataset folder, or a Hub dataset as `hf://datasets/NAMESPACE/NAME@REVISION`. Threads may share one."""

    def __init__(self, where: str | Path, api: "HfApi | None" = None):
        self.where = str(where)
        self.api = api
        self.root = self.where.removeprefix("hf://")
        self._copied: Path | None = None  # the small tables of a Hub dataset, once `copy_tables` fetched them
        self.remote: HfFileSystem | None = None
        if self.where.startswith("hf://"):
            from huggingface_hub import HfFileSystem as Remote

            self.remote = Remote(endpoint=api.endpoint, token=api.token) if api else Remote()
        self.footer = lru_cache(maxsize=4096)(self._footer)
        self._cached_bounds = lru_cache(maxsize=4096)(self._bounds)
        self._cached_pictures = lru_cache(maxsize=4)(self._pictures)
        self._cached_steps = lru_cache(maxsize=256)(self._steps)

    @property
    def folder(self) -> Path:
        """The folder with the small tables: the dataset's own, or the copy of a Hub dataset's."""
        return self._copied or Path(self.root)

    # Files and tables

    def files(self, config: str) -> list[str]:
        """The config's files, in the order of its rows; none if the config does not exist."""
        if self.remote and not (self._copied and (self._copied / "data" / config).is_dir()):
            paths = self.remote.glob(f"{self.root}/data/{config}/**/*.parquet")
            return sorted(str(path).removeprefix(self.root + "/") for path in paths)
        root = self.folder
        return sorted(path.relative_to(root).as_posix() for path in (root / "data" / config).rglob("*.parquet"))

    def data_files(self) -> list[str]:
        """The files of all configs."""
        return [file for config in self.configs() for file in self.files(config)]

    def configs(self) -> list[str]:
        """The configs that have files: those of a build in their order, then others such as the scores."""
        present = {path.name for path in (self.folder / "data").glob("*") if self.files(path.name)}
        built = [table.name for table in BUILT]
        return [name for name in built if name in present] + sorted(present - {*built})

    def copy_tables(self, configs: Sequence[str]) -> Path:
        """Fetch some configs of a Hub dataset whole into the Hub's cache; this reader stays at their commit."""
        from huggingface_hub import snapshot_download

        repo, _, revision = self.root.removeprefix("datasets/").partition("@")
        patterns = ["README.md", *(f"data/{config}/**" for config in configs)]
        self._copied = Path(
            snapshot_download(
                repo,
                repo_type="dataset",
                revision=revision or None,
                allow_patterns=patterns,
                endpoint=self.api.endpoint if self.api else None,
                token=self.api.token if self.api else None,
            )
        )
        self.root = f"datasets/{repo}@{self._copied.name}"
        return self._copied

    def open(self, file: str, dictionaries: Sequence[str] = (), source: Any = None) -> pq.ParquetFile:
        """A new handle, on `source` if that holds the needed bytes; pyarrow allows one thread for each handle."""
        return pq.ParquetFile(
            source or self._source(file),
            metadata=self.footer(file),
            read_dictionary=list(dictionaries),
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def read(
        self, file: str, group: int, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()
    ) -> pa.Table:
        """Some columns of one row group, from the Hub in one request."""
        names = list(columns) if columns is not None else None
        remote = self._remote_for(file)
        if remote is None:
            with self.open(file, dictionaries) as opened:
                return opened.read_row_group(group, columns=names)
        start, end = extent(self.footer(file), group, names)
        path = f"{self.root}/{file}"
        fetched = {"data": {(start, end): remote.cat_file(path, start, end, cache_type="none")}, "strict": True}
        with remote.open(path, "rb", cache_type="parts", cache_options=fetched) as source:
            # pyarrow's own threads would call Python to read, and can outlive the interpreter.
            return self.open(file, dictionaries, source).read_row_group(group, columns=names, use_threads=False)

    def _remote_for(self, file: str) -> "HfFileSystem | None":
        """The Hub, unless the file is local."""
        return None if self._copied and (self._copied / file).exists() else self.remote

    def _source(self, file: str) -> Any:
        remote = self._remote_for(file)
        return remote.open(f"{self.root}/{file}", "rb", cache_type="none") if remote else self.folder / file

    def _footer(self, file: str) -> pq.FileMetaData:
        with self.damage_explained(file):
            return pq.read_metadata(self._source(file))

    def describes_itself(self, file: str) -> bool:
        """Whether a file says what its columns mean, as all tables without pictures of this benchmark do."""
        try:
            return MEANINGS in (self.footer(file).metadata or {})
        except OSError:
            return False

    def check_values(self, file: str, digest: TableDigest) -> None:
        """Raise if values that were read are not those that were written."""
        with self.damage_explained(file):
            possible = self._digests(file)
            for name, value in digest.hexdigests().items():
                if possible and all(columns.get(name) != value for columns in possible):
                    raise OSError(f"the values of its column {name!r} are not those that were written")

    def _digests(self, file: str) -> list[Mapping[str, str]]:
        """The digests of a file's columns, for each content that it may have; raises if it is another file."""
        stated = (self.footer(file).metadata or {}).get(DIGESTS)
        listed = [] if self._remote_for(file) else manifest.entries_of(self.folder, file)
        return possible_digests(stated, [entry.get("columns") or {} for entry in listed], self.plain_columns(file))

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
        """All rows of a config, with these columns or with all that hold no pictures.

        `dictionaries` names columns whose values repeat; each value is held once, so that millions of rows fit.
        """
        files = self.files(config)
        if not files:
            file = f"data/{config}/**/*.parquet"
            raise UnreadableFile(f"{self.root} has no config {config!r}: there is no {file}; {made_by(file)} makes it")
        tables = [self.file_table(file, columns, dictionaries) for file in files]
        return pa.concat_tables(tables, promote_options="default").replace_schema_metadata()

    def file_table(self, file: str, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()) -> pa.Table:
        """Some columns of a file, or all without pictures, checked against what was written."""
        with self.damage_explained(file):
            names, groups = list(columns or self.plain_columns(file)), range(self.footer(file).num_row_groups)
            if not self._remote_for(file):
                with self.open(file, dictionaries) as opened:
                    table = opened.read(columns=names)
            elif groups:
                table = pa.concat_tables([self.read(file, group, names, dictionaries) for group in groups])
            else:
                table = self.open(file, dictionaries).schema_arrow.empty_table().select(names)
            digest = TableDigest()
            digest.update(table)
        self.check_values(file, digest)
        return table

    def rows_of(self, kind: type[R], columns: Sequence[str] | None = None) -> Iterator[R]:
        """The rows of a table, with these columns or with all that hold no pictures; none if there is no such table.

        One row group is in memory at a time. A replaced file raises before its first row, but a damaged value may raise
        as late as after the last row of its file: use no row before all have been read.
        """
        names = [column.name for column in kind.columns() if column.type != "image"] if columns is None else columns
        kind.check(names)
        return map(kind.from_values, self.rows(kind.TABLE, names))

    def rows(self, config: str, columns: Sequence[str] | None = None) -> Iterator[Values]:
        """The rows of a table as plain values, pictures as {"bytes", "path"}; otherwise as `rows_of`."""
        for file in self.files(config):
            yield from self.file_rows(file, columns)

    def file_rows(self, file: str, columns: Sequence[str] | None = None) -> Iterator[Values]:
        """The rows of one file, as `rows`."""
        with self.damage_explained(file):
            self._digests(file)
        digest = TableDigest()
        for group in range(self.footer(file).num_row_groups):
            with self.damage_explained(file):
                part = self.read(file, group, columns)
                digest.update(part)
                rows = part.to_pylist()
            yield from rows
        self.check_values(file, digest)

    @contextlib.contextmanager
    def damage_explained(self, file: str) -> Iterator[None]:
        """Turn a read error into one that names the file and says what to do."""
        try:
            yield
        except UnreadableFile:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            if self._remote_for(file):
                raise
            cause = (str(error).splitlines() or [type(error).__name__])[0][:200]
            advice = f"restore it, or let `convergebench verify --repair` set it aside and {made_by(file)} make it anew"
            raise UnreadableFile(f"{self.folder / file} cannot be read: {cause}; {advice}") from error

    def places(self, config: str = "steps") -> list[Place]:
        """The place of each row of `table(config)`, in the same order."""
        return [
            Place(file, group, row)
            for file, group in self.groups(config)
            for row in range(self.footer(file).row_group(group).num_rows)
        ]

    # Records

    def sources(self) -> dict[str, Source]:
        """The starting pictures by id."""
        return self._sources

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return {row.source: row.record() for row in self.rows_of(SourceRow)}

    def chains(self) -> list[FinishedChain]:
        """Every chain, in the order of the rows."""
        return list(self._chains.values())

    @cached_property
    def _chains(self) -> dict[str, FinishedChain]:
        rows = map(ChainRow.from_values, self.table("chains").to_pylist())
        return {row.chain: row.record(self.sources().get(row.source)) for row in rows}

    def chain(self, chain_id: str) -> FinishedChain:
        """The chain of an id."""
        try:
            return self._chains[chain_id]
        except KeyError:
            raise UserError(f"no chain {str(chain_id)[:40]!r} in {self.where}") from None

    def editors(self) -> dict[str, EditorInfo]:
        """Every editor by its label; one without a description counts as an ordinary editor."""
        labels = dict.fromkeys(self.table("chains", ["editor"])["editor"].to_pylist())
        editors = {label: EditorInfo(label.split(":")[0]) for label in labels}
        return editors | {row.editor: row.record() for row in self.rows_of(EditorRow)}

    def steps_of(self, chain: FinishedChain) -> list[Step]:
        """The steps of a chain, its input first."""
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

    def _placed_steps(self, chain: FinishedChain) -> dict[int, PlacedStep]:
        return self._cached_steps(chain.id, chain.editor, chain.source.id, chain.program.id)

    def _steps(self, chain: str, editor: str, source: str, program: str) -> dict[int, PlacedStep]:
        place = dict(zip(_PLACE, (chain, editor, source, program), strict=True))

        def is_elsewhere(file: str) -> bool:  # the folder of an editor's files begins as the editor's name does
            return not editor.startswith(re.split("[_-]", file.split("/")[-2])[0])

        for file in sorted(self._step_files, key=is_elsewhere):
            steps: dict[int, PlacedStep] = {}
            with self.damage_explained(file):
                for group, bounds in enumerate(self._cached_bounds(file)):
                    if all(low <= place[name] <= high for name, (low, high) in bounds.items()):
                        for number, row in enumerate(self.read(file, group, self.plain_columns(file)).to_pylist()):
                            if row["chain"] == chain:
                                step = StepRow.from_values(row).record()
                                steps[step.step] = PlacedStep(chain, step, Place(file, group, number))
            if steps:
                return dict(sorted(steps.items()))  # all steps of a chain are in one file
        return {}

    @cached_property
    def _step_files(self) -> list[str]:
        return self.files("steps")

    def _bounds(self, file: str) -> list[dict[str, tuple[str, str]]]:
        """For each row group the first and last value of the columns that name a chain, if the file has them."""
        footer = self.footer(file)
        columns = {footer.schema.column(number).path: number for number in range(footer.num_columns)}
        bounds: list[dict[str, tuple[str, str]]] = []
        for group in range(footer.num_row_groups):
            bounds.append({})
            for name in columns.keys() & {*_PLACE}:
                statistics = footer.row_group(group).column(columns[name]).statistics
                if statistics is not None and statistics.has_min_max:
                    bounds[-1][name] = (statistics.min, statistics.max)
        return bounds

    # Pictures

    def picture(self, chain_id: str, step: int) -> bytes | None:
        """The bytes of a step's picture as received; None if it has none."""
        placed = self._placed_steps(self.chain(chain_id)).get(step)
        data = self.picture_at(placed.place) if placed else None
        if placed and data and placed.step.sha256 not in (None, sha256(data).hexdigest()):
            raise UnreadableFile(f"{self.where}/{placed.place.file}: step {step} of {chain_id} is {_OTHER_BYTES}")
        return data

    def reference(self, chain_id: str) -> bytes | None:
        """The picture that a finished round of a chain should equal, if that is not the chain's input."""
        place = self._references.get(chain_id)
        data = self.picture_at(place, "reference") if place else None
        if place and data and self.reference_hash(place) not in (None, sha256(data).hexdigest()):
            raise UnreadableFile(f"{self.where}/{place.file}: the reference of {chain_id} is {_OTHER_BYTES}")
        return data

    def reference_hash(self, place: Place) -> str | None:
        """The sha256 that a reference had when it was written; None if the manifest does not say."""
        if self._remote_for(place.file):
            return None
        footer = self.footer(place.file)
        row = sum(footer.row_group(group).num_rows for group in range(place.group)) + place.row
        for entry in manifest.entries_of(self.folder, place.file):
            hashes = (entry.get("pictures") or {}).get("reference") or []
            if len(hashes) == footer.num_rows:
                return str(hashes[row]) if hashes[row] else None
        return None

    @cached_property
    def _references(self) -> dict[str, Place]:
        rows = self.table("chains", ["chain", "reference.path"]).to_pylist()
        places = zip(rows, self.places("chains"), strict=True)
        return {row["chain"]: place for row, place in places if row["reference"]}

    def picture_at(self, place: Place, column: str = "image") -> bytes | None:
        """The bytes of one picture; the last few row groups are kept, since neighbours are usually next."""
        value = self._cached_pictures(place.file, place.group, column)[place.row]
        return value.as_py() if value.is_valid else None

    def _pictures(self, file: str, group: int, column: str) -> pa.Array:
        pictures = self.read(file, group, [column]).column(0).combine_chunks()
        # Unlike `field`, `flatten` knows that a missing picture is a null struct. pyarrow.compute would cost 9 MB more.
        return pictures.flatten()[pictures.type.get_field_index("bytes")]
