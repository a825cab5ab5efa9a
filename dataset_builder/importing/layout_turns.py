"""Import layout `dataset`: a Hugging Face dataset with a picture column for each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import UserError
from huggingface_hub import HfFileSystem

from .chains import Findings, Problem, chain_of_turns

if TYPE_CHECKING:
    from datasets import IterableDataset


def find_chains(
    path: str,
    editor: str,
    source: str,
    turns: Sequence[str],
    instructions: Sequence[str] = (),
    split: str | None = None,
    config: str | None = None,
    revision: str | None = None,
    kind: str | None = None,
    closes: bool = False,
) -> Findings:
    """Chains of one round, with a column for the source and for each turn.

    Unless `instructions` names their columns, the instruction for
    turn_1_image is in turn_1_instruction, turn_1_prompt or turn_1_text.
    """
    loaded = open_split(path, config, split, revision)
    # Files that declare no columns have them in a row.
    names = list(loaded.column_names or next(iter(loaded), {}))
    instruction_columns = _instruction_columns(turns, instructions, names)
    for name in (source, *turns, *filter(None, instruction_columns)):
        if name not in names:
            raise UserError(f"{path} has no column {name!r}; its columns are {', '.join(names)}")
    for number, row in enumerate(loaded):
        where = f"{path}, row {number}"
        picture = picture_of(row[source], path)
        if picture is None:
            yield Problem(where, f"has no picture in {source!r}")
            continue
        answers = [
            (turn, str(row[words] or "") if words else "", f"{where}, {turn}", picture_of(row[turn], path))
            for turn, words in zip(turns, instruction_columns, strict=True)
        ]
        chain = chain_of_turns("dataset", f"{number}", f"row-{number}", picture, answers, editor, kind)
        yield replace(chain, where=where, program=replace(chain.program, id=f"turns-{number}", closes=closes))


def open_split(
    path: str, config: str | None = None, split: str | None = None, revision: str | None = None
) -> "IterableDataset":
    """One split as a stream, by default the only one; its pictures as they are stored, for decoding is not undone."""
    import datasets

    try:
        loaded = datasets.load_dataset(path, config, split=split, revision=revision, streaming=True)
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        advice = "check its name, --split, and `hf auth login`"
        raise UserError(f"{path} cannot be opened ({reason}); {advice}") from error
    splits = loaded if isinstance(loaded, dict) else {split: loaded}
    if len(splits) > 1:
        raise UserError(f"{path} has the splits {', '.join(map(str, splits))}; choose one with --split")
    chosen = next(iter(splits.values()))
    return chosen.decode(False) if chosen.features else chosen


def _instruction_columns(
    turns: Sequence[str], instructions: Sequence[str], names: Sequence[str]
) -> Sequence[str]:
    if len(instructions) not in (0, len(turns)):
        raise UserError(f"{len(instructions)} columns of instructions for {len(turns)} turns; give one for each")
    return instructions or [_instruction_column(turn, names) for turn in turns]


def _instruction_column(turn: str, names: Sequence[str]) -> str:
    columns = [f"{turn.removesuffix('_image')}_{word}" for word in ("instruction", "prompt", "text")]
    return next((column for column in columns if column in names), "")


def picture_of(value: Mapping[str, Any] | None, dataset: str) -> Path | bytes | None:
    """A picture of a dataset whose column is not decoded; a file only if it is one of the dataset's own."""
    if value is None:
        return None
    if value.get("bytes") is not None:
        return value["bytes"]
    path = str(value["path"])
    if path.startswith(f"hf://datasets/{dataset}@"):
        return HfFileSystem().cat_file(path)
    if not Path(path).resolve().is_relative_to(Path(dataset).resolve()):
        raise UserError(f"{dataset} names the picture {path}, which is not inside it")
    return Path(path)
