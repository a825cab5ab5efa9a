"""One chain as the Space shows it, and the addresses that open it."""

import pytest
import small_dataset
from convergebench.generation.records import UserError
from convergebench.spaces_app.space import chains_tab
from convergebench.spaces_app.space.errors import NoPicture
from convergebench.spaces_app.space.previews import Previews
from convergebench.spaces_app.space.served_dataset import open_dataset
from small_dataset import chain_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(str(folder))


def test_a_chain_is_told_in_full(dataset):
    view = chains_tab.chain_view(dataset, chain_of(dataset, "fading"))
    step = view["steps"][3]
    assert (step["instruction"], step["seed"], step["cost"], step["text"]) == ("add a hat", 1003, 0.04, "I did it.")
    assert step["reasons"] == {"clip": "there are no weights here"}
    assert view["lost_at"] == view["kept"] + 1
    assert list(view["curves"]) == ["rmse", "ssim", "lpips"]


def test_worst_and_longest_are_what_they_say(dataset):
    assert dataset.chains[chains_tab.pick(dataset, "worst")].editor == "fading"
    assert dataset.chains[chains_tab.pick(dataset, "longest")].editor == "steady"
    with pytest.raises(UserError, match="surprise, worst, longest"):
        chains_tab.pick(dataset, "best")


def test_an_address_is_read_with_suspicion(dataset):
    chain, other = chain_of(dataset, "fading"), chain_of(dataset, "steady")
    asked = chains_tab.Address(
        dataset, {"chain": chain, "beside": other, "step": "3", "view": "difference", "gain": "16"}
    )
    assert (asked.chain, asked.beside, asked.step, asked.mode, asked.gain) == (chain, "steady", 3, "difference", "16")
    bad = {
        "chain": "../../etc/passwd",
        "beside": "<x>",
        "step": "-1",
        "view": "x' onload='y",
        "gain": "9e9",
        "editor": "?",
    }
    asked = chains_tab.Address(dataset, bad)
    assert (asked.chain, asked.beside, asked.step, asked.mode, asked.gain) == (None, "none", None, "", "")


def test_a_refusal_is_told_in_its_own_words(tmp_path):
    made = open_dataset(
        str(small_dataset.write(tmp_path / "no", answer=lambda editor, step: b"" if step == 4 else None))
    )
    shown = Previews(made, tmp_path / "previews")
    chain = chain_of(made, "steady")
    with pytest.raises(NoPicture, match="not allowed to edit this"):
        shown.path(chain, 4)
    view = chains_tab.chain_view(made, chain)
    assert (view["cause"], view["lost_at"], view["steps"][-1]["status"]) == ("refused", 2, "refused")
