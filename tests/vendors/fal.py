"""fal.ai's queue: an order, polls of its status, a result, a download."""

from vendors.loopback import delivery, is_post, told

KEY = "FAL_KEY"
AUTH = ("authorization", "Key sentinel")
SPEC = "fal:base_url={base},timeout={timeout},poll=0.01"
PRICE = 0.045
is_order = is_post
APP = "fal-ai/flux-2-pro"


def accepted(server):
    place = f"{server.base}/{APP}/requests/r1"
    urls = {"response_url": place, "status_url": f"{place}/status", "cancel_url": f"{place}/cancel"}
    return told({"request_id": "r1", "status": "IN_QUEUE", "queue_position": 0, **urls})


def shown(server, data):
    server.kept = data
    return accepted(server)


def rest(server, request):
    if request.path.startswith("/delivery/"):
        return delivery(server, request)
    if request.path.endswith("/status"):
        polls = sum(each.path == request.path for each in server.requests)
        if polls % 3:
            return told({"status": "IN_PROGRESS" if polls > 1 else "IN_QUEUE", "queue_position": 0}, 202)
        return told({"status": "COMPLETED", "logs": None, **getattr(server, "ends", {})})
    result = {"images": [{"url": f"{server.base}/delivery/0"}], "seed": 7, "prompt": ""}
    return getattr(server, "result", told(result))


def error(status, **headers):
    return told({"detail": f"words for {status}"}, status, **headers)


def detail(kind):
    return told({"detail": [{"loc": ["body", "prompt"], "msg": "as it says", "type": kind}]}, 422)
