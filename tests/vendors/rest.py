"""Meta's API as it answers images/edits: the default of the vendors that are descriptions."""

import base64

from vendors.loopback import Reply, Server, delivery, is_post, told

KEY = "MODEL_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "rest:base_url={base},timeout={timeout},poll=0.01"
PRICE = 0.01
is_order, rest = is_post, delivery


def shown(server: Server, data: bytes) -> Reply:
    row = {"b64_json": base64.b64encode(data).decode()}
    usage = {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}
    return told({"created": 1, "data": [row], "output_format": "png", "usage": usage}, x_request_id="req-3")


def error(status: int, code: str = "", **headers: str) -> Reply:
    about = {"message": f"words for {status}", "type": "invalid_request_error", "code": code or None}
    return told({"error": about}, status, **headers)
