"""IL-NIQE as pure functions: how far a picture's patches are from those of undamaged photographs, by five kinds of
statistics: contrast, gradients, log-Gabor responses, their gradients, and colour."""

import hashlib
import io
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from scipy import fft

from .._shared.nss import asymmetric_fit, beta, contrast_normalised, patch_features, patches_of
from .._shared.published import PublishedFile
from .._shared.scoring import AloneScorer, Reason, Signature

# What the authors found in ninety undamaged photographs. It is on no package index: the Hub has their file as pyiqa
# publishes it. Its digest is in every signature.
PARAMETERS = PublishedFile("ilniqe", "ILNIQE_templateModel.mat", repository="chaofengc/IQA-PyTorch-Weights")
missing_weights = PARAMETERS.missing
_FEATURES, _KEPT = 468, 430
# These numbers are those of the code that Zhang, Zhang and Bovik published with their paper of 2015.
SIDE = 524  # every picture is brought to this width and height
_BLOCK = 84  # pixels of a patch's side; at half the size half of them
_LARGEST = 10_000.0  # of a feature
_TINY = 1e-8
_MOST_TURNS, CLOSE, _CLOSER = 50, 1e-2, 1e-12  # of fitting a distribution
_DERIVATIVE, _DERIVATIVE_FALL = 1.66, 0.28  # deviation of the Gaussian derivatives, and how it falls with the scale
_WAVELENGTH, _WAVELENGTH_FALL, _NEXT_WAVE = 2.4, 0.87, 1.31  # of the log-Gabor filters, in pixels
_BANDWIDTH, ORIENTATIONS, WAVES, _SPREAD = 0.55, 4, 3, 1.10
_BLUR = 0.9  # deviation of the Gaussian before every second row and column is taken
_OPPONENT = np.array([[0.3, 0.04, -0.35], [0.34, -0.6, 0.17], [0.06, 0.63, 0.27]])  # colours that oppose each other

_Fit = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # two numbers of each row


class Template(NamedTuple):
    """Mean and covariance of undamaged patches, in the components to which features are brought."""

    mean: np.ndarray
    covariance: np.ndarray
    mean_of_data: np.ndarray
    components: np.ndarray
    digest: str


def read_template(data: bytes) -> Template:
    """The template in a file of MATLAB: a cell of its four parts."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        cells = np.ravel(loadmat(io.BytesIO(data))["templateModel"])
        mean, covariance, mean_of_data, components = (np.asarray(cell, np.float64) for cell in cells)
    except (KeyError, ValueError, TypeError, NotImplementedError, MatReadError) as error:
        raise ValueError(f"{PARAMETERS.path} is not a template of ILNIQE: {str(error)[:80]}") from error
    shapes = mean.size, covariance.shape, mean_of_data.size, components.shape
    if shapes != (_KEPT, (_KEPT, _KEPT), _FEATURES, (_FEATURES, _KEPT)):
        raise ValueError(f"{PARAMETERS.path} is not a template of ILNIQE: its parts have {shapes}")
    digest = hashlib.sha256(data).hexdigest()[:12]
    return Template(mean.ravel(), covariance, mean_of_data.ravel(), components, digest)


def ilniqe(picture: np.ndarray, template: Template) -> float | Reason:
    """The mean distance of the patches of an RGB picture of bytes, or why there is none."""
    if min(picture.shape[:2]) < _BLOCK:
        return "too_small_for_template", str(_BLOCK)
    projected = (features(picture) - template.mean_of_data) @ template.components
    whole = projected[~np.isnan(projected).any(1)]
    if len(whole) < 2:
        return "too_flat"
    covariance = (template.covariance + np.cov(whole, rowvar=False)) / 2
    spread = np.linalg.pinv(covariance, rcond=len(covariance) * np.finfo(float).eps, hermitian=True)
    gap = np.where(np.isnan(projected), np.nanmean(projected, axis=0), projected) - template.mean
    return float(np.sqrt(((gap @ spread) * gap).sum(1)).mean())


def features(picture: np.ndarray) -> np.ndarray:
    """Patches x 468: 234 numbers at the whole and 234 at half the size."""
    rgb = np.stack([_to_square(plane) for plane in np.moveaxis(picture, 2, 0)]).astype(np.float64)
    side = SIDE // _BLOCK * _BLOCK
    rgb = np.clip(rgb, 0, 255)[:, :side, :side]
    opponent = np.tensordot(_OPPONENT, rgb, 1)
    at_scales = []
    for scale in (1, 2):
        at_scales.append(_features_at(rgb, opponent, scale))
        rgb, opponent = _smaller(rgb), _smaller(opponent)
    return np.minimum(np.concatenate(at_scales, axis=1), _LARGEST)


def _to_square(plane: np.ndarray) -> np.ndarray:
    """MATLAB's imresize in single precision.

    In flat parts what is left is rounding, and its sign is counted: this is the rounding of the implementation whose
    numbers are the published ones.
    """
    rows = _square_rows(plane.astype(np.float32))
    return np.ascontiguousarray(_square_rows(np.ascontiguousarray(rows.T)).T)


def _square_rows(values: np.ndarray) -> np.ndarray:
    """As many rows as the square has, each a weighted sum of its neighbours."""
    if len(values) == SIDE:
        return values
    places, weights = _single_taps(len(values))
    rows = np.zeros((SIDE, values.shape[1]), np.float32)
    for tap in range(places.shape[1]):
        rows += weights[:, tap, None] * values[places[:, tap]]
    return rows


@cache
def _single_taps(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Which rows, mirrored at the ends, make each row of the square, and with what weights."""
    scale = SIDE / length
    stretch = np.float32(min(scale, 1))
    reach = math.ceil(4 / min(scale, 1)) + 2
    centres = (np.arange(SIDE, dtype=np.float32) + np.float32(0.5)) / np.float32(scale) - np.float32(0.5)
    first = np.floor(centres) - reach // 2 + 1
    far = np.abs(((centres - first)[:, None] - np.arange(reach, dtype=np.float32)) * stretch)
    square, cube = far * far, far * (far * far)
    near = np.float32(1.5) * cube - np.float32(2.5) * square + 1
    tail = np.float32(-0.5) * cube + np.float32(2.5) * square - np.float32(4) * far + np.float32(2)
    weights = np.where(far <= 1, near, np.where(far <= 2, tail, np.float32(0)))
    weights /= weights.sum(1, keepdims=True, dtype=np.float32)
    turned = (first[:, None].astype(int) + np.arange(reach)) % (2 * length)
    return np.where(turned < length, turned, 2 * length - 1 - turned), weights


