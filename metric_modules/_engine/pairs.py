"""Every metric that compares two pictures, on two files or on two folders of files with equal names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convergebench.generation.pictures import Undecodable, decode_array, resize_to
from convergebench.generation.records import Json, UserError

from ..scores import Missing
from . import metrics as loading
from .score_chain import Reference, compare


def measure(
    a: str | Path,
    b: str | Path,
    metrics: Sequence[str] | None = None,
    *,
    device: str | None = None,
    dtype: str = "float32",
) -> list[Json]:
    """How far the picture `b` is from `a`, or each of a folder from that of the same name; one row a pair.

    A picture of another size is brought to that of `a`, as in a dataset's scores;
    `resized` says so. A value that cannot be computed is None, and `reasons` says why.

    >>> import convergebench as cb
    >>> [row] = cb.measure(picture, picture, ["psnr", "ssim"])
    >>> row["rmse"], row["ssim"], row["resized"]
    (0.0, 1.0, False)
    """
    runs, absent = _picture_metrics(metrics, device, dtype)
    rows = []
    for name, first, second in _pairs(Path(a), Path(b)):
        reference, picture = Reference(_read(first)), _read(second)
        fitted = resize_to(picture, *reference.size)
        [values] = compare(reference, [fitted], runs, lambda column, value: False)
        columns = [column for run in runs for column in run.spec.names if column in values]
        missing = {key: value.sentence for key, value in values.items() if isinstance(value, Missing)}
        numbers = {key: None if key in missing else values[key] for key in columns}
        rows.append({"name": name, "resized": fitted is not picture, **numbers, "reasons": {**missing, **absent}})
    return rows


def _picture_metrics(
    requested: Sequence[str] | None, device: str | None, dtype: str
) -> tuple[list[loading.MetricRun], dict[str, str]]:
    runs, absent = loading.choose(requested, device, dtype)
    usable = [run for run in runs if run.spec.kind == "picture"]
    if requested is not None:
        loading.refuse_absent(absent)
        for run in runs:
            if run not in usable:
                raise UserError(f"the metric {run.name} judges the rounds of a chain; two pictures have none")
    return usable, absent


def _pairs(a: Path, b: Path) -> list[tuple[str, Path, Path]]:
    for path in (a, b):
        if not path.exists():
            raise UserError(f"{path} does not exist; give two pictures or two folders")
    if a.is_dir() != b.is_dir():
        raise UserError(f"{a} and {b} are a folder and a file; give two pictures or two folders")
    if not a.is_dir():
        return [(b.name, a, b)]
    ours, theirs = ({path.stem: path for path in sorted(folder.iterdir()) if path.is_file()} for folder in (a, b))
    if lonely := sorted(ours.keys() ^ theirs.keys()):
        raise UserError(f"{lonely[0]} is in only one of {a} and {b}; both must have the same names")
    if not ours:
        raise UserError(f"{a} holds no pictures")
    return [(theirs[stem].name, ours[stem], theirs[stem]) for stem in ours]


def _read(path: Path) -> Any:
    try:
        return decode_array(path.read_bytes())
    except Undecodable as error:
        raise UserError(f"{path} cannot be measured: it is {error}") from error
