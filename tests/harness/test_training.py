"""The recipe for a training loop, as its page has it."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


class Pipeline:
    """Trained to do less damage, with torch's own random numbers."""

    damage = 0

    def __call__(self, image, prompt, generator):
        assert not torch.is_grad_enabled()
        values = np.asarray(image) + self.damage * torch.randn(image.height, image.width, 3).numpy()
        return SimpleNamespace(images=[Image.fromarray(values.clip(0, 255).astype(np.uint8))])


def test_the_recipe_logs_a_better_editor_as_better(tmp_path, monkeypatch):
    lines, drawn, pipeline = [], [], Pipeline()

    def train_on(damage):
        pipeline.damage = damage
        drawn.append(torch.rand(1).item())

    trackio = SimpleNamespace(init=lambda project: None, log=lambda values, step: lines.append((step, values)))
    monkeypatch.setitem(sys.modules, "trackio", trackio)
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    code = code.replace("% 500", "% 2").replace("rounds=5", "rounds=2").replace(', "edit_applied"', "")
    torch.manual_seed(0)
    names = {"batches": [200, 200, 2, 2], "train_on": train_on, "pipeline": pipeline}
    exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102
    assert [step for step, _ in lines] == [2, 4]
    names = ("rounds_kept", "survival")
    assert [[values[f"convergence/{name}"] for name in names] for _, values in lines] == [[0, 0], [2, 1]]
    torch.manual_seed(0)
    assert drawn == pytest.approx([torch.rand(1).item() for _ in range(4)])  # the checks drew none of them
