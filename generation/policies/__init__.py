"""The policies: what a product can do around any editor with nothing but what it has; one file each in this folder.

A file's docstring describes its policy, and the keyword parameters of its functions are the options. It sees what
one call sees, never the original. `paste_back.py` is the policy `paste-back`. It may have the functions
    rework(answer, sent, instruction, seed)    another picture in place of the answer's
    edit(ask, image, instruction, seed)        the whole call, where `ask` calls the editor or the next policy
    program(program)    the program as it asks for it; None if it would change nothing, which leaves the case out
and `settings`, the settings of its chains, such as {"seed": "fixed"}.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from .. import options, pictures
from ..editors import Choice
from ..loop import at_chain_size
from ..plugins import plugins
from ..records import Answer, Json, Program, Setting, UserError, one_of

Ask = Callable[[Image.Image, str, int], Answer]
_FUNCTIONS: tuple[str, ...] = ("rework", "edit", "program")
NONE = "none"  # the editor alone, to compare with


def names() -> tuple[str, ...]:
    files = Path(__file__).parent.glob("*.py")
    ours = (path.stem.replace("_", "-") for path in files if not path.stem.startswith("_"))
    return tuple(sorted({*ours, *plugins("policies")}))


def load(name: str) -> type:
    one_of("policy", name, names())
    point, file = plugins("policies").get(name), f"{__name__}.{name.replace('-', '_')}"
    module = point.load() if point else importlib.import_module(file)
    functions = {key: vars(module)[key] for key in _FUNCTIONS if key in vars(module)}
    settings = getattr(module, "settings", {})
    return options.class_of(name, module.__doc__, functions, settings=settings)


@dataclass(frozen=True)
class _UnderPolicies:
    """An editor whose calls go through policies, the first of them next to it; otherwise the editor itself."""

    editor: Any
    policies: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        if name == "editor":  # while it is copied
            raise AttributeError(name)
        return getattr(self.editor, name)

    def edit(self, image: Image.Image, instruction: str, seed: int, *history: Any, **mask: Any) -> Answer:
        ask: Ask = lambda *call: self.editor.edit(*call, *history, **mask)  # noqa: E731  # partial puts history first
        for policy in self.policies:
            ask = partial(getattr(policy, "edit", partial(_edit, policy)), ask)
        return ask(image, instruction, seed)

    def program(self, program: Program) -> Program | None:
        asked = [policy.program(program) for policy in self.policies if hasattr(policy, "program")]
        return asked[-1] if asked else program


def _edit(policy: Any, ask: Ask, image: Image.Image, instruction: str, seed: int) -> Answer:
    answer = ask(image, instruction, seed)
    if not hasattr(policy, "rework"):
        return answer
    return reworked(answer, image, lambda picture: policy.rework(picture, image, instruction, seed))


def under(choice: Choice, spec: str) -> Choice:
    """The editor under the policies of a spec, such as `align+paste-back`; their names join its label."""
    if spec == NONE:
        return choice
    policies, labels, settings = [], [], dict[str, Setting](choice.settings)
    for word in spec.split("+"):
        name, _, words = word.partition(":")
        kind = load(name)
        values, rates = options.parse_words("policy", name, words, kind)
        if rates:
            raise UserError(f"policy {name!r} has no option {next(iter(rates))!r}; give it to the editor")
        policy = kind(**values)
        options.check_limits(name, policy)
        identity, label = options.identity_and_label(name, policy, {})
        settings |= {f"{name}:{key}": value for key, value in identity.items()} | policy.settings
        policies.append(policy)
        labels.append(label)
    stack = "+".join(labels)
    editor = _UnderPolicies(choice.editor, tuple(policies))
    return replace(choice, label=f"{choice.label}+{stack}", settings=settings | {"policy": stack}, editor=editor)


def asked_for(editor: object, program: Program) -> Program | None:
    return editor.program(program) if isinstance(editor, _UnderPolicies) else program


def reworked(answer: Answer, sent: Image.Image, change: Callable[[Image.Image], Image.Image]) -> Answer:
    """Apply a change to the answer's picture, at the size of what was sent; without a picture, return the answer."""
    if answer.status != "ok":
        return answer
    try:
        picture = pictures.decode(answer.data)
    except pictures.Undecodable:
        return answer
    if min(picture.size) * 2 < min(sent.size):  # enlarging it would hide that it shrank
        return answer
    return replace(answer, data=pictures.encode_png(change(at_chain_size(picture, sent.size))))


def describe(name: str) -> Json:
    kind = load(name)
    return {
        "name": name,
        "about": (kind.__doc__ or "").partition("\n")[0],
        "options": options.identity_and_label(name, kind(), {})[0],
    }
