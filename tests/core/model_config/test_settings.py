"""Configs as people write them: spellings, precedence, and what a model's own code adds."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

import posembed_core as pc
from posembed_core.frequencies import inverse_frequencies
from posembed_core.model_config import known_configs, read_rope

LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


def config(scaling: Any = None, **more: Any) -> dict[str, Any]:
    base = {
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "max_position_embeddings": 16384,
        "rope_theta": 500000.0,
    }
    return {**base, **({} if scaling is None else {"rope_scaling": scaling}), **more}


# spellings


def test_c35_the_base_is_never_silently_10000() -> None:
    spellings = [
        {"head_dim": 128, "rope_theta": 500000},
        {"head_dim": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}},
        {"head_dim": 128, "rope_scaling": {"rope_theta": 5e5, "type": "default"}},
        {"head_dim": 128, "rotary_emb_base": 500000},
        {"text_config": {"head_dim": 128, "rope_theta": 500000}, "head_dim": 3},
        {"head_dim": 128, "model_type": "llama4_text"},
    ]
    for spelling in spellings:
        last = pc.rotary_from_config(spelling).inv_freq()[-1].item()
        assert last == pytest.approx(2.455141e-6, rel=1e-6), spelling
    # Only a config that says nothing gets transformers' default.
    assert pc.rotary_from_config({"head_dim": 128}).inv_freq()[-1].item() == pytest.approx(
        1.154782e-4, rel=1e-6
    )


def test_c36_old_and_new_spellings_agree() -> None:
    encodings = {
        pc.rotary_from_config({**config(), block: {name: kind, **keys}})
        for block in ("rope_scaling", "rope_parameters")
        for name in ("type", "rope_type")
        for kind, keys in (("llama3", LLAMA3),)
    }
    assert len(encodings) == 1
    assert encodings.pop().slug == "rope-llama3"
    old = pc.rotary_from_config(config({"type": "linear", "factor": 2}))
    assert old == pc.rotary_from_config(config({"rope_type": "linear", "factor": 2.0}))
    inside = {"rope_parameters": {"rope_type": "linear", "factor": 2, "rope_theta": 500000}}
    assert old == pc.rotary_from_config({"head_dim": 128, **inside})


def test_c36_an_unknown_type_is_an_error() -> None:
    with pytest.raises(pc.EncodingError, match=r"rope type 'yarm' is unknown.*did you mean 'yarn'"):
        pc.rotary_from_config(config({"type": "yarm", "factor": 4}))


def test_c40_dynamic_takes_the_models_own_length() -> None:
    scaling = {"type": "dynamic", "factor": 4.0}
    rope = pc.rotary_from_config(config(scaling, max_position_embeddings=2048))
    assert [rope.stretch(length) for length in (2048, 4096, 8192)] == [1, 5, 13]


def test_c47_truncate_false_is_read() -> None:
    rope = pc.rotary_from_config(known_configs()["gpt-oss 20B"])
    assert rope.inv_freq()[12].item() == pytest.approx(6.794959e-3, rel=1e-6)


def test_c51_the_longrope_list_is_chosen_by_length_not_by_capacity() -> None:
    rope = pc.rotary_from_config(known_configs()["Phi-3 mini 128k"])
    plain = inverse_frequencies(96, 1e4)
    close = torch.testing.assert_close
    close(plain[-1] / rope.inv_freq(4096)[-1], torch.tensor(2.9499999999999975).double())
    close(plain[-1] / rope.inv_freq(4097)[-1], torch.tensor(64.81001281738281).double())
    # The factor is the ratio of the two lengths, 131072 / 4096.
    assert rope.attention_factor() == pytest.approx(1.190238, rel=1e-6)


def test_c27_models_that_pair_neighbours() -> None:
    assert pc.rotary_from_config({"head_dim": 64}).pairing == "half"
    deepseek = known_configs()["DeepSeek-V3"]
    assert pc.rotary_from_config(deepseek).pairing == "interleaved"
    assert pc.rotary_from_config({**deepseek, "rope_interleave": False}).pairing == "half"


def test_c28_a_converted_checkpoint_scores_alike_in_either_layout() -> None:
    # Rows reordered as in the conversion: first members of the pairs first.
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    q, k = torch.arange(1.0, 9.0).reshape(1, 8), torch.arange(8.0, 0.0, -1.0).reshape(1, 8)
    scaled = {"head_dim": 8, "rope_scaling": YARN, "model_type": "deepseek_v3"}
    interleaved = pc.rotary_from_config(scaled)
    half = pc.rotary_from_config({**scaled, "rope_interleave": False})
    torch.testing.assert_close(
        half.scores(q[:, order], k[:, order], [11], [4]), interleaved.scores(q, k, [11], [4])
    )


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ({"head_dim": 4, "partial_rotary_factor": 0.75}, ("3", "4")),
        ({"hidden_size": 36, "num_attention_heads": 4}, ("9",)),
        ({"head_dim": 96, "rotary_pct": 0.26}, ("24", "96")),
    ],
    ids=["C32-partial", "C32-head", "even"],
)
def test_c32_an_odd_rotated_part_names_both_numbers(
    given: dict[str, Any], numbers: tuple[str, ...]
) -> None:
    if given.get("rotary_pct"):
        assert pc.rotary_from_config(given).rotary_dim == 24
        return
    with pytest.raises(pc.EncodingError) as caught:
        pc.rotary_from_config(given)
    assert all(re.search(rf"\b{number}\b", str(caught.value)) for number in numbers)


def test_head_sizes() -> None:
    cases = [
        ({"head_dim": 64, "hidden_size": 2048, "num_attention_heads": 16}, 64),
        ({"hidden_size": 4096, "num_attention_heads": 32}, 128),
        ({"head_dim": None, "hidden_size": 4096, "num_attention_heads": 32}, 128),
        ({"n_embd": 4096, "n_head": 16}, 256),
        ({"head_dim": 192, "qk_rope_head_dim": 64, "partial_rotary_factor": 0.3}, 64),
        ({"model_type": "gemma3_text", "hidden_size": 2560}, 256),
    ]
    for case, head_dim in cases:
        assert pc.rotary_from_config(case).head_dim == head_dim


def test_rotated_parts() -> None:
    cases = [
        (known_configs()["GPT-NeoX 20B"], 24),
        ({"head_dim": 96, "model_type": "gpt_neox"}, 24),
        ({"head_dim": 80, "rope_parameters": {"partial_rotary_factor": 0.4}}, 32),
        ({"head_dim": 80, "partial_rotary_factor": 0.4}, 32),
        ({"head_dim": 80}, 80),
    ]
    for case, rotated in cases:
        assert pc.rotary_from_config(case).rotary_dim == rotated


@pytest.mark.parametrize("head_dim", range(2, 300, 7))
def test_a_count_of_rotated_channels_is_kept_exactly(head_dim: int) -> None:
    for dimensions in range(2, head_dim + 1, 2):
        assert pc.rotary_from_config(
            {"head_dim": head_dim, "rotary_dim": dimensions}
        ).rotary_dim == (dimensions)


def test_gemma_has_two_bases() -> None:
    gemma = known_configs()["Gemma 3 4B"]
    full, sliding = read_rope(gemma).settings
    assert (full.layer_type, full.encoding.base, full.encoding.slug) == (
        "full_attention",
        1e6,
        "rope-linear",
    )
    assert (sliding.layer_type, sliding.encoding.base, sliding.encoding.slug) == (
        "sliding_attention",
        1e4,
        "rope",
    )
    assert pc.rotary_from_config(gemma) == full.encoding
    assert pc.rotary_from_config(gemma, "sliding_attention") == sliding.encoding
    with pytest.raises(pc.EncodingError, match="one of full_attention, sliding_attention"):
        pc.rotary_from_config(gemma, "local")
    # As it is saved today, and as its multimodal parent stores it, without the defaults.
    new = {
        "head_dim": 256,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
        },
    }
    sparse = {"text_config": {"model_type": "gemma3_text", "rope_scaling": gemma["rope_scaling"]}}
    for spelling in (new, sparse):
        assert [setting.encoding for setting in read_rope(spelling).settings] == [
            full.encoding,
            sliding.encoding,
        ]


def test_gemma_4_rotates_part_of_a_larger_head() -> None:
    rope = pc.rotary_from_config(
        {
            "head_dim": 256,
            "global_head_dim": 512,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {
                    "rope_type": "proportional",
                    "partial_rotary_factor": 0.25,
                    "rope_theta": 1e6,
                },
            },
        }
    )
    assert (rope.slug, rope.head_dim, rope.rotary_dim) == ("rope-proportional", 512, 512)
    assert torch.equal(rope.inv_freq()[:64], inverse_frequencies(512, 1e6)[:64])
