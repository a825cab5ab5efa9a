"""xAI's API as it answers images/edits."""

import base64

from vendors.loopback import delivery, is_post, told

KEY = "XAI_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "xai:base_url={base},timeout={timeout}"
PRICE = 0.07
is_order, rest = is_post, delivery


def shown(server, data):
    row = {"b64_json": base64.b64encode(data).decode(), "revised_prompt": "Paint the wooden door green."}
    return told({"data": [row], "usage": {"cost_in_usd_ticks": 700000000}}, x_request_id="req-9")


def error(status, code="", **headers):
    return told({"code": code or "an error", "error": f"words for {status}"}, status, **headers)
