"""The template of IL-NIQE: what its authors found in ninety undamaged photographs, fetched into the user's cache.

It is on no package index: it comes from the Hub, or from a file that the user has. Its digest is in every signature.
"""

import hashlib
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from convergebench.generation import packages

from .._shared.published import Say, write_whole

_FILE = "ILNIQE_templateModel.mat"
_REPOSITORY = "chaofengc/IQA-PyTorch-Weights"  # of the Hub: the authors' file as pyiqa publishes it
_FEATURES, _KEPT = 468, 430


class Template(NamedTuple):
    """Mean and covariance of undamaged patches, in the components to which features are brought."""

    mean: np.ndarray
    covariance: np.ndarray
    mean_of_data: np.ndarray
    components: np.ndarray
    digest: str


def path() -> Path:
    """The template's path in the cache."""
    return packages.cache_folder() / "parameters" / _FILE


def load() -> Template:
    """The template from the cache; FileNotFoundError says how to get it."""
    cached = path()
    if not cached.is_file():
        raise FileNotFoundError(
            "the template of ILNIQE is not here; run `convergebench weights ilniqe`, "
            "or call the module's `fetch_weights()` where that command is not installed"
        )
    return read(cached.read_bytes(), str(cached))


def read(data: bytes, where: str) -> Template:
    """The template in a file of MATLAB: a cell of its four parts."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        cells = np.ravel(loadmat(io.BytesIO(data))["templateModel"])
        mean, covariance, mean_of_data, components = (np.asarray(cell, np.float64) for cell in cells)
    except (KeyError, ValueError, TypeError, NotImplementedError, MatReadError) as error:
        raise ValueError(f"{where} is not a template of ILNIQE: {str(error)[:80]}") from error
    shapes = mean.size, covariance.shape, mean_of_data.size, components.shape
    if shapes != (_KEPT, (_KEPT, _KEPT), _FEATURES, (_FEATURES, _KEPT)):
        raise ValueError(f"{where} is not a template of ILNIQE: its parts have {shapes}")
    digest = hashlib.sha256(data).hexdigest()[:12]
    return Template(mean.ravel(), covariance, mean_of_data.ravel(), components, digest)


def fetch(say: Say = print, file: Path | None = None) -> None:
    """Bring the template into the cache: from a file, or from the Hub unless it is there."""
    cached = path()
    if file is None and cached.is_file():
        load()
        say(f"ilniqe: already in {cached}")
        return
    data = file.read_bytes() if file else _from_hub(say)
    read(data, str(file or _REPOSITORY))
    write_whole(cached, data)
    say(f"ilniqe: from {file or _REPOSITORY}, now in {cached}")


def _from_hub(say: Say) -> bytes:
    """The file as the Hub has it."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    say(f"fetching {_FILE} from {_REPOSITORY} on the Hub")
    try:
        return Path(hf_hub_download(_REPOSITORY, _FILE)).read_bytes()
    except (OSError, HfHubHTTPError) as error:
        reason = str(error).splitlines()[0][:120]
        raise ConnectionError(
            f"{_FILE} did not arrive from the Hub ({reason}); where you have it, give it as --file {_FILE}"
        ) from error
