"""Replicate's API: a file, an order, polls, a download."""

from vendors.loopback import delivery, told

KEY = "REPLICATE_API_TOKEN"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "replicate:base_url={base},timeout={timeout},poll=0.01"
PRICE = 0.04


def is_order(request):
    return request.path.endswith("/predictions")


def prediction(server, status, **more):
    urls = {"get": f"{server.base}/v1/predictions/p1", "cancel": f"{server.base}/v1/predictions/p1/cancel"}
    about = {"id": "p1", "model": "black-forest-labs/flux-kontext-pro", "version": "hidden", "urls": urls}
    return told({**about, "status": status, "output": None, "error": None, **more}, 201)


def shown(server, data):
    server.kept = data
    return prediction(server, "starting")


def rest(server, request):
    if request.path == "/v1/files":
        return told({"id": "f1", "urls": {"get": f"{server.base}/v1/files/f1"}}, 201)
    if request.path.startswith("/delivery/"):
        return delivery(server, request)
    polls = sum(each.path == request.path for each in server.requests)
    if polls % 2:
        return prediction(server, "processing")
    done = {"status": "succeeded", "output": f"{server.base}/delivery/0", "metrics": {"predict_time": 4.1}}
    return prediction(server, **{**done, **getattr(server, "ends", {})})


def error(status, **headers):
    return told({"title": "An error", "detail": f"words for {status}", "status": status}, status, **headers)
