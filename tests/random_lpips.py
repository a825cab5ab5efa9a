"""Networks of LPIPS with random weights, for tests without the real ones."""

import torch
from convergebench.metric_modules.lpips import measure, weights

CHANNELS = {"alex": (64, 192, 384, 256, 256), "vgg": (64, 128, 256, 512, 512)}
KERNELS = {"alex": (11, 5, 3, 3, 3), "vgg": (3,) * 13}


def random_tensors(net, seed=0):
    """A trunk and heads of the right shapes, scaled so that signals neither die nor explode."""
    made, inputs = {}, 3
    generator = torch.Generator().manual_seed(seed)
    outputs = [
        channels for channels, (_, layers) in zip(CHANNELS[net], measure.NETS[net], strict=True) for _ in layers
    ]
    for number, kernel, channels in zip(weights.CONVOLUTIONS[net], KERNELS[net], outputs, strict=True):
        spread = (2 / (inputs * kernel**2)) ** 0.5
        shape = (channels, inputs, kernel, kernel)
        made[f"features.{number}.weight"] = torch.randn(shape, generator=generator) * spread
        made[f"features.{number}.bias"] = torch.randn(channels, generator=generator) * 0.1
        inputs = channels
    for stage, channels in enumerate(CHANNELS[net]):
        made[f"heads.{stage}"] = torch.rand(channels, generator=generator)
    return made


def random_model(net, dtype="float32"):
    return measure.model(net, random_tensors(net), "cpu", dtype, "random")
