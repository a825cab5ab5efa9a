"""DashScope as it answers multimodal-generation."""

from vendors.loopback import Reply, Server, delivery, is_post, told

KEY = "DASHSCOPE_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "qwen:base_url={base},timeout={timeout}"
PRICE = 0.03
is_order, rest = is_post, delivery


def answer(*content: dict[str, str]) -> Reply:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": list(content)}}
    return told({"output": {"choices": [choice]}, "usage": {"image_count": 1}, "request_id": "request-3"})


def shown(server: Server, data: bytes) -> Reply:
    server.kept = data  # type: ignore[attr-defined]
    return answer({"image": f"{server.base}/delivery/0.png"})


def error(status: int, code: str = "", **headers: str) -> Reply:
    names = {400: "InvalidParameter", 401: "InvalidApiKey", 429: "Throttling.RateQuota", 500: "InternalError"}
    row = {"code": code or names.get(status, "Arrearage"), "message": f"words for {status}"}
    return told({**row, "request_id": "request-3"}, status, **headers)
