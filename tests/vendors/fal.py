"""fal.ai's queue: an order, polls of its status, a result, a download."""

import base64

from vendors.loopback import Reply, Request, Server, is_png, told

KEY = "FAL_KEY"
SPEC = "fal:base_url={base},timeout={timeout},poll=0.01"
PRICE = 0.045
SIZE = (96, 64)
APP = "fal-ai/flux-2-pro"


def asked(server: Server, request: Request) -> None:
    if request.path.startswith("/delivery/"):
        assert "authorization" not in request.headers, "the download needs no key"
        return
    assert request.headers["authorization"].startswith("Key sentinel")
    if request.method == "GET":
        return
    assert request.path == f"/{APP}/edit"
    body = request.json()
    (picture,) = body.pop("image_urls")
    head, _, data = picture.partition(",")
    assert head == "data:image/png;base64"
    assert is_png(base64.b64decode(data))
    assert isinstance(body.pop("seed"), int)
    assert body == {
        "prompt": "Paint the door green.",
        "image_size": {"width": 96, "height": 64},
        "num_images": 1,
        "output_format": "png",
        "safety_tolerance": "2",
    }


def is_order(request: Request) -> bool:
    return request.method == "POST"


def accepted(server: Server) -> Reply:
    place = f"{server.base}/{APP}/requests/r1"
    urls = {"response_url": place, "status_url": f"{place}/status", "cancel_url": f"{place}/cancel"}
    return told({"request_id": "r1", "status": "IN_QUEUE", "queue_position": 0, **urls})


def shown(server: Server, data: bytes) -> Reply:
    server.kept = data  # type: ignore[attr-defined]
    return accepted(server)


def rest(server: Server, request: Request) -> Reply:
    if request.path.startswith("/delivery/"):
        return Reply(body=server.kept, type="image/png")  # type: ignore[attr-defined]
    if request.path.endswith("/status"):
        polls = sum(each.path == request.path for each in server.requests)
        if polls % 3:
            return told({"status": "IN_PROGRESS" if polls > 1 else "IN_QUEUE", "queue_position": 0, "logs": None}, 202)
        return told({"status": "COMPLETED", "logs": None, "metrics": {}, **getattr(server, "ends", {})})
    result = {"images": [{"url": f"{server.base}/delivery/0", "content_type": "image/png"}], "seed": 7, "prompt": ""}
    return getattr(server, "result", told(result))


def error(status: int, **headers: str) -> Reply:
    return told({"detail": f"words for {status}"}, status, **headers)


def detail(kind: str) -> Reply:
    return told({"detail": [{"loc": ["body", "prompt"], "msg": "as it says", "type": kind}]}, 422)
