"""A template for IL-NIQE that is made up, so that its code can be compared without the authors' file."""

import io

import numpy as np
from scipy.io import savemat

FEATURES, KEPT = 468, 430


def template_file() -> bytes:
    """In the form of the authors' file: components are cosines, the covariance is a diagonal."""
    place = (np.arange(FEATURES)[:, None] + 0.5) * np.arange(KEPT)
    cells = np.empty((1, 4), object)
    cells[0, 0] = np.cos(np.arange(KEPT))[None]
    cells[0, 1] = np.diag(np.linspace(1, 3, KEPT))
    cells[0, 2] = np.sin(np.arange(FEATURES))[None]
    cells[0, 3] = np.cos(np.pi * place / FEATURES) * np.sqrt(2 / FEATURES)
    buffer = io.BytesIO()
    savemat(buffer, {"templateModel": cells})
    return buffer.getvalue()
