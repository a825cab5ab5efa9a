"""Refuses requests whose body is larger than any view needs, before they are in memory."""

from typing import Any

BODY = 90_000_000  # bytes: a full series in base64


class Limited:
    """ASGI middleware: counts what arrives, whatever the header says."""

    def __init__(self, app: Any, most: int = BODY):
        self.app, self.most = app, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self.most:
            return await refuse(send, self.most)
        seen = 0

        async def counted() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return {"type": "http.disconnect"} if seen > self.most else message

        return await self.app(scope, counted, send)


async def refuse(send: Any, most: int) -> None:
    words = f'{{"error": "the request has more than {most:,} bytes, which is the most that is read"}}'.encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(words)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": words})
