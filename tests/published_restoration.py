"""What the restoration study published: Tables 2, 3 and 5, as numbers and as files to import."""

import csv
from itertools import product

HEAD = ("PSNR", "SSIM", "LPIPS", "MUSIQ", "MANIQA", "CLIP-IQA")
# Table 2: twelve prompts, and the means that the study prints under them.
TABLE_2 = {
    "L1": (22.910, 0.670, 0.223, 69.339, 0.393, 0.667),
    "L2": (23.211, 0.668, 0.222, 69.462, 0.401, 0.684),
    "L3": (22.729, 0.666, 0.221, 69.255, 0.394, 0.677),
    "LF1": (23.284, 0.671, 0.216, 67.365, 0.374, 0.659),
    "LF2": (23.018, 0.665, 0.223, 68.386, 0.382, 0.667),
    "LF3": (22.265, 0.662, 0.223, 68.170, 0.380, 0.666),
    "S1": (22.920, 0.664, 0.224, 68.809, 0.386, 0.669),
    "S2": (22.655, 0.665, 0.224, 68.768, 0.387, 0.670),
    "S3": (21.975, 0.655, 0.237, 70.444, 0.408, 0.686),
    "SF1": (23.003, 0.671, 0.215, 67.496, 0.371, 0.650),
    "SF2": (23.090, 0.663, 0.217, 66.748, 0.374, 0.655),
    "SF3": (23.360, 0.672, 0.215, 67.794, 0.377, 0.665),
}
MEANS = {
    "L": (22.950, 0.668, 0.222, 69.352, 0.396, 0.676),
    "LF": (22.856, 0.666, 0.221, 67.974, 0.379, 0.664),
    "L + LF": (22.903, 0.667, 0.221, 68.663, 0.387, 0.670),
    "S": (22.516, 0.662, 0.228, 69.340, 0.394, 0.675),
    "SF": (23.151, 0.669, 0.216, 67.346, 0.374, 0.657),
    "S + SF": (22.834, 0.665, 0.222, 68.343, 0.384, 0.666),
}
# Table 3: Friedman's statistic and its p for each prompt; 21 pictures have a clean one, 35 are there.
TABLE_3 = {
    "L3": ((1.238, 0.857, 0.857, 3.257, 0.171, 0.229), (0.538, 0.651, 0.651, 0.196, 0.918, 0.892)),
    "LF1": ((1.238, 1.524, 0.095, 6.229, 3.486, 1.429), (0.538, 0.467, 0.953, 0.044, 0.175, 0.490)),
    "S1": ((0.667, 1.238, 2.000, 2.114, 4.800, 7.943), (0.717, 0.538, 0.368, 0.347, 0.091, 0.019)),
    "SF2": ((0.667, 2.667, 1.238, 3.257, 0.057, 0.914), (0.717, 0.264, 0.538, 0.196, 0.972, 0.633)),
}
TABLE_5 = {
    "HYPIR": (21.307, 0.622, 0.240, 67.103, 0.407, 0.582),
    "PiSA-SR": (22.744, 0.633, 0.237, 71.276, 0.468, 0.681),
    "TSD-SR": (21.439, 0.599, 0.232, 72.144, 0.479, 0.708),
    "DiffBIR": (21.856, 0.602, 0.273, 69.974, 0.478, 0.685),
    "Nano Banana 2": (22.541, 0.649, 0.222, 68.841, 0.394, 0.676),
}
# Table 4: two of its scenes, and a degradation without clean pictures.
TABLE_4 = (
    ("Nano Banana 2", "Small Faces", "", (23.809, 0.735, 0.146, 72.989, 0.427, 0.662)),
    ("HYPIR", "Small Faces", "", (20.857, 0.666, 0.176, 73.781, 0.481, 0.550)),
    ("Nano Banana 2", "Text", "", (20.347, 0.659, 0.230, 69.136, 0.455, 0.716)),
    ("HYPIR", "Text", "", (20.007, 0.643, 0.228, 66.680, 0.443, 0.601)),
    ("Nano Banana 2", "", "Motion Blur", ("", "", "", 55.313, 0.278, 0.517)),
    ("HYPIR", "", "Motion Blur", ("", "", "", 47.633, 0.284, 0.444)),
)
COLUMNS = [word for name in HEAD for word in ("--column", f"{name.lower().replace('-', '')}={name}")]
STEPS = ((-1, 0, 1), (-1, 1, 0), (0, -1, 1), (0, 1, -1), (1, -1, 0), (1, 0, -1))  # ranks of three runs, less 2


def write_csv(path, head, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
    return path


def ranks(statistic, pictures):
    """Ranks of three runs on so many pictures that give the statistic: the square sum of the rank sums fixes it."""
    wanted = round(statistic * pictures)
    near = [
        (one, other, -one - other)
        for one, other in product(range(-20, 21), repeat=2)
        if one**2 + other**2 + (one + other) ** 2 == wanted
    ]
    left, found = list(near[0]), []
    while any(left):
        step = min(STEPS, key=lambda step: sum(abs(a - b) for a, b in zip(left, step, strict=True)))
        found.append(step)
        left = [a - b for a, b in zip(left, step, strict=True)]
    rest = pictures - len(found)
    if rest % 2:
        found += [(-1, 0, 1), (1, -1, 0), (0, 1, -1)]  # three that cancel
    found += [STEPS[0], STEPS[5]] * ((pictures - len(found)) // 2)
    assert len(found) == pictures
    return [[2 + each for each in step] for step in found]


def repeated_runs():
    """Rows of prompt, picture, run and six scores that have Table 3's statistics."""
    rows = []
    for prompt, (statistics, _) in TABLE_3.items():
        tables = [ranks(value, 21 if place < 3 else 35) for place, value in enumerate(statistics)]
        for picture in range(35):
            for run in range(3):
                scores = [table[picture][run] / 7 if picture < len(table) else "" for table in tables]
                rows.append([prompt, f"picture {picture}", f"clean {picture % 13}", run + 1, *scores])
    return rows
