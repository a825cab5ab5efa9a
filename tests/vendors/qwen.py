"""DashScope as it answers multimodal-generation."""

import base64

from vendors.loopback import Reply, Request, Server, is_png, told

KEY = "DASHSCOPE_API_KEY"
SPEC = "qwen:base_url={base},timeout={timeout}"
PRICE = 0.03
SIZE = (96, 64)


def asked(server: Server, request: Request) -> None:
    if request.path.startswith("/delivery/"):
        assert "authorization" not in request.headers, "the download needs no key"
        return
    assert request.method == "POST"
    assert request.path == "/api/v1/services/aigc/multimodal-generation/generation"
    assert request.headers["authorization"].startswith("Bearer sentinel")
    body = request.json()
    assert body["model"] == "qwen-image-3.0"
    (message,) = body["input"]["messages"]
    assert message["role"] == "user"
    picture, words = message["content"]
    head, _, data = picture["image"].partition(",")
    assert head == "data:image/png;base64"
    assert is_png(base64.b64decode(data))
    assert words == {"text": "Paint the door green."}
    assert isinstance(body["parameters"].pop("seed"), int)
    fixed = {"negative_prompt": " ", "watermark": False, "prompt_extend": False, "n": 1}
    assert body["parameters"] == {**fixed, "size": "96*64"}


def is_order(request: Request) -> bool:
    return request.method == "POST"


def rest(server: Server, request: Request) -> Reply:
    return Reply(body=server.kept, type="image/png")  # type: ignore[attr-defined]


def answer(*content: dict[str, str]) -> Reply:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": list(content)}}
    return told({"output": {"choices": [choice]}, "usage": {"image_count": 1}, "request_id": "request-3"})


def shown(server: Server, data: bytes) -> Reply:
    server.kept = data  # type: ignore[attr-defined]
    return answer({"image": f"{server.base}/delivery/0.png"})


def error(status: int, code: str = "", **headers: str) -> Reply:
    names = {400: "InvalidParameter", 401: "InvalidApiKey", 429: "Throttling.RateQuota", 500: "InternalError"}
    about = {
        "code": code or names.get(status, "Arrearage"),
        "message": f"words for {status}",
        "request_id": "request-3",
    }
    return told(about, status, **headers)
