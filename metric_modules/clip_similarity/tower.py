"""CLIP's image side for processors: weights laid out once for the multiplication, and one for query, key and value.

The numbers are those of transformers' own, in float32 to 1e-7. In bfloat16 its matrices, laid out for every picture,
cost a sixth more time; in float32 its multiplications are MKL's, which take 2.4 times as long on AMD's processors.
"""

from typing import Any

_LAID_OUT_FOR = 257  # rows: one picture of ViT-L/14; other numbers of rows work as well


def tower(network: Any) -> Any:
    """The fast image side for this model, dtype and device; None if there is none.

    It takes the layers' weights over from the model.
    """
    import torch

    is_supported = network.config.model_type == "clip" and network.dtype in (torch.bfloat16, torch.float32)
    if not is_supported or network.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return None
    # Both are what torch's own compiler emits for linear layers; they have no public name.
    if not all(hasattr(torch.ops.mkldnn, name) for name in ("_reorder_linear_weight", "_linear_pointwise")):
        return None
    vision, heads = network.vision_model, network.config.vision_config.num_attention_heads
    activation = vision.encoder.layers[0].mlp.activation_fn
    with torch.inference_mode():
        layers = [_laid_out(layer) for layer in vision.encoder.layers]
    vision.encoder.layers = None  # the weights would be here twice

    def see(values: Any) -> Any:
        states = vision.pre_layrnorm(vision.embeddings(values))
        count, tokens, width = states.shape
        for number, (first, second, inner, out, up, down) in enumerate(layers, start=1):
            split = inner(first(states)).view(count, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
            query, key, value = (part.reshape(count * heads, tokens, -1) for part in split)
            if number == len(layers):  # what is asked for is the class token's state, which comes first
                query, states = query[:, :1], states[:, :1]
            weights = torch.bmm(query * key.shape[-1] ** -0.5, key.transpose(1, 2)).softmax(-1)
            seen = torch.bmm(weights, value).view(count, heads, -1, width // heads).transpose(1, 2)
            states = states + out(seen.reshape(count, -1, width))
            states = states + down(activation(up(second(states))))
        return network.visual_projection(vision.post_layernorm(states[:, 0]))

    return see


def _laid_out(layer: Any) -> tuple[Any, ...]:
    """A layer's two normalisations and its four multiplications."""
    import torch

    attention = layer.self_attn
    three = (attention.q_proj, attention.k_proj, attention.v_proj)
    weight, bias = (torch.cat([getattr(part, name) for part in three]) for name in ("weight", "bias"))
    others = (attention.out_proj, layer.mlp.fc1, layer.mlp.fc2)
    multiplications = [_multiplication(weight, bias), *(_multiplication(part.weight, part.bias) for part in others)]
    return layer.layer_norm1, layer.layer_norm2, *multiplications


def _multiplication(weight: Any, bias: Any) -> Any:
    """A linear layer with its weight in the order in which the processor wants it."""
    import torch

    ready, plain = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _LAID_OUT_FOR), bias.detach()
    return lambda values: torch.ops.mkldnn._linear_pointwise(values, ready, plain, "none", [], "")
