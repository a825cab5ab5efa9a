"""The Space: tabs, views and endpoints over one dataset."""

import os
import re
from pathlib import Path

from convergebench.generation.records import UserError

# Both are read when numpy and pyarrow are loaded, so they come before anything else of the Space.
# Matrix products are small here: a second thread of BLAS only waits, which took a tenth of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The system's allocator frees large blocks once a picture was read; Arrow's own held on to 100 MB of them.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def check_name(where: str) -> None:
    """Raise if it is neither a folder nor like the name of a Hub repo."""
    if not (Path(where).is_dir() or re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", where)):
        raise UserError(f"no dataset {where!r}; give a folder that exists here or a Hub repo as NAMESPACE/NAME")
