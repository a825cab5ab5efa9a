"""The table of docs/survival.md, from datasets that were scored and reported.

python tests/benchmarks/policies/table.py DATASET=REPORT ...
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

from convergebench.dataset_builder.dataset.reader import Reader

NAMES = {
    "paint:wear=2.0": "`paint:wear=2`: wears the whole picture",
    "vae_like:version=2": "an autoencoder's loss on every answer",
    "identity": "`identity`: changes nothing",
    "oracle": "`oracle`: undoes exactly",
    "migan": "`migan`: fills only the hole of a removal",
}


def last_errors(dataset: Path) -> dict[tuple[str, str], float]:
    """The mean RMSE after the last round, by the editor alone and its policy."""
    policies, errors = {}, defaultdict(list)
    for row in Reader(dataset).rows("chains"):
        policies[row["chain"]] = (row["editor"].removesuffix(f"+{row['policy']}"), row["policy"], row["rounds"])
    returns = defaultdict(dict)
    for row in Reader(dataset).rows("scores"):
        returns[row["chain"]][row["round"], row["position"]] = row["rmse"]
    for chain, rows in returns.items():
        editor, policy, rounds = policies[chain]
        last = max(rows)
        if last[0] == rounds and rows[last] is not None:
            errors[editor, policy].append(rows[last])
    return {key: mean(values) for key, values in errors.items()}


def print_lines(dataset: Path, report: Path) -> None:
    errors, tables = last_errors(dataset), json.loads((report / "tables.json").read_text())
    for row in tables["policies"]["rows"]:
        if row["by"] != "all tests":
            continue
        editor, policy = row["editor"], row["policy"]
        p, seam = ("" if row[name] is None else f"{row[name]:.3f}" for name in ("p_value", "seam"))
        gained = "{gained:+.2f} [{gained_low:+.2f}, {gained_high:+.2f}]".format_map(row)
        rmse = f"{errors[editor, '']:.1f} to {errors[editor, policy]:.1f}"
        cells = [NAMES.get(editor, f"`{editor}`"), f"`{policy}`", f"{row['alone']:.2f}", gained, p, rmse, seam]
        print(f"| {' | '.join(cells)} | {row['cases']} |")


if __name__ == "__main__":
    print("| editor | policy | rounds alone, of 4 | rounds gained | p | RMSE after 4 rounds | seam | tests |")
    print("|---|---|--:|---|--:|---|--:|--:|")
    for pair in sys.argv[1:]:
        print_lines(*map(Path, pair.split("=")))
