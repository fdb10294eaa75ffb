"""What the type of a model says about position: the types of transformers 5.24, and some others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Has = Literal[
    "rotation", "learned", "fixed", "alibi", "buckets", "offsets", "relative", "axes", "nothing",
    "unrecorded",
]  # fmt: skip

# Published models whose code isn't part of transformers, or that have another name there. Each
# reads as the second type, but for what is given: from the modelling file beside the weights.
_AS: dict[str, tuple[str, dict[str, Any]]] = {
    "kimi_k2": ("deepseek_v3", {}),  # moonshotai/Kimi-K2: DeepSeek-V3's own code
    "kimi_vl_text": ("deepseek_v3", {}),
    "stablelm_epoch": ("stablelm", {}),  # stabilityai, before transformers 4.38
    "RefinedWeb": ("falcon", {}),  # tiiuae/falcon, before transformers 4.33
    "RefinedWebModel": ("falcon", {}),
    "internlm": ("llama", {}),
    "internlm2": ("llama", {}),  # internlm/internlm2: rotate_half as in Llama
    "aquila": ("llama", {}),
    "Yi": ("llama", {}),
    "hunyuan": ("hunyuan_v1_dense", {}),
    "hunyuan_dense": ("hunyuan_v1_dense", {}),
    "phi-msft": ("phi", {}),
    "phi3small": ("phi3", {}),
    "gpt_neox_reward_model": ("gpt_neox", {}),
    "minicpm": ("llama", {}),
    "olmo_1124": ("olmo2", {}),
}
# Types with a rotation of their own that no table of defaults describes.
_OWN: dict[str, dict[str, Any]] = {
    # THUDM/chatglm2-6b to glm-4-9b-chat: half of a head, neighbours, base 10,000 × rope_ratio.
    "chatglm": {"pairs": "interleaved", "names": {"head_dim": "kv_channels"},
                "defaults": {"partial_rotary_factor": 0.5}},
    # transformers 5.24, modeling_roformer.py: sinusoids over the head, neighbours.
    "roformer": {"pairs": "interleaved",
                 "defaults": {"hidden_size": 768, "num_attention_heads": 12,
                              "num_hidden_layers": 12}},
    # Qwen/Qwen-7B, modeling_qwen.py: rotate_half over rotary_pct of kv_channels.
    "qwen": {"pairs": "half", "names": {"head_dim": "kv_channels"}, "defaults": {}},
    # baichuan-inc/Baichuan-7B rotates; Baichuan-13B has model_max_length and ALiBi: see `has`.
    "baichuan": {"pairs": "half", "defaults": {}},
}  # fmt: skip
# Types without a rotation, by what they have: their modelling files in transformers 5.24.
_INSTEAD: dict[Has, str] = {
    "learned": """albert align_text_model altclip_text_model bart bert bert-generation big_bird
        bigbird_pegasus biogpt blenderbot blenderbot-small blip_text_model bridgetower_text_model
        camembert canine chinese_clip_text_model chinese_clip_vision_model clap_text_model
        clip_text_model clip_vision_model clipseg_text_model clipseg_vision_model convbert
        data2vec-text decision_transformer deit dinov2 dinov2_with_registers distilbert dpr electra
        ernie esm flava_text_model git gpt-sw3 gpt2 gpt_bigcode gpt_neo groupvit_text_model ibert
        ijepa imagegpt kosmos_2_text_model layoutlm led lilt longformer luke lxmert markuplm mbart
        megatron-bert mobilebert mvp nystromformer openai-gpt opt owlv2_text_model owlvit_text_model
        plbart prophetnet rembert roberta roberta-prelayernorm roc_bert siglip_text_model
        siglip_vision_model splinter squeezebert tapas trocr vilt visual_bert vit vit_mae vit_msn
        videomae vivit xclip_text_model xlm-roberta xlm-roberta-xl xmod yolos yoso""",
    "fixed": """autoformer ctrl fsmt informer m2m_100 marian musicgen_decoder
        musicgen_melody_decoder nllb-moe pegasus pegasus_x speech_to_text speech_to_text_2
        time_series_transformer whisper xglm""",
    "alibi": "bloom mpt",
    "buckets": "longt5 mpnet mt5 pop2piano switch_transformers t5 udop umt5",
    "offsets": "beit data2vec-vision donut-swin maskformer-swin swin swin2sr swinv2",
    "relative": "deberta deberta-v2 sew-d xlnet transfo-xl",
    "axes": "dinov3_vit eomt_dinov3 clvp_encoder",
    "nothing": """falcon_mamba jamba kimi_linear mamba mamba2 nemotron_h rwkv xlstm zamba""",
}
_BY_TYPE: dict[str, Has] = {
    name: has for has, names in _INSTEAD.items() for name in names.split()
}  # fmt: skip


@dataclass(frozen=True)
class ModelType:
    """What a type's code does with position.

    ``pairs`` is which dimensions its rotation pairs; ``names`` maps transformers' names of sizes
    to the file's own; ``defaults`` are what its config may leave out; ``source`` says where it was
    read.
    """

    name: str
    has: Has
    source: str
    pairs: Literal["half", "interleaved"] = "half"
    names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


def model_type(name: object) -> ModelType | None:
    """The type of that name; None for one that isn't known here.

    >>> model_type("gemma2").defaults["head_dim"], model_type("gpt2").has, model_type("mine")
    (256, 'learned', None)
    """
    if not isinstance(name, str):
        return None
    if name in _AS:
        other, changes = _AS[name]
        known = model_type(other)
        if known is None:
            return None
        defaults = {**known.defaults, **changes}
        source = f"read as {other}, whose code it shares"
        return ModelType(name, known.has, source, known.pairs, known.names, defaults)
    entry = _OWN.get(name, _read().get(name))
    has = _BY_TYPE.get(name)
    if entry is None and has is None:
        return None
    entry = entry or {}
    if has is None or name == "esm":  # ESM has either, as its config says
        rotates = "pairs" in entry
        has = "rotation" if rotates else "axes" if entry.get("axes") else has or "unrecorded"
    return ModelType(
        name=name,
        has=has,
        source="its modelling file" if name in _OWN else "transformers 5.24",
        pairs=entry.get("pairs", "half"),
        names=entry.get("names", {}),
        defaults=entry.get("defaults", {}),
    )


def part_of(name: object) -> tuple[str, str | None] | None:
    """Where a type of several parts keeps its language model, and that one's type.

    >>> part_of("gemma3")
    ('text_config', 'gemma3_text')
    """
    entry = _read().get(name) if isinstance(name, str) else None
    return (entry["part"], entry["type"]) if entry and "part" in entry else None


@cache
def _read() -> dict[str, dict[str, Any]]:
    """What docs/model_types.py read of transformers."""
    text = files("posembed_core.model_config").joinpath("types.json").read_text()
    types: dict[str, dict[str, Any]] = json.loads(text)
    return types
