"""Editing pipelines with random weights, a few thousand of them, written to a folder as real ones are.

A row of tiny_pipelines.json has the pipeline, its autoencoder, its denoiser, what reads the words, by the ends of the
names of the parts, and its processor of pictures, if it has one that asks for torchvision.
"""

import json
from pathlib import Path

SYMBOLS = [chr(code) for code in range(33, 127)]
MARKS = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
HEADS = {"hidden_size": 16, "intermediate_size": 16}
TEXT = {**HEADS, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
PLAIN = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
)
CHAT = PLAIN.replace("{{ message.content }}", "{% for part in message.content %}{{ part.text }}{% endfor %}")


def bytes_vocabulary(*special):
    """A letter a token, for byte-level tokenizers, and then the special ones."""
    from tokenizers.pre_tokenizers import ByteLevel

    return {symbol: number for number, symbol in enumerate([*sorted(ByteLevel.alphabet()), *special])}


def fast_tokenizer(vocabulary, **named):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=plain, **named)


def clip(projected=False):
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

    words = [*SYMBOLS, *(f"{symbol}</w>" for symbol in SYMBOLS), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = CLIPTokenizer({word: number for number, word in enumerate(words)}, [], model_max_length=77)
    ends = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    few = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = CLIPTextConfig(vocab_size=len(tokenizer), projection_dim=32, **few, **ends)
    return tokenizer, (CLIPTextModelWithProjection if projected else CLIPTextModel)(config).eval()


def t5(most=64):
    from transformers import T5Config, T5EncoderModel, T5Tokenizer

    letters = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -10.0), ("▁", -2.0)]
    letters += [(symbol, -3.0) for symbol in SYMBOLS]
    tokenizer = T5Tokenizer(letters, extra_ids=0, model_max_length=most)
    config = T5Config(vocab_size=len(tokenizer), d_model=32, d_ff=37, d_kv=8, num_heads=4, num_layers=1)
    return tokenizer, T5EncoderModel(config).eval()


def mistral():
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    vocabulary = bytes_vocabulary("<s>", "</s>", "<pad>", "[IMG]")
    named = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    tokenizer = fast_tokenizer(vocabulary, padding_side="left", **named)
    tokenizer.chat_template = CHAT.replace("<|im_start|>{{ message.role }}\n", "").replace("<|im_end|>\n", "")
    heads = {"hidden_size": 16, "intermediate_size": 37, "num_attention_heads": 4}
    text = {**heads, "model_type": "mistral", "num_key_value_heads": 2, "sliding_window": None}
    text |= {"vocab_size": len(tokenizer), "num_hidden_layers": 31}  # the pipeline listens to 10, 20 and 30
    vision = {**heads, "model_type": "pixtral", "num_hidden_layers": 1, "image_size": 30, "patch_size": 6}
    image = {"image_token_index": vocabulary["[IMG]"], "vision_feature_layer": -1}
    config = Mistral3Config(text_config=text, vision_config=vision, **image)
    return tokenizer, Mistral3ForConditionalGeneration(config).eval()


def smollm():
    from transformers.models.smollm3.modeling_smollm3 import SmolLM3Config, SmolLM3ForCausalLM

    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}
    config = SmolLM3Config(**{**TEXT, "hidden_size": 32}, vocab_size=128001, **ends)
    return t5()[0], SmolLM3ForCausalLM(config).eval()


def qwen_tokenizer(chat=CHAT):
    from transformers import Qwen2Tokenizer

    tokenizer = Qwen2Tokenizer(bytes_vocabulary("<|endoftext|>", *MARKS), [], additional_special_tokens=MARKS)
    tokenizer.chat_template = chat
    return tokenizer


def qwen3(kind, layers, plain=False):
    import transformers

    tokenizer = qwen_tokenizer(PLAIN if plain else CHAT)
    text = {**TEXT, "num_hidden_layers": layers, "head_dim": 8, "vocab_size": len(tokenizer)}
    return tokenizer, getattr(transformers, kind)(transformers.Qwen3Config(**text)).eval()


def qwen_vl(generation, tokenizer=None, more=None):
    import transformers

    tokenizer = tokenizer or qwen_tokenizer()
    ids = {}
    for name in ("image_pad", "video_pad", "vision_start", "vision_end"):
        ids[f"{name.removesuffix('_pad')}_token_id"] = tokenizer.convert_tokens_to_ids(f"<|{name}|>")
    text = {**TEXT, "vocab_size": len(tokenizer), **(more or {})}
    vision = {**HEADS, "depth": 1, "num_heads": 2, "out_hidden_size": 16}
    if generation == "Qwen3VL":
        rope = {"mrope_section": [2, 1, 1], "rope_type": "default", "rope_theta": 10000.0}
        text |= {"head_dim": 8, "rope_parameters": rope}
        vision |= {"num_position_embeddings": 16, "patch_size": 16, "deepstack_visual_indexes": [0]}
    else:
        rope = {"mrope_section": [1, 1, 2], "rope_type": "default", "type": "default"}
        text |= {"rope_scaling": rope, "rope_theta": 1000000.0}
        ids["vocab_size"] = len(tokenizer)
    config = getattr(transformers, f"{generation}Config")(text_config=text, vision_config=vision, **ids)
    return tokenizer, getattr(transformers, f"{generation}ForConditionalGeneration")(config).eval()


