"""Every program of every suite stands in the report, and the chains of each suite add up to what became of them."""

import re

import pytest
from convergebench.generation import suites
from convergebench.generation.records import Chain, FinishedChain
from convergebench.spaces_app.analysis.analysis import Analysis, Options
from convergebench.spaces_app.reporting.sentences import methods_paragraph
from convergebench.spaces_app.reporting.write import make_report

ENDS = ("complete", "refused", "failed", "audited", "unscored", "twice")  # what becomes of a program's chains, in turn
PROGRAMS = {name: suites.load(name).programs for name in suites.names()}


def chains_of(name, skip=()):
    """One chain of every program that some picture of the suite fits, with what becomes of it."""
    suite = suites.load(name)
    done = set()
    for variant in suite.variants:
        for source, program in suites.cases(suite, variant):
            if program.id not in done | set(skip):
                done.add(program.id)
                end = ENDS[len(done) % len(ENDS)]
                settings = {"short_side": 8} | ({"audit": "noise"} if end == "audited" else {})
                # Two rounds, so that an audit would have disturbed what has one instruction.
                chain = Chain(source, program, "one", settings, 1, 2)
                status = end if end in ("refused", "failed") else "complete"
                yield end, FinishedChain(chain.id, chain, name, "1", status, 2 * len(program.cycle), None)
                if end == "twice":
                    other = Chain(source, program, "one", settings | {"seed": "fixed"}, 1, 2)
                    yield end, FinishedChain(other.id, other, name, "1", status, 2 * len(program.cycle), None)


def score_rows(end, chain):
    """Both rounds of a chain, untouched; none of one that was not scored."""
    length = len(chain.program.cycle)
    last = {"refused": 2, "failed": 1}.get(end, 2 * length + 1)
    for step in range(1, 2 * length + 1) if end != "unscored" else ():
        status = "ok" if step < last else chain.status
        known = {"psnr": 30.0, "rmse": 5.0, "ssim": 0.9, "lpips": 0.1} if status == "ok" else {}
        known |= {f"retained_{metric}": 0.9 for metric in ("rmse", "ssim", "lpips")} if known else {}
        place = {"step": step, "round": (step - 1) // length + 1, "position": (step - 1) % length + 1}
        yield {"chain": chain.id, "status": status, "reasons": "{}", "signature": "{}"} | place | known
        if status != "ok":
            return


def equation_holds(text, total):
    """Whether a printed sum is right: what stands left of the sign is what the parts add up to."""
    left, right = text.split(" = ")
    numbers = [int(part) for part in re.findall(r"(?:^|\+ )(\d+) ", right)]
    return int(re.search(r"(\d+) chains generated$", left)[1]) == sum(numbers) == total


@pytest.mark.parametrize("name", suites.names())
def test_the_programs_of_a_suite_add_up_to_its_chains(name):
    absent = PROGRAMS[name][1:][-1:]  # the last of several
    made = list(chains_of(name, skip=absent))
    chains = [chain for _, chain in made]
    scores = [row for end, chain in made for row in score_rows(end, chain)]
    tables = make_report(Analysis(scores, chains, options=Options(suites=PROGRAMS))).tables
    rows = {row["program"]: row for row in tables["programs"].rows}
    assert rows.keys() == set(PROGRAMS[name])
    for program, row in rows.items():
        counted = sum(row.get(key, 0) for key in row if key not in ("chains",) and isinstance(row[key], int))
        assert counted == row["chains"]
        assert row["chains"] or (program in absent and "no chain in this dataset" in row["reason"])
    assert equation_holds(tables["programs"].note.partition("; ")[0].rstrip("."), len(chains))
    paragraph = methods_paragraph(tables)
    [printed] = re.findall(r"\d+ chains generated = [^.;]*", paragraph)
    assert equation_holds(printed, len(chains))
