from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..vendors import hosted, wire
from ..vendors.sizes import SEEDREAM, Size

if TYPE_CHECKING:
    import httpx2

_CHINA = "https://ark.cn-beijing.volces.com"


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Seedream 4.0, 4.5, 5.0 and 5.5 at BytePlus or Volcengine; they take no seed."""

    model: str = "seedream-4-0-250828"
    base_url: str = wire.base_url_option("ARK_BASE_URL")
    resolution: str = "1K"
    vendor: ClassVar = "seedream"

    def address(self) -> str:
        home = _CHINA if self.model.startswith("doubao-") else self.home
        return wire.base_address(self.base_url, home).removesuffix(self.version)

    def sizes(self) -> tuple[Size, ...]:
        return SEEDREAM[self.resolution]

    def checked(self, response: "httpx2.Response", reply: wire.Json, charged: bool = False) -> wire.Json:
        """An error may be in the picture's row too."""
        return super().checked(response, {"error": hosted.first_row(reply).get("error")} | reply, charged)
