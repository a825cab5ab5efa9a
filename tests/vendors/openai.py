"""The OpenAI API as it answers images/edits."""

import base64
import email
import email.policy

from vendors.loopback import Reply, Request, Server, is_png, told

KEY = "OPENAI_API_KEY"
SPEC = "openai:base_url={base}/v1,timeout={timeout}"
PRICE = 0.0262
SIZE = (96, 64)


def fields(request: Request) -> dict[str, tuple[str, bytes]]:
    """The parts of a multipart body: name to type and bytes."""
    head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request.body, policy=email.policy.HTTP)
    found = {}
    for part in message.iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        found[name] = (part.get_content_type(), part.get_payload(decode=True))
    return found


def asked(server: Server, request: Request) -> None:
    assert request.method == "POST"
    assert request.path == "/v1/images/edits"
    assert request.headers["authorization"].startswith("Bearer sentinel")
    sent = fields(request)
    words = {name: data.decode() for name, (_, data) in sent.items() if not name.startswith("image")}
    assert words == {
        "model": "gpt-image-2.5-sunburst",
        "prompt": "Paint the door green.",
        "size": "1248x832",
        "quality": "medium",
        "output_format": "png",
        "n": "1",
    }
    type, data = sent["image[]"]
    assert type == "image/png"
    assert is_png(data)


def is_order(request: Request) -> bool:
    return True


def rest(server: Server, request: Request) -> Reply:
    raise AssertionError(f"nothing else is asked for: {request.path}")


def shown(server: Server, data: bytes) -> Reply:
    usage = {
        "input_tokens": 400,
        "input_tokens_details": {"text_tokens": 20, "image_tokens": 380},
        "output_tokens": 1584,
        "total_tokens": 1984,
    }
    row = {"b64_json": base64.b64encode(data).decode()}
    return told({"created": 1, "data": [row], "output_format": "png", "usage": usage}, x_request_id="req-5")


def error(status: int, code: str = "", **headers: str) -> Reply:
    kinds = {400: "image_generation_user_error", 401: "invalid_request_error", 429: "requests", 500: "server_error"}
    about = {"message": f"words for {status}", "type": kinds.get(status, "error"), "code": code or None, "param": None}
    return told({"error": about}, status, **headers)
