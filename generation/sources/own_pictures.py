"""A folder of somebody's own pictures as sources; the kind of each is given or guessed."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..pictures import Undecodable, decode
from ..records import KINDS, UNKNOWN, Source, UserError, check_fields, check_types, one_of

_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".bmp", ".gif", ".tif", ".tiff")
_ABOUT = ("file", "id", "kind", "origin", "licence", "attribution", "title", "unfit")
_TILES = 4  # a side, for the look of a texture


@dataclass(frozen=True)
class OwnPicture:
    """One picture of one's own: its file, and what is known of it."""

    path: Path
    source: Source
    unfit: tuple[str, ...] = ()  # programs that make no sense here
    guessed: bool = False  # its kind

    def read(self) -> bytes:
        data = self.path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.source.sha256:
            raise UserError(f"{self.path} was changed since the run was planned; give the same command again")
        return data


def find(folder: Path, about: Sequence[Mapping[str, Any]] = (), kind: str | None = None) -> dict[str, OwnPicture]:
    """The pictures of a folder by their ids, which are their names without the ending.

    A kind is given in `about`, by `kind`, or by a folder inside called face, object, scene, texture or text.
    """
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; --pictures must name a folder of pictures")
    said = {_row_file(row): row for row in about}
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS and path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    if not names:
        raise UserError(f"{folder} has no pictures; they end in {', '.join(_ENDINGS)}")
    if unknown := [file for file in said if file not in names]:
        raise UserError(f"{folder} has no picture {unknown[0]!r}; it has {', '.join(list(names)[:5])}")
    found: dict[str, OwnPicture] = {}
    for name, path in names.items():
        folder_kind = path.parent.name if path.parent.name in KINDS else None
        picture = _read_picture(path, said.get(name, {}), kind or folder_kind)
        if picture.source.id in found:
            other = found[picture.source.id].path
            raise UserError(f"{path} and {other} would both be called {picture.source.id!r}; rename one of them")
        found[picture.source.id] = picture
    return found


def _row_file(row: Mapping[str, Any]) -> str:
    """The file that a row of [[picture]] is about; raises UserError for a row that says anything else wrong."""
    what = f"picture {row.get('file', '?')!r}"
    check_fields(what, row, _ABOUT, ["file"])
    check_types(what, Source, {key: value for key, value in row.items() if key != "file"})
    check_types(what, OwnPicture, {"unfit": row.get("unfit", [])})
    return str(row["file"])


def _read_picture(path: Path, about: Mapping[str, Any], kind: str | None) -> OwnPicture:
    """One picture with what is said of it."""
    data = path.read_bytes()
    try:
        pixels = np.asarray(decode(data))
    except Undecodable as error:
        raise UserError(f"{path} is {error}") from error
    given = about.get("kind", kind)
    chosen = str(given or guess_kind(pixels))
    one_of("kind", chosen, KINDS)
    known = {name: str(about[name]) for name in _ABOUT if name in about and name not in ("file", "unfit")}
    id = str(about.get("id") or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "picture")
    whole = {"origin": "real", "licence": UNKNOWN, "attribution": UNKNOWN, "title": path.stem, **known}
    size = {"width": pixels.shape[1], "height": pixels.shape[0], "sha256": hashlib.sha256(data).hexdigest()}
    names = {field.name for field in fields(Source)}
    values = {key: value for key, value in {**whole, **size, "id": id, "kind": chosen}.items() if key in names}
    return OwnPicture(path, Source(**values), tuple(about.get("unfit", ())), given is None)


def guess_kind(pixels: np.ndarray) -> str:
    """What the picture shows, by simple rules: a face if one is found, a texture, an object on a background, a scene.

    It decides only which programs fit; `plan` says what was guessed.
    """
    from ..editors.paint.faces import find_face

    if find_face(pixels).found:
        return "face"
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (128, 128), interpolation=cv2.INTER_AREA).astype(np.float32)
    tiles = small.reshape(_TILES, 128 // _TILES, _TILES, 128 // _TILES).swapaxes(1, 2).reshape(_TILES**2, -1)
    spread = float(tiles.std(1).mean())  # inside a tile
    if tiles.mean(1).std() < 0.5 * spread and tiles.std(1).std() < 0.35 * spread:
        return "texture"
    border = np.concatenate([small[:12].ravel(), small[-12:].ravel(), small[:, :12].ravel(), small[:, -12:].ravel()])
    return "object" if border.std() < 0.8 * small[32:96, 32:96].std() else "scene"
