"""Writes what paper.tex shows: numbers, tables and figures, all read from files that other commands wrote.

    python paper/numbers.py REPORT COPIES RESTORATION OUT

REPORT is the demo's report, COPIES and RESTORATION those of `make studies`. A number that is missing stops it.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from convergebench.spaces_app.analysis.tables import latex_text

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = ("survival", "curves", "causes")  # of the demo
BY_STEP = ("by-step-replicate-brisque", "by-step-replicate-niqe")


def _tex(text):
    return re.sub(r"(?<!\w)-(?=\d)", "$-$", latex_text(str(text).replace("`", "")))


def _limits(row, name, form=".1f", scale=1):
    value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "--"
    text = f"{value * scale:{form}}"
    return text if low is None else f"{text} [{low * scale:{form}}, {high * scale:{form}}]"


def _tabular(columns, head, rows):
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(map(_tex, head)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_tex, row)) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _markdown(page, marker, keep=None):
    """The rows of a table of the docs, which a script wrote between two marks."""
    text = (DOCS / page).read_text().partition(f"<!-- {marker} -->\n")[2].partition("<!-- end -->")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    if len(rows) < 3:
        raise SystemExit(f"{page} has no table {marker!r}")
    head = [name if len(name) == 1 else name[:1].upper() + name[1:] for name in rows[0]]
    return head, [row for row in rows[2:] if keep is None or keep(row)]


def _tables(report):
    values = json.loads((report / "tables.json").read_text())
    return {name: table["rows"] for name, table in values.items()}


def _leaderboard(rows):
    return [
        [row["editor"], row["role"], _limits(row, "rounds_kept"), _limits(row, "survival", ".0f", 100),
         _limits(row, "area", ".2f"), row["cause"] or "--"]
        for row in rows
        if row["group"] == rows[0]["group"]
    ]  # fmt: skip


def _breakdown(rows, group):
    """Head and rows: a kind of edit in each row, an editor in each column."""
    chosen = [row for row in rows if row["group"] == group and row["by"] == "category"]
    editors, kinds = (list(dict.fromkeys(row[name] for row in chosen)) for name in ("editor", "value"))
    values = {(row["value"], row["editor"]): _limits(row, "rounds_kept").partition(" ")[0] for row in chosen}
    return ["Kind of edit", *editors], [
        [kind, *(values.get((kind, editor), "--") for editor in editors)] for kind in kinds
    ]


def _fooled(rows):
    return [
        [row["metric"], row["editor"], f"{row['fooled']} of {row['sources']}", f"{row['gaps_above']} of {row['gaps']}",
         f"{row['largest']:+.1f}"]
        for row in rows
        if row["program"] == "replicate" and row["gaps"]
    ]  # fmt: skip


def _restoration(rows):
    forms = {"psnr": ".2f", "ssim": ".3f", "lpips": ".3f", "piqe": ".1f", "pictures": ""}
    return [
        [
            row["editor"],
            *("--" if row.get(name) is None else f"{row[name]:{form}}" for name, form in forms.items()),
        ]
        for row in rows
    ]


def _exact(rows):
    """All edits of the exact suites, by editor."""
    return [
        [row["editor"], row["part"], _limits(row, "forward", ".2f"), _limits(row, "back", ".2f"),
         f"{row['elsewhere']:.3f}", row["steps"]]
        for row in rows
        if row["what"] == rows[0]["what"]
    ]  # fmt: skip


def _macros(found):
    facts = {row["fact"]: row["value"] for row in found["facts"]}
    _, [wearing, *_] = _markdown("survival.md", "policies")
    verdicts = (DOCS / "verdicts.md").read_text()
    labelled = re.search(r"(\d+) rounds of two editors", verdicts)
    agree = re.search(r"\| all \| (\d+ of \d+) \| ([\d.]+ to [\d.]+) \|", verdicts)
    apart = re.search(r"\| eyes redrawn, apart \| (\d+ of \d+) \|", verdicts)
    one_left_out = re.search(r"three of the pictures agrees with ([\d.]+) of", verdicts)
    reversible = re.search(r"\| rules over words, (\d+) \| (\d+) \|", (DOCS / "reversibility.md").read_text())
    _, rates = _markdown("exact.md", "rates", lambda row: row[1] == "all")
    rate = {row[0].partition(":")[0]: row[2:] for row in rates[:2]}
    return {
        "DemoChains": facts["chains"],
        "DemoSources": facts["sources"],
        "DemoEditors": facts["editors"],
        "DemoScores": facts["score rows"],
        "PolicyAlone": wearing[2],
        "PolicyGain": wearing[3],
        "PolicyP": wearing[4],
        "EyeRounds": labelled[1],
        "EyeAgree": agree[1],
        "EyeLimits": agree[2],
        "EyeApart": apart[1],
        "EyeLeftOut": one_left_out[1],
        "ClassedPrograms": reversible[1],
        "ClassedAgree": reversible[2],
        "ChangedMade": rate["changed"][0],
        "ChangedNotMade": rate["changed"][1],
        "ExactMade": rate["exact"][0],
        "ExactNotMade": rate["exact"][1],
    }


def main(report, copies, restored, out):
    report, copies, restored, out = map(Path, (report, copies, restored, out))
    out.mkdir(parents=True, exist_ok=True)
    found, of_copies = _tables(report), _tables(copies)
    board = found["leaderboard"]
    by_kind, kinds = _breakdown(found["breakdown"], board[0]["group"])
    covered, coverage = _markdown("statistics.md", "coverage over sources", lambda row: "rounds kept" in row[0])
    made = {
        "leaderboard": ("llllll", ["Editor", "Role", "Rounds kept", "Survived, %", "Area", "Lost mostly to"],
                        _leaderboard(board)),
        "breakdown": ("l" + "r" * (len(by_kind) - 1), by_kind, kinds),
        "exact": ("llllrr", ["Editor", "Edits", "Made as asked", "Taken back", "Elsewhere", "Steps"],
                  _exact(found["exact_edits"])),
        "fooled": ("llrrr", ["Metric", "Editor", "Fooled by", "Gaps above 0", "Largest"],
                   _fooled(of_copies["no_reference_ranks"])),
        "restoration": ("lrrrrr", ["Method", "PSNR", "SSIM", "LPIPS", "PIQE", "Pictures"],
                        _restoration(_tables(restored)["restoration_methods"])),
        "coverage": ("l" + "r" * (len(covered) - 1), covered, coverage),
    }  # fmt: skip
    for name, page, marker in (
        ("real", "results.md", "kept"),
        ("published", "results.md", "ssim"),
        ("policies", "survival.md", "policies"),
    ):
        head, rows = _markdown(page, marker)
        made[name] = "l" * len(head), head, rows
    for name, table in made.items():
        (out / f"{name}.tex").write_text(_tabular(*table))
    (out / "macros.tex").write_text(
        "".join(rf"\newcommand{{\{name}}}{{{_tex(value)}}}" + "\n" for name, value in _macros(found).items())
    )
    for folder, names in ((report, FIGURES), (copies, BY_STEP)):
        for name in names:
            shutil.copy(folder / "figures" / f"{name}.pdf", out / f"{name}.pdf")


if __name__ == "__main__":
    main(*sys.argv[1:])
