"""Runs LiteLLM's image edits in a Python environment of LiteLLM's own: a line of JSON in for each call, one out.

This file is run by that environment's Python and imports nothing of ours. LiteLLM needs releases of huggingface_hub and
importlib_metadata that cannot stand beside ours.
"""

import base64
import contextlib
import io
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _edit(asked):
    """One call, with what the model's provider takes of size, seed and quality."""
    import litellm
    from litellm.utils import ProviderConfigManager

    model, provider, _, _ = litellm.get_llm_provider(model=asked["model"])
    config = ProviderConfigManager.get_provider_image_edit_config(model=model, provider=litellm.LlmProviders(provider))
    if config is None:
        return {"error": {"type": "Unsupported", "message": f"LiteLLM has no image edits for {provider}"}}
    takes = config.get_supported_openai_params(model)
    given = {name: value for name, value in asked["given"].items() if name in takes}
    if refused := [name for name in asked["asked_for"] if name not in takes]:
        return {"error": {"type": "Unsupported", "message": f"{asked['model']} takes no {refused[0]} through LiteLLM"}}
    place = {"api_base": asked["api_base"]} if asked["api_base"] else {}
    picture = io.BytesIO(base64.b64decode(asked["image"]))
    picture.name = "picture.png"
    answer = litellm.image_edit(
        image=picture,
        prompt=asked["prompt"],
        model=asked["model"],
        timeout=asked["timeout"],
        num_retries=0,
        max_retries=0,
        **place,
        **given,
    )
    row = answer.data[0] if answer.data else None
    hidden = getattr(answer, "_hidden_params", None) or {}
    usage = getattr(answer, "usage", None)
    return {
        "b64_json": getattr(row, "b64_json", None),
        "url": getattr(row, "url", None),
        "revised_prompt": getattr(row, "revised_prompt", None),
        "cost": hidden.get("response_cost"),
        "usage": usage.model_dump() if usage is not None else None,
        "provider": provider,
        "sent": given,
    }


def _described(error):
    """What the other side needs to tell a refusal from a fault that may pass."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    return {
        "type": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "message": str(getattr(error, "message", "") or error)[:2000],
        "retry_after": headers.get("retry-after"),
    }


def _main():
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != _HERE]  # its files have common names
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what LiteLLM prints is no answer
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else its import fetches the table
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    writing = threading.Lock()

    def answer(line):
        asked = json.loads(line)
        try:
            told = _edit(asked)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the other side judges it
            told = {"error": _described(error)}
        with writing, contextlib.suppress(OSError):
            out.write(json.dumps({"id": asked["id"], **told}, default=str) + "\n")
            out.flush()

    with ThreadPoolExecutor(max_workers=int(sys.argv[1])) as pool:
        for line in sys.stdin:
            pool.submit(answer, line)
        os._exit(0)  # nobody reads the answers any more


if __name__ == "__main__":
    _main()
