"""BytePlus and Volcengine Ark as they answer images/generations."""

import base64

from vendors.loopback import delivery, is_post, told

KEY = "ARK_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "seedream:base_url={base},timeout={timeout}"
PRICE = 0.03
is_order, rest = is_post, delivery


def answer(row):
    usage = {"generated_images": 1, "output_tokens": 4056, "total_tokens": 4056}
    about = {"model": "seedream-4-0-250828", "created": 1, "data": [row], "usage": usage}
    return told(about, x_request_id="req-9")


def shown(server, data):
    return answer({"b64_json": base64.b64encode(data).decode(), "size": "96x64"})


def linked(server, data):
    server.kept = data
    return answer({"url": f"{server.base}/delivery/0", "size": "96x64"})


def error(status, code="", **headers):
    names = {400: "InvalidParameter", 401: "AuthenticationError", 402: "AccountOverdueError"}
    row = {"code": code or names.get(status, "InternalServiceError"), "message": f"words for {status}"}
    return told({"error": row}, status, **headers)
