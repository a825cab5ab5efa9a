"""Published tables: what counts as one picture, and what two editors are compared at."""

from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.studies.published.curves import published_metrics
from convergebench.spaces_app.studies.published.statistics import published, published_pairs


def published_analysis(pictures, editors=("a", "b"), rounds=(1, 2), image=True):
    """A table of two editors: the first is better by 1 in round 1 and worse by 1 in the last."""
    rows = []
    for number in range(24):
        for place, editor in enumerate(editors):
            for round in rounds:
                better = (1 - place) if round == rounds[0] else place
                rows.append(
                    {
                        "table": "t.csv",
                        "editor": editor,
                        "case": f"case {number}",
                        "run": 1,
                        "round": round,
                        "chain": None,
                        "category": None,
                        "image": f"picture {number % pictures}" if image else None,
                        "ssim": 0.5 + 0.1 * better + 0.001 * (number % pictures) * place,
                    }
                )
    return Analysis([], [], tables={"published": rows})


def test_cases_of_one_picture_count_as_one_picture():
    analysis = published_analysis(6)
    assert {row.sources for row in published_pairs.rows(analysis)} == {6}
    assert {row.verdict for row in published_pairs.rows(analysis)} == {"indicative"}
    assert {row.sources for row in published.rows(analysis)} == {6}


def test_unknown_pictures_have_no_limits_and_no_verdicts():
    analysis = published_analysis(24, image=False)
    for row in published_pairs.rows(analysis):
        assert (row.verdict, row.sources, row.p_value, row.difference.low) == (
            "pictures unknown",
            None,
            None,
            None,
        )
    assert all(row.first.low is None and row.sources is None for row in published.rows(analysis))
    assert "not known for t.csv" in published.note(analysis, published.rows(analysis))


def test_the_last_round_is_compared_beside_the_mean():
    analysis = published_analysis(24, rounds=(1, 2, 10))
    mean, last = published_pairs.rows(analysis)
    assert (mean.over, last.over) == ("mean of all rounds", "round 10")
    assert last.difference.value < -0.09 < mean.difference.value
    assert last.verdict == "b"


def test_limits_of_a_difference_are_within_its_range():
    rows = published_analysis(2)
    for metric in rows.once(published_metrics):
        for editor, cases in metric.editors.items():
            for number, values in enumerate(cases.values()):
                for round in values:
                    values[round] = 1.0 if (number % 2 == 0) == (editor == "a") else -1.0
    for row in published_pairs.rows(rows):
        assert -2 <= row.difference.low <= row.difference.high <= 2
