"""Further editing pipelines with random weights: those that read pictures with a model of language and vision."""

import json
from pathlib import Path
from typing import Any

import tiny_pipelines
from tiny_pipelines import autoencoder, bytes_vocabulary, clip_text, clip_tokenizer, flux_vae

MARKS = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
HEADS = {"hidden_size": 16, "intermediate_size": 16}
TEXT = {**HEADS, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}{{ part.text }}{% endfor %}<|im_end|>\n{% endfor %}"
)


def qwen_tokenizer() -> Any:
    from transformers import Qwen2Tokenizer

    return Qwen2Tokenizer(bytes_vocabulary("<|endoftext|>", *MARKS), [], additional_special_tokens=MARKS)


def token_ids(tokenizer: Any) -> dict[str, int]:
    named = {"image": "<|image_pad|>", "video": "<|video_pad|>", "vision_start": "<|vision_start|>"}
    named["vision_end"] = "<|vision_end|>"
    return {f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in named.items()}


def qwen3_vl(tokenizer: Any) -> Any:
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    rope = {"mrope_section": [2, 1, 1], "rope_type": "default", "rope_theta": 10000.0}
    vision = {"depth": 1, "num_heads": 2, "out_hidden_size": 16, "num_position_embeddings": 16, "patch_size": 16}
    config = Qwen3VLConfig(
        text_config={**TEXT, "head_dim": 8, "vocab_size": len(tokenizer), "rope_parameters": rope},
        vision_config={**HEADS, **vision, "deepstack_visual_indexes": [0]},
        **token_ids(tokenizer),
    )
    return Qwen3VLForConditionalGeneration(config).eval()


def qwen25_vl(tokenizer: Any) -> Any:
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    rope = {"mrope_section": [1, 1, 2], "rope_type": "default", "type": "default"}
    config = Qwen2_5_VLConfig(
        text_config={**TEXT, "vocab_size": len(tokenizer), "rope_scaling": rope, "rope_theta": 1000000.0},
        vision_config={**HEADS, "depth": 1, "num_heads": 2, "out_hidden_size": 16},
        vocab_size=len(tokenizer),
        **token_ids(tokenizer),
    )
    return Qwen2_5_VLForConditionalGeneration(config).eval()


def write_processor(folder: Path, name: str, kind: str, tokenizer: Any, patch: int = 14, most: int = 64 * 64) -> None:
    """As a published one, whose part for videos asks for torchvision and is not written here."""
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(folder / name)
    few = {"shortest_edge": 56 * 56, "longest_edge": most}
    Qwen2VLImageProcessorPil(patch_size=patch, size=few).save_pretrained(folder / name)
    add_part(folder, name, kind)


def add_part(folder: Path, name: str, kind: str) -> None:
    index = folder / "model_index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), name: ["transformers", kind]}))


def flow() -> Any:
    import diffusers

    return diffusers.FlowMatchEulerDiscreteScheduler()


def deep_vae(channels: int, **more: Any) -> Any:
    import diffusers

    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    few = {
        "block_out_channels": (4,) * 4,
        "layers_per_block": 1,
        "norm_num_groups": 4,
        "mid_block_add_attention": False,
    }
    return diffusers.AutoencoderKL(**blocks, **few, latent_channels=channels, **more)


def wan_vae(**more: Any) -> Any:
    import diffusers

    few = {"base_dim": 3, "z_dim": 16, "dim_mult": [1, 1, 1, 1], "num_res_blocks": 1}
    return diffusers.AutoencoderKLWan(**{**few, "temperal_downsample": [False, True, True], **more})


def t5() -> tuple[Any, Any]:
    from transformers import T5Config, T5EncoderModel, T5Tokenizer

    letters = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -10.0), ("▁", -2.0)]
    letters += [(symbol, -3.0) for symbol in tiny_pipelines.SYMBOLS]
    tokenizer = T5Tokenizer(letters, extra_ids=0, model_max_length=64)
    config = T5Config(vocab_size=len(tokenizer), d_model=32, d_ff=37, d_kv=8, num_heads=4, num_layers=1)
    return tokenizer, T5EncoderModel(config).eval()


