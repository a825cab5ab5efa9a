"""Names of editors for readers."""

import re
from collections import Counter
from collections.abc import Iterable

from convergebench.generation.files import toml_beside

_BRANDS: dict[str, str] = toml_beside(__file__, "display_names.toml")
_MODEL_OPTIONS = ("model", "checkpoint")
_DATES = re.compile(r"[-_](\d{4}-\d{2}-\d{2}|\d{6,8})$")
LONGEST = 34  # characters, for a phone


def display_names(editors: Iterable[str]) -> dict[str, str]:
    """No two are alike: editors whose names would be keep their labels.

    >>> display_names(["seedream:model=seedream-4-0-250828", "jpeg:quality=75"])
    {'seedream:model=seedream-4-0-250828': 'Seedream 4.0', 'jpeg:quality=75': 'JPEG only, quality 75'}
    """
    editors = list(editors)
    names = {editor: _display_name(editor) for editor in editors}
    counts = Counter(names.values())
    return {editor: name if counts[name] == 1 else editor for editor, name in names.items()}


def _display_name(editor: str) -> str:
    name, _, settings = editor.partition(":")
    pairs = [part.split("=", 1) for part in settings.split(",") if part]
    if not re.fullmatch(r"[\w.+-]+", name) or any(len(pair) < 2 for pair in pairs):
        return editor
    options = dict(pairs)
    model = next((options.pop(key) for key in _MODEL_OPTIONS if key in options), name)
    words = [_model_name(model)]
    for key, value in options.items():
        is_word = key == "quality" and not value.isdecimal()
        words.append(value if is_word else f"{key} {value}")
    full = ", ".join(words)
    return full if len(full) <= LONGEST else editor


def _model_name(model: str) -> str:
    """A model's id as a name.

    >>> [_model_name(model) for model in ("gemini-3.1-flash-image-preview", "gpt-image-1-mini", "my-editor")]
    ['Gemini 3.1 Flash Image Preview', 'GPT Image 1 Mini', 'my-editor']
    """
    model = _DATES.sub("", model.rpartition("/")[2]).removeprefix("doubao-")
    for start, brand in _BRANDS.items():
        if model == start:
            return brand
        if model.startswith(f"{start}-"):
            version = re.sub(r"(?<![\d.])(\d)-(\d)(?![\d.b])", r"\1.\2", model[len(start) + 1 :])
            parts = version.split("-")
            return " ".join([brand, *(part if re.search(r"\d", part) else part.capitalize() for part in parts)])
    return model
