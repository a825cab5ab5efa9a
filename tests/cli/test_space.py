"""`convergebench space`: refuses in one sentence what it cannot serve."""

import shutil
import socket

import pytest
import small_dataset
from verbs import invoke


def refused(*words):
    done = invoke("space", *words)
    assert done.exit_code == 2, done.output
    return done.output


def test_what_is_no_scored_dataset_is_refused(tmp_path):
    assert "give a folder that exists here or a Hub repo" in refused(tmp_path / "nowhere")
    assert "`convergebench build` makes it" in refused(tmp_path)
    made = small_dataset.write(tmp_path / "made")
    shutil.rmtree(made / "data" / "scores")
    assert "`convergebench score" in refused(made)


def test_a_port_that_is_taken_is_named(tmp_path):
    pytest.importorskip("gradio", reason="gradio is not installed: pip install 'convergebench[space]'")
    made = small_dataset.write(tmp_path / "made")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen on port {port}" in refused(made, "--port", port)
