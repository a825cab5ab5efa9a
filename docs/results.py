"""Computes the results of real editors that README.md and docs/results.md show.

    python docs/results.py ANSWERS WORK

ANSWERS has EDITOR/IMAGE_PAIR/I0_source.png, I1_forward.png, ... for both editors, published_scores.json (the words) and
published_rounds.csv (six editors' scores). The steps are `convergebench import`, `build`, `score`, `import --layout
scores` and `report`; WORK keeps their files, so a second call computes what is missing.
"""

import csv
import json
import runpy
import sys
from pathlib import Path

import convergebench as cb
from convergebench.dataset_builder.studies.published.published_scores import import_scores
from convergebench.spaces_app.reporting.page import in_words

HERE = Path(__file__).parent
EDITORS = {"gemini-flash-image": "Gemini 2.5 Flash Image", "flux-kontext-dev": "FLUX.1 Kontext dev"}
PUBLISHED = {
    "nano_banana": "Nano Banana",
    "qwen": "Qwen",
    "grok": "Grok",
    "seedream": "Seedream",
    "gemini": "Gemini",
    "flux": "FLUX",
}
SHOWN = (1, 3, 5, 10)  # rounds; one more, and the page's cells would wrap
TABLE = "published_rounds.csv"


def compute(answers: Path, work: Path) -> dict:
    """The tables of the report."""
    runs = []
    for editor in EDITORS:
        runs.append(work / "runs" / editor)
        words = answers / "published_scores.json"
        cb.import_chains(answers / editor, "edit-converge-bench", editor, runs[-1], prompts=words)
    cb.build(runs, out=work / "answers")
    cb.score(work / "answers")
    with (answers / TABLE).open() as file:
        rows = list(csv.DictReader(file))
    with (work / TABLE).open("w", newline="") as file:  # a case is a picture and a pair of edits
        writer = csv.writer(file)
        writer.writerow(["editor", "case", "image", "round", "psnr", "ssim"])
        for row in rows:
            case = f"{row['image']} {row['edit_pair']}"
            writer.writerow(
                [row[name] for name in ("model",)] + [case] + [row[n] for n in ("image", "round", "psnr", "ssim")]
            )
    import_scores(
        work / TABLE, work / "answers", {}, signature="scikit-image, uniform window of 7 pixels for SSIM"
    )
    cb.report(work / "answers", out=work / "report")
    return json.loads((work / "report" / "tables.json").read_text())


def limits(row: dict, name: str, form: str = ".1f") -> str:
    if row[f"{name}_low"] is None:
        return f"{row[name]:{form}}"
    return f"{row[name]:{form}} [{row[f'{name}_low']:{form}}, {row[f'{name}_high']:{form}}]"


def kept(tables: dict) -> str:
    """Rounds survived by the two editors whose pictures were published."""
    lines = [
        "| editor | rounds survived, of 3 | survived all rounds | main cause of failure | tests, pictures |",
        "|---|---|---|---|--:|",
    ]
    for row in tables["leaderboard"]["rows"]:
        cells = [EDITORS[row["editor"]], limits(row, "rounds_kept"), limits(row, "survival", ".0%")]
        cells.append(in_words("cause", row["cause"], {}))
        lines.append(f"| {' | '.join(cells)} | {row['cases']}, {row['sources']} |")
    return "\n".join(lines)


def by_round(tables: dict, metric: str, rounds: tuple[int, ...] = SHOWN) -> str:
    """The published scores of six editors after these rounds, with limits over pictures."""
    form = ".2f" if metric == "ssim" else ".1f"
    curves = {
        (row["editor"], row["round"]): row
        for row in tables["curves"]["rows"]
        if row["group"] == TABLE and row["metric"] == metric
    }
    lines = [
        "| editor | " + " | ".join(f"round {round}" for round in rounds) + " | tests, pictures |",
        "|---|" + "---|" * len(rounds) + "--:|",
    ]
    last = {editor: row["mean"] for (editor, round), row in curves.items() if round == rounds[-1]}
    for editor in sorted(last, key=lambda editor: -last[editor]):
        cells = [limits(curves[editor, round], "mean", form) for round in rounds]
        first = curves[editor, 1]
        lines.append(f"| {PUBLISHED[editor]} | {' | '.join(cells)} | {first['cases']}, {first['sources']} |")
    return "\n".join(lines)


def pairs(tables: dict) -> str:
    """Every two of the six at round 10 on their common tests: SSIM and PSNR."""
    found = [row for row in tables["published_pairs"]["rows"] if row["over"] == "round 10"]
    by_pair: dict[tuple[str, str], dict[str, dict]] = {}
    for row in found:
        by_pair.setdefault((row["first"], row["second"]), {})[row["metric"]] = row
    lines = ["| pair | SSIM | p | PSNR, dB | p | common tests, pictures |", "|---|---|--:|---|--:|--:|"]
    for (first, second), metrics in by_pair.items():
        ssim, psnr = metrics["ssim"], metrics["psnr"]
        cells = [limits(ssim, "difference", "+.2f"), f"{ssim['p_value']:.2f}"]
        cells += [limits(psnr, "difference", "+.1f"), f"{psnr['p_value']:.2f}"]
        name = f"{PUBLISHED[first]} - {PUBLISHED[second]}"
        lines.append(f"| {name} | {' | '.join(cells)} | {ssim['cases']}, {ssim['sources']} |")
    return "\n".join(lines)


def written(text: str, tables: dict) -> str:
    """A page with its tables computed anew; a page has some of them."""
    put = runpy.run_path(str(HERE / "write.py"))["put"]
    made = {
        "kept": kept(tables),
        "ssim": by_round(tables, "ssim"),
        "psnr": by_round(tables, "psnr"),
        "pairs": pairs(tables),
    }
    made["published"] = by_round(tables, "ssim", (1, 3, 10))
    for name, table in made.items():
        if f"<!-- {name} -->" in text:
            text = put(text, name, table)
    return text


def main(answers: Path, work: Path) -> None:
    tables = compute(answers, work)
    for page in (HERE / "results.md", HERE.parent / "README.md"):
        page.write_text(written(page.read_text(), tables))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
