"""What is installed beside the package itself, and the line that installs the rest."""

import importlib.util

from .vendors.keys import missing


def absent(extra: str, *packages: str) -> str | None:
    """None where every package is there, else the sentence with the install line."""
    lacking = [name for name in packages if not installed(name)]
    return f"{', '.join(lacking)} is not installed: pip install 'convergebench[{extra}]'" if lacking else None


def installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package around it is not there either
        return False


def lacks(extra: str, packages: tuple[str, ...], *keys: str) -> str | None:
    """What keeps a vendor's editor from working here, in one sentence; None when nothing does."""
    reasons = [absent(extra, *packages), missing(*keys) if keys else None]
    return "; ".join(filter(None, reasons)) or None