def _features_at(rgb: np.ndarray, opponent: np.ndarray, scale: int) -> np.ndarray:
    """Patches x 234: statistics of contrast, gradients, colours, and of log-Gabor responses with their gradients."""
    side = _BLOCK // scale
    across, along = _derivative_windows(_DERIVATIVE / scale**_DERIVATIVE_FALL)
    colour_slopes = [(_slope(plane, across, along), _slope(plane, along, across)) for plane in opponent]
    bell_shaped = [slope_map for pair in colour_slopes for slope_map in pair]
    responses: list[np.ndarray] = []
    slopes: list[np.ndarray] = []
    strengths: list[np.ndarray] = []
    spectrum = fft.fft2(opponent[2])
    for gabor in log_gabor(len(opponent[2]), _WAVELENGTH / scale**_WAVELENGTH_FALL):
        response = fft.ifft2(gabor * spectrum)
        for part in (np.ascontiguousarray(response.real), np.ascontiguousarray(response.imag)):
            pair = _slope(part, across, along), _slope(part, along, across)
            responses.append(part)
            slopes += pair
            strengths.append(_strength(*pair))
    return np.concatenate(
        [
            patch_features(contrast_normalised(opponent[2], side=5), side),
            _interleaved([_strength(*pair) for pair in colour_slopes], side, weibull_fits),
            _interleaved(list(_log_opponent(rgb)), side, _mean_and_variance),
            _interleaved(bell_shaped + responses + slopes, side, _shape_and_scale),
            _interleaved(strengths, side, weibull_fits),
        ],
        axis=1,
    )


def _interleaved(planes: Sequence[np.ndarray], side: int, fit: _Fit) -> np.ndarray:
    """Patches x two numbers of each plane, plane after plane."""
    patches = np.stack([patches_of(plane, side).reshape(-1, side * side) for plane in planes], axis=1)
    count, channels = patches.shape[:2]
    first, second = fit(patches.reshape(count * channels, -1))
    return np.stack([first, second], axis=-1).reshape(count, 2 * channels)


