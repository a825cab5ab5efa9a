"""Documents of the right form with parts of them exchanged, as hypothesis draws and shrinks them."""

import json
from typing import Any

from fuzz.mutations import HOSTILE
from hypothesis import strategies as st

WORDS = [each for each in HOSTILE if isinstance(each, str)]
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.sampled_from(HOSTILE)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=8,
)


def documents(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """One of these files, line by line or as a whole, with a few of its values, cells or bytes exchanged."""
    return st.sampled_from(seeds).flatmap(exchanged)


@st.composite
def exchanged(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.split(b"\n")
    for number in draw(st.lists(st.integers(0, len(lines) - 1), max_size=3)):
        lines[number] = draw(changed_line(lines[number]))
    whole = b"\n".join(lines)
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(whole)))
        whole = whole[:place] + draw(st.binary(max_size=6)) + whole[place + draw(st.integers(0, 6)) :]
    return whole


@st.composite
def changed_line(draw: st.DrawFn, line: bytes) -> bytes:
    """A line of JSON with another node, of TOML with another value, of CSV with another cell."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict | list) and value:
        return json.dumps(draw(changed_node(value))).encode()
    if b"=" in line:
        name, _, _ = line.partition(b"=")
        return name + b"= " + json.dumps(draw(VALUES)).encode()
    cells = line.split(b",")
    cells[draw(st.integers(0, len(cells) - 1))] = str(draw(VALUES)).encode("utf-8", "surrogatepass")
    return b",".join(cells)


@st.composite
def changed_node(draw: st.DrawFn, value: Any) -> Any:
    """The value with one of its parts, however deep, exchanged, left out or added."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    inner = value[key]
    if isinstance(inner, dict | list) and inner and draw(st.booleans()):
        new = draw(changed_node(inner))
    else:
        new = draw(VALUES)
    if isinstance(value, list):
        return [*value[:key], new, *value[key + 1 :]]
    how = draw(st.integers(0, 5))
    if how == 0:
        return {name: each for name, each in value.items() if name != key}
    if how == 1:
        return {**value, draw(st.one_of(st.text(max_size=8), st.sampled_from(WORDS))): new}
    return {**value, key: new}
