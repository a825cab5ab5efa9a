"""The Hub's router in front of fal: where a model is hosted, an order in its queue, polls, a result, a download."""

from vendors.loopback import Reply, delivery, is_post, told

KEY = "HF_TOKEN"
AUTH = ("authorization", "Bearer hf_sentinel")
SPEC = "hf:base_url={base},timeout={timeout},poll=0.01"
PRICE = None
is_order = is_post
MODEL = "black-forest-labs/FLUX.1-Kontext-dev"
HOSTED = "fal-ai/flux-kontext/dev"


def shown(server, data):
    server.kept = data
    place = f"https://queue.fal.run/{HOSTED}/requests/r1"
    return told({"request_id": "r1", "status": "IN_QUEUE", "response_url": place})


def rest(server, request):
    if request.path.startswith("/api/models/"):
        row = {"providerId": HOSTED, "status": "live", "task": "image-to-image", **getattr(server, "hosting", {})}
        return told({"id": MODEL, "inferenceProviderMapping": {"fal-ai": row}})
    if request.path.startswith("/delivery/"):
        return delivery(server, request)
    if "/status" in request.path:
        assert request.path == f"/fal-ai/{HOSTED}/requests/r1/status?_subdomain=queue"
        polls = sum("/status" in each.path for each in server.requests)
        return told({"status": getattr(server, "ends", "COMPLETED") if polls > 1 else "IN_PROGRESS"})
    result = getattr(server, "result", {"images": [{"url": f"{server.base}/delivery/0"}]})
    return result if isinstance(result, Reply) else told(result)


def error(status, **headers):
    return told({"error": f"words for {status}"}, status, **headers)
