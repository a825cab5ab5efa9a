"""LPIPS beside the package `lpips`, in a process of its own: random networks, and the real weights.

The package asks for torchvision, whose wheel would bring its own torch. Only its Python files are used here: fetched
into a temporary folder, and imported after the two operators they mention are declared.
"""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from convergebench.metric_modules.lpips import measure, weights
from test_lpips import random_pictures, random_tensors

TORCHVISION = "torchvision==0.28.0"

THEIRS = """
import json, sys
import numpy as np, torch
operators = torch.library.Library("torchvision", "DEF")
operators.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import lpips
from safetensors.torch import load_file

first, second = (torch.from_numpy(p.astype("float32") / 127.5 - 1).permute(2, 0, 1)[None] for p in np.load(sys.argv[1]))
found = {}
for net in ("alex", "vgg"):
    for weights in sys.argv[2:]:
        tensors = load_file(f"{weights}/lpips_{net}.safetensors")
        theirs = lpips.LPIPS(net=net, pnet_rand=True, verbose=False)
        trunk = [key for key in theirs.state_dict() if key.startswith("net.")]
        state = {key: tensors["features." + key.split(".", 2)[2]] for key in trunk}
        for stage in range(5):
            head = tensors[f"heads.{stage}"].view(1, -1, 1, 1)
            state[f"lin{stage}.model.1.weight"] = state[f"lins.{stage}.model.1.weight"] = head
        theirs.load_state_dict(state, strict=False)
        with torch.inference_mode():
            found[f"{net} {weights}"] = theirs(first, second).item()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def torchvision(tmp_path_factory):
    """The Python files of torchvision, where `lpips` can import them."""
    folder = tmp_path_factory.mktemp("torchvision")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", TORCHVISION]
    done = subprocess.run([*command, "--dest", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{TORCHVISION} does not come through pip")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def real():
    """The folder of the real weights, fetched where they are not there yet."""
    try:
        weights.fetch()
    except ConnectionError as error:
        pytest.skip(str(error))
    return weights.path("alex").parent


@pytest.mark.weights
def test_networks_agree_with_the_package(torchvision, real, tmp_path):
    from safetensors.torch import save_file

    first = random_pictures(1, 96, 128)[0]
    second = np.roll(first, 1, axis=0)
    np.save(tmp_path / "pair.npy", np.stack([first, second]))
    for net in measure.NETS:
        save_file(random_tensors(net), tmp_path / f"lpips_{net}.safetensors")
    command = [sys.executable, "-W", "ignore", "-c", THEIRS, str(tmp_path / "pair.npy"), str(tmp_path), str(real)]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(torchvision), "PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(done.stdout)
    for net in measure.NETS:
        for folder, (tensors, digest), near in (
            (tmp_path, (random_tensors(net), "random"), 1e-5),
            (real, weights.load(net), 1e-4),
        ):
            known = measure.model(net, tensors, "cpu", "float32", digest)
            [ours] = measure.compare(measure.features(known, [first]), measure.features(known, [second]))
            assert ours["lpips"] == pytest.approx(theirs[f"{net} {folder}"], abs=near)
            assert ours["lpips"] > 0.01
            print(net, digest[:12], ours["lpips"], ours["lpips"] - theirs[f"{net} {folder}"])
