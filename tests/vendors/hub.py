"""Points huggingface_hub, which keeps its addresses and its client for the whole process, at a loopback server."""

from typing import Any


def hub(monkeypatch: Any) -> None:
    import huggingface_hub
    from huggingface_hub.inference._providers import _common

    _common._fetch_inference_provider_mapping.cache_clear()
    monkeypatch.setattr("huggingface_hub.inference._providers.fal_ai._POLLING_INTERVAL", 0.01)
    monkeypatch.setattr("huggingface_hub.constants.INFERENCE_PROXY_TEMPLATE", "set by the editor")
    from huggingface_hub.utils import _http

    factory = _http._GLOBAL_CLIENT_FACTORY
    monkeypatch.setattr(_http, "_GLOBAL_CLIENT_FACTORY", factory)
    huggingface_hub.close_session()
