"""Declares the table `published`."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from ...dataset.columns import Row


@dataclass(frozen=True, kw_only=True)
class PublishedRow(Row):
    TABLE: ClassVar = "published"
    ROW: ClassVar = "numbers that others published for one step, under their own definitions"

    chain: Annotated[str | None, "id of the chain here, if its pictures are those that were scored"]
    editor: Annotated[str, "the editor as this dataset names it"]
    case: Annotated[str, "the case as the published table names it"]
    image: Annotated[str | None, "the picture that the case starts from, as the published table names it"]
    run: Annotated[int, "1 for the first time"]
    round: Annotated[int, "round of the chain, from 1"]
    position: Annotated[int | None, "place in the round's cycle, from 1; null if only whole rounds are published"]
    category: Annotated[str | None, "restoration if the table is of restored pictures"]
    program: Annotated[str | None, "for restoration: the prompt, as the published table names it"]
    clean: Annotated[str | None, "for restoration: the undegraded picture"]
    scene: Annotated[str | None, "for restoration: the kind of scene"]
    degradation: Annotated[str | None, "for restoration: what was wrong with the picture"]
    psnr: Annotated[float | None, "as published, in dB"]
    rmse: Annotated[float | None, "as published"]
    ssim: Annotated[float | None, "as published"]
    lpips: Annotated[float | None, "as published"]
    clip: Annotated[float | None, "as published"]
    reasons: Annotated[str, "JSON: for each value that is null, why"]
    table: Annotated[str, "name of the published table"]
    table_sha256: Annotated[str, "of the table's file"]
    signature: Annotated[str, "how the numbers were made, as far as known"]


PUBLISHED = PublishedRow.config(
    made_by="import --layout scores", depends="the tables of published scores", may_have_more=True
)
TABLES = (PUBLISHED,)
