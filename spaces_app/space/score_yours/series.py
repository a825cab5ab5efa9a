"""Scores a series of pictures that a visitor uploads, by the dataset's own rules, and stores none of it."""

import io
import re
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from convergebench.generation import pictures
from convergebench.generation.records import UserError
from convergebench.metric_modules.halflife.outcomes import curve_outcome
from convergebench.metric_modules.psnr import measure as psnr
from convergebench.metric_modules.retained.floors import floor, retained_value
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.specs import ceilings
from convergebench.metric_modules.ssim import measure as ssim

from ...analysis.groups import lowest_quality
from ..served_dataset import Answer
from .verdict import RoundJudge, Terms, checks_of, listed_steps, series_case, verdicts

MOST_RETURNS = 60
_MOST_BYTES = 60_000_000  # of all pictures together, unpacked
MOST_FILE_BYTES = 25_000_000
_MOST_PIXELS = 16_800_000  # of one picture
_LEAST_SIDE = 64
MOST_SECONDS = 90.0
_SHORT_SIDE = 512
_SAME_RMSE, _SAME_SSIM = 16.0, 0.75  # a picture of the dataset this near to an uploaded original is the original
UNRELATED = 12  # pictures of the dataset, for the floors
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")

File = tuple[str, bytes]  # name and content
Distance = Callable[[np.ndarray, np.ndarray], Mapping[str, float]]
Lpips = Callable[[np.ndarray], Distance]  # for one reference


@dataclass(frozen=True)
class SeriesScore:
    """Rows of returns and of steps, the verdicts, the half-lives, and what could not be computed with the reason."""

    rows: list[Answer]
    steps: list[Answer]
    verdicts: list[Answer]
    half_lives: dict[str, str]
    absent: dict[str, str]
    floors: dict[str, float]
    size: tuple[int, int]


def score(
    original: File,
    returns: Sequence[File],
    unrelated: Sequence[np.ndarray],
    threshold: float = 0.5,
    lpips: Lpips | str = "not asked for",
    edits: Sequence[File] = (),
    terms: Terms | None = None,
) -> SeriesScore:
    """Every return against the original, and every edit if there are any.

    The floors are those of `terms`, otherwise medians over `unrelated` pictures.
    """
    terms = terms or Terms()
    _check_series(returns, edits, threshold)
    until = time.monotonic() + MOST_SECONDS
    first = _pixels(*original)
    height, width = first.shape[:2]
    size = pictures.evaluation_size(width, height, terms.short_side or min(_SHORT_SIDE, min(width, height)))
    reference = pictures.resize_to(first, *size)
    distances: list[Distance] = [_plain_distances(reference)]
    absent = {}
    if isinstance(lpips, str):
        absent["lpips"] = lpips
    else:
        distances.append(lpips(reference))

    def at_size(picture: np.ndarray) -> np.ndarray:
        if time.monotonic() > until:
            raise UserError(f"scoring took more than {MOST_SECONDS:.0f} seconds; give fewer or smaller pictures")
        return pictures.resize_to(picture, *size)

    def measure(picture: np.ndarray) -> dict[str, float]:
        return {name: value for distance in distances for name, value in distance(reference, picture).items()}

    floors = dict(terms.floors) or _floors_of([measure(at_size(picture)) for picture in unrelated])
    judge = RoundJudge(first, reference, terms, bool(edits))
    rows: list[Answer] = []
    judged: list[ScoreRow] = []
    for number, (name, data) in enumerate(returns, 1):
        back = _pixels(name, data)
        edit = _pixels(*edits[number - 1]) if edits else None
        resized = at_size(back)
        values = measure(resized)
        retained = {
            f"retained_{metric}": retained_value(values[metric], low, ceilings()[metric])
            for metric, low in floors.items()
            if metric in values
        }
        rows.append({"round": number, "name": name, **values, **retained})
        judged += judge.rows(number, edit, back, resized, values | retained)
    case = series_case(judged, judge.cycle, floors, size)
    checks = checks_of(case, terms.checks)
    for row, quality in zip(rows, lowest_quality(case, checks) or [None] * len(rows), strict=True):
        row["quality"] = quality
    files = [file for pair in zip(edits, returns, strict=True) for file in pair] if edits else returns
    steps = listed_steps(judged, [name for name, _ in files])
    half_lives = _half_lives_of(rows, threshold)
    return SeriesScore(rows, steps, verdicts(case, judged, checks), half_lives, absent, floors, size)


def _check_series(returns: Sequence[File], edits: Sequence[File], threshold: float) -> None:
    """Refuses a series that cannot be scored, before a picture is decoded."""
    if not returns:
        raise UserError("no returns were given; add the pictures that came back, or one zip of them")
    if len(returns) > MOST_RETURNS:
        raise UserError(f"{len(returns)} returns were given; at most {MOST_RETURNS} are scored at once")
    if edits and len(edits) != len(returns):
        raise UserError(f"{len(edits)} edits and {len(returns)} returns were given; give one edit for each return")
    if sum(len(data) for _, data in [*returns, *edits]) > _MOST_BYTES:
        raise UserError(f"the pictures have more than {_MOST_BYTES:,} bytes together; give fewer or smaller ones")
    if not 0 < threshold <= 1:
        raise UserError(f"the threshold must be above 0 and at most 1, got {threshold:g}")


