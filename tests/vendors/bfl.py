"""Black Forest Labs' API: an order, polls, a download."""

from vendors.loopback import Reply, is_post, told

KEY = "BFL_API_KEY"
AUTH = ("x-key", "sentinel")
SPEC = "bfl:base_url={base},timeout={timeout},poll=0.01"
PRICE = 0.045
is_order = is_post


def ended(status, data=b"", **more):
    """How a task ends, which the server keeps until it is polled for."""
    return status, data, more


def accepted(server, order, **more):
    server.orders = [*getattr(server, "orders", []), order]
    number = len(server.orders) - 1
    place = f"{server.base}/v1/get_result?id=task-{number}"
    return told({"id": f"task-{number}", "polling_url": place, **more})


def shown(server, data):
    return accepted(server, ended("Ready", data))


def rest(server, request):
    if request.path.startswith("/delivery/"):
        return Reply(body=server.orders[int(request.path.split("/")[-1])][1], type="image/png")
    number = int(request.path.rpartition("-")[2])
    status, _, more = server.orders[number]
    polls = sum(each.path == request.path for each in server.requests)
    if polls < 4:
        stages = ["Pending", "Reasoning", "Generating"]
        return told({"id": f"task-{number}", "status": stages[polls % 3], "result": None})
    result = {"sample": f"{server.base}/delivery/{number}", "seed": 7} if status == "Ready" else None
    code = 404 if status == "Task not found" else 200
    return told({"id": f"task-{number}", "status": status, "result": result, **more}, code)


def error(status, **headers):
    return told({"detail": f"words for {status}"}, status, **headers)
