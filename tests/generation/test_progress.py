"""Progress where there is no terminal: plain lines in the log."""

from convergebench.generation import progress


def test_only_long_work_writes_plain_lines_into_a_log(capsys, monkeypatch):
    for quiet in (False, True):
        with progress.progress_bar("score", 1, "images", quiet) as advance:
            advance(1, "")
    assert capsys.readouterr().err.strip() == ""
    monkeypatch.setattr(progress, "_LINES_EVERY", 0.0)
    with progress.progress_bar("score", 2, "images") as advance:
        advance(1, "paint")
        advance(1, "paint")
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("score: 1 of 2 images") for line in lines)
    assert "\r" not in "".join(lines)
