"""Chains of real editors, which lie beside the checkout where they are tests' material, and are never part of it."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "real_chains"
CHAINS = 24
# The chains that the limits of the edit checks were looked at with; whoever asks about all of them uses FOLDER.
NAMES = ("portrait_01_glasses_add_remove", "scene_02_red_ball_add_remove")
LOOKED_AT = sorted(
    FOLDER / editor / name for editor in ("flux-kontext-dev", "gemini-flash-image") for name in NAMES
)
