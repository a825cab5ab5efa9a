"""Checks that finished chains are exactly the cases of a suite, audited as the suite says."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ... import audits, editors, suites
from ...plan import is_audited
from ...records import Chain, FinishedChain, Setting, UserError
from ...vendors import models

_OF_THE_HARNESS = ("short_side", *audits.SETTINGS)  # settings that are not an editor's options
# Source id, its hash and its reference's; program id, cycle and items; run, rounds, evaluation size.
_Case = tuple[str, str, str | None, str, tuple[str, ...], tuple[str, ...], int, int, Setting]


def departures(chains: Sequence[FinishedChain], salt: bytes = b"") -> list[str]:
    """One sentence for each difference from the cases of the suite."""
    named = sorted({(chain.suite, chain.suite_version) for chain in chains})
    if len(named) != 1:
        return [f"the chains are of {len(named)} suites; a submission must be of one"]
    [(name, version)] = named
    try:
        suite = suites.load(name.partition(".toml")[0])  # a file of somebody's own is not a suite of the project
    except UserError:
        return [f"no suite {name!r}; a submission must be of one of {', '.join(suites.names())}"]
    if version != suite.version:
        return [f"suite {name} is version {version!r} in the chains, and version {suite.version!r} here"]
    by_editor: dict[str, list[FinishedChain]] = defaultdict(list)
    for chain in chains:
        by_editor[chain.editor].append(chain)
    wrong = [sentence for of_one in by_editor.values() for sentence in _departures_of_editor(suite, of_one)]
    wrong += _absent_variants(suite, by_editor)
    return wrong or [sentence for of_one in by_editor.values() for sentence in _audit_departures(of_one, salt)]


def _departures_of_editor(suite: suites.Suite, chains: Sequence[FinishedChain]) -> Iterator[str]:
    label, of_suite = chains[0].editor, f"suite {suite.name} {suite.version}"
    options = {repr(sorted(_editor_settings(chain).items())) for chain in chains}
    by_case = {_case_of(chain.chain): chain for chain in chains}
    if vendor := models.vendor_of(label.partition(":")[0]):
        yield f"{label} has the name of a model of {vendor}, whose editor is {vendor}:model=..."
    wanted = _cases_of_variants(suite, _editor_settings(chains[0]))
    whole = set().union(*(cases for cases in wanted if cases <= by_case.keys()))
    if len(options) > 1:
        yield f"the chains of {label} have {len(options)} different settings under one name"
    elif len(by_case) < len(chains):
        yield f"{label} has {len(chains) - len(by_case)} cases twice"
    elif strange := by_case.keys() - set().union(*wanted):
        chain = by_case[min(strange, key=str)]
        what = f"chain {chain.id} of {label} ({_described(chain)}, {chain.rounds} rounds)"
        yield f"{what} is not a case of {of_suite}: its picture, words, rounds or size differ"
    elif whole != by_case.keys():
        begun = max(wanted, key=lambda cases: len(cases & by_case.keys() - whole))
        source, _, _, program, _, _, run, *_ = min(begun - by_case.keys(), key=str)
        missing = f"{len(begun - by_case.keys())} of the {len(begun)} cases of {of_suite}"
        yield f"{label} lacks {missing}, such as {source} with {program}, run {run}: a submission holds every case"


def _cases_of_variants(suite: suites.Suite, settings: Mapping[str, Setting]) -> list[set[_Case]]:
    """The cases of each variant that an editor with these settings has."""
    asked = {"short_side": suite.short_side}
    return [
        {
            _case_of(Chain(source, program, "", asked, run, variant.rounds_of(program)))
            for source, program in suites.cases(suite, variant)
            for run in range(1, variant.runs + 1)
        }
        for variant in suite.variants
        if variant.settings.items() <= settings.items()
    ]


def _absent_variants(suite: suites.Suite, by_editor: Mapping[str, Sequence[FinishedChain]]) -> Iterator[str]:
    settings = [_editor_settings(chains[0]) for chains in by_editor.values()]
    for variant in suite.variants:
        is_there = any(variant.settings.items() <= options.items() for options in settings)
        is_known = any(variant.settings.keys() <= options.keys() for options in settings)
        if is_known and not is_there and any(_takes(label, variant.settings) for label in by_editor):
            yield f"no chain is of {variant.name!r} of suite {suite.name}: a submission holds every case"


def _takes(label: str, wanted: Mapping[str, Setting]) -> bool:
    try:
        return editors.with_settings(editors.choose(label, find_out=False), wanted) is not None
    except UserError:  # nothing more is required of an unknown editor
        return False


def _audit_departures(chains: Sequence[FinishedChain], salt: bytes) -> Iterator[str]:
    editor: object = None  # None if its name is unknown here
    with suppress(UserError):
        editor = editors.choose(chains[0].editor, find_out=False).editor
    for chain in chains:
        settings = chain.chain.settings
        if salt and "salt" not in settings and is_audited(editor):
            yield f"the chains of {chain.editor} were made without the salt that was given"
            return
        if "salt" in settings and audits.salt_hash(salt)[:16] != settings["salt"]:
            if salt:
                yield f"the chains of {chain.editor} were audited with another salt than the one given"
                return
            continue  # cannot be checked without the salt
        audit, due = settings.get("audit"), _audit_due(chain.chain, editor, salt)
        if audit != due:
            what = f"chain {chain.id} of {chain.editor} ({_described(chain)})"
            had = f"has audit {audit or 'none'}, and {due or 'none'} was due"
            yield f"{what} {had}: a submission is audited as the suite says"
            return


def _audit_due(chain: Chain, editor: object, salt: bytes) -> Setting:
    if not is_audited(editor):
        return None
    settings = {name: value for name, value in chain.settings.items() if name not in audits.SETTINGS}
    plain = replace(chain, settings=settings)
    return audits.with_audit(plain, salt if "salt" in chain.settings else b"").settings.get("audit")


def _editor_settings(chain: FinishedChain) -> dict[str, Setting]:
    return {name: value for name, value in chain.chain.settings.items() if name not in _OF_THE_HARNESS}


def _case_of(chain: Chain) -> _Case:
    source, program = chain.source, chain.program
    picture = source.id, source.sha256, source.reference
    words = program.id, tuple(program.cycle), tuple(program.items)
    return *picture, *words, chain.run, chain.rounds, chain.settings.get("short_side")


def _described(chain: FinishedChain) -> str:
    return f"{chain.source.id} with {chain.program.id}, run {chain.run}"
