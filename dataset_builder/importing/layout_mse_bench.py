"""Import layout `mse-bench`: a model's answers to MSE-Bench, five turns on each of a hundred pictures.

https://github.com/ByteDance-Seed/VINCIE, evaluation/compute_score.py: leigangqu/MSE-Bench-results
has a split for each model, with the columns turn_0_image to turn_4_image. Row N answers row N of
leigangqu/MSE-Bench, whose columns are image, index and context, a list of instructions.
"""

import re
from itertools import zip_longest

from convergebench.generation.records import UserError

from .chains import Findings, Problem, chain_of_turns
from .layout_turns import open_split, picture_of

_TURN = re.compile(r"\s*turn_(\d+)_image\s*")


def find_chains(path: str, editor: str, split: str | None, questions: str, kind: str | None = None) -> Findings:
    """One open chain for each row; the split is the model's, by default the editor's name."""
    answers, asked = open_split(path, split=split or editor), open_split(questions, split="train")
    columns = {int(match[1]): name for name in answers.column_names if (match := _TURN.fullmatch(name))}
    turns = [name for _, name in sorted(columns.items())]
    if not turns or not {"image", "context"} <= set(asked.column_names):
        raise UserError(f"{path} must have the columns turn_0_image, ..., and {questions} image and context")
    for number, (row, question) in enumerate(zip_longest(answers, asked)):
        where = f"{path}, row {number}"
        picture = question and picture_of(question["image"], questions)
        if row is None or not picture:
            yield Problem(where, f"is only in {questions}" if row is None else f"has no picture in {questions}")
            continue
        words = [str(text) for text in question["context"]] + [""] * len(turns)
        turn_answers = [
            (name, text, f"{where}, {name}", picture_of(row[name], path))
            for name, text in zip(turns, words, strict=False)
        ]
        index = question.get("index", number)
        yield chain_of_turns("mse-bench", str(index), f"mse-bench-{index}", picture, turn_answers, editor, kind)
