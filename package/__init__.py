"""ConvergeBench measures how long an image editor survives being used again and again.

Every command is a function of this package, with the same words:

    import convergebench as cb

    print(cb.run(edit, suite="smoke"))  # your own function edit(image, instruction, seed)

    cb.generate(edit, suite="smoke", out="runs/mine")  # the same in steps
    cb.build("runs/mine", out="mine")
    cb.score("mine", ["psnr", "ssim"])
    print(cb.report("mine", out="report"))

Commands without a function here return what their --json prints: `cb.list_suites()`, `cb.weights("lpips")`.

Importing the package imports nothing heavy; a function loads what it needs when it is called.
"""

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from convergebench.bench import demo as demo
    from convergebench.bench import run as run
    from convergebench.dataset_builder import build as build
    from convergebench.dataset_builder.importing.chains import Imported
    from convergebench.dataset_builder.publishing.verify import Finding
    from convergebench.generation import generate as generate
    from convergebench.generation.editors import Choice
    from convergebench.generation.plan import Plan
    from convergebench.metric_modules import score as score
    from convergebench.metric_modules._engine.pairs import measure as measure
    from convergebench.metric_modules._judges.run import judge as judge
    from convergebench.spaces_app import report as report
    from convergebench.spaces_app.publishing.track import track as track

    __version__: str

# The functions of rooms, and the room of each.
_OF_ROOMS = {
    "generate": "generation",
    "build": "dataset_builder",
    "score": "metric_modules",
    "demo": "bench",
    "judge": "metric_modules._judges.run",
    "measure": "metric_modules._engine.pairs",
    "report": "spaces_app",
    "run": "bench",
    "track": "spaces_app.publishing.track",
}
__all__ = sorted([*_OF_ROOMS, "import_chains", "plan", "publish", "space", "verify"])


def __getattr__(name: str) -> object:
    if name in _OF_ROOMS:
        return getattr(importlib.import_module(f"{__name__}.{_OF_ROOMS[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("convergebench")
    verbs = importlib.import_module(f"{__name__}.verbs")
    if name in verbs.names():
        return verbs.function_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = importlib.import_module(f"{__name__}.verbs").names()
    return sorted({*__all__, "__version__", *names})


def plan(
    editor: "Callable[..., object] | str | Sequence[Callable[..., object] | str | Choice]" = (),
    suite: str | Path = "demo",
    *,
    rounds: int | None = None,
    runs: int | None = None,
    pictures: str | Path | None = None,
    kind: str | None = None,
    audit: bool = True,
    salt_file: str | Path | None = None,
    policies: Sequence[str] = (),
    **selection: Any,
) -> "Plan":
    """The chains that `generate` would run with the same arguments, without running them.

    >>> import convergebench as cb
    >>> [chain.program.id for chain in cb.plan("jpeg", "smoke", limit=1).chains]
    ['glasses']
    """
    from convergebench.generation import audits, editors, suites
    from convergebench.generation import plan as planning

    choices, loaded = editors.chosen(editor), suites.load(str(suite), pictures, kind)
    salt = audits.read_salt(salt_file)
    return planning.make_plan(loaded, choices, rounds, runs, audit, salt, policies, **selection)


def verify(folder: str | Path) -> "list[Finding]":
    """What is broken in a run or a dataset; an empty list if nothing is."""
    from convergebench.dataset_builder.publishing.verify import verify as check

    return check(Path(folder))


def import_chains(
    path: str | Path,
    layout: str,
    editor: str | None = None,
    out: str | Path | None = None,
    *,
    originals: str | Path | None = None,
    origin: str = "real",
    licence: str = "unknown",
    attribution: str = "unknown",
    **options: Any,
) -> "Imported":
    """Store chains made elsewhere as a run, their bytes unchanged; what could not be imported is in `problems`.

    `layout` is edit-converge-bench, table or dataset;
    further options are those of the layout's `find_chains`.
    """
    from convergebench.dataset_builder.importing import chains, layout_pairs, layout_table, layout_turns
    from convergebench.generation.records import one_of

    layouts = {"edit-converge-bench": layout_pairs, "table": layout_table, "dataset": layout_turns}
    one_of("layout", layout, tuple(layouts))
    if layout == "table":
        options.setdefault("columns", {})
    place = str(path) if layout == "dataset" else Path(path)
    findings = layouts[layout].find_chains(place, editor, **options)
    rights = {"origin": origin, "licence": licence, "attribution": attribution}
    run, folder = Path(out) if out else None, Path(originals) if originals else None
    return chains.import_into_run(findings, editor or Path(path).stem, run, folder, rights)[1]


def publish(dataset: str | Path, repo: str, tag: str | None = None, *, dry_run: bool = False) -> str | None:
    """Upload a dataset folder to NAMESPACE/NAME on the Hub, in one commit; its id, or the version if that is "next"."""
    from convergebench.dataset_builder.publishing.publish import publish as upload
    from convergebench.spaces_app.reporting.write import headline_with_picture
    from huggingface_hub import HfApi

    client, show = HfApi(library_name="convergebench"), headline_with_picture
    plan = upload(client, Path(dataset), repo, tag, dry_run=dry_run, headline_of=show)
    return cast("str | None", plan["tag" if tag == "next" else "commit"])


def space(
    dataset: str | Path,
    port: int = 7860,
    *,
    open_browser: bool = False,
) -> None:
    """Serve a scored dataset to a browser on this machine, until Ctrl+C."""
    from convergebench.generation.records import UserError

    if not Path(dataset).is_dir() and "/" not in (name := str(dataset)):  # before the Space is loaded
        raise UserError(f"no dataset {name!r}; give a folder that exists here or a Hub repo as NAMESPACE/NAME")
    from convergebench.spaces_app.space import served_dataset

    opened = served_dataset.open_dataset(str(dataset))
    from convergebench.spaces_app import app

    try:
        app.serve(opened, port, inbrowser=open_browser)
    except OSError as error:
        raise UserError(
            f"the Space cannot listen on port {port} ({error}); choose another with --port"
        ) from error
