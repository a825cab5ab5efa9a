"""Whether finished chains are the cases of a suite: all of them and no others, audited as the suite says."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ... import audits, editors, suites
from ...plan import is_audited
from ...records import Chain, FinishedChain, Setting, UserError

_OF_THE_HARNESS = ("short_side", *audits.SETTINGS)  # settings that no editor has
_Case = tuple[Any, ...]


def departures(chains: Sequence[FinishedChain], salt: bytes = b"") -> list[str]:
    """One sentence for each way in which chains depart from the suite that they name; none where they are its cases."""
    named = sorted({(chain.suite, chain.suite_version) for chain in chains})
    if len(named) != 1:
        return [f"the chains are of {len(named)} suites; a submission is of one"]
    [(name, version)] = named
    if name not in suites.names():
        return [f"no suite {name!r}; a submission is of one of {', '.join(suites.names())}"]
    suite = suites.load(name)
    if version != suite.version:
        return [f"suite {name} is version {version!r} in the chains, and version {suite.version!r} here"]
    by_editor: dict[str, list[FinishedChain]] = defaultdict(list)
    for chain in chains:
        by_editor[chain.editor].append(chain)
    found = [sentence for own in by_editor.values() for sentence in departures_of_editor(suite, own)]
    found += _absent_variants(suite, by_editor)
    return found or [sentence for own in by_editor.values() for sentence in _audit_departures(own, salt)]


def departures_of_editor(suite: suites.Suite, chains: Sequence[FinishedChain]) -> list[str]:
    """The same for the chains of one editor with its options."""
    label = chains[0].editor
    options = {_canonical_settings(chain) for chain in chains}
    if len(options) > 1:
        return [f"the chains of {label} have {len(options)} different settings under one name"]
    there = {_case_of(chain.chain): chain for chain in chains}
    if len(there) < len(chains):
        return [f"{label} has {len(chains) - len(there)} cases twice"]
    settings = _settings_of(chains[0].chain)
    wanted = {
        variant.name: set(_cases_of(suite, variant))
        for variant in suite.variants
        if variant.settings.items() <= settings.items()
    }
    strange = there.keys() - set().union(*wanted.values())
    if strange:
        chain = there[min(strange, key=str)]
        return [
            f"chain {chain.id} of {label} ({_words_of(chain)}, {chain.rounds} rounds) is no case of suite "
            f"{suite.name} {suite.version}: its picture, words, rounds or size are others"
        ]
    whole = set().union(*(cases for cases in wanted.values() if cases <= there.keys()))
    if whole == there.keys():
        return []
    begun = max(wanted.values(), key=lambda cases: len(cases & there.keys() - whole))
    missing = sorted(begun - there.keys(), key=str)
    first = missing[0]
    return [
        f"{label} lacks {len(missing)} of the {len(begun)} cases of suite {suite.name} {suite.version}, such as "
        f"{first[0]} with {first[3]}, run {first[6]}: a submission holds every case"
    ]


def _absent_variants(suite: suites.Suite, by_editor: Mapping[str, Sequence[FinishedChain]]) -> list[str]:
    """The variants of a suite that no chain is of, though the editor has their settings."""
    found = []
    settings = [_settings_of(chains[0].chain) for chains in by_editor.values()]
    for variant in suite.variants:
        has_option = any(variant.settings.keys() <= each.keys() for each in settings)
        takes = any(_takes_settings(label, variant.settings) for label in by_editor)
        if has_option and takes and not any(variant.settings.items() <= each.items() for each in settings):
            found.append(f"no chain is of {variant.name!r} of suite {suite.name}: a submission holds every case")
    return found


def _takes_settings(label: str, settings: Mapping[str, Setting]) -> bool:
    """Whether an editor that is here can be given these settings; one that is not here is asked for nothing more."""
    try:
        return editors.with_settings(editors.choose(label, find_out=False), settings) is not None
    except UserError:
        return False


def _audit_departures(chains: Sequence[FinishedChain], salt: bytes) -> list[str]:
    """The chains that the recall audit disturbed though it should not have, or left alone though it should."""
    found = []
    audited = is_audited(_editor_of(chains[0].editor))
    for chain in chains:
        settings = chain.chain.settings
        plain = replace(chain.chain, settings={k: v for k, v in settings.items() if k not in audits.SETTINGS})
        if "salt" in settings and audits.salt_hash(salt)[:16] != settings["salt"]:
            if salt:
                return [f"the chains of {chain.editor} were audited with another salt than the one given"]
            continue  # nobody can tell without the salt; its hash is in the bundle
        expected = audits.with_audit(plain, salt if "salt" in settings else b"") if audited else plain
        was, wanted = (each.get("audit") for each in (settings, expected.settings))
        if was != wanted:
            found.append(
                f"chain {chain.id} of {chain.editor} ({_words_of(chain)}) has audit {was or 'none'}, and "
                f"{wanted or 'none'} was due: a submission is audited as the suite says"
            )
    return found[:1]


def _editor_of(label: str) -> object:
    """The editor of that name, or None where it is somebody's own."""
    try:
        return editors.choose(label, find_out=False).editor
    except UserError:
        return None


def _settings_of(chain: Chain) -> dict[str, Setting]:
    """The editor's own settings."""
    return {name: value for name, value in chain.settings.items() if name not in _OF_THE_HARNESS}


def _canonical_settings(chain: FinishedChain) -> str:
    return repr(sorted(_settings_of(chain.chain).items()))


def _cases_of(suite: suites.Suite, variant: suites.Variant) -> Iterable[_Case]:
    for source, program in suites.cases(suite, variant):
        for run in range(1, variant.runs + 1):
            settings = {"short_side": suite.short_side}
            yield _case_of(Chain(source, program, "", settings, run, variant.rounds))


def _case_of(chain: Chain) -> _Case:
    """What makes a chain a case, whoever the editor: its picture, its words, its run, its rounds and its size."""
    source, program = chain.source, chain.program
    words = tuple(program.cycle), tuple(program.items)
    return (
        *(source.id, source.sha256, source.reference, program.id, *words),
        *(chain.run, chain.rounds, chain.settings.get("short_side")),
    )


def _words_of(chain: FinishedChain) -> str:
    return f"{chain.source.id} with {chain.program.id}, run {chain.run}"