def klein(folder: Path, kind: str = "Flux2KleinPipeline") -> None:
    import diffusers
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = qwen_tokenizer()
    tokenizer.chat_template = CHAT.replace(
        "{% for part in message.content %}{{ part.text }}{% endfor %}", "{{ message.content }}"
    )
    layers = 28  # the pipeline listens to layers 9, 18 and 27
    config = Qwen3Config(**{**TEXT, "num_hidden_layers": layers}, head_dim=8, vocab_size=len(tokenizer))
    transformer = diffusers.Flux2Transformer2DModel(
        patch_size=1, in_channels=4, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=48, timestep_guidance_channels=256, axes_dims_rope=[4, 4, 4, 4], guidance_embeds=False,
    )  # fmt: skip
    getattr(diffusers, kind)(
        scheduler=flow(),
        vae=flux_vae(diffusers.AutoencoderKLFlux2),
        text_encoder=Qwen3ForCausalLM(config).eval(),
        tokenizer=tokenizer,
        transformer=transformer,
    ).save_pretrained(folder)


def klein_kv(folder: Path) -> None:
    klein(folder, "Flux2KleinKVPipeline")


def pix2pix_xl(folder: Path) -> None:
    import diffusers
    from transformers import CLIPTextConfig, CLIPTextModelWithProjection

    clip = clip_tokenizer()
    config = CLIPTextConfig(**{**clip_text(clip).config.to_dict(), "projection_dim": 32})
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(8, 16), layers_per_block=1, sample_size=32, in_channels=8, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(2, 4), use_linear_projection=True, addition_embed_type="text_time",
        addition_time_embed_dim=8, transformer_layers_per_block=(1, 1), projection_class_embeddings_input_dim=80,
        cross_attention_dim=64, norm_num_groups=4,
    )  # fmt: skip
    diffusers.StableDiffusionXLInstructPix2PixPipeline(
        unet=unet,
        scheduler=diffusers.EulerDiscreteScheduler(),
        vae=autoencoder(),
        text_encoder=clip_text(clip),
        tokenizer=clip,
        text_encoder_2=CLIPTextModelWithProjection(config).eval(),
        tokenizer_2=clip,
    ).save_pretrained(folder)


def longcat(folder: Path) -> None:
    import diffusers

    tokenizer = qwen_tokenizer()
    transformer = diffusers.LongCatImageTransformer2DModel(
        in_channels=64, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=1,
        joint_attention_dim=16, pooled_projection_dim=16, axes_dims_rope=[4, 4, 8],
    )  # fmt: skip
    vae = deep_vae(16, shift_factor=0.1, scaling_factor=0.3)
    parts = {
        "scheduler": flow(),
        "vae": vae,
        "text_encoder": qwen25_vl(tokenizer),
        "tokenizer": tokenizer,
        "transformer": transformer,
    }
    save(diffusers.LongCatImageEditPipeline, folder, parts)
    write_processor(folder, "text_processor", "Qwen2VLProcessor", tokenizer)


def save(kind: type, folder: Path, parts: dict[str, Any]) -> None:
    """Part by part, where the pipeline cannot be made without a processor that asks for torchvision."""
    import diffusers

    index = {"_class_name": kind.__name__, "_diffusers_version": diffusers.__version__}
    for name, part in parts.items():
        part.save_pretrained(folder / name)
        index[name] = [type(part).__module__.partition(".")[0], type(part).__name__]
    (folder / "model_index.json").write_text(json.dumps(index))


def qwen21(folder: Path) -> None:
    import diffusers

    tokenizer = qwen_tokenizer()
    transformer = diffusers.QwenImage21Transformer2DModel(
        in_channels=4, out_channels=4, num_layers=1, attention_head_dim=16, num_attention_heads=2, context_in_dim=16,
        axes_dims_rope=(8, 4, 4),
    )  # fmt: skip
    vae = diffusers.AutoencoderKLQwenImage21(
        base_dim=4, decoder_base_dim=4, z_dim=4, dim_mult=[1, 1, 1, 1, 1], num_res_blocks=1, latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )  # fmt: skip
    parts = {"scheduler": flow(), "vae": vae, "text_encoder": qwen3_vl(tokenizer), "transformer": transformer}
    save(diffusers.QwenImage21Pipeline, folder, parts)
    write_processor(folder, "processor", "Qwen3VLProcessor", tokenizer, 16, most=2048 * 2048)  # a token for each latent


def joy(folder: Path) -> None:
    import diffusers

    tokenizer = qwen_tokenizer()
    transformer = diffusers.JoyImageEditTransformer3DModel(
        patch_size=[1, 2, 2], in_channels=16, hidden_size=32, num_attention_heads=2, text_dim=16, num_layers=1,
        rope_dim_list=[4, 6, 6], theta=256,
    )  # fmt: skip
    parts = {
        "scheduler": flow(),
        "vae": wan_vae(),
        "text_encoder": qwen3_vl(tokenizer),
        "tokenizer": tokenizer,
        "transformer": transformer,
    }
    save(diffusers.JoyImageEditPipeline, folder, parts)
    write_processor(folder, "processor", "Qwen3VLProcessor", tokenizer, 16)


