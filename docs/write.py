"""Writes what the documents take from the program, so that it cannot go stale.

python docs/write.py                          the commands (docs/commands.md), the words (docs/words.md), the hosted
                                              editors (docs/editors.md), the no-reference metrics (docs/banana100.md),
                                              the columns of imported tables (docs/import.md), the costs (README.md)
python docs/write.py report/leaderboard.json  the table of results (docs/demo.md) too
"""

import inspect
import json
import sys
from pathlib import Path

import click
import convergebench as cb
from convergebench.cli.__main__ import VerbWithKinds
from convergebench.cli.__main__ import main as convergebench
from convergebench.dataset_builder.importing.layout_table import COLUMNS
from convergebench.generation import editors, plan, suites
from convergebench.generation.vendors import models
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.no_reference.ranges import TABLE
from convergebench.spaces_app import words as vocabulary
from convergebench.spaces_app.analysis.display_names import display_names
from convergebench.spaces_app.analysis.reasons import TITLES

HOUSE = Path(__file__).parent.parent
PRICED = (
    "gemini",
    "openai",
    "bfl",
    "bfl:model=flux-2-klein-9b",
    "seedream:model=seedream-5-0-flash-260915",
    "qwen",
    "xai",
    "xai:model=grok-imagine-image",
    "rest:model=muse-image-1.0",
)
PRICED_SUITES = ("verdict", "v1-mini", "v1")
ABOUT = {
    "oracle": "undoes its own edit from memory",
    "paint": "draws the edit, undoes it by inpainting",
    "identity": "answers with its input",
    "jpeg": "re-encodes its input, quality 75",
    "noise": "adds a little noise",
    "random": "answers with another picture",
}


def commands() -> str:
    """The page of all commands, in the words of their --help."""
    text = (
        "# Commands\n\nThe output of `convergebench COMMAND --help`, written by `python docs/write.py`.\n\n"
        "For completion of commands and options, add this line to your shell's start file (with `zsh` or `fish` for "
        '`bash`):\n\n```text\neval "$(_CONVERGEBENCH_COMPLETE=bash_source convergebench)"\n```\n'
    )
    parent = click.Context(convergebench, info_name="convergebench", **convergebench.context_settings)
    for name in convergebench.list_commands(parent):
        command = convergebench.get_command(parent, name)
        context = click.Context(command, info_name=name, parent=parent, terminal_width=80)
        if not isinstance(command, VerbWithKinds):
            text += f"\n## {name}\n\n```text\n{command.get_help(context)}\n```\n"
            continue
        for kind in command.list_commands(context):
            words = f"{name} --layout {kind}" if name == "import" else f"{name} {kind}"
            below = click.Context(command, info_name=words, parent=parent, terminal_width=80)
            text += f"\n## {words}\n\n```text\n{command.get_command(context, kind).get_help(below)}\n```\n"
    return text


def api() -> str:
    """The page of the package's functions, from their signatures and docstrings."""
    text = (
        "# Functions\n\nThe functions of `import convergebench as cb`, written by `python docs/write.py`.\n\n"
        "Commands that are not listed are functions too, named after their words: `cb.list_suites()` returns what\n"
        "`convergebench list suites --json` prints, with the same options.\n"
    )
    for name in cb.__all__:
        function = getattr(cb, name)
        parameters = [str(value).partition(":")[0] for value in inspect.signature(function).parameters.values()]
        text += f"\n## cb.{name}({', '.join(parameters)})\n\n{inspect.getdoc(function)}\n".replace(
            ">>> ", "    >>> "
        )
    return text


def costs() -> str:
    """What the suites verdict, v1-mini and v1 cost with the hosted editors."""
    summaries = [plan.summary(plan.make_plan(suites.load(name), PRICED)) for name in PRICED_SUITES]
    calls = [f"`{name}`, {rows[0]['calls']:,} calls" for name, rows in zip(PRICED_SUITES, summaries, strict=True)]
    lines = ["| US dollars | " + " | ".join(calls) + " |", "|---|--:|--:|--:|"]
    for rows in zip(*summaries, strict=True):
        lines.append(f"| `{rows[0]['editor']}` | " + " | ".join(f"{row['dollars']:,.0f}" for row in rows) + " |")
    return "\n".join(lines)


def hosted_editors() -> str:
    """The tables of the hosted models, from generation/vendors/models.toml, as its sources stood on its day."""
    text = f"Read on {models.shipped()['read']}.\n"
    known = models.all_models()
    for vendor in dict.fromkeys(model.vendor for model in known):
        default = editors.load(vendor).model
        text += f"\n### {vendor}\n\nThrough {models.facts(vendor, models.ANY)['interface']}. Default: `{default}`.\n\n"
        text += "| model | price | ends | cannot be set or turned off | not verified | source |\n"
        text += "|---|---|---|---|---|---|\n"
        for model in known:
            if model.vendor == vendor:
                text += f"| `{model.name}` | " + " | ".join(model_cells(model)) + " |\n"
    return text


