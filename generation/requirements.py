"""What an editor needs beyond this package: other packages, a key, weights."""

import functools
import importlib.util
from pathlib import Path
from typing import Self

from .calls import Unusable
from .vendors.keys import missing_key

_HUB_PATIENCE = 4.0  # seconds


def missing(extra: str, modules: tuple[str, ...], *keys: str) -> str | None:
    reasons = [missing_packages(extra, *modules), missing_key(*keys) if keys else None]
    return "; ".join(filter(None, reasons)) or None


def missing_packages(extra: str, *modules: str) -> str | None:
    lacking = [name for name in modules if not is_installed(name)]
    return f"{', '.join(lacking)} is not installed: pip install 'convergebench[{extra}]'" if lacking else None


def require_packages(extra: str, *modules: str) -> None:
    if reason := missing_packages(extra, *modules):
        raise Unusable(reason)


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is not installed either
        return False


class FetchedByFirstCall(str):
    """Weights of a model that are missing, which blocks no run because the first call fetches them."""

    def __new__(cls, model: str) -> Self:
        return super().__new__(cls, f"the weights of {model} are not on this machine yet; the first call fetches them")


def missing_weights(model: str, config: str) -> str | None:
    """None if a model is a local folder or cached, else that the first call fetches it."""
    from huggingface_hub import try_to_load_from_cache

    if Path(model, config).exists() or isinstance(try_to_load_from_cache(model, config), str):
        return None
    return FetchedByFirstCall(model)


@functools.cache
def hub_commit(model: str, config: str, revision: str | None = None) -> str | None:
    """The commit of a Hub model's weights: the cached one, else the newest; None if unknown."""
    import httpx2
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.constants import is_offline_mode
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if Path(model).exists():
        return None
    try:
        cached = try_to_load_from_cache(model, config, revision=revision)
        if isinstance(cached, str):
            return Path(cached).parts[Path(cached).parts.index("snapshots") + 1]
        return None if is_offline_mode() else HfApi().model_info(model, revision=revision, timeout=_HUB_PATIENCE).sha
    except (HfHubHTTPError, HFValidationError, httpx2.HTTPError, OSError):
        return None
