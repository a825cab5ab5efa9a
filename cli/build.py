"""`convergebench build`: writes the finished chains of runs as a dataset folder."""

import json
from pathlib import Path

import click

from ._shared import json_option, progress_bar


@click.command("build")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("convergebench"),
    show_default=True,
    help="The dataset's folder.",
)
@json_option
def build(runs: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Turn the finished chains of one or more runs into a dataset that load_dataset reads.

    \b
    convergebench build runs/demo --out convergebench
    convergebench build runs/demo runs/other --out convergebench --json
    """
    counts = run(runs, out, quiet=as_json)
    if as_json:
        click.echo(json.dumps(counts))


def run(runs: tuple[Path, ...], out: Path, quiet: bool = False) -> dict[str, object]:
    """Build with a progress bar, copy the metric folders beside the data, and say what was left out."""
    from convergebench.dataset_builder.building import build as building
    from convergebench.dataset_builder.building.card_tables import count_text, size_text
    from convergebench.generation.store_reader import find_finished

    found = find_finished(set(runs))
    check_metric_folders(out)
    with progress_bar("build", found.steps, "steps", quiet) as advance:
        built = building.build(found, out, lambda: advance(1, ""))
    copy_metric_folders(out)
    if not quiet:
        numbers = {"chain": built.chains, "step": built.steps, "source": built.sources}
        counts = ", ".join(count_text(count, noun) for noun, count in numbers.items())
        click.echo(f"{out}: {counts} in {count_text(built.files, 'file')}, {size_text(built.bytes)}")
    if built.unfinished:
        first = built.unfinished[0]
        click.echo(f"left out: {count_text(len(built.unfinished), 'chain')} not done yet, such as {first}", err=True)
    for path in built.foreign:
        click.echo(f"left out: {path} is no part of a chain", err=True)
    if built.stale:
        click.echo(f"taken out: {count_text(built.stale, 'score row')} of pictures that are no longer there", err=True)
    return {
        "folder": str(out),
        "chains": built.chains,
        "steps": built.steps,
        "sources": built.sources,
        "files": built.files,
        "bytes": built.bytes,
        "unfinished": len(built.unfinished),
        "foreign": [str(path) for path in built.foreign],
        "stale": built.stale,
    }


def metric_folders() -> dict[str, dict[str, bytes]]:
    """The files of every metric folder, by its name; a link is the file itself."""
    from convergebench import metric_modules

    root = Path(str(metric_modules.__path__[0]))
    names = sorted(path.parent.name for path in root.glob("*/*.py") if path.stem == path.parent.name)
    return {
        name: {
            path.name: path.read_bytes()
            for path in sorted((root / name).iterdir())
            if path.is_file() and not path.name.startswith(".")
        }
        for name in names
    }


def check_metric_folders(out: Path) -> None:
    """Refuse, before anything is written, to replace a file in the place of a metric's that we did not write."""
    from convergebench.dataset_builder.dataset import manifest

    made_earlier = (out / ".hashes.json").exists() and not (out / manifest.MANIFEST).exists()  # by an older version
    foreign = [name for name in metric_folders() if (out / name).exists() and not (out / name).is_dir()]
    for name, files in metric_folders().items():
        for file, data in files.items():
            path = out / name / file
            if name in foreign or not path.exists() or (path.is_file() and path.read_bytes() == data):
                continue
            if made_earlier or (path.is_file() and manifest.is_as_written(out / name, file)):
                continue
            foreign.append(f"{name}/{file}")
    advice = "move them or choose another folder"
    manifest.refuse(out, foreign, "`convergebench build` did not write", advice)


def copy_metric_folders(out: Path) -> None:
    """Copy the metric folders beside the data: `evaluate.load("convergebench/halflife")` works offline there.

    Of what else lies in these folders only files that an earlier copy brought are removed.
    """
    from hashlib import sha256

    from convergebench.dataset_builder.dataset import manifest
    from convergebench.generation.files import write_whole

    for name, files in metric_folders().items():
        folder = out / name
        gone = manifest.listed(folder) - files.keys()
        old = [file for file in gone if (folder / file).is_file() and manifest.is_as_written(folder, file)]
        entries = {file: {"sha256": sha256(data).hexdigest()} for file, data in files.items()}
        manifest.expect(folder, entries)
        for file, data in files.items():
            write_whole(folder / file, data)
        for file in old:
            (folder / file).unlink()
        manifest.record(folder, entries)
