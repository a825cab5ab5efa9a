"""The Gemini API as it answers generateContent."""

import base64
from typing import Any

from vendors.loopback import Reply, Request, Server, is_png, told

KEY = "GEMINI_API_KEY"
SPEC = "gemini:base_url={base},timeout={timeout}"
PRICE = 0.0336
SIZE = (96, 64)


def asked(server: Server, request: Request) -> None:
    assert request.method == "POST"
    assert request.path == "/v1beta/models/gemini-nano-banana-2.1:generateContent"
    assert request.headers["x-goog-api-key"].startswith("sentinel")
    body = request.json()
    (content,) = body["contents"]
    assert content["role"] == "user"
    picture, words = content["parts"]
    inline = picture["inlineData"]
    assert (inline.get("mimeType") or inline.get("mime_type")) == "image/png"  # the API takes both spellings
    standard = inline["data"].replace("-", "+").replace("_", "/")  # and both alphabets
    assert is_png(base64.b64decode(standard, validate=True))
    assert words["text"] == "Paint the door green."
    config = body["generationConfig"]
    assert config["responseModalities"] == ["TEXT", "IMAGE"]
    assert config["imageConfig"] == {"aspectRatio": "3:2", "imageSize": "1K"}
    assert config["thinkingConfig"] in ({"includeThoughts": True}, {"include_thoughts": True})
    assert isinstance(config["seed"], int)


def is_order(request: Request) -> bool:
    return True


def rest(server: Server, request: Request) -> Reply:
    raise AssertionError(f"nothing else is asked for: {request.path}")


def parts(*parts: dict[str, Any], finish: str = "STOP") -> Reply:
    return told(
        {
            "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}],
            "usageMetadata": {"promptTokenCount": 270, "candidatesTokenCount": 1290, "totalTokenCount": 1560},
            "modelVersion": "gemini-nano-banana-2.1",
            "responseId": "response-7",
        }
    )


def inline(data: bytes, type: str = "image/png", **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": type, "data": base64.b64encode(data).decode()}, **more}


def shown(server: Server, data: bytes) -> Reply:
    return parts({"text": "Here is the green door."}, inline(data))


def error(status: int, **headers: str) -> Reply:
    names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
    about = {"code": status, "message": f"words for {status}", "status": names.get(status, "UNKNOWN")}
    return told({"error": about}, status, **headers)


def without(finish: str) -> Reply:
    return told({"candidates": [{"finishReason": finish, "finishMessage": "as it says", "index": 0}]})


def blocked(reason: str) -> Reply:
    return told({"promptFeedback": {"blockReason": reason}, "modelVersion": "gemini-nano-banana-2.1"})
