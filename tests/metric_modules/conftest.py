import shutil

import pytest
import scored


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    return scored.built(scored.runs(folder / "run"), folder / "dataset")


@pytest.fixture
def dataset(clean, tmp_path):
    return shutil.copytree(clean, tmp_path / "dataset")