def dreamlite(folder: Path, kind: str = "DreamLitePipeline") -> None:
    import diffusers

    tokenizer = qwen_tokenizer()
    unet = diffusers.DreamLiteUNetModel(
        block_out_channels=(32, 32, 32), layers_per_block=1, cross_attention_dim=16, attention_head_dim=16,
        transformer_layers_per_block=1,
    )  # fmt: skip
    vae = diffusers.AutoencoderTiny(
        encoder_block_out_channels=(4, 4, 4, 4), decoder_block_out_channels=(4, 4, 4, 4),
        num_encoder_blocks=(1, 1, 1, 1), num_decoder_blocks=(1, 1, 1, 1),
    )  # fmt: skip
    parts = {"scheduler": flow(), "vae": vae, "text_encoder": qwen3_vl(tokenizer), "tokenizer": tokenizer, "unet": unet}
    save(getattr(diffusers, kind), folder, parts)
    write_processor(folder, "processor", "Qwen3VLProcessor", tokenizer, 16)


def dreamlite_mobile(folder: Path) -> None:
    dreamlite(folder, "DreamLiteMobilePipeline")


def z_omni(folder: Path) -> None:
    import diffusers
    from transformers import Qwen3Config, Qwen3Model, Siglip2VisionConfig, Siglip2VisionModel
    from transformers.models.siglip2.image_processing_pil_siglip2 import Siglip2ImageProcessorPil

    tokenizer = qwen_tokenizer()
    config = Qwen3Config(**{**TEXT, "num_hidden_layers": 2}, head_dim=8, vocab_size=len(tokenizer))
    transformer = diffusers.ZImageTransformer2DModel(
        in_channels=4, dim=32, n_layers=1, n_refiner_layers=1, n_heads=2, n_kv_heads=2, cap_feat_dim=16,
        siglip_feat_dim=16, axes_dims=[4, 6, 6], axes_lens=[1024, 64, 64],
    )  # fmt: skip
    vae = deep_vae(4, shift_factor=0.1, scaling_factor=0.3)
    seen = Siglip2VisionConfig(**HEADS, num_hidden_layers=1, num_attention_heads=2, num_patches=64, patch_size=16)
    diffusers.ZImageOmniPipeline(
        scheduler=flow(), vae=vae, text_encoder=Qwen3Model(config).eval(), tokenizer=tokenizer, transformer=transformer,
        siglip=Siglip2VisionModel(seen).eval(), siglip_processor=Siglip2ImageProcessorPil(max_num_patches=64),
    ).save_pretrained(folder)  # fmt: skip


def kandinsky5(folder: Path) -> None:
    import diffusers

    tokenizer, clip = qwen_tokenizer(), clip_tokenizer()
    transformer = diffusers.Kandinsky5Transformer3DModel(
        in_visual_dim=16, in_text_dim=16, in_text_dim2=32, time_dim=16, out_visual_dim=16, patch_size=(1, 2, 2),
        model_dim=16, ff_dim=32, num_text_blocks=1, num_visual_blocks=1, axes_dims=(1, 1, 2), visual_cond=True,
        attention_type="regular",
    )  # fmt: skip
    vae = deep_vae(16)
    parts = {
        "scheduler": flow(),
        "vae": vae,
        "text_encoder": qwen25_vl(tokenizer),
        "text_encoder_2": clip_text(clip),
        "tokenizer_2": clip,
        "transformer": transformer,
    }
    save(diffusers.Kandinsky5I2IPipeline, folder, parts)
    write_processor(folder, "tokenizer", "Qwen2_5_VLProcessor", tokenizer)


def chrono(folder: Path) -> None:
    import diffusers
    from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    tokenizer, text = t5()
    transformer = diffusers.ChronoEditTransformer3DModel(
        patch_size=(1, 2, 2), num_attention_heads=2, attention_head_dim=12, in_channels=36, out_channels=16,
        text_dim=32, freq_dim=256, ffn_dim=32, num_layers=1, cross_attn_norm=True, qk_norm="rms_norm_across_heads",
        rope_max_seq_len=32, image_dim=4,
    )  # fmt: skip
    seen = CLIPVisionConfig(
        hidden_size=4,
        projection_dim=4,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=32,
        intermediate_size=16,
        patch_size=8,
    )
    diffusers.ChronoEditPipeline(
        transformer=transformer, vae=wan_vae(), scheduler=flow(), text_encoder=text, tokenizer=tokenizer,
        image_encoder=CLIPVisionModelWithProjection(seen).eval(),
        image_processor=CLIPImageProcessorPil(crop_size=32, size=32),
    ).save_pretrained(folder)  # fmt: skip