def siglip():
    from transformers import Siglip2VisionConfig, Siglip2VisionModel
    from transformers.models.siglip2.image_processing_pil_siglip2 import Siglip2ImageProcessorPil

    few = {"num_hidden_layers": 1, "num_attention_heads": 2, "num_patches": 64, "patch_size": 16}
    config, processor = Siglip2VisionConfig(**HEADS, **few), Siglip2ImageProcessorPil(max_num_patches=64)
    return {"siglip": Siglip2VisionModel(config).eval(), "siglip_processor": processor}


def clip_vision():
    from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    few = {"hidden_size": 4, "projection_dim": 4, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPVisionConfig(**few, image_size=32, intermediate_size=16, patch_size=8)
    processor = CLIPImageProcessorPil(crop_size=32, size=32)
    return {"image_encoder": CLIPVisionModelWithProjection(config).eval(), "image_processor": processor}


def glm_vision():
    from transformers import GlmImageConfig, GlmImageForConditionalGeneration

    vocabulary = glm_vocabulary()
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": (2, 1, 1)}
    text = {**TEXT, "vocab_size": 512, "vision_vocab_size": 128, "pad_token_id": vocabulary["<pad>"]}
    config = GlmImageConfig(
        text_config={**text, "eos_token_id": 511, "rope_parameters": rope},
        vision_config={**HEADS, "depth": 1, "num_heads": 2, "image_size": 64, "patch_size": 16},
        vq_config={"embed_dim": 16, "num_embeddings": 128, "latent_channels": 16},
        image_token_id=vocabulary["<|image|>"],
        image_start_token_id=vocabulary["<s>"],
        image_end_token_id=510,
    )
    return {"vision_language_encoder": GlmImageForConditionalGeneration(config).eval()}


def glm_vocabulary():
    return bytes_vocabulary("<s>", "<pad>", "<|image|>", "<sop>", "<eop>")


def write_glm_processor(folder):
    from transformers.models.glm_image.image_processing_pil_glm_image import GlmImageImageProcessorPil

    named = {"image_token": "<|image|>", "grid_bos_token": "<sop>", "grid_eos_token": "<eop>"}
    read = fast_tokenizer(glm_vocabulary(), extra_special_tokens=named, bos_token="<s>", pad_token="<pad>")  # noqa: S106
    part = "{% if part.type == 'image' %}<|image|>{% else %}{{ part.text }}{% endif %}"
    read.chat_template = (
        CHAT.replace("{{ part.text }}", part).replace("<|im_start|>", "").replace("<|im_end|>", "")
    )
    pictures = GlmImageImageProcessorPil(patch_size=16, merge_size=1, temporal_patch_size=1)
    for each in (read, pictures):
        each.save_pretrained(folder / "processor")
    add_part(folder, "processor", "GlmImageProcessor")


def write_processor(folder, name, kind, patch=14, most=64 * 64):
    """As a published one, whose part for videos asks for torchvision and is not written here."""
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    qwen_tokenizer().save_pretrained(folder / name)
    few = {"shortest_edge": 56 * 56, "longest_edge": most}
    Qwen2VLImageProcessorPil(patch_size=patch, size=few).save_pretrained(folder / name)
    add_part(folder, name, kind)


def add_part(folder, name, kind):
    index = folder / "model_index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), name: ["transformers", kind]}))


KEPT = json.loads(Path(__file__).with_suffix(".json").read_text())
AUTOENCODERS = KEPT["autoencoders"]
PIPELINES = KEPT["pipelines"]
READERS = {made.__name__: made for made in (clip, t5, mistral, smollm, qwen3, qwen_vl)}
FURTHER = {"z_omni": siglip, "chrono": clip_vision, "glm": glm_vision}
# The published one draws noise at every step.
SCHEDULERS = {"pix2pix": "EulerAncestralDiscreteScheduler", "pix2pix_xl": "EulerDiscreteScheduler"}
UNCHECKED = {"safety_checker": [None, None], "feature_extractor": [None, None], "requires_safety_checker": False}


def made(model):
    import diffusers

    return getattr(diffusers, model[0])(**model[1])


def write(name, folder):
    """Part by part, because some cannot be made without a processor that asks for torchvision."""
    import diffusers

    row = PIPELINES[name]
    denoiser, processor = row["denoiser"], row["processor"]
    scheduler = SCHEDULERS.get(name, "FlowMatchEulerDiscreteScheduler")
    parts = {"scheduler": made((scheduler, {})), "vae": made(row["vae"])}
    parts["unet" if "UNet" in denoiser[0] else "transformer"] = made(denoiser)
    for end, (reader, *words) in row["readers"].items():
        parts[f"tokenizer{end}"], parts[f"text_encoder{end}"] = READERS[reader](*words)
    parts |= FURTHER[name]() if name in FURTHER else {}
    if name == "qwen21" or "tokenizer" in processor:
        del parts["tokenizer"]
    index = {"_class_name": f"{row['pipeline']}Pipeline"}
    index |= {"_diffusers_version": diffusers.__version__}
    for part, model in parts.items():
        model.save_pretrained(folder / part)
        index[part] = [type(model).__module__.partition(".")[0], type(model).__name__]
    (folder / "model_index.json").write_text(json.dumps({**index, **(UNCHECKED if name == "pix2pix" else {})}))
    if processor:
        write_processor(folder, *processor)
    if name == "glm":
        write_glm_processor(folder)
