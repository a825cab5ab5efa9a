"""A file on the Hub as pyarrow wants one, read in the few large requests that we choose.

Left to itself pyarrow reads ahead on threads that call Python, and such a thread can outlive the interpreter.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from huggingface_hub import HfFileSystem


class Window(io.RawIOBase):
    """The file's size is known, one range of its bytes is held, and what lies outside is fetched as it is asked for."""

    def __init__(self, system: "HfFileSystem", path: str):
        super().__init__()
        self.source = system.open(path, "rb", cache_type="none")
        self.start, self.held, self.place = 0, b"", 0

    def fetch(self, start: int, end: int) -> None:
        """Hold these bytes, in one request."""
        self.source.seek(start)
        self.start, self.held = start, self.source.read(end - start)

    def read(self, size: int = -1) -> bytes:
        end = self.source.size if size < 0 else min(self.place + size, self.source.size)
        if not self.start <= self.place <= end <= self.start + len(self.held):
            self.fetch(self.place, end)
        found = self.held[self.place - self.start : end - self.start]
        self.place = end
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.source.size}[whence]
        self.place = base + offset
        return self.place

    def tell(self) -> int:
        return self.place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def extent(footer: "pq.FileMetaData", group: int, columns: Sequence[str] | None) -> tuple[int, int]:
    """Where some columns of a row group begin and end in the file; they lie side by side."""
    about = footer.row_group(group)
    chunks = [about.column(number) for number in range(about.num_columns)]
    wanted = [chunk for chunk in chunks if columns is None or chunk.path_in_schema.split(".")[0] in columns]
    starts = [min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset) for chunk in wanted]
    ends = [start + chunk.total_compressed_size for start, chunk in zip(starts, wanted, strict=True)]
    return min(starts), max(ends)
