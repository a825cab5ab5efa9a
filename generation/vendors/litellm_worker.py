"""Makes one image edit with LiteLLM in LiteLLM's own Python environment: JSON in on stdin, JSON out on stdout.

This file is run by that environment's Python and imports nothing of ConvergeBench, because LiteLLM needs other releases
of huggingface_hub and importlib_metadata than ConvergeBench does.
"""

import base64
import io
import json
import os
import sys
from pathlib import Path


def _edit(request):
    """One call, with those of the options size, seed and quality that the model's provider takes."""
    import litellm
    from litellm.utils import ProviderConfigManager

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    name = request["model"]
    model, provider, _, _ = litellm.get_llm_provider(model=name)
    config = ProviderConfigManager.get_provider_image_edit_config(model=model, provider=litellm.LlmProviders(provider))
    if config is None:
        return {"error": {"type": "Unsupported", "message": f"LiteLLM has no image edits for {provider}"}}
    takes = config.get_supported_openai_params(model)
    options = {option: value for option, value in request["given"].items() if option in takes}
    if refused := [option for option in request["asked_for"] if option not in takes]:
        return {"error": {"type": "Unsupported", "message": f"{name} takes no {refused[0]} through LiteLLM"}}
    address = {"api_base": request["api_base"]} if request["api_base"] else {}
    picture = io.BytesIO(base64.b64decode(request["image"]))
    picture.name = "picture.png"
    fixed = {"timeout": request["timeout"], "num_retries": 0, "max_retries": 0}
    answer = litellm.image_edit(image=picture, prompt=request["prompt"], model=name, **fixed, **address, **options)
    row = answer.data[0] if answer.data else None
    usage = getattr(answer, "usage", None)
    return {
        **{field: getattr(row, field, None) for field in ("b64_json", "url", "revised_prompt")},
        "cost": (getattr(answer, "_hidden_params", None) or {}).get("response_cost"),
        "usage": usage.model_dump() if usage is not None else None,
        "provider": provider,
        "sent": options,
    }


def _described(error):
    """The parts of an error from which the editor tells a refusal from a passing fault."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return {
        "type": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "message": str(getattr(error, "message", "") or error)[:2000],
        "retry_after": headers.get("retry-after"),
    }


def _main():
    folder = Path(__file__).resolve().parent
    # The other files in this folder have common names, which would hide modules of that environment.
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != folder]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what LiteLLM prints is not the answer
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else its import fetches the table
    try:
        reply = _edit(json.load(sys.stdin))
    except Exception as error:  # noqa: BLE001 -- the editor decides what kind of fault it is
        reply = {"error": _described(error)}
    json.dump(reply, out, default=str)
    out.flush()
    os._exit(0)  # LiteLLM's threads are not waited for


if __name__ == "__main__":
    _main()