def bria(folder: Path) -> None:
    import diffusers
    from diffusers.models.transformers.transformer_bria_fibo import BriaFiboTransformer2DModel
    from transformers.models.smollm3.modeling_smollm3 import SmolLM3Config, SmolLM3ForCausalLM

    tokenizer, _ = t5()
    transformer = BriaFiboTransformer2DModel(
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=8, num_attention_heads=2,
        joint_attention_dim=64, text_encoder_dim=32, pooled_projection_dim=None, axes_dims_rope=[0, 4, 4],
    )  # fmt: skip
    vae = wan_vae(
        base_dim=4, decoder_base_dim=4, dim_mult=[1, 2, 4, 4], in_channels=12, out_channels=12, patch_size=2,
        latents_mean=[0.0] * 16, latents_std=[1.0] * 16, is_residual=True, scale_factor_spatial=16,
    )  # fmt: skip
    text = SmolLM3Config(
        **{**TEXT, "hidden_size": 32}, vocab_size=128001, pad_token_id=0, bos_token_id=1, eos_token_id=1
    )
    diffusers.BriaFiboEditPipeline(
        scheduler=flow(), vae=vae, text_encoder=SmolLM3ForCausalLM(text).eval(), tokenizer=tokenizer,
        transformer=transformer,
    ).save_pretrained(folder)  # fmt: skip


def glm(folder: Path) -> None:
    import diffusers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GlmImageConfig, GlmImageForConditionalGeneration, PreTrainedTokenizerFast
    from transformers.models.glm_image.image_processing_pil_glm_image import GlmImageImageProcessorPil

    named = {"image_token": "<|image|>", "grid_bos_token": "<sop>", "grid_eos_token": "<eop>"}
    vocabulary = bytes_vocabulary("<s>", "<pad>", *named.values())
    ends = {"bos_token": "<s>", "pad_token": "<pad>"}
    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    read = PreTrainedTokenizerFast(tokenizer_object=plain, extra_special_tokens=named, **ends)
    part = "{% if part.type == 'image' %}<|image|>{% else %}{{ part.text }}{% endif %}"
    read.chat_template = CHAT.replace("{{ part.text }}", part).replace("<|im_start|>", "").replace("<|im_end|>", "")
    codes = 128
    seen = {**HEADS, "depth": 1, "num_heads": 2, "image_size": 64, "patch_size": 16}
    text = {
        **TEXT,
        "vocab_size": 512,
        "vision_vocab_size": codes,
        "pad_token_id": vocabulary["<pad>"],
        "eos_token_id": 511,
    }
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": (2, 1, 1)}
    config = GlmImageConfig(
        text_config=text,
        vision_config=seen,
        vq_config={"embed_dim": 16, "num_embeddings": codes, "latent_channels": 16},
        image_token_id=vocabulary["<|image|>"],
        image_start_token_id=vocabulary["<s>"],
        image_end_token_id=510,
    )
    tokenizer, text_encoder = t5()
    transformer = diffusers.GlmImageTransformer2DModel(
        patch_size=2, in_channels=4, out_channels=4, num_layers=1, attention_head_dim=8, num_attention_heads=2,
        text_embed_dim=32, time_embed_dim=16, condition_dim=8, prior_vq_quantizer_codebook_size=codes,
    )  # fmt: skip
    vae = deep_vae(4, latents_mean=[0.0] * 4, latents_std=[1.0] * 4)
    parts = {
        "scheduler": flow(),
        "vae": vae,
        "text_encoder": text_encoder,
        "tokenizer": tokenizer,
        "transformer": transformer,
    }
    parts["vision_language_encoder"] = GlmImageForConditionalGeneration(config).eval()
    save(diffusers.GlmImagePipeline, folder, parts)
    read.save_pretrained(folder / "processor")
    GlmImageImageProcessorPil(patch_size=16, merge_size=1, temporal_patch_size=1).save_pretrained(folder / "processor")
    add_part(folder, "processor", "GlmImageProcessor")
