"""Editing pipelines with random weights, a few thousand of them, written to a folder as real ones are."""

import json
from pathlib import Path
from typing import Any

SYMBOLS = [chr(code) for code in range(33, 127)]


def bytes_vocabulary(*special: str) -> dict[str, int]:
    """A letter a token, for byte-level tokenizers, and then the special ones."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    return {symbol: number for number, symbol in enumerate([*letters, *special])}


def clip_tokenizer() -> Any:
    from transformers import CLIPTokenizer

    words = [*SYMBOLS, *(f"{symbol}</w>" for symbol in SYMBOLS), "<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer({word: number for number, word in enumerate(words)}, [], model_max_length=77)


def clip_text(tokenizer: Any) -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        projection_dim=32,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return CLIPTextModel(config).eval()


def flux_vae(kind: Any, **more: Any) -> Any:
    return kind(
        sample_size=32,
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
        block_out_channels=(4,),
        layers_per_block=1,
        latent_channels=1,
        norm_num_groups=1,
        use_quant_conv=False,
        use_post_quant_conv=False,
        **more,
    )


def kontext(folder: Path) -> None:
    import diffusers
    from transformers import T5Config, T5EncoderModel, T5Tokenizer

    clip = clip_tokenizer()
    letters = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -10.0), ("▁", -2.0), *((symbol, -3.0) for symbol in SYMBOLS)]
    t5 = T5Tokenizer(letters, extra_ids=0, model_max_length=32)
    t5_config = T5Config(vocab_size=len(t5), d_model=32, d_ff=37, d_kv=8, num_heads=4, num_layers=1)
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=[4, 4, 8],
        guidance_embeds=True,
    )
    diffusers.FluxKontextPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=flux_vae(diffusers.AutoencoderKL, shift_factor=0.0609, scaling_factor=1.5035),
        text_encoder=clip_text(clip),
        tokenizer=clip,
        text_encoder_2=T5EncoderModel(t5_config).eval(),
        tokenizer_2=t5,
        transformer=transformer,
    ).save_pretrained(folder)


def flux2(folder: Path) -> None:
    import diffusers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration, PreTrainedTokenizerFast

    vocabulary = bytes_vocabulary("<s>", "</s>", "<pad>", "[IMG]")
    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    named = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, padding_side="left", **named)
    parts = "{% for part in message.content %}{{ part.text }}{% endfor %}"
    tokenizer.chat_template = "{% for message in messages %}" + parts + "{% endfor %}"
    heads = {"hidden_size": 16, "intermediate_size": 37, "num_attention_heads": 4}
    layers = 31  # the pipeline listens to layers 10, 20 and 30
    text = {
        "model_type": "mistral",
        "vocab_size": len(tokenizer),
        "num_hidden_layers": layers,
        "num_key_value_heads": 2,
    }
    vision = {"model_type": "pixtral", "num_hidden_layers": 1, "image_size": 30, "patch_size": 6}
    config = Mistral3Config(
        text_config={**heads, **text, "sliding_window": None},
        vision_config={**heads, **vision},
        image_token_index=vocabulary["[IMG]"],
        vision_feature_layer=-1,
    )
    transformer = diffusers.Flux2Transformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=48,
        timestep_guidance_channels=256,
        axes_dims_rope=[4, 4, 4, 4],
    )
    diffusers.Flux2Pipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=flux_vae(diffusers.AutoencoderKLFlux2),
        text_encoder=Mistral3ForConditionalGeneration(config).eval(),
        tokenizer=tokenizer,
        transformer=transformer,
    ).save_pretrained(folder)


def pix2pix(folder: Path) -> None:
    import diffusers

    clip = clip_tokenizer()
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=32,
        in_channels=8,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
        norm_num_groups=4,
    )
    diffusers.StableDiffusionInstructPix2PixPipeline(
        unet=unet,
        scheduler=diffusers.EulerAncestralDiscreteScheduler(),  # as in the published one: it draws noise at every step
        vae=autoencoder(),
        text_encoder=clip_text(clip),
        tokenizer=clip,
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def qwen(folder: Path, plus: bool = False) -> None:
    import diffusers
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration, Qwen2Tokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    marks = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    vocabulary = bytes_vocabulary("<|endoftext|>", *marks)
    tokenizer = Qwen2Tokenizer(vocabulary, [], additional_special_tokens=marks)
    heads = {"hidden_size": 16, "intermediate_size": 16}
    rope = {"mrope_section": [1, 1, 2], "rope_type": "default", "type": "default"}
    config = Qwen2_5_VLConfig(
        text_config={
            **heads,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "vocab_size": len(tokenizer),
            "rope_scaling": rope,
            "rope_theta": 1000000.0,
        },
        vision_config={**heads, "depth": 1, "num_heads": 2, "out_hidden_size": 16},
        vocab_size=len(tokenizer),
        image_token_id=vocabulary["<|image_pad|>"],
        video_token_id=vocabulary["<|video_pad|>"],
        vision_start_token_id=vocabulary["<|vision_start|>"],
        vision_end_token_id=vocabulary["<|vision_end|>"],
    )
    vae = diffusers.AutoencoderKLQwenImage(
        base_dim=8,
        z_dim=4,
        dim_mult=[1, 1, 1, 1],
        num_res_blocks=1,
        temperal_downsample=[False, False, False],
        latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )
    transformer = diffusers.QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=4,
        num_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=16,
        guidance_embeds=False,
        axes_dims_rope=(8, 4, 4),
    )
    kind = diffusers.QwenImageEditPlusPipeline if plus else diffusers.QwenImageEditPipeline
    kind(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=Qwen2_5_VLForConditionalGeneration(config).eval(),
        tokenizer=tokenizer,
        processor=None,
        transformer=transformer,
    ).save_pretrained(folder)
    Qwen2VLImageProcessorPil().save_pretrained(folder / "processor")  # without torchvision it cannot be written whole
    index = folder / "model_index.json"
    parts = json.loads(index.read_text())
    index.write_text(json.dumps({**parts, "processor": ["transformers", "Qwen2VLProcessor"]}))


def autoencoder() -> Any:
    import diffusers

    return diffusers.AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        norm_num_groups=4,
    )


def tiny_autoencoder() -> Any:
    import diffusers

    blocks = {"encoder_block_out_channels": (8, 8), "decoder_block_out_channels": (8, 8)}
    return diffusers.AutoencoderTiny(**blocks, num_encoder_blocks=(1, 1), num_decoder_blocks=(1, 1))
