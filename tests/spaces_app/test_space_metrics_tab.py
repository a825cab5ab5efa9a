"""The Space's tab on the metrics."""

import numpy as np
import pytest
import small_dataset
from convergebench.spaces_app.space import metrics_tab
from convergebench.spaces_app.space.served_dataset import open_dataset
from small_dataset import chain_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(str(folder))


def test_metrics_agree_where_they_were_made_to(dataset):
    found = metrics_tab.agreement(dataset)
    assert found["metrics"] == ["RMSE", "SSIM", "LPIPS"]
    assert np.allclose(found["correlation"], 1)
    assert found["returns"] == len(dataset.chains) * small_dataset.ROUNDS
    assert found["lowest"]["LPIPS"] == 1  # it falls with the power of one and a half
    curves = metrics_tab.metric_curves(dataset, chain_of(dataset, "fading"))
    assert [row["round"] for row in curves if row["metric"] == "SSIM"] == [1, 2, 3, 4]
