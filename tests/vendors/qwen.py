"""DashScope as it answers multimodal-generation."""

from vendors.loopback import delivery, is_post, told

KEY = "DASHSCOPE_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "qwen:base_url={base},timeout={timeout}"
PRICE = 0.03
is_order, rest = is_post, delivery


def answer(*content):
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": list(content)}}
    return told({"output": {"choices": [choice]}, "usage": {"image_count": 1}, "request_id": "request-3"})


def shown(server, data):
    server.kept = data
    return answer({"image": f"{server.base}/delivery/0.png"})


def error(status, code="", **headers):
    names = {400: "InvalidParameter", 401: "InvalidApiKey", 429: "Throttling.RateQuota", 500: "InternalError"}
    row = {"code": code or names.get(status, "Arrearage"), "message": f"words for {status}"}
    return told({**row, "request_id": "request-3"}, status, **headers)
