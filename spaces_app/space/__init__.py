"""The Space: tabs, views and endpoints over one dataset."""

import re
from pathlib import Path

from convergebench.generation.records import UserError


def check_name(where: str) -> None:
    """Raise if it is neither a folder nor like the name of a Hub repo."""
    if not (Path(where).is_dir() or re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", where)):
        raise UserError(f"no dataset {where!r}; give a folder that exists here or a Hub repo as NAMESPACE/NAME")
