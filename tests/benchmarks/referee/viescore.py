"""VIEScore's published LPIPS and human raters on ImagenHub's text-guided edits, beside our distances."""

import csv
import json
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
from convergebench.metric_modules.halflife.outcomes import QUALITIES
from scipy.stats import spearmanr

from .measuring import Distances, Measuring, retained
from .sections import Claim, Section, origin, table

TITLE = "People and published LPIPS on edited pictures"
WHAT = "a clone of TIGER-AI-Lab/VIEScore, and with it one of ChromAIca/ChromAIca.github.io"
SAME = 1e-4
TASK = "ImagenHub_Text-Guided_IE"
FLOOR_PICTURES = 5  # unrelated pictures for the floor of each reference
RETAINED = "lost quality: 1 - the lowest retained quality, to the ground truth"
FOLDERS = {"ground truth": "GroundTruth", "input": "input"}
# How each distance is turned so that more means more damage.
SIGNS = {"LPIPS": 1, "damage": 1, "SSIM": -1, "RMSE": 1}
MEASURES = {
    f"{name} to the {reference}": (reference, name.lower(), sign)
    for reference in FOLDERS
    for name, sign in SIGNS.items()
}
MEASURES[RETAINED] = ("ground truth", "lost quality", 1)
Key = tuple[str, str]  # editor and answer
Values = dict[str, dict[Key, float]]


def run(scores: Path, pictures: Path | None, measuring: Measuring) -> Section:
    section = Section(TITLE, [f"Compared: {origin(scores)}."])
    lpips, raters = published_lpips(scores), human_ratings(scores)
    if not lpips or not raters:
        section.claims.append(Claim(f"{scores.name} holds published LPIPS and human ratings", False))
        return section
    values: Values = {name: {} for name in MEASURES}
    values["LPIPS to the ground truth"] = dict(lpips)  # as published; ours below differ by less than 1e-4
    root = museum(pictures) if pictures else None
    if pictures and root:
        section.compared.append(f"Pictures: {origin(pictures)}.")
        compare_pictures(section, root, lpips, values, measuring)
    else:
        section.text.append("No pictures are here, so no LPIPS was computed: `--imagenhub` names them.")
    compare_people(section, raters, values)
    return section


def published_lpips(path: Path) -> dict[Key, float]:
    """The published LPIPS by editor and answer, wherever a clone keeps its files of automatic metrics."""
    files = [file for file in sorted(path.rglob("*.json")) if file.parent.name in (TASK, "lpips")]
    files = [file for file in files if "autometrics" in str(file) or file.parent.name == "lpips"]
    lpips = {}
    for file in files:
        for name, about in json.loads(file.read_text()).items():
            if isinstance(about, dict) and "LPIPS" in about:
                lpips[file.stem, name] = float(about["LPIPS"])
    return lpips


def human_ratings(path: Path) -> list[dict[Key, tuple[float, float]]]:
    """Each rater's two scores by editor and answer: whether it is what was asked for, and how it looks."""
    files = {file.name: file for file in sorted(path.rglob("Text-Guided_IE_rater*.tsv"))}
    raters = []
    for _, file in sorted(files.items()):
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        cells = [(editor, row["uid"], cell) for row in rows for editor, cell in row.items() if editor != "uid"]
        raters.append({(editor, uid): tuple(json.loads(cell)) for editor, uid, cell in cells if editor and cell})
    return raters


def museum(path: Path) -> Path | None:
    """The folder with GroundTruth, input and a folder for each editor: the path itself, or below it in a clone."""
    folders = (path, path / "Museum" / TASK, path / TASK)
    return next((folder for folder in folders if (folder / "GroundTruth").is_dir()), None)


