"""The Labels tab in Chromium, used with the keyboard alone."""

import json

import pytest
import small_dataset
from chromium import needs_chromium
from space_server import serving

pytestmark = needs_chromium


def begin(visit, rater, question=""):
    page = visit(f"?tab=labels{question}", trouble_is_expected=True)  # one editor's file is damaged
    name_rater(page, rater)
    return page


def name_rater(page, rater):
    """Type the rater's name, with the keyboard alone."""
    page.wait_for_selector("#cb-label-stage button")
    for _ in range(40):
        if page.evaluate("document.activeElement.id") == "cb-rater":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(rater)
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id !== 'cb-rater'")


PLACE = "(document.querySelector('.cb-label-asked')?.textContent.split('.')[0] ?? 'done')"


def press(page, keys):
    """Press the keys in order, waiting for the next item after each."""
    for key in keys:
        before = page.evaluate(PLACE)
        page.keyboard.press(key)
        page.wait_for_function(f"before => {PLACE} !== before", arg=before)


def save(page, path):
    with page.expect_download() as waiting:
        page.keyboard.press("s")
    waiting.value.save_as(path)
    return json.loads(path.read_text())["labels"]


def test_labels_are_given_by_keys_and_saved(visit, tmp_path):
    page = begin(visit, "anna", "&question=rating")
    press(page, "543210543")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    press(page, "1")  # the rater changes the eighth answer
    labels = save(page, tmp_path / "anna.json")
    assert [label["answer"] for label in labels] == list("543210513")
    assert all(label["rater"] == "anna" and label["sha256"] and label["seconds"] >= 0 for label in labels)


@pytest.mark.slow
def test_answers_outlive_a_reload_and_are_not_sent_away(visit):
    page = begin(visit, "agent 007")
    assert "0 of " in page.text_content("#cb-label-counts")  # digits of a name are no answers
    asked = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    press(page, "0123")
    assert not any("agent" in data for data in asked)
    page.reload()
    page.wait_for_selector("#cb-label-stage button")
    assert page.text_content(".cb-label-asked").startswith("5 of ")
    assert "4 of " in page.text_content("#cb-label-counts")
    for name in ("pair", "applied"):
        other = begin(visit, "dora", f"&question={name}")
        press(other, "1")
        assert "1 of " in other.text_content("#cb-label-counts")


@pytest.mark.slow
def test_counts_are_typed_and_given_with_enter(tmp_path, browser):
    folder = small_dataset.let_only_add(small_dataset.write(tmp_path / "convergebench"))
    with serving(folder, tmp_path / "cache") as server:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.address}/?tab=labels&question=count")
        name_rater(page, "anna")
        assert "To count: lamp." in page.text_content(".cb-label-asked")
        for number in ("7", "12", "0"):
            page.keyboard.type(number)
            press(page, ["Enter"])
        press(page, "u")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert page.input_value("#cb-label-number") == "0"
        page.keyboard.press("Backspace")
        page.keyboard.type("3")
        press(page, ["Enter"])
        labels = save(page, tmp_path / "counts.json")
        assert [label["answer"] for label in labels] == ["7", "12", "3", "unclear"]
