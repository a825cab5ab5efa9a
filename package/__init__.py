"""ConvergeBench measures how long an image editor survives being used again and again.

Every command is a function of this package, with the same words:

    import convergebench as cb

    cb.generate(edit, suite="smoke", out="runs/mine")  # your own function edit(image, instruction, seed)
    cb.build("runs/mine", out="mine")
    cb.score("mine", ["psnr", "ssim"])
    print(cb.report("mine", out="report"))

Importing the package imports nothing heavy; a function loads what it needs when it is called.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convergebench.dataset_builder import build as build
    from convergebench.functions import import_chains as import_chains
    from convergebench.functions import plan as plan
    from convergebench.functions import publish as publish
    from convergebench.functions import space as space
    from convergebench.functions import status as status
    from convergebench.functions import verify as verify
    from convergebench.generation import generate as generate
    from convergebench.metric_modules import score as score
    from convergebench.metric_modules._judges.run import judge as judge
    from convergebench.spaces_app import report as report

    __version__: str

# A function and the module that has it.
_FUNCTIONS = {
    "generate": "generation",
    "build": "dataset_builder",
    "score": "metric_modules",
    "judge": "metric_modules._judges.run",
    "report": "spaces_app",
    **dict.fromkeys(("import_chains", "plan", "publish", "space", "status", "verify"), "functions"),
}
__all__ = sorted(_FUNCTIONS)


def __getattr__(name: str) -> object:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("convergebench")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
