"""Our code beside pyiqa's own, in the environment that may have torchvision.

.venv-peers/bin/python tests/benchmarks/peers/beside_pyiqa.py [METRIC ...]

Every metric that the folder `no_reference` takes from pyiqa, its weights drawn at random: through
`pyiqa.create_metric` into our scorer, one by one and together, a picture of 24 pixels and a grey one. A metric that
gives no number is named with its reason, and the others go on. Exits with status 1 if anything differs.

Whatever would be downloaded is made up, and everything else is as it is. torchvision from the package index is built
for CUDA; beside torch for the processor it loads when the two operators that it lacks are declared.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import scipy.io
import torch

HOUSE = Path(__file__).parents[3]
sys.path.insert(0, str(HOUSE / "tests"))
package = ModuleType("convergebench")  # it is not installed beside pyiqa
package.__path__ = [str(HOUSE)]
sys.modules["convergebench"] = package

MODULES = {"hyperiqa": "hypernet", "topiq_nr": "topiq", "wadiqam_nr": "wadiqam", "pi": "nrqm", "ilniqe": "niqe"}


def declare_operators() -> torch.library.Library:
    """What torchvision wants to find, and the one operator that a metric calls; the library has to be kept."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    with contextlib.suppress(RuntimeError):
        arguments = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
        library.define(f"roi_pool({arguments}) -> (Tensor, Tensor)")
        library.impl("roi_pool", roi_pool, "CPU")
    import torchvision.extension

    torchvision.extension._has_ops = lambda: True
    return library


