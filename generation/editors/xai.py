"""xAI's image models; their images/edits endpoint takes JSON instead of OpenAI's form data."""

from dataclasses import dataclass
from typing import ClassVar

from ..vendors import hosted, wire

_REFUSALS = ("content_policy_violation", "content_moderation", "content moderation",
             "moderation_blocked", "respect_moderation")  # fmt: skip


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Grok Imagine at xAI; it takes no seed."""

    model: str = "grok-imagine-image-2.0"
    base_url: str = wire.base_url_option("XAI_BASE_URL")
    quality: str = "medium"
    resolution: str = "1k"
    vendor: ClassVar = "xai"
    meanings: ClassVar = (("refused", "code", _REFUSALS), ("refused", "message", _REFUSALS))