def compare_pictures(
    section: Section, root: Path, lpips: Mapping[Key, float], values: Values, measuring: Measuring
) -> None:
    """Our distances of every answer whose picture is here; the published LPIPS of each must come out again."""
    editors = [name for name in sorted({editor for editor, _ in lpips}) if (root / name).is_dir()]
    floors = {} if measuring.model is None else ground_truth_floors(root / "GroundTruth", measuring)
    gaps: dict[str, list[float]] = {}
    rows = []
    for editor in editors:
        answers = sorted(name for own, name in lpips if own == editor)
        sums: dict[str, list[float]] = {reference: [] for reference in FOLDERS}
        for name in answers:
            found: dict[str, Distances] = {}
            for reference, folder in FOLDERS.items():
                pair = root / folder / name, root / editor / name
                if all(picture.is_file() for picture in pair):
                    found[reference] = dict(measuring.distances(*pair))
                    sums[reference].append(found[reference]["psnr"])
            if name in floors and "ground truth" in found:
                worst = min(retained(found["ground truth"], floors[name]).values())
                found["ground truth"]["lost quality"] = 1 - worst
            for measure, (reference, column, sign) in MEASURES.items():
                if column in found.get(reference, {}):
                    values[measure][editor, name] = sign * found[reference][column]
            if "lpips" in found.get("ground truth", {}):
                gaps.setdefault(editor, []).append(abs(found["ground truth"]["lpips"] - lpips[editor, name]))
        for reference, each in sums.items():
            section.measured[f"{len(each)} answers of {editor} to the {reference}"] = sum(each)
        own = gaps.get(editor, [])
        rows.append([editor, len(answers), len(own), f"{max(own):.1e}" if own else None])
    compared = [gap for own in gaps.values() for gap in own]
    if compared:
        words = f"all {len(compared)} published LPIPS values whose pictures are here come out within {SAME:g}"
        section.claims.append(Claim(f"{words} (largest gap {max(compared):.1e})", max(compared) <= SAME))
    elif measuring.model is None:
        section.text.append("The weights of LPIPS are not here: `convergebench weights lpips` brings them.")
    section.text.append(table(["editor", "published LPIPS values", "computed again", "largest gap"], rows))
    left = sorted({editor for editor, _ in lpips} - set(editors))
    if left:
        section.text.append(f"Published LPIPS without pictures here, used as published: {', '.join(left)}.")


def ground_truth_floors(folder: Path, measuring: Measuring) -> dict[str, dict[str, float]]:
    """The floor of each ground truth: the median over a few ground truths of other photographs, spread evenly."""
    names, floors = sorted(each.name for each in folder.iterdir()), {}
    steps = [step * len(names) // (FLOOR_PICTURES + 1) for step in range(1, FLOOR_PICTURES + 1)]
    for place, name in enumerate(names):
        spread = [names[(place + step) % len(names)] for step in steps]
        others = [each for each in spread if photograph(each) != photograph(name)]
        rows = [measuring.distances(folder / name, folder / each) for each in others]
        if rows:
            floors[name] = {column: float(np.median([row[column] for row in rows])) for column in QUALITIES}
    return floors


def compare_people(section: Section, raters: list[dict[Key, tuple[float, float]]], values: Values) -> None:
    """How far metrics agree with people, beside people with each other."""
    keys = sorted(set.intersection(*(set(each) for each in raters)))
    scores = np.array([[each[key] for key in keys] for each in raters], float)  # raters x answers x 2
    semantic, perceptual = scores[..., 0], scores[..., 1]
    answered = np.array([key[0] for key in keys])
    section.text.append("### Spearman with people, beside rater against rater")
    names = ("as asked", "looks", "both", "looks, each editor alone")
    both = np.sqrt(semantic * perceptual)
    rows: list[list[object]] = [["rater against rater (each two)", len(keys)]]
    rows[0] += [" ".join(f"{each:.2f}" for each in between_raters(one)) for one in (semantic, perceptual, both)]
    editors = sorted(set(answered.tolist()))
    alone = [np.mean(between_raters(perceptual[:, answered == editor])) for editor in editors]
    rows[0].append(f"{np.nanmean(alone):.2f}")
    for measure, own in values.items():
        column = np.array([own.get(key, np.nan) for key in keys])
        known = ~np.isnan(column)
        if known.sum() > 2:
            marks = [spearman(-column[known], one[:, known].mean(axis=0)) for one in (semantic, perceptual, both)]
            of_editors = [each for editor in editors if (each := known & (answered == editor)).sum() > 2]
            own = [spearman(-column[each], perceptual[:, each].mean(axis=0)) for each in of_editors]
            rows.append([measure, int(known.sum()), *marks, float(np.nanmean(own))])
    section.text.append(table(["measure", "answers", *names], rows))
    section.text.append(
        "A metric agrees with people if smaller distances go with better marks (averaged over the raters). People "
        "mark how an answer looks by itself: one that redraws the whole picture well looks sound to them but is far "
        "from the original by every distance. If editors differ in that, agreement over all answers is that of the "
        "editors' means."
    )


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    return float(spearmanr(first, second).statistic)


def between_raters(scores: np.ndarray) -> list[float]:
    return [spearman(scores[first], scores[second]) for first, second in combinations(range(len(scores)), 2)]


def photograph(answer: str) -> str:
    """sample_100081_3.jpg is the third turn of photograph 100081."""
    return answer.removeprefix("sample_").split("_")[0]
