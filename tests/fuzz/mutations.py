"""Bytes as a disk, a script, a person or an enemy may leave them: every change is drawn from one seeded chance."""

import json
import re

HOSTILE = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "0"),
    *("../../etc/passwd", "/etc/passwd", "a/b", "nul\0byte", "\ud800", "\u202egnp", "=1+1", "<script>x"),
    "x" * 5000,
    *("null", "NaN", "-1", "1e999", "2026-11-19", [], {}, [[]], [None], {"": ""}, ["a"] * 50, {"a": {"b": {"c": 1}}}),
)  # fmt: skip
WHOLE = (
    *(b"", b"\0", b"null", b"[]", b"{}", b'"x"', b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"[" * 20_000, b"1e999", b"\n" * 9),
)
HOW = (
    *("bit", "bits", "byte", "digit", "cut", "grown", "zeros"),
    *("block", "moved", "twice", "other", "whole", "gone"),
)
TEXT_HOW = (*HOW, *("node",) * 12, *("line",) * 3, *("cell",) * 4)


def mutate(data, chance, others=(), text=False):
    """The bytes after one to three changes; None if the file is to be removed. `others` are files of the same kind."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        new = changed(data, chance.choice(TEXT_HOW if text else HOW), chance, others)
        if new is None:
            return None
        data = new
    return data


def changed(data, how, chance, others):
    if how == "gone":
        return None
    if how == "whole" or not data:
        return chance.choice((*WHOLE, chance.randbytes(400)))
    if how == "node":
        return _with_other_node(data, chance)
    if how in ("line", "cell"):
        return _with_other_part(data, b"\n" if how == "line" else b",", chance)
    if how in ("bit", "bits"):
        for _ in range(20 if how == "bits" else 1):
            data = flipped(data, chance.randrange(len(data)), chance)
        return data
    place, end = sorted((chance.randrange(len(data)), chance.randrange(len(data))))
    size = min(end - place, 512)
    digit = chance.choice([number for number, byte in enumerate(data) if 48 <= byte <= 57] or [place])
    return {
        "byte": data[:place] + chance.randbytes(1) + data[place + 1 :],
        "digit": data[:digit] + bytes([48 + (data[digit] - 47) % 10]) + data[digit + 1 :],
        "cut": data[:place],
        "grown": data + chance.randbytes(chance.randrange(1, 200)),
        "zeros": data[:place] + bytes(end - place) + data[end:],
        "block": data[:place] + chance.randbytes(size) + data[place + size :],
        "moved": data[end:] + data[place:end] + data[:place],
        "twice": data + data,
        "other": chance.choice(others) if others else data[::-1],
    }[how]


def flipped(data, place, chance):
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def _with_other_node(data, chance):
    """JSON, or one line of JSON lines, with one value or key replaced, left out or added; TOML with another value."""
    lines = data.split(b"\n")
    numbers = chance.sample(range(len(lines)), min(len(lines), 8))
    for first, last in ((0, len(lines)), *((number, number + 1) for number in numbers)):
        try:
            value = json.loads(b"\n".join(lines[first:last]))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            separators = chance.choice(((",", ":"), (", ", ": ")))
            spelled = json.dumps(_replaced(value, chance), sort_keys=True, separators=separators)
            return b"\n".join([*lines[:first], spelled.encode("utf-8", "surrogatepass"), *lines[last:]])
    values = list(re.finditer(rb"(?m)=\s*(\S.*)$", data))
    if not values:
        return _with_other_part(data, b"\n", chance)
    spot = chance.choice(values)
    return data[: spot.start(1)] + json.dumps(chance.choice(HOSTILE)).encode() + data[spot.end(1) :]


def _replaced(root, chance):
    """A JSON value in which one node is another."""
    places = []

    def walk(node):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(root)
    if not places:
        return chance.choice(HOSTILE)
    (node, key), (other, name) = chance.choice(places), chance.choice(places)
    how = chance.randrange(6)
    if how == 0:
        del node[key]
    elif how == 1 and isinstance(node, dict):
        node[str(chance.choice(HOSTILE))] = node[key]
    elif how == 2 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] += chance.choice((1, -1, 0.5, 10))
    else:
        node[key] = json.loads(json.dumps(other[name])) if how == 3 else chance.choice(HOSTILE)
    return root


def _with_other_part(data, between, chance):
    """Lines, or the cells of a table, with one left out, doubled, exchanged for another or for something hostile."""
    parts = data.split(between)
    place, other = chance.randrange(len(parts)), chance.randrange(len(parts))
    how = chance.randrange(4)
    if how == 0:
        del parts[place]
    elif how == 1:
        parts.insert(place, parts[other])
    elif how == 2:
        parts[place], parts[other] = parts[other], parts[place]
    else:
        parts[place] = str(chance.choice(HOSTILE)).encode("utf-8", "surrogatepass")
    return between.join(parts)