def roi_pool(
    features: torch.Tensor, regions: torch.Tensor, scale: float, height: int, width: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest value of each cell of each region, as torchvision's compiled operator computes it."""
    pooled = features.new_zeros(len(regions), features.shape[1], height, width)
    for number, (picture, *edges) in enumerate(regions.tolist()):
        left, top, right, bottom = (int(edge * scale + 0.5) for edge in edges)
        tall, wide = max(bottom - top + 1, 1) / height, max(right - left + 1, 1) / width
        for row in range(height):
            for column in range(width):
                rows = slice(top + int(row * tall), top - int(-(row + 1) * tall // 1))
                columns = slice(left + int(column * wide), left - int(-(column + 1) * wide // 1))
                cell = features[int(picture), :, rows, columns].flatten(1)
                if cell.shape[1]:
                    pooled[number, :, row, column] = cell.amax(1)
    return pooled, torch.zeros_like(pooled, dtype=torch.int32)


def parameters() -> dict[str, Any]:
    """What the files of MATLAB would hold, made up: NRQM's forests of three nodes a tree, NIQE's and ILNIQE's model."""
    drawn = np.random.default_rng(int(torch.randint(1 << 30, ())))
    fields = [(name, object) for name in ("left", "right", "b", "c", "threshold", "answer", "feature")]
    forests = np.empty((1, 3), object)
    leaves, first = np.zeros((3, 60), np.int64), np.array([[1], [0], [0]])
    for number in range(3):
        forest = np.empty((1, 1), fields)
        forest[0, 0] = (
            leaves + 2 * first, leaves + 3 * first, leaves, leaves,
            np.exp(drawn.uniform(-3, 4, (3, 60))), drawn.uniform(2, 9, (3, 60)), drawn.integers(1, 10, (3, 60)),
        )  # fmt: skip
        forests[0, number] = forest
    model = np.empty((1, 1), [("linear", object), ("rf", object)])
    model[0, 0] = np.array([[0.1], [0.3], [0.3], [0.3]]), forests
    size, kept = 468, 430  # of ILNIQE's features, and of their components
    template = np.empty((1, 4), object)
    template[0, 0] = np.cos(np.arange(kept))[None] * float(torch.rand(1))
    template[0, 1] = np.diag(np.linspace(1, 3, kept))
    template[0, 2] = np.sin(np.arange(size))[None]
    template[0, 3] = np.cos(np.pi * (np.arange(size)[:, None] + 0.5) * np.arange(kept) / size) * np.sqrt(2 / size)
    pristine = {"mu_prisparam": np.linspace(0, 2, 36)[None], "cov_prisparam": np.diag(np.linspace(1, 3, 36))}
    return {"model": model, "templateModel": template, **pristine}


def random_clip(name: str, device: str = "cpu", **options: Any) -> Any:
    """A CLIP model of the size that the name tells."""
    from pyiqa.archs.clip_model import CLIP

    if name.startswith("RN"):
        return CLIP(1024, 224, (3, 4, 6, 3), 64, None, 77, 49408, 512, 8, 12).eval()
    return CLIP(512, 224, 12, 768, 32, 77, 49408, 512, 8, 12).eval()


def small_language_model(module: Any) -> list[Any]:
    """Q-Align at its own interface with two small layers in the place of seven billion weights."""
    from transformers import CLIPImageProcessor

    inside = importlib.import_module("pyiqa.archs.q_align.modeling_mplug_owl2")
    eye = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = inside.MplugOwlVisionConfig(**eye, image_size=448, patch_size=56)
    sizes = {"encoder_hidden_size": 32, "num_learnable_queries": 4, "grid_size": 8}
    abstractor = inside.MplugOwlVisualAbstractorConfig(**eye, **sizes)
    visual = {"visual_model": model.to_dict(), "visual_abstractor": abstractor.to_dict()}

    def words(text: Any) -> Any:
        if isinstance(text, str):
            return SimpleNamespace(input_ids=[3 + sum(map(ord, word)) % 250 for word in text.split()])
        return {"input_ids": [words(one).input_ids for one in text]}

    words.bos_token_id = 1  # type: ignore[attr-defined]

    def made(*given: Any, **more: Any) -> Any:
        config = inside.MPLUGOwl2Config(visual_config=visual, vocab_size=256, **eye)
        config._attn_implementation = "eager"
        network = inside.MPLUGOwl2LlamaForCausalLM(config)
        with torch.no_grad():
            for tensor in network.parameters():
                tensor.normal_(0, 0.4)
        return network.half().eval()

    owl = inside.MplugOwlVisualAbstractorModel
    if not hasattr(owl, "invert_attention_mask"):  # gone from transformers 5.23; pyiqa 0.1.16 asks for it
        owl.invert_attention_mask = lambda self, mask: (1 - mask[:, None, None].to(self.dtype)) * -65504
    eyes = CLIPImageProcessor(size={"shortest_edge": 448}, crop_size={"height": 448, "width": 448})
    return [
        mock.patch.object(module.MPLUGOwl2LlamaForCausalLM, "from_pretrained", made),
        mock.patch.object(inside.LlamaTokenizer, "from_pretrained", return_value=words),
        mock.patch.object(CLIPImageProcessor, "from_pretrained", return_value=eyes),
    ]


@contextlib.contextmanager
def nothing_downloaded(name: str) -> Iterator[None]:
    """While a metric is made: no weights are fetched or loaded, all stay as they were drawn."""
    import packaging.version
    import timm
    import torchvision.models._api

    # openai-clip imports this of setuptools, which newer ones no longer have.
    sys.modules.setdefault("pkg_resources", SimpleNamespace(packaging=packaging))  # type: ignore[arg-type]
    module = importlib.import_module(f"pyiqa.archs.{MODULES.get(name, name)}_arch")
    create = timm.create_model

    def create_undrawn(*given: Any, **more: Any) -> Any:
        return create(*given, **{**more, "pretrained": False})

    prompts = torch.nn.functional.normalize(torch.randn(14, 1024), dim=-1)
    loaded = {"liqe": torch.randn(495, 512), "qualiclip": {"prompts_features": prompts}}
    patches = [
        mock.patch.object(timm, "create_model", create_undrawn),
        mock.patch.object(torch.hub, "load_state_dict_from_url", return_value={}),
        mock.patch.object(torchvision.models._api, "load_state_dict_from_url", return_value={}),
        mock.patch.object(torch.nn.Module, "load_state_dict", return_value=None),
        mock.patch.object(torch.jit, "load", return_value=torch.nn.Linear(4096, 1)),
        mock.patch.object(torch, "save", return_value=None),
        mock.patch.object(torch, "load", return_value=loaded.get(name)),
        mock.patch.object(scipy.io, "loadmat", return_value=parameters()),
    ]
    made_up = {name: lambda *given, **more: "" for name in ("load_pretrained_network", "load_file_from_url")}
    made_up["load"] = random_clip
    for place in {module, importlib.import_module("pyiqa.archs.niqe_arch")}:
        patches += [mock.patch.object(place, key, value) for key, value in made_up.items() if hasattr(place, key)]
    if name == "qalign":
        patches += small_language_model(module)
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


OPERATORS = declare_operators()

import pyiqa  # noqa: E402
from convergebench.metric_modules.no_reference import measure  # noqa: E402
from convergebench.metric_modules.no_reference.ranges import COLUMNS  # noqa: E402
from skimage import data  # noqa: E402

CREATE = measure._create
CLOSE = 1e-4  # relative
CROPS = 2  # of a picture, not the 20 and 50 that MANIQA and TReS take: a minute of processor otherwise
SIDE = 232  # pixels, a little more than the networks' windows


def try_metric(column: str) -> bool:
    """Whether a metric of pyiqa runs through our scorer, the same in a batch, and its signature knows its weights."""
    row = COLUMNS[column]
    digests = set()
    for seed in (1, 0):
        torch.manual_seed(seed)
        with nothing_downloaded(row.library_name):
            model = CREATE(row.library_name, "cpu")
        measure._create = lambda name, device, model=model: model
        scorer = measure.Scorer("cpu", "float32", {}, metric=column)
        digests.add(scorer.signature["weights"])
    if hasattr(model.net, "test_sample"):
        model.net.test_sample = CROPS
    pictures = [np.ascontiguousarray(getattr(data, name)()[:SIDE, :SIDE]) for name in ("astronaut", "coffee")]
    alone = [values[column] for values in scorer.compare(None, pictures, [{}] * 2)]
    again = scorer.compare(None, pictures[:1], [{}])[0][column]  # after the other
    takes_one = row.library_name in measure.TAKE_ONE
    batch = alone if takes_one else scorer.scores(pictures)
    name = f"{column:12} {type(model.net).__name__:10}"
    if missing := [score for score in (*alone, again, *batch) if not isinstance(score, float)]:
        print(f"{name} NOT COMPARED: {missing[0][1]}", flush=True)
        return False
    gap = max(abs(one - other) for one, other in zip(alone, batch, strict=True))
    right = alone[0] == again and all(map(np.isfinite, alone)) and gap <= CLOSE * max(1.0, *map(abs, alone))
    right &= model.lower_better is not row.higher_is_better and len(digests) == 2
    together = "one picture in a call" if takes_one else f"together within {gap:.0e}"
    odd = {}
    strange = {"24 pixels": pictures[0][:24, :24], "grey": np.full_like(pictures[0], 90)}
    for words, picture in strange.items():
        found = scorer.scores([np.ascontiguousarray(picture)])[0]
        odd[words] = f"{found:+.4f}" if isinstance(found, float) else found[1]
    print(f"{name} {alone[0]:+.6f} {alone[1]:+.6f}, {together}; {odd}; {scorer.signature}"
          f"{'' if right else '  WRONG'}", flush=True)  # fmt: skip
    return right


def main(asked: list[str]) -> int:
    torch.set_num_threads(1)
    print(f"pyiqa {pyiqa.__version__}, torch {torch.__version__}")
    right = True
    for column in asked or [row.column for row in COLUMNS.values() if row.computed_by == "pyiqa"]:
        right &= try_metric(column)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