def _shape_and_scale(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of an asymmetric generalised Gaussian, row by row."""
    shape, left, right = asymmetric_fit(values)
    return shape, (beta(left, shape) + beta(right, shape)) / 2


def _mean_and_variance(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values.mean(1), values.var(1, ddof=1)


def weibull_fits(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale and shape of a Weibull distribution, row by row, by Newton's method; NaN if all values are equal.

    All rows take as many turns as the slowest needs, as in the implementation whose numbers are the published ones,
    which goes on to the last turn if a row has no fit. The rows are those of one picture, never of others.
    """
    logs = np.log(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        guess = 1.2 / logs.std(1, ddof=1)
        fitted = np.exp(guess[:, None] * logs).sum(1) > 0  # all powers are 0, or none is a number, where all is one
    shapes, scales = np.full((2, len(values)), np.nan)
    close = CLOSE if fitted.all() else _CLOSER
    logs, shape = logs[fitted], guess[fitted]
    mean_log = logs.mean(1)
    for _ in range(_MOST_TURNS if fitted.any() else 0):
        powers = np.exp(shape[:, None] * logs)
        total, first = powers.sum(1), np.einsum("ij,ij->i", powers, logs)
        second = np.einsum("ij,ij,ij->i", powers, logs, logs)
        ratio = first / total
        change = (ratio - mean_log - 1 / shape) / (second / total - ratio**2 + 1 / shape**2)
        shape = shape - change
        if np.abs(change).max() < close:
            break
    shapes[fitted], scales[fitted] = shape, np.exp(shape[:, None] * logs).mean(1) ** (1 / shape)
    return scales, shapes


def _log_opponent(rgb: np.ndarray) -> np.ndarray:
    """Brightness, blue against yellow and red against green, of logarithms less their mean."""
    logs = np.log(rgb + 1e-5)
    red, green, blue = logs - logs.mean((1, 2), keepdims=True)
    return np.stack(
        [(red + green + blue) / math.sqrt(3), (red + green - 2 * blue) / math.sqrt(6), (red - green) / math.sqrt(2)]
    )


def _strength(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.sqrt(first * first + second * second + _TINY)


def _slope(plane: np.ndarray, across: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Convolved with a window that is the product of the two, 0 beyond the edges."""
    return cv2.sepFilter2D(plane, cv2.CV_64F, across[::-1], along[::-1], borderType=cv2.BORDER_CONSTANT)


@cache
def _derivative_windows(deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of a Gaussian along one axis, and the Gaussian along the other."""
    reach = math.ceil(3 * deviation)
    place = np.arange(-reach, reach + 1, dtype=np.float64)
    bell = np.exp(-(place**2) / 2 / deviation**2)
    return place * bell, bell


def _smaller(planes: np.ndarray) -> np.ndarray:
    """Every second row and column, after a Gaussian of an even width."""
    width = math.ceil(6 * _BLUR)
    bell = np.exp(-((np.arange(width) - (width - 1) / 2) ** 2) / (2 * _BLUR**2))
    bell /= bell.sum()
    anchor = ((width - 1) // 2,) * 2
    return np.stack([
        cv2.sepFilter2D(plane, cv2.CV_64F, bell, bell, anchor=anchor, borderType=cv2.BORDER_REPLICATE)[::2, ::2]
        for plane in planes
    ])  # fmt: skip


@cache
def log_gabor(side: int, shortest: float) -> tuple[np.ndarray, ...]:
    """The log-Gabor filters of a square of an even side, wave by wave, orientation by orientation."""
    place = fft.ifftshift(np.arange(-side / 2, side / 2) / side)
    down, right = np.meshgrid(place, place)
    radius, angle = np.hypot(down, right), np.arctan2(-right, down)
    radius[0, 0] = 1
    width = math.pi / (ORIENTATIONS * _SPREAD)
    filters = []
    for wave in range(WAVES):
        radial = np.exp(-(np.log(radius * shortest * _NEXT_WAVE**wave) ** 2) / (2 * math.log(_BANDWIDTH) ** 2))
        radial[0, 0] = 0
        for orientation in range(ORIENTATIONS):
            away = angle - orientation * math.pi / ORIENTATIONS
            away = np.abs(np.arctan2(np.sin(away), np.cos(away)))
            filters.append(radial * np.exp(-(away**2) / (2 * width**2)))
    return tuple(filters)


class Scorer(AloneScorer):
    """IL-NIQE as the scoring engine runs it."""

    column = "ilniqe"
    function = staticmethod(ilniqe)

    @staticmethod
    def load() -> tuple[Template]:
        return (read_template(PARAMETERS.load()),)

    @property
    def settings(self) -> Signature:  # type: ignore[override]
        return {"version": 1, "size": SIDE, "block": _BLOCK, "parameters": self.parameters[0].digest}
