"""BytePlus and Volcengine Ark as they answer images/generations."""

import base64

from vendors.loopback import Reply, Request, Server, is_png, told

KEY = "ARK_API_KEY"
SPEC = "seedream:base_url={base},timeout={timeout}"
PRICE = 0.03
SIZE = (96, 64)


def asked(server: Server, request: Request) -> None:
    if request.path.startswith("/delivery/"):
        assert "authorization" not in request.headers, "the download needs no key"
        return
    assert request.method == "POST"
    assert request.path == "/api/v3/images/generations"
    assert request.headers["authorization"].startswith("Bearer sentinel")
    body = request.json()
    head, _, data = body.pop("image").partition(",")
    assert head == "data:image/png;base64"
    assert is_png(base64.b64decode(data))
    assert body == {
        "model": "seedream-4-0-250828",
        "prompt": "Paint the door green.",
        "size": "96x64",
        "response_format": "b64_json",
        "watermark": False,
        "sequential_image_generation": "disabled",
    }


def is_order(request: Request) -> bool:
    return request.method == "POST"


def rest(server: Server, request: Request) -> Reply:
    return Reply(body=server.kept, type="image/jpeg")  # type: ignore[attr-defined]


def answer(row: dict[str, object]) -> Reply:
    usage = {"generated_images": 1, "output_tokens": 4056, "total_tokens": 4056}
    return told({"model": "seedream-4-0-250828", "created": 1, "data": [row], "usage": usage}, x_request_id="req-9")


def shown(server: Server, data: bytes) -> Reply:
    return answer({"b64_json": base64.b64encode(data).decode(), "size": "96x64"})


def linked(server: Server, data: bytes) -> Reply:
    server.kept = data  # type: ignore[attr-defined]
    return answer({"url": f"{server.base}/delivery/0", "size": "96x64"})


def error(status: int, code: str = "", **headers: str) -> Reply:
    names = {400: "InvalidParameter", 401: "AuthenticationError", 402: "AccountOverdueError"}
    about = {"code": code or names.get(status, "InternalServiceError"), "message": f"words for {status}"}
    return told({"error": about}, status, **headers)
