"""Known numbers of RoPE, its scalings and xPos."""

from __future__ import annotations

from typing import Any

from posembed_core.evidence.checks import Golden

_SU = "Su et al. 2021, eq. 15 and 16"
_YARN = "Peng et al. 2023, sections 3.2 to 3.4; transformers' _compute_yarn_parameters"
_LLAMA3 = "llama-models' apply_scaling; transformers' _compute_llama3_parameters"
_LONGROPE = "Ding et al. 2024 and Phi-3; transformers' _compute_longrope_parameters"
_XPOS = "Sun et al. 2022, section 2.3; torchscale's XPOS"

_Q, _K = ((1.0, 2.0, 3.0, 4.0),), ((0.5, -1.0, 2.0, 1.0),)
_FOUR_INTERLEAVED = {"head_dim": 4, "pairing": "interleaved"}


def _frequency(
    slug: str, what: str, source: str, pair: int, expected: float, **more: Any
) -> Golden:
    """One pair's inverse frequency with a head of 128 dimensions, to seven digits."""
    seq_len = more.pop("seq_len", None)
    return Golden(
        id=f"{slug}-pair-{pair}" + "".join(f"-{value:g}" for value in more.values()),
        slugs=(slug,),
        what=what,
        source=source,
        fields={"head_dim": 128, **more},
        call="inv_freq",
        arguments=() if seq_len is None else (seq_len,),
        pick=(pair,),
        expected=expected,
        tolerance=expected * 5.1e-7,
    )


def _rotated(pairing: str, expected: tuple[float, ...]) -> Golden:
    return Golden(
        id=f"rope-{pairing}",
        slugs=("rope",),
        what=f"[1, 2, 3, 4] at position 1 with {pairing} pairs",
        source="Su et al. 2021, eq. 34" if pairing == "interleaved" else "transformers' Llama",
        fields={"head_dim": 4, "pairing": pairing},
        call="rotate",
        arguments=(_Q, [1]),
        pick=(0,),
        expected=expected,
        tolerance=6e-7,
        fault="C27",
    )


def _score(slug: str, query: int, key: int, expected: float, tolerance: float) -> Golden:
    return Golden(
        id=f"{slug}-score-{query}-{key}",
        slugs=(slug,),
        what=f"q·k of [1, 2, 3, 4] at {query} and [.5, -1, 2, 1] at {key}, interleaved pairs",
        source="Su et al. 2021, eq. 16" if slug == "rope" else _XPOS,
        fields=_FOUR_INTERLEAVED,
        call="scores",
        arguments=(_Q, _K, [query], [key]),
        pick=(0, 0),
        expected=expected,
        tolerance=tolerance,
    )


def _yarn_factor(factor: float, expected: float) -> Golden:
    return Golden(
        id=f"rope-yarn-attention-{factor:g}",
        slugs=("rope-yarn",),
        what=f"Attention factor 0.1 ln {factor:g} + 1 on cosine and sine",
        source=_YARN,
        fields={"factor": factor},
        call="attention_factor",
        expected=expected,
        tolerance=6e-7,
    )


_LLAMA3_8B = {
    0: 1.0,
    28: 0.003211446,
    29: 0.002166571,
    30: 0.001371894,
    31: 0.000856751,
    32: 0.000524846,
    33: 0.000312694,
    34: 0.000178508,
    63: 3.068926e-7,
}
_LONG_LISTS = {
    "head_dim": 8,
    "original_max_position_embeddings": 4096,
    "short_factor": (1.0, 1.0, 1.0, 1.0),
    "long_factor": (1.0, 2.0, 4.0, 8.0),
}

ROTARY = (
    _frequency("rope", "Slowest pair, base 10,000", _SU, 63, 1.154782e-4, base=1e4),
    _frequency("rope", "Slowest pair, base 500,000", _SU, 63, 2.455141e-6, base=5e5),
    _rotated("interleaved", (-1.142640, 1.922076, 2.959851, 4.029799)),
    _rotated("half", (-1.984111, 1.959901, 2.462378, 4.019800)),
    _score("rope", 5, 2, 11.0482715653, 6e-11),
    _score("rope", 105, 102, 11.0482715653, 6e-11),
    _score("rope", 7, 7, 8.5, 1e-12),
    _score("xpos", 10, 3, 7.1645156, 6e-8),
    _score("xpos", 110, 103, 7.1645156, 6e-8),
    Golden(
        id="xpos-zeta",
        slugs=("xpos",),
        what="The first pair's decay, 0.4/1.4, and the last's of two",
        source=_XPOS,
        fields=_FOUR_INTERLEAVED,
        call="zeta",
        expected=(0.2857143, 0.6428571),
        tolerance=6e-8,
    ),
    *(
        _frequency("rope-linear", f"Pair {pair}, factor 4", "Chen et al. 2023", pair, value)
        for pair, value in ((0, 0.25), (1, 0.2164911), (63, 2.886955e-5))
    ),
    _frequency("rope-ntk", "Slowest pair, as linear scaling", "bloc97 2023", 63, 2.886955e-5),
    _frequency(
        "rope-dynamic",
        "Slowest pair at 4096 tokens, factor 2, trained to 2048",
        "transformers' _compute_dynamic_ntk_parameters",
        63,
        3.849273e-5,
        factor=2.0,
        original_max_position_embeddings=2048,
        seq_len=4096,
    ),
    *(
        _yarn_factor(factor, expected)
        for factor, expected in (
            (2.0, 1.069315),
            (4.0, 1.138629),
            (8.0, 1.207944),
            (16.0, 1.277259),
            (32.0, 1.346574),
            (40.0, 1.368888),
        )
    ),
    Golden(
        id="rope-yarn-middle",
        slugs=("rope-yarn",),
        what="Pair 32 of 64, in the ramp from pair 16 to 41: .0052",
        source=_YARN,
        fields={"head_dim": 128, "factor": 4.0, "original_max_position_embeddings": 2048},
        call="inv_freq",
        pick=(32,),
        expected=0.0052,
        tolerance=1e-12,
    ),
    *(
        Golden(
            id=f"rope-llama3-pair-{pair}",
            slugs=("rope-llama3",),
            what=f"Pair {pair} of Llama 3.1 8B",
            source=_LLAMA3,
            fields={"head_dim": 128, "base": 5e5},
            call="inv_freq",
            pick=(pair,),
            expected=value,
            tolerance=max(5.1e-10, value * 5.1e-7) if pair < 63 else 5.1e-14,
        )
        for pair, value in _LLAMA3_8B.items()
    ),
    *(
        Golden(
            id=f"rope-longrope-at-{seq_len}",
            slugs=("rope-longrope",),
            what=f"{which} at {seq_len} tokens, trained to 4096",
            source=_LONGROPE,
            fields=_LONG_LISTS,
            call="inv_freq",
            arguments=(seq_len,),
            expected=expected,
            tolerance=1e-12,
            fault="C51",
        )
        for seq_len, which, expected in (
            (4096, "The short factors", (1.0, 0.1, 0.01, 0.001)),
            (4097, "The long factors", (1.0, 0.05, 0.0025, 0.000125)),
        )
    ),
)
