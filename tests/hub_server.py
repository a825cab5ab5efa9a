"""A Hub on the loopback, for the real clients: what huggingface_hub, datasets, evaluate and the `hf` command call.

    with HubServer(folder) as hub:
        HfApi(endpoint=hub.url, token=hub.token).create_repo(...)

It counts every byte, pages its listings, keeps every revision, and fails on demand.
"""

import hub_files
import hub_routes
from hub_http import Cut, Exchange, HubServer
from hub_store import Refusal

__all__ = ["Cut", "Exchange", "HubServer", "Refusal", "hub_files", "hub_routes"]