def _plain_distances(reference: np.ndarray) -> Distance:
    """PSNR, RMSE and SSIM; what depends on the original alone is computed once."""
    prepared = ssim.reference(reference)
    return lambda original, picture: {**psnr.psnr_and_rmse(original, picture), "ssim": ssim.compare(prepared, picture)}


def _floors_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each metric's median over the unrelated pictures; the original itself among them, also resized, is left out."""
    unrelated = [row for row in rows if row["rmse"] > _SAME_RMSE or row["ssim"] < _SAME_SSIM]
    floors = {}
    for metric, ceiling in ceilings().items():
        values = [row[metric] for row in unrelated if metric in row]
        if values and floor(values) != ceiling:
            floors[metric] = floor(values)
    return floors


def _half_lives_of(rows: Sequence[Answer], threshold: float) -> dict[str, str]:
    rounds = [row["round"] for row in rows]
    names = ["quality", *(name for name in rows[0] if name.startswith("retained_"))]
    curves = {name: [row[name] for row in rows] for name in names}
    complete = {name: values for name, values in curves.items() if None not in values}
    return {name: curve_outcome(values, rounds, threshold).text for name, values in complete.items()}


def _pixels(name: str, data: bytes) -> np.ndarray:
    """An uploaded picture as pixels; its size is checked before it is decoded."""
    if len(data) > MOST_FILE_BYTES:
        raise UserError(f"{_quoted(name)} has {len(data):,} bytes; at most {MOST_FILE_BYTES:,} are read")
    try:
        picture = pictures.decode_array(data, _MOST_PIXELS)
    except pictures.Undecodable as error:
        raise UserError(f"{_quoted(name)} cannot be scored: it is {error}") from error
    if min(picture.shape[:2]) < _LEAST_SIDE:
        raise UserError(
            f"{_quoted(name)} is {picture.shape[1]}x{picture.shape[0]}; at least {_LEAST_SIDE} pixels a side are needed"
        )
    return picture


def read_series(files: Sequence[File]) -> list[File]:
    """The pictures of an upload in the order of their names, archives unpacked in memory."""
    series: list[File] = []
    for name, data in files:
        series += _unzip(name, data) if data[:4] == b"PK\x03\x04" else [(name, data)]
    if sum(len(data) for _, data in series) > _MOST_BYTES:
        raise UserError(f"the pictures have more than {_MOST_BYTES:,} bytes together; give fewer or smaller ones")
    return sorted(series, key=lambda file: _natural_order(file[0]))


def _unzip(name: str, data: bytes) -> list[File]:
    """The pictures of a zip; names that lead out of it, encrypted members and too large contents are refused."""
    files: list[File] = []
    room = _MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in _picture_members(name, archive):
                with archive.open(member) as opened:
                    content = opened.read(room + 1)  # the size in the header is not to be trusted
                room -= len(content)
                if room < 0:
                    raise UserError(
                        f"{_quoted(name)} holds more than {_MOST_BYTES:,} bytes; give fewer or smaller pictures"
                    )
                files.append((member.filename, content))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise UserError(f"{_quoted(name)} is a zip that cannot be read ({error})") from error
    return files


def _picture_members(name: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    for member in members:
        parts = re.split(r"[/\\]", member.filename)
        if ".." in parts or member.filename.startswith(("/", "\\")) or ":" in parts[0]:
            raise UserError(f"{_quoted(name)} holds {_quoted(member.filename)}, a name that leads out of the archive")
    wanted = [member for member in members if _is_picture_name(member.filename)]
    if not wanted:
        raise UserError(f"{_quoted(name)} holds no pictures; their names end in {', '.join(_ENDINGS)}")
    if len(wanted) > MOST_RETURNS + 1:
        raise UserError(
            f"{_quoted(name)} holds {len(wanted)} pictures; at most {MOST_RETURNS} returns are scored at once"
        )
    return wanted


def _is_picture_name(name: str) -> bool:
    last = re.split(r"[/\\]", name)[-1]
    return last.lower().endswith(_ENDINGS) and not last.startswith(".") and not name.startswith("__MACOSX")


def _natural_order(name: str) -> list[tuple[int, str]]:
    """A sort key by which round10 comes after round9.

    >>> sorted(["r10.png", "r9.png"], key=_natural_order)
    ['r9.png', 'r10.png']
    """
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in re.split(r"(\d+)", name)]


def _quoted(name: str) -> str:
    return repr(name[-60:])


def load_lpips() -> Lpips | str:
    """LPIPS if torch and its weights are installed; otherwise the reason why not."""
    try:  # torch, which takes 250 MB, is only imported once the weights are loaded
        from convergebench.metric_modules.lpips import measure, weights

        tensors, digest = weights.load("alex")
    except (ImportError, FileNotFoundError, ValueError) as error:
        return (
            "torch is not installed" if isinstance(error, ImportError) else str(error).split(";")[0].split(" in /")[0]
        )
    model = measure.model("alex", tensors, "cpu", "float32", digest)

    def of(reference: np.ndarray) -> Distance:
        features = measure.features(model, [reference])
        return lambda _, picture: {"lpips": measure.distances(model, features, [picture])[0]["lpips"]}

    return of
