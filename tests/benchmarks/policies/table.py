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


def lines(dataset: Path, report: Path) -> list[str]:
    errors, tables = last_errors(dataset), json.loads((report / "tables.json").read_text())
    found = []
    for row in tables["policies"]["rows"]:
        if row["by"] != "all tests":
            continue
        low, high = row["gained_low"], row["gained_high"]
        editor, policy = row["editor"], row["policy"]
        cells = [
            NAMES.get(editor, f"`{editor}`"),
            f"`{policy}`",
            f"{row['alone']:.2f}",
            f"{row['gained']:+.2f} [{low:+.2f}, {high:+.2f}]",
            f"{row['p_value']:.3f}" if row["p_value"] is not None else "",
            f"{errors[editor, '']:.1f} to {errors[editor, policy]:.1f}",
            "" if row["seam"] is None else f"{row['seam']:.3f}",
            str(row["cases"]),
        ]
        found.append(f"| {' | '.join(cells)} |")
    return found


def main(pairs: list[str]) -> None:
    print("| editor | policy | rounds alone, of 4 | rounds gained | p | RMSE after 4 rounds | seam | tests |")
    print("|---|---|--:|---|--:|---|--:|--:|")
    for pair in pairs:
        print("\n".join(lines(*map(Path, pair.split("=")))))


if __name__ == "__main__":
    main(sys.argv[1:])
