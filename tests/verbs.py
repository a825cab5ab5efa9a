"""The README's list of verbs, in the words of their help. Run it to write it."""

from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- verbs -->", "<!-- end of verbs -->"


def verbs() -> str:
    """A line per verb."""
    from convergebench.cli.__main__ import main

    names = main.list_commands(None)
    return "\n".join(
        f"convergebench {name:14} {main.get_command(None, name).get_short_help_str(200)}" for name in names
    )


def written() -> str:
    """The list as README.md has it."""
    inside = README.read_text().split(BEGIN)[1].split(END)[0]
    return inside.strip().removeprefix("```text").removesuffix("```").strip()


if __name__ == "__main__":
    text = README.read_text()
    README.write_text(f"{text.split(BEGIN)[0]}{BEGIN}\n\n```text\n{verbs()}\n```\n\n{END}{text.split(END)[1]}")
