# ruff: noqa: NPY002 - what a training may use, and what must not be disturbed
"""The benchmark in a training loop: every so many steps the editor as it is then, and nothing of the training moves."""

import random
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from convergebench.generation.records import UserError
from convergebench.harness import ConvergenceCallback
from PIL import Image

SMALL = {"metrics": ["psnr", "ssim"], "rounds": 2}


class Logger:
    """What trackio, wandb and others have in common."""

    Image = staticmethod(lambda picture: ("picture", picture.size))

    def __init__(self):
        self.lines = []

    def log(self, values, step=None):
        self.lines.append((step, values))


class Editor:
    """Trained to do less damage: what an edit does to the picture falls with each step."""

    def __init__(self):
        self.damage = 60

    def __call__(self, image, instruction, seed):
        values = np.asarray(image).astype(float) + np.random.normal(0, self.damage, (image.height, image.width, 3))
        return Image.fromarray(values.clip(0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    logger, editor = Logger(), Editor()
    check = ConvergenceCallback(every=2, logger=logger, out=tmp_path_factory.mktemp("training"), **SMALL)
    drawn = []
    for step in range(5):
        editor.damage = [200, 200, 200, 2, 2][step]
        np.random.seed(step)
        random.seed(step)
        torch.manual_seed(step)
        check(step, editor)
        drawn.append((np.random.rand(), random.random(), torch.rand(1).item()))
    return check, logger, drawn


def test_checks_are_logged_with_their_step_and_a_strip(trained):
    check, logger, _ = trained
    assert [step for step, _ in logger.lines] == [step for step, _ in check.history] == [2, 4]
    names = {"rounds_kept", "half_life", "survived", "retained_quality", "strip"}
    assert {f"convergence/{name}" for name in names} <= logger.lines[0][1].keys()
    columns, rows = 4, 4  # the original, the edit and two returns of four cases
    size = (columns * 132 - 4, rows * 148 - 4)
    assert logger.lines[0][1]["convergence/strip"] == ("picture", size)


def test_a_better_editor_keeps_more_rounds(trained):
    (_, before), (_, after) = trained[0].history
    assert before["convergence/retained_quality"] < 0.6 < 0.9 < after["convergence/retained_quality"]
    halves = [values["convergence/half_life"] for values in (before, after)]
    assert halves == [1, 3]  # the last round is the second


def test_checks_do_not_change_the_trainings_random_state(trained):
    for step, (from_numpy, from_python, from_torch) in enumerate(trained[2]):
        np.random.seed(step)
        random.seed(step)
        torch.manual_seed(step)
        assert (np.random.rand(), random.random(), torch.rand(1).item()) == (from_numpy, from_python, from_torch)


def test_any_logger_with_log_will_do_and_others_are_refused(trained, tmp_path):
    from convergebench.harness.training import _log

    lines = []
    _log(SimpleNamespace(log=lines.append), 7, {"convergence/rounds_kept": 1.0})
    assert lines == [{"convergence/rounds_kept": 1.0, "step": 7}]
    with pytest.raises(UserError, match=r"must have a method log\(dict\)"):
        ConvergenceCallback(logger=object())
    with pytest.raises(UserError, match="every must be at least 1"):
        ConvergenceCallback(every=0)
    with pytest.raises(UserError, match="got int"):
        ConvergenceCallback(out=tmp_path).check(1, 3)


class TinyPipeline:
    """As a pipeline of diffusers looks from outside: its call, its components, its result."""

    def __init__(self):
        self.unet = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm2d(3))
        self.unet[1].eval()  # frozen, as many keep it while they train the rest
        self.components = {"unet": self.unet}
        self.seen = []

    def __call__(self, image, prompt, generator=None, output_type="pil"):
        self.seen.append((prompt, self.unet.training, torch.is_grad_enabled(), generator.initial_seed()))
        return SimpleNamespace(images=[image], nsfw_content_detected=None)


def test_a_pipeline_is_checked_in_eval_without_gradients(tmp_path):
    pipeline = TinyPipeline()
    check = ConvergenceCallback(every=1, out=tmp_path, rounds=1, metrics=["psnr"])
    assert check(0, pipeline) is None
    assert check(1, pipeline)["convergence/rounds_kept"] >= 0
    assert {(training, gradients) for _, training, gradients, _ in pipeline.seen} == {(False, False)}
    assert len({seed for *_, seed in pipeline.seen}) == len(pipeline.seen) == 8
    assert [module.training for module in pipeline.unet.modules()] == [True, True, False]
    assert (tmp_path / "step-00000001" / "strip.png").exists()


def test_the_recipe_of_the_page_runs_as_it_stands(tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "training.md"
    [code] = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    logger = Logger()
    logger.init = lambda project: None
    monkeypatch.setitem(sys.modules, "trackio", logger)
    monkeypatch.chdir(tmp_path)
    names = {"batches": range(2), "train_on": lambda batch: 0.0, "pipeline": lambda image, instruction, seed: image}
    exec(compile(code.replace("every=500", "every=1, rounds=1, metrics=['psnr']"), str(page), "exec"), names)  # noqa: S102
    assert [step for step, _ in logger.lines] == [1]
