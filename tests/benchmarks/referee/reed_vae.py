"""REED-VAE's frames: two photographs through two autoencoders, again and again; whose picture lasts longer?"""

import re
from itertools import product
from pathlib import Path

from convergebench.metric_modules.halflife.outcomes import QUALITIES, Outcome, convergence
from convergebench.metric_modules.halflife.survival import summarise

from .measuring import Measuring, retained
from .sections import Claim, Section, origin, table

TITLE = "Two autoencoders, again and again: half-lives"
WHAT = "a clone of reed-vae/reed-vae.github.io"
CODERS = {"vanilla": "SD-VAE", "reed": "REED-VAE"}
EXPECTED = {"vanilla": "9", "reed": "20"}


def run(path: Path, measuring: Measuring) -> Section:
    """The half-life of each autoencoder; quality is the lowest of retained RMSE, SSIM and LPIPS, as in the headline.

    The chains of one photograph begin at encodings of it that differ. Both are compared with one step 0, that of the
    chains through SD's autoencoder, and the other photograph is what is unrelated.
    """
    section = Section(TITLE, [f"Compared: {origin(path)}."])
    root = path / "static" / "images" / "steps"
    chains = find_chains(root if root.is_dir() else path)
    photographs = sorted({photograph for photograph, _ in chains})
    if len(photographs) < 2 or {*product(photographs, CODERS)} - {*chains}:
        section.claims.append(Claim(f"{path.name} holds both autoencoders' frames of two photographs", False))
        return section
    rounds = range(1, min(max(frames) for frames in chains.values()) + 1)
    rows = []
    for coder, name in CODERS.items():
        shared = [outcome(chains, each, coder, rounds, measuring, "vanilla") for each in photographs]
        own = [outcome(chains, each, coder, rounds, measuring, coder) for each in photographs]
        text = summarise(shared, rounds, photographs)["half_life_text"]
        words = f"the half-life of {name} is {EXPECTED[coder]} of {len(rounds)} rounds (here {text})"
        section.claims.append(Claim(words, text == EXPECTED[coder]))
        each_shared, each_own = ([", ".join(one.text for one in found)] for found in (shared, own))
        rows.append([name, text, *each_shared, summarise(own, rounds, photographs)["half_life_text"], *each_own])
    head = ["autoencoder", "half-life", "each photograph", "against its own step 0", "each photograph"]
    section.text.append(table(head, rows))
    starts = [[chains[photograph, coder][0] for coder in CODERS] for photograph in photographs]
    apart = [measuring.distances(*frames)["rmse"] for frames in starts]
    section.text.append(
        f"Photographs: {', '.join(photographs)}. The encodings of one photograph differ by an RMSE of "
        + " and ".join(f"{each:.1f}" for each in apart)
        + " grey levels: against its own encoding, REED-VAE's chain does not pay for what was lost before its step 0."
    )
    for (photograph, coder), frames in chains.items():
        total = sum(measuring.distances(frames[0], frames[number])["psnr"] for number in rounds)
        section.measured[f"frames {photograph} {coder}"] = total
    return section


def find_chains(root: Path) -> dict[tuple[str, str], dict[int, Path]]:
    chains: dict[tuple[str, str], dict[int, Path]] = {}
    for folder in sorted(root.iterdir()):
        photograph, _, coder = folder.name.rpartition("_")
        if coder in CODERS and folder.is_dir():
            numbered = {re.search(r"_(\d+)\.png$", each.name): each for each in folder.iterdir()}
            chains[photograph, coder] = {int(number[1]): each for number, each in numbered.items() if number}
    return chains


def outcome(chains, photograph: str, coder: str, rounds: range, measuring: Measuring, begin: str) -> Outcome:
    """One chain's outcome, against the step 0 that its photograph has with the coder `begin`."""
    reference = chains[photograph, begin][0]
    other = next(one for one, _ in chains if one != photograph)
    floors = {name: measuring.distances(reference, chains[other, begin][0])[name] for name in QUALITIES}
    frames = chains[photograph, coder]
    kept = [retained(measuring.distances(reference, frames[number]), floors) for number in rounds]
    return convergence(list(rounds), {"quality lost": [[each[name] for each in kept] for name in QUALITIES]})
