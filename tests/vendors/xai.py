"""xAI's API as it answers images/edits."""

import base64

from vendors.loopback import Reply, Request, Server, is_png, told

KEY = "XAI_API_KEY"
SPEC = "xai:base_url={base},timeout={timeout}"
PRICE = 0.07
SIZE = (96, 64)


def asked(server: Server, request: Request) -> None:
    assert request.method == "POST"
    assert request.path == "/v1/images/edits"
    assert request.headers["content-type"] == "application/json", "xAI takes no form"
    assert request.headers["authorization"].startswith("Bearer sentinel")
    body = request.json()
    picture = body.pop("image")
    head, _, data = picture["url"].partition(",")
    assert (picture["type"], head) == ("image_url", "data:image/png;base64")
    assert is_png(base64.b64decode(data))
    assert body == {
        "model": "grok-imagine-image-2.0",
        "prompt": "Paint the door green.",
        "aspect_ratio": "3:2",
        "resolution": "1k",
        "quality": "medium",
        "response_format": "b64_json",
        "n": 1,
    }


def is_order(request: Request) -> bool:
    return True


def rest(server: Server, request: Request) -> Reply:
    raise AssertionError(f"nothing else is asked for: {request.path}")


def shown(server: Server, data: bytes) -> Reply:
    row = {"b64_json": base64.b64encode(data).decode(), "revised_prompt": "Paint the wooden door green."}
    return told({"data": [row], "usage": {"cost_in_usd_ticks": 700000000}}, x_request_id="req-9")


def error(status: int, code: str = "", **headers: str) -> Reply:
    return told({"code": code or "an error", "error": f"words for {status}"}, status, **headers)
