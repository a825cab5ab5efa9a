"""The table of this study, found by the core."""

from .labels import LABELS

TABLES = (LABELS,)