def model_cells(model: models.Model) -> list[str]:
    """A model's cells after its name."""
    price = model.facts.get("price")
    by_kind = price.items() if isinstance(price, dict) else [("", price)]
    words = ", ".join(f"{kind} {dollars:g}".strip() for kind, dollars in by_kind if dollars is not None)
    facts = model.facts
    ends = str(facts.get("ends") or (f"deprecated since {facts['deprecated']}" if "deprecated" in facts else ""))
    if model.facts.get("ends_note"):
        ends += f" ({model.facts['ends_note']})"
    lists = ["; ".join(model.facts.get(key, [])) for key in ("cannot", "unverified")]
    sent = model.facts.get("input")
    if sent:
        by_fidelity = sent.items() if isinstance(sent, dict) else [("", sent)]
        words += "; picture sent: " * bool(words) + ", ".join(
            f"{kind} {dollars:g}".strip() for kind, dollars in by_fidelity
        )
    return [words or f"none: {model.facts['no_price']}", ends, *lists, model.facts["source"]]


def no_reference_metrics() -> str:
    """The table of the metrics without a reference, from the one table that has them."""
    libraries = {"here": "here", "pyiqa": "`pyiqa`", "transformers": "`transformers`"}
    lines = ["| metric | name for `--metrics` | typical range | better | computed by |", "|---|---|---|---|---|"]
    for row in TABLE:
        better = "higher" if row.higher_is_better else "lower"
        by = f"{libraries[row.computed_by]}{f', as `{row.library_name}`' if row.library_name else ''}"
        lines.append(f"| {row.name} | `{row.column}` | {row.low:g} to {row.high:g} | {better} | {by} |")
    return "\n".join(lines)


def imported_columns() -> str:
    """The columns of an imported table, from the layout that reads them."""
    lines = ["| column | rows | meaning |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{name}` | {rows} | {meaning} |" for name, (rows, meaning) in COLUMNS.items())]
    )


def glossary() -> str:
    """The page of words, from the one table that has them."""
    text = "# Words\n\nThe words of the Space, the report and the files, written by `python docs/write.py`.\n\n"
    lines = ["| word | in files | meaning |", "|---|---|---|"]
    lines += [f"| {title} | `{key}` | {meaning} |" for key, (title, meaning) in vocabulary.COLUMNS.items()]
    lines += [f"| {title} | | {meaning} |" for title, meaning in vocabulary.OTHERS.items()]
    lines += [
        f"| {cause.title} | `{cause.name}` | A cause of failure: {cause.clause}. |" for cause in CAUSES.values()
    ]
    return text + "\n".join(lines) + "\n"


def results(leaderboard: Path) -> str:
    """The rows of round trips of a demo's leaderboard."""
    rows = [row for row in json.loads(leaderboard.read_text())["rows"] if row["group"] == "round trips"]
    keys = ("half_life_text", "quality_text", "forward", "cause")
    titles = [vocabulary.COLUMNS[key][0].lower() for key in keys]
    lines = [
        f"| editor | what it does | rounds survived (95% range) | {' | '.join(titles)} |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for row in sorted(rows, key=lambda row: (-row["rounds_kept"], -row["quality_kept"])):
        name, about = display_names([row["editor"]])[row["editor"]], ABOUT[row["editor"]]
        shown = f"`{name}`" if name == row["editor"] else f"{name} (`{row['editor']}`)"
        rounds = f"{row['rounds_kept']:.1f} ({row['rounds_kept_low']:.1f} to {row['rounds_kept_high']:.1f})"
        id, _, count = (row["cause"] or "").rstrip(")").partition(" (")
        cause = f"{TITLES[id].lower()} ({count} tests)" if id else "none"
        rest = f"{row['half_life_text']} | {row['quality_text']} | {row['forward']:.0%} | {cause}"
        lines.append(f"| {shown} | {about} | {rounds} | {rest} |")
    return "\n".join(lines)


def put(text: str, name: str, table: str) -> str:
    """The text with the table between the comments that name it."""
    before, rest = text.split(f"<!-- {name} -->\n")
    return f"{before}<!-- {name} -->\n{table}\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}"


def main(words: list[str]) -> None:
    (HOUSE / "docs" / "commands.md").write_text(commands())
    (HOUSE / "docs" / "words.md").write_text(glossary())
    (HOUSE / "docs" / "api.md").write_text(api())
    page = HOUSE / "docs" / "editors.md"
    page.write_text(put(page.read_text(), "models", hosted_editors()))
    page = HOUSE / "docs" / "banana100.md"
    page.write_text(put(page.read_text(), "no-reference", no_reference_metrics()))
    page = HOUSE / "docs" / "import.md"
    page.write_text(put(page.read_text(), "columns", imported_columns()))
    page = HOUSE / "README.md"
    page.write_text(put(page.read_text(), "costs", costs()))
    if words:
        page = HOUSE / "docs" / "demo.md"
        page.write_text(put(page.read_text(), "results", results(Path(words[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
