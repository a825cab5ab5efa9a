"""The words of all pages, tables and files, from words.toml, of which docs/words.md is written too."""

from convergebench.generation.files import toml_beside

_WORDS = toml_beside(__file__, "words.toml")
COLUMNS = {name: (title, meaning) for name, (title, meaning) in _WORDS["columns"].items()}
OTHERS = _WORDS["others"]
