"""One chain as the Space shows it, and the addresses that open it."""

import json

import pytest
import small_dataset
from convergebench.generation.records import UserError
from convergebench.spaces_app.space import chains_tab
from convergebench.spaces_app.space.errors import NoPicture
from convergebench.spaces_app.space.failures_tab import failures
from convergebench.spaces_app.space.previews import Previews
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.space.story import story_html
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
    assert view["lost_step"] == 2 * view["lost_at"]
    assert view["clause"].startswith("LPIPS ")
    assert view["clause"].endswith("% < 50%")
    assert list(view["curves"]) == ["rmse", "ssim", "lpips"]


def test_worst_and_longest_are_what_they_say(dataset):
    assert dataset.chains[chains_tab.pick(dataset, "worst")].editor == "fading"
    assert dataset.chains[chains_tab.pick(dataset, "longest")].editor == "steady"
    with pytest.raises(UserError, match="surprise, worst, longest"):
        chains_tab.pick(dataset, "best")


def test_the_nearest_chain_is_found_for_what_was_chosen(dataset):
    found = chains_tab.find_chain(dataset, "fading", "market", "nothing of this name")
    assert dataset.chains[found["chain"]].source.id == "market"
    assert found["programs"] == list(small_dataset.PROGRAMS)
    with pytest.raises(UserError, match="no editor"):
        chains_tab.find_chain(dataset, "<script>")


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


def test_the_part_that_was_lost_is_outlined_in_viewer_failures_and_story(tmp_path):
    editors = {"steady": 0.02, "holed": 0.03}
    judge = {"holed": small_dataset.lose_a_part}
    folder = small_dataset.write(
        tmp_path / "convergebench", editors, judge=lambda row, editor, *case: judge.get(editor, dict)(row), roles={}
    )
    dataset = open_dataset(str(folder))
    view = chains_tab.chain_view(dataset, chain_of(dataset, "holed"))
    assert [step["step"] for step in view["steps"] if step["outline"]] == [6, 8]
    assert view["steps"][view["lost_step"]]["outline"] == small_dataset.OUTLINE
    assert view["steps"][view["lost_step"]]["part_lost"]
    [row] = [each for each in failures(dataset)["rows"] if each["chain"] == view["chain"]]
    assert row["outline"] == small_dataset.OUTLINE
    assert story_html(dataset).count(f'data-outline="{json.dumps(small_dataset.OUTLINE)}"') == 1
