"""A server of one's own that speaks images/edits, by the fields of vLLM-Omni's and SGLang's forms."""

import base64

from vendors.loopback import told
from vendors.openai import fields

MODEL = "Qwen/Qwen-Image-Edit-2511"
FORM = {  # what vLLM-Omni's page on image editing and SGLang's image_api.py name, beyond OpenAI's own
    *("image", "prompt", "model", "n", "size", "response_format", "output_format"),
    *("seed", "num_inference_steps", "guidance_scale", "true_cfg_scale", "negative_prompt", "enable_teacache"),
}


class ImageServer:
    """Answers with its pictures in turn, or with the one it is sent; what it says of itself can change meanwhile."""

    def __init__(self, *pictures, version="0.24.0", **card):
        self.pictures = pictures
        self.version, self.card = version, card
        self.info = {}
        self.sent = []

    def __call__(self, server, request):
        assert "openai-key" not in request.headers.get("authorization", ""), "the key is for OpenAI"
        if request.path == "/version" and self.version:
            return told({"version": self.version})
        if request.path == "/server_info":
            return told({"cache_hit_rate": len(server.requests), "host": "gpu-4", **self.info})
        if request.path == "/v1/models":
            card = {"id": MODEL, "object": "model", "created": len(server.requests), "owned_by": "vllm"}
            return told({"object": "list", "data": [card | self.card]})
        if request.path != "/v1/images/edits":
            return told({"detail": "Not Found"}, 404)
        form = fields(request)
        assert set(form) <= FORM
        kind, given = form.pop("image")
        assert kind == "image/png"
        self.sent.append({name: data.decode() for name, (_, data) in form.items()})
        answer = self.pictures[(len(self.sent) - 1) % len(self.pictures)] if self.pictures else given
        data = base64.b64encode(answer).decode()
        return told({"created": 1, "data": [{"b64_json": data, "url": None, "revised_prompt": None}]})
