"""`run`: one call from an editor to its numbers, which resumes; its arguments are kept in bench.toml."""

import importlib.metadata
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, make_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from convergebench.generation.files import read_toml, write_whole
from convergebench.generation.records import UserError, Values, check_fields

if TYPE_CHECKING:
    from convergebench.generation.editors import Choice
    from convergebench.generation.plan import Plan
    from convergebench.generation.records import Chain, Setting
    from convergebench.generation.scheduler import Outcome
    from convergebench.spaces_app.reporting.write import Board

CONFIG = "bench.toml"
Editor = Callable[..., Any] | str


@dataclass(frozen=True)
class Bench:
    """What a run can be told in bench.toml, in `cb.run` and by options, besides the keys of `cb.generate`."""

    editor: tuple[str, ...] | str = ()
    suite: str | Path = "demo"
    out: str | Path | None = None
    metrics: tuple[str, ...] | None = None  # by default all that can be computed here
    beside: tuple[str, ...] = ()  # further suites, by their own editors, for the same dataset
    push: str | None = None  # NAMESPACE/NAME of a dataset on the Hub
    licence: str | None = None  # of own pictures, and who made them
    attribution: str | None = None
    fail_on_error: float | None = None  # greatest share of chains that may end without an answer
    fail_under: float | None = None  # fewest rounds that each editor must keep


class Failed(UserError):
    """A run that did not reach its numbers, or whose numbers are too low: then `finished` has them."""

    exit_code = 1

    def __init__(self, sentence: str, finished: "Finished | None" = None):
        super().__init__(sentence)
        self.finished = finished


def as_installed(sentence: str) -> str:
    """Advice to install an extra, from where this copy came: a checkout or a wheel may be on no index."""
    copies = importlib.metadata.distributions(name="convergebench")  # none in a Space
    origin = next(filter(None, (copy.read_text("direct_url.json") for copy in copies)), None)
    if not origin:
        return sentence
    path = url2pathname(urlsplit(json.loads(origin)["url"]).path)
    return re.sub(
        r"pip install 'convergebench", lambda match: f"{sys.executable} -m pip install '{path}", sentence
    )


@dataclass(frozen=True)
class Finished:
    """What a run made. Printing it shows its table and where everything is."""

    dataset: Path
    config: Path
    board: "Board"
    absent: Mapping[str, str]  # metrics that cannot be computed here, and why
    version: str | None = None  # of the published dataset

    def __str__(self) -> str:
        lines = [str(self.board), f"the dataset: {self.dataset}; to repeat this run: {self.config}"]
        for reason in dict.fromkeys(self.absent.values()):
            names = " and ".join(name for name in self.absent if self.absent[name] == reason)
            lines.append(f"not computed: {names}, because {as_installed(reason)}")
        return "\n".join([*lines, f"published: {self.version}"] if self.version else lines)

    def _repr_html_(self) -> str:
        return self.board._repr_html_()


