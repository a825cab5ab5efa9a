import json
from pathlib import Path

import click

from .._shared import PATH, json_option, split_names


@click.command("measure", short_help="Every metric of two pictures, or of two folders.")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@click.option("--metrics", help="Names, separated by commas. Default: all that compare two pictures.")
@click.option("--device", help="cpu or cuda. Default: cuda if there is one.")
@json_option
def command(a: Path, b: Path, metrics: str | None, device: str | None, as_json: bool) -> None:
    """Measure how far picture B is from picture A, or each file of folder B from the one of the same name in A.

    \b
    convergebench measure before.png after.png
    convergebench measure originals returns --metrics psnr,ssim --json
    """
    import convergebench as cb

    rows = cb.measure(a, b, split_names(metrics), device=device)
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.echo(f"{row.pop('name')}{', resized' * row.pop('resized')}")
        reasons = row.pop("reasons")
        for name, value in row.items():
            shown = f"{value:.4f}" if isinstance(value, float) else reasons.get(name, value)
            click.echo(f"  {name:24} {shown}")
    for name, reason in reasons.items():
        if name not in row:
            click.echo(f"not computed: {name}, because {reason}", err=True)
