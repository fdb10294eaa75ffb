"""Independent implementations that the encodings agree with; the tests run both sides.

They compute angles in float32, so the tolerance is their rounding: a few 1e-5 at position 300.
"""

from __future__ import annotations

from posembed_core.evidence.checks import Parity


def _transformers(
    name: str, slugs: tuple[str, ...], what: str, source: str, tolerance: float
) -> Parity:
    return Parity(
        id=name,
        slugs=slugs,
        what=what,
        source=source,
        package="transformers",
        version="5.24.0",
        tolerance=tolerance,
    )


_SCALED = ("rope-linear", "rope-dynamic", "rope-yarn", "rope-llama3", "rope-longrope")

PARITY: tuple[Parity, ...] = (
    Parity(
        id="positional-encodings-sinusoidal",
        slugs=("sinusoidal",),
        what="The table for 40 positions at even dimensions",
        source="PositionalEncoding1D",
        package="positional-encodings",
        version="6.0.3",
        tolerance=1e-5,
    ),
    _transformers(
        "transformers-gpt2-learned",
        ("learned",),
        "A lookup of the same table",
        "GPT2Model.wpe",
        0.0,
    ),
    _transformers(
        "transformers-llama-rope",
        ("rope",),
        "Rotated queries and keys, half layout",
        "LlamaRotaryEmbedding and apply_rotary_pos_emb",
        3e-5,
    ),
    Parity(
        id="rotary-embedding-torch-rope",
        slugs=("rope",),
        what="Rotated queries, interleaved layout",
        source="RotaryEmbedding.rotate_queries_or_keys",
        package="rotary-embedding-torch",
        version="0.9.1",
        tolerance=1e-5,
    ),
    _transformers(
        "transformers-rope-scalings",
        _SCALED,
        "Frequencies and attention factor, within and beyond the trained length",
        "ROPE_INIT_FUNCTIONS",
        1e-6,
    ),
    Parity(
        id="x-transformers-alibi",
        slugs=("alibi",),
        what="The bias of 1 to 33 heads",
        source="AlibiPositionalBias",
        package="x-transformers",
        version="2.31.10",
        tolerance=1e-5,
    ),
    Parity(
        id="x-transformers-xpos",
        slugs=("xpos",),
        what="Scores of scaled and rotated queries and keys",
        source="RotaryEmbedding(use_xpos=True)",
        package="x-transformers",
        version="2.31.10",
        tolerance=1e-4,
    ),
    _transformers(
        "transformers-t5",
        ("t5",),
        "Buckets at distances to 1,000, both directions, and the bias of the same table",
        "T5Attention._relative_position_bucket and compute_bias",
        0.0,
    ),
    _transformers(
        "transformers-deberta",
        ("deberta",),
        "Disentangled scores of the same projected tables, clipped and with log buckets",
        "deberta_v2 build_relative_position and DisentangledSelfAttention",
        1e-4,
    ),
    _transformers(
        "transformers-bert-first-layer",
        ("table",),
        "First-layer attention weights of all-MiniLM-L6-v2, from its own files",
        "BertModel, output_attentions",
        1e-5,
    ),
)
