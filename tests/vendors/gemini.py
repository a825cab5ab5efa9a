"""The Gemini API as it answers generateContent."""

import base64

from vendors.loopback import delivery, is_post, told

KEY = "GEMINI_API_KEY"
AUTH = ("x-goog-api-key", "sentinel")
SPEC = "gemini:base_url={base},timeout={timeout}"
PRICE = 0.0336
is_order, rest = is_post, delivery


def parts(*parts, finish="STOP"):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    usage = {"promptTokenCount": 270, "candidatesTokenCount": 1290, "totalTokenCount": 1560}
    about = {"modelVersion": "gemini-nano-banana-2.1", "responseId": "response-7", "usageMetadata": usage}
    return told({"candidates": [candidate], **about})


def inline(data, type="image/png", **more):
    return {"inlineData": {"mimeType": type, "data": base64.b64encode(data).decode()}, **more}


def shown(server, data):
    return parts({"text": "Here is the green door."}, inline(data))


def error(status, **headers):
    names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
    about = {"code": status, "message": f"words for {status}", "status": names.get(status, "UNKNOWN")}
    return told({"error": about}, status, **headers)


def without(finish):
    return told({"candidates": [{"finishReason": finish, "finishMessage": "as it says", "index": 0}]})


def blocked(reason):
    return told({"promptFeedback": {"blockReason": reason}, "modelVersion": "gemini-nano-banana-2.1"})