def run(
    editor: Editor | Sequence[Editor] = (),
    suite: str | Path | None = None,
    out: str | Path | None = None,
    *,
    config: str | Path | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Finished:
    """Generate, build, score and report, and with `push` publish; calling it again with the same arguments resumes.

    `editor` is your function `edit(image, instruction, seed)`, an `--editor` such as
    "jpeg:quality=40", or a list. `config` is a bench.toml; arguments override it. Further settings
    are those of `Bench` and of `generate`. Everything is written into `out`, by default bench/SUITE.

    >>> import convergebench as cb
    >>> def edit(image, instruction, seed):
    ...     return image
    >>> finished = cb.run(edit, suite="smoke", out=folder, limit=2, rounds=1, metrics=["psnr"], quiet=True)
    >>> [row["rounds_kept"] for row in finished.board.rows]
    [1.0]
    """
    import convergebench as cb
    from convergebench.generation import editors

    chosen = [editor] if isinstance(editor, str) or callable(editor) else list(editor)
    given = {"suite": suite, "out": out, "editor": [*map(_spec, chosen)] or None, **settings}
    bench, options = _settings(config, {name: value for name, value in given.items() if value is not None})
    specs = chosen or list(bench.editor)
    names = {name: options.pop(name) for name in ("name", "version", "concurrency") if name in options}
    words: dict[str, Setting] = {name: str(value) for name, value in names.items()}
    of_plan = {*inspect.signature(cb.plan).parameters, *_SELECTION}  # the others say how chains are run
    selection = {name: value for name, value in options.items() if name in of_plan}
    planned = cb.plan(editors.chosen(specs, words), bench.suite, **selection)
    folder = Path(bench.out or Path("bench") / planned.suite.name)
    stored = folder / "runs" / planned.suite.name
    _check_early(bench, planned, stored)
    _write_config(folder / CONFIG, bench, options)
    outcome = cb.generate(specs, bench.suite, stored, **options, **names, quiet=quiet)
    if not outcome.clean and (outcome.stopped or outcome.left or len(outcome.failed) == len(planned.choices)):
        raise Failed(_why(outcome))
    for name in bench.beside:
        cb.generate((), name, folder / "runs" / name, quiet=quiet)
    finished, damage = _finish(bench, folder, stored, quiet)
    for sentence in [_why(outcome), *damage, *_below(bench, planned, stored, finished.board)]:
        if sentence:
            raise Failed(sentence, finished)
    return finished


def _finish(bench: Bench, folder: Path, stored: Path, quiet: bool) -> tuple[Finished, Sequence[str]]:
    """From the stored answers to the report; with what is damaged."""
    import convergebench as cb

    dataset, stores = folder / "convergebench", [stored, *(folder / "runs" / name for name in bench.beside)]
    cb.build(stores, dataset, licence=bench.licence, attribution=bench.attribution, quiet=quiet)
    scored = cb.score(dataset, bench.metrics, quiet=quiet)
    board = cb.report(dataset, folder / "report")
    version = f"{bench.push} {cb.publish(dataset, bench.push, 'next')}" if bench.push else None
    return Finished(dataset, folder / CONFIG, board, scored.absent, version), scored.damage


def demo(suite: str = "demo", *, workers: int = 8, quiet: bool = False) -> Finished:
    """`run` on small editors in the current folder, with the weights of LPIPS fetched first if they can be."""
    from convergebench.generation import suites
    from convergebench.metric_modules.lpips import weights

    say = partial(print, file=sys.stderr)
    try:
        weights.fetch_weights(say, ("alex",))
    except (OSError, ValueError) as error:
        say(f"continuing without LPIPS: {as_installed(str(error))}")
    beside = tuple(name for name in suites.names() if name.startswith("demo-") and suite == "demo")  # of studies
    return run((), suite, ".", workers=workers, quiet=quiet, beside=beside)


# --- what is checked before anything is stored


def _check_early(bench: Bench, planned: "Plan", stored: Path) -> None:
    from convergebench.dataset_builder.publishing import hub
    from convergebench.generation import scheduler, store
    from convergebench.generation.editors import is_own
    from convergebench.metric_modules._engine import metrics

    if bench.fail_on_error is not None and not 0 <= bench.fail_on_error <= 1:
        raise UserError(f"--fail-on-error must be a share from 0 to 1, got {bench.fail_on_error:g}")
    if bench.metrics is not None:
        metrics.refuse_absent(metrics.choose(bench.metrics, None, None)[1])
    undone = {chain.editor for chain in planned.chains if not store.is_done(stored, chain.id)}
    scheduler.require_ready([choice for choice in planned.choices if choice.label in undone])
    if bench.push:
        from huggingface_hub import HfApi

        hub.read_repo(HfApi(library_name="convergebench"), bench.push, "dataset")
    for choice in planned.choices:
        chains = [chain for chain in planned.chains if chain.editor == choice.label]
        begun = any((stored / "chains" / chain.id).exists() for chain in chains)
        if is_own(choice) and chains and not begun:
            _try_first_step(planned, choice, chains[0])


def _try_first_step(planned: "Plan", choice: "Choice", chain: "Chain") -> None:
    """Try the first step of a user's function, so that a broken one is reported before a whole run fails."""
    from convergebench.generation import loop, pictures
    from convergebench.generation.calls import Unusable

    picture = pictures.decode(planned.suite.read(chain.source.id))
    start = loop.prepare(picture, planned.suite.short_side)
    try:
        answer = loop.try_once(choice, start, chain.program.cycle[0], chain.seed(1))
    except Unusable as error:
        raise Failed(f"{choice.label}: {error}") from error
    if answer["status"] in ("failed", "no_image"):
        raise Failed(f"{choice.label}: the trial call failed, and nothing was stored: {answer['reason']}")


# --- whether the numbers are good enough


def _why(outcome: "Outcome") -> str:
    reasons = [f"{label}: no call had an answer; the first one: {why}" for label, why in outcome.failed.items()]
    return next(iter([*reasons, *filter(None, [outcome.stopped]), *outcome.left.values()]), "")


def _below(bench: Bench, planned: "Plan", stored: Path, board: "Board") -> Iterator[str]:
    """What --fail-on-error and --fail-under object to, for the editors of this call that are not baselines."""
    from convergebench.generation.editors import trait
    from convergebench.generation.status import read_status

    kept = {row["editor"]: row.get("rounds_kept") for row in board.rows}
    counts = read_status(stored)["editors"]
    for choice in planned.choices:
        label, count = choice.label, counts[choice.label]
        share = (count["failed"] + count["no_image"]) / count["chains"]
        if bench.fail_on_error is not None and share > bench.fail_on_error:
            yield f"{label}: {share:.0%} of its chains ended without an answer, more than {bench.fail_on_error:.0%}"
        if bench.fail_under is not None and trait(choice.editor, "role") == "editor":
            rounds = kept.get(label)
            if rounds is None or rounds < bench.fail_under:
                number = "has no number of rounds" if rounds is None else f"kept {rounds:.2f} rounds"
                yield f"{label} {number}; --fail-under asks for {bench.fail_under:g}"


# --- bench.toml: paths in it start from its own folder

_SELECTION = {"programs": tuple, "categories": tuple, "kinds": tuple, "sources": tuple, "limit": int | None}
_PATHS = ("out", "pictures", "salt_file")
_NOT_SETTINGS = ("editor", "suite", "out", "quiet", "shard", "executor", "tasks", "logs", "executor_args")


def _settings(config: str | Path | None, given: Values) -> tuple[Bench, dict[str, Any]]:
    """The settings of a file, overridden by those that are given; and those that are of `generate`."""
    from convergebench.generation import generate

    values = {**(_read_config(Path(config)) if config else {}), **given}
    parameters = inspect.signature(generate).parameters.values()
    kinds = {item.name: item.annotation for item in parameters if item.kind is not item.VAR_KEYWORD}
    kinds = {name: kind for name, kind in kinds.items() if name not in _NOT_SETTINGS} | _SELECTION
    bench_fields = [field.name for field in fields(Bench)]
    options = {name: value for name, value in values.items() if name in kinds}
    what = str(config) if config else "a run"
    check_fields(what, {**values, "editor": ()}, Bench, [*bench_fields, *kinds])
    check_fields(what, options, make_dataclass("Options", kinds.items()))
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    bench = Bench(**{name: value for name, value in settings.items() if name in bench_fields})
    return replace(bench, editor=(bench.editor,) if isinstance(bench.editor, str) else bench.editor), options


def _read_config(path: Path) -> dict[str, Any]:
    return _with_paths(read_toml(path), lambda name: str(path.parent / name))


def _write_config(path: Path, bench: Bench, options: Values) -> None:
    """Write what a call with `--config` needs to do the same; a function typed into Python cannot be named."""
    path.parent.mkdir(parents=True, exist_ok=True)
    all_values = {**vars(bench), "out": str(path.parent), **options}
    values = {name: value for name, value in all_values.items() if value not in (None, "", (), [])}
    values["editor"] = [spec for spec in bench.editor if spec]
    values = _with_paths(values, lambda name: os.path.relpath(name, path.parent))
    lines = [f"{name} = {json.dumps(value, default=str)}" for name, value in values.items()]
    if len(values["editor"]) < len(bench.editor):
        lines.insert(0, "# A function that is in no file ran too: cb.run(edit, config=...) gives it again.")
    write_whole(path, ("\n".join(lines) + "\n").encode())


def _with_paths(values: Values, change: Callable[[str], str]) -> dict[str, Any]:
    changed = {name: change(str(value)) if name in _PATHS else value for name, value in values.items()}
    if str(values.get("suite", "")).endswith(".toml"):
        changed["suite"] = change(str(values["suite"]))
    specs = values.get("editor", ())
    edited = []
    for spec in [specs] if isinstance(specs, str) else specs:
        path, ending, function = spec.partition(".py")
        is_file = ending and function[:1] in ("", ":")
        edited.append(change(path) + ending + function if is_file else spec)
    return {**changed, "editor": edited}


def _spec(editor: Editor) -> str:
    """What names an editor in a file; empty for a function that is in none."""
    if isinstance(editor, str):
        return editor
    try:
        file = inspect.getsourcefile(editor) or ""
    except TypeError:
        return ""
    name = getattr(editor, "__qualname__", "")
    return f"{file}:{name}" if file.endswith(".py") and name.isidentifier() and "ipykernel" not in file else ""
