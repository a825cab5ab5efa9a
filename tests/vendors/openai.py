"""The OpenAI API as it answers images/edits."""

import base64
import email
import email.policy

from vendors.loopback import delivery, is_post, told

KEY = "OPENAI_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "openai:base_url={base}/v1,timeout={timeout}"
PRICE = 0.0262
is_order, rest = is_post, delivery


def fields(request):
    """The parts of a multipart body: name to type and bytes."""
    head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request.body, policy=email.policy.HTTP)
    return {
        part.get_param("name", header="content-disposition"): (
            part.get_content_type(),
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    }


def shown(server, data):
    usage = {"input_tokens": 400, "output_tokens": 1584, "total_tokens": 1984}
    usage["input_tokens_details"] = {"text_tokens": 20, "image_tokens": 380}
    row = {"b64_json": base64.b64encode(data).decode()}
    return told({"created": 1, "data": [row], "output_format": "png", "usage": usage}, x_request_id="req-5")


def error(status, code="", **headers):
    about = {"message": f"words for {status}", "type": "image_generation_user_error", "code": code or None}
    return told({"error": about}, status, **headers)
