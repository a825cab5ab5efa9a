"""Published tables: what counts as one picture."""

import pytest
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.studies.published.statistics import published


def analysis(pictures, image=True):
    """A table of two editors with 24 cases."""
    rows = [
        {"table": "t.csv", "editor": editor, "case": f"case {number}", "run": 1, "round": round, "chain": None,
         "category": None, "image": f"picture {number % pictures}" if image else None,
         "ssim": 0.5 + 0.1 * place + 0.001 * (number % pictures) - 0.01 * round}
        for number in range(24) for place, editor in enumerate("ab") for round in (1, 2, 10)
    ]  # fmt: skip
    return Analysis([], [], tables={"published": rows})


def test_cases_of_one_picture_count_as_one_picture():
    first, second = published.rows(analysis(6))
    assert (first.sources, first.cases, first.last_round) == (6, 24, 10)
    assert second.first.value - first.first.value == pytest.approx(0.1)
    assert first.first.low < first.first.value < first.first.high


def test_unknown_pictures_have_no_limits():
    unnamed = analysis(24, image=False)
    rows = published.rows(unnamed)
    assert all(row.first.low is None and row.sources is None for row in rows)
    assert "not known for t.csv" in published.note(unnamed, rows)
