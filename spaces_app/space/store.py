"""What the Space knows of a dataset: scores and chains in memory, pictures read when somebody looks at them."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..reporting import load
from ..statistics.cases import Case, follow
from ..statistics.zeros import Zeros
from . import spent
from .footers import Steps

SMALL = ("chains", "scores", "floors", "sources")  # fetched whole where the dataset is on the Hub
REPEATED = ["chain", "editor", "source", "program", "status", "reasons", "signature"]
# Columns of the scores that the statistics do not look at.
ASIDE = {"editor", "source", "program", "run", "step", "status", "sha256", "signature", "changed_size", "undo_ratio"}
ASIDE |= {"psnr_registered", "ssim_registered", "shift_x", "shift_y", "scale", "registration_residual"}
MANY = 60_000  # scored steps beyond which nobody waits for what each call took
Row = dict[str, Any]


class Unknown(ValueError):
    """What was asked for is not in this dataset."""


class Here:
    """A dataset folder on this machine."""

    def __init__(self, folder: Path):
        self.folder = folder

    def files(self, config: str) -> list[str]:
        return [path.relative_to(self.folder).as_posix() for path in load.files(self.folder, config)]

    def open(self, file: str) -> Any:
        return pa.memory_map(str(self.folder / file))


class Hub:
    """A dataset on the Hub at one revision: small tables are fetched once, pictures row group by row group."""

    def __init__(self, repo: str, revision: str | None):
        from huggingface_hub import HfFileSystem, snapshot_download

        wanted = ["README.md", *(f"data/{name}/**" for name in SMALL)]
        self.folder = Path(snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=wanted))
        # The snapshot's own commit, so that both halves are of one version.
        self.root = f"datasets/{repo}@{self.folder.name}"
        self.system = HfFileSystem()

    def files(self, config: str) -> list[str]:
        found = self.system.glob(f"{self.root}/data/{config}/**/*.parquet")
        return sorted(str(path).split("/data/", 1)[1].join(("data/", "")) for path in found)

    def open(self, file: str) -> Any:
        # The small columns lie side by side: what is read ahead of the first holds the others.
        return self.system.open(f"{self.root}/{file}", cache_type="readahead", block_size=2**18)


def opened(where: str | None = None, revision: str | None = None) -> "Store":
    """The dataset that was asked for, or that CONVERGEBENCH_DATASET and CONVERGEBENCH_REVISION name."""
    where = where or os.environ.get("CONVERGEBENCH_DATASET") or "convergebench/convergebench"
    folder = Path(where)
    if folder.is_dir():
        return Store(Here(folder))
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", where) or where.startswith((".", "/")):
        raise Unknown(f"no dataset {where!r}; give a folder that exists here or a Hub repo as NAMESPACE/NAME")
    return Store(Hub(where, revision or os.environ.get("CONVERGEBENCH_REVISION")))


class Store:
    """One dataset, ready to be asked."""

    def __init__(self, files: Here | Hub):
        self.files = files
        self.folder = files.folder
        self.steps = Steps(files)
        rows = load.rows(self.folder, "chains")
        if not rows:
            raise Unknown(f"{self.folder} is no dataset: there is no data/chains; `convergebench build` makes one")
        self.chains: dict[str, Row] = {row["chain"]: row for row in rows}
        self.sources: dict[str, Row] = {row["source"]: row for row in load.rows(self.folder, "sources")}
        self.floors = load.rows(self.folder, "floors")
        self.zeros = Zeros(self.floors, rows)
        self.excluded = self.zeros.excluded(rows)
        self.table = scores(self.folder)
        self.places = places(self.table)
        self.scores_of = lru_cache(maxsize=256)(self._scores_of)
        self.kept: Row = {}  # what was worked out once and does not change

    @cached_property
    def cases(self) -> list[Case]:
        """Every chain as the statistics see it, made editor by editor to keep few rows in memory."""
        by_editor: dict[str, list[Row]] = defaultdict(list)
        for row in self.chains.values():
            by_editor[row["editor"]].append(row)
        needed = self.table.select([name for name in self.table.column_names if name not in ASIDE])
        found = []
        for rows in by_editor.values():
            limits = [self.places.get(row["chain"], (0, 0)) for row in rows]
            picked = [score for start, end in limits for score in needed.slice(start, end - start).to_pylist()]
            calls = [self.calls[row["chain"]] for row in rows if row["chain"] in self.calls]
            found += follow(picked, rows, self.zeros, calls)[0]
        return found

    @cached_property
    def calls(self) -> spent.Calls:
        """What a call of each chain took and cost; on the Hub and in very large folders only what it cost."""
        if isinstance(self.files, Here) and self.table.num_rows <= MANY:
            return spent.of_steps(self.steps, self.files.files("steps"))
        return spent.of_chains(self.chains.values())

    def chain(self, chain: str) -> Row:
        """A chain by its id, or one sentence that says there is none."""
        if chain not in self.chains:
            raise Unknown(f"no chain {str(chain)[:40]!r} in this dataset; `chains` lists those there are")
        return self.chains[chain]

    def rows_of(self, chain: str) -> list[Row]:
        start, end = self.places.get(chain, (0, 0))
        return self.table.slice(start, end - start).to_pylist()

    def _scores_of(self, chain: str) -> dict[int, Row]:
        return {row["step"]: row for row in self.rows_of(chain)}

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """The values of everything a chain can be chosen by."""
        keys = ("editor", "source", "program", "kind", "category")
        return {key: list(dict.fromkeys(row[key] for row in self.chains.values())) for key in keys}

    @cached_property
    def by_choice(self) -> dict[tuple[str, str, str], list[str]]:
        """Chain ids by editor, source and program; several where there are several runs."""
        found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for row in sorted(self.chains.values(), key=lambda row: row["run"]):
            found[row["editor"], row["source"], row["program"]].append(row["chain"])
        return dict(found)


def scores(folder: Path) -> pa.Table:
    """All scores, in the order of their chains."""
    tables = [pq.ParquetFile(path, read_dictionary=REPEATED).read() for path in load.files(folder, "scores")]
    if not tables:
        raise Unknown(f"{folder} has no scores yet; `convergebench score {folder}` adds them")
    whole = pa.concat_tables(tables, promote_options="default").unify_dictionaries().combine_chunks()
    codes = whole["chain"].combine_chunks().indices.to_numpy(zero_copy_only=False)
    order = np.lexsort((whole["step"].to_numpy(), codes))
    return whole if (np.diff(order) == 1).all() else whole.take(pa.array(order)).combine_chunks()


def places(table: pa.Table) -> dict[str, tuple[int, int]]:
    """Where each chain's rows begin and end."""
    column = table["chain"].combine_chunks()
    codes, names = column.indices.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    if not len(codes):
        return {}
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    ends = np.r_[starts[1:], len(codes)]
    return {names[codes[start]]: (int(start), int(end)) for start, end in zip(starts, ends, strict=True)}


def instructions(chain: Row) -> Sequence[str]:
    """What is asked in one round."""
    return json.loads(chain["cycle"] or "[]")
