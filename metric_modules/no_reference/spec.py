"""The specs of the no-reference metrics that other libraries compute."""

from .ranges import TABLE

_NEEDS = {
    "pyiqa": "pip install 'convergebench[no-reference]', which brings torchvision, and weights that pyiqa fetches",
    "transformers": "weights, which the first call fetches from the Hub",
}
SPECS = [
    {
        "name": row.column,
        "title": row.name,
        "kind": "picture",
        "study": "replication",
        "order": 95,
        "optional": True,
        "needs": _NEEDS[row.computed_by],
        "columns": [
            {
                "name": row.column,
                "title": row.name,
                "meaning": f"quality without a reference by {row.name}: typically {row.low:g} to {row.high:g}, "
                f"{'higher' if row.higher_is_better else 'lower'} is better",
                "direction": "higher" if row.higher_is_better else "lower",
                "show": "number",
            },
        ],
        "reasons": {
            "network_failed": ["nobody", "the network gave no number: {}"],
            "no_score_in_answer": ["nobody", "the model's answer holds no score: {}"],
        },
    }
    for row in TABLE
    if row.computed_by != "here"
]
