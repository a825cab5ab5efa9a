"""Import layout `paintbench`: a model's answers to PaintBench or TinyGrafixBench.

https://github.com/PaintBench/PaintBench: the benchmark has TASK/NNN_input.png,
NNN_answer.png and NNN.json with the instruction; a model's folder has
TASK/NNNN_output.png. The benchmark's answer is the chain's reference.
"""

from dataclasses import replace
from pathlib import Path

from convergebench.generation.records import UserError

from .chains import Findings, FoundChain, Problem, chain_of_turns, check_folder
from .tables import json_file

_OUTPUT, _INPUT = "_output.png", "_input.png"


def find_chains(path: Path, editor: str, benchmark: Path, kind: str | None = None) -> Findings:
    """A chain of one call for each problem that the model answered, in the tasks that its folder has."""
    for folder in (path, benchmark):
        check_folder(folder, "it must hold a folder for each task")
    answers = {
        (file.parent.name, int(name)): file
        for file in sorted(path.glob(f"*/*{_OUTPUT}"))
        if (name := file.name.removesuffix(_OUTPUT)).isdecimal()
    }
    if not answers:
        raise UserError(f"{path} holds no TASK/NNNN{_OUTPUT}; give a model's folder for one benchmark")
    tasks = sorted({task for task, _ in answers})
    for question in sorted(file for task in tasks for file in (benchmark / task).glob(f"*{_INPUT}")):
        task, number = question.parent.name, question.name.removesuffix(_INPUT)
        if answer := answers.pop((task, int(number)), None) if number.isdecimal() else None:
            yield _chain(question, number, answer, editor, kind)
        else:
            yield Problem(str(question), f"has no answer in {path / task}", is_note=True)
    for answer in answers.values():
        yield Problem(str(answer), f"answers a problem that {benchmark} does not have")


def _chain(question: Path, number: str, answer: Path, editor: str, kind: str | None) -> FoundChain:
    task = question.parent.name
    instruction = str(json_file(question.with_name(f"{number}.json"))["instruction"])
    name = f"{task}-{number}"
    turn = (number, instruction, str(answer), answer)
    chain = chain_of_turns("paintbench", name, f"paintbench-{name}", question, [turn], editor, kind)
    program = replace(chain.program, closes=True, category=task, reversibility="exact")
    return replace(chain, source=name, program=program, reference=question.with_name(f"{number}_answer.png"))
