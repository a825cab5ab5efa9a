"""The peers of tests/benchmarks/scoring.py, in an environment of their own: each scores one pair at a time.

Reads lines "METHOD PAIRS" and answers each with the seconds per pair; METHODS says what there is and what is left out.
Networks have random weights, which cost the same; nothing is fetched.
"""

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

# What the peers print while they are imported is no answer.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

# torchvision's Python files import without its binary once the operators they mention are declared.
operators = torch.library.Library("torchvision", "DEF")
operators.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

VISION = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16}
LEFT_OUT = {}


def opened(path):
    return np.asarray(Image.open(path).convert("RGB"))


def tensors(pair):
    return [torch.from_numpy(one.copy()).permute(2, 0, 1)[None].float() / 255 for one in pair]


def usual_psnr(pair):
    peak_signal_noise_ratio(*pair)


def usual_ssim(pair):
    window = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    structural_similarity(*pair, channel_axis=2, data_range=255, **window)


def lpips_package():
    import lpips

    network = lpips.LPIPS(net="alex", pnet_rand=True, verbose=False).eval()
    return lambda pair: network(*(one * 2 - 1 for one in tensors(pair)))


def transformers_clip():
    from transformers import CLIPConfig, CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    small = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(vision_config={**VISION, "image_size": 224, "patch_size": 14}, text_config=small)
    model, prepare = CLIPModel(config).eval(), CLIPImageProcessorPil()

    def similarity(pair):
        rows = [model.get_image_features(**prepare(images=one, return_tensors="pt")).pooler_output for one in pair]
        torch.cosine_similarity(*rows)

    return similarity


def pytorch_msssim():
    from pytorch_msssim import ssim

    return lambda pair: ssim(*tensors(pair), data_range=1)


def torchmetrics_psnr():
    from torchmetrics.functional.image import peak_signal_noise_ratio as psnr

    return lambda pair: psnr(*tensors(pair), data_range=1.0)


def torchmetrics_ssim():
    from torchmetrics.functional.image import structural_similarity_index_measure as ssim

    return lambda pair: ssim(*tensors(pair), data_range=1.0)


def torchmetrics_lpips():
    from torchmetrics.functional.image.lpips import _LPIPS

    network = _LPIPS(net="alex", pnet_rand=True).eval()
    return lambda pair: network(*tensors(pair), normalize=True)


def piq_psnr():
    from piq import psnr

    return lambda pair: psnr(*tensors(pair))


def piq_ssim():
    from piq import ssim

    return lambda pair: ssim(*tensors(pair), downsample=False)


def pyiqa_ssim():
    from pyiqa.archs.ssim_arch import SSIM

    network = SSIM(channels=3, downsample=False)
    return lambda pair: network(*tensors(pair))


def pyiqa_lpips():
    from pyiqa.archs import lpips_arch
    from torchvision.models import alexnet

    # It fetches AlexNet whatever it is told.
    lpips_arch.models = SimpleNamespace(alexnet=lambda **weights: alexnet())
    network = lpips_arch.LPIPS(net="alex", pretrained=False, pnet_rand=True).eval()
    return lambda pair: network(*tensors(pair))


def pyiqa_psnr():
    from pyiqa.archs.psnr_arch import PSNR

    network = PSNR()
    return lambda pair: network(*tensors(pair))


USUAL = {
    "psnr": lambda: usual_psnr,
    "ssim": lambda: usual_ssim,
    "lpips": lpips_package,
    "clip": transformers_clip,
}
BEST = {
    "psnr": [torchmetrics_psnr, piq_psnr, pyiqa_psnr],
    "ssim": [pytorch_msssim, torchmetrics_ssim, piq_ssim, pyiqa_ssim],
    "lpips": [torchmetrics_lpips, pyiqa_lpips],  # piq has VGG16 only, which costs fourteen times as much
}


def ready():
    """Every method by its name, and why some are missing."""
    methods = {f"usual {name}": make() for name, make in USUAL.items()}
    for name, makers in BEST.items():
        for make in makers:
            try:
                methods[f"{make.__name__} {name}"] = make()
            except (ImportError, RuntimeError, AttributeError, TypeError, OSError) as error:
                LEFT_OUT[make.__name__] = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    return methods


def main():
    paths = sorted(Path(sys.argv[1]).glob("*.png"))
    methods = ready()
    print(json.dumps({"methods": ["decode", *methods], "left out": LEFT_OUT}), file=ANSWERS, flush=True)
    pairs = [(opened(paths[0]), opened(path)) for path in paths[1:]]
    for line in sys.stdin:
        name, _, count = line.strip().rpartition(" ")
        with torch.inference_mode():
            started = time.perf_counter()
            for number in range(int(count)):
                if name == "decode":
                    opened(paths[0]), opened(paths[1 + number % len(pairs)])
                else:
                    methods[name](pairs[number % len(pairs)])
            print(json.dumps((time.perf_counter() - started) / int(count)), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
