"""One step of a chain, asked of a loopback vendor through the real loop and store."""

from convergebench.generation import editors, loop
from convergebench.generation.calls import Caller
from convergebench.generation.records import Chain, Program, Source
from PIL import Image

from vendors.loopback import Reply, serving

SOURCE = Source("door", "0" * 64, 1248, 832, "object", "synthetic", "CC0-1.0", "nobody")
PROGRAM = Program("green-door", ("Paint the door green.",), "colour", False, "clear")
SIZE = (96, 64)
KEY = "sentinel-key-1234567890"
FAST = {"first_wait": 0.01, "longest_wait": 0.05, "attempts": 3}


def script(module, *plays):
    """A vendor that answers its orders in turn, the last answer again and again; bytes stand for a picture.

    Its key is in the header that it has for it, and in no request for a finished picture.
    """
    orders = iter(range(10**6))
    header, start = module.AUTH

    def vendor(server, request):
        if request.path.startswith("/delivery/"):
            assert header not in request.headers, "the download needs no key"
        elif request.path != "/api/agent-harnesses":  # the Hub client's own curiosity, once a process
            assert request.headers[header].startswith(start)
        if not module.is_order(request):
            return module.rest(server, request)
        play = plays[min(next(orders), len(plays) - 1)]
        if isinstance(play, bytes):
            return module.shown(server, play)
        return play if isinstance(play, Reply) else play(server)

    return vendor


def asked(folder, monkeypatch, module, vendor, size=SIZE, rounds=1, caller=None, **more):
    """The steps of a chain that this vendor answered, and the requests that it got."""
    monkeypatch.setenv(module.KEY, f"hf_{KEY}" if module.KEY == "HF_TOKEN" else KEY)
    with serving(vendor) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base)
        spec = module.SPEC.format(base=server.base, timeout=more.pop("timeout", 5))
        spec += "".join(f",{name}={value}" for name, value in more.items())
        return run(folder, spec, size, caller, rounds), server.requests


def run(folder, spec, size, caller=None, rounds=1):
    choice = editors.choose(spec)
    caller = caller or Caller(**FAST, price=editors.trait(choice.editor, "price")() or 0.0)
    chain = Chain(SOURCE, PROGRAM, choice.label, {**choice.settings, "short_side": min(size)}, 1, rounds)
    steps = []
    start = Image.radial_gradient("L").resize(size).convert("RGB")
    loop.run_chain(
        chain, choice.editor, folder, lambda _: (start, None), caller.ask, lambda _, step: steps.append(step)
    )
    return steps
