"""Known numbers of tables, ALiBi and T5; the other families have their own files."""

from __future__ import annotations

from posembed_core.evidence.checks import Golden
from posembed_core.evidence.golden_relative import RELATIVE
from posembed_core.evidence.golden_rotary import ROTARY

_VASWANI = "Vaswani et al. 2017, section 3.5"
_T5 = "Raffel et al. 2020, section 2.1; mesh_tensorflow and transformers' T5Attention"
_SLOPES = "Press et al. 2022, section 3; the authors' released get_slopes"
_HANDBOOK = "the handbook's printed output"

SINUSOIDAL = (
    Golden(
        id="sinusoidal-interleaved",
        slugs=("sinusoidal",),
        what="Row 1 at d = 8: sine and cosine in turn",
        source=_VASWANI,
        fields={"embed_dim": 8},
        call="table",
        arguments=([1],),
        pick=(0,),
        expected=(0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 0.99995, 0.0010, 1.0),
        tolerance=6e-5,
        fault="C03",
    ),
    Golden(
        id="sinusoidal-concatenated",
        slugs=("sinusoidal",),
        what="Row 1 at d = 8: all sines, then all cosines",
        source="tensor2tensor's get_timing_signal_1d layout with the paper's frequencies",
        fields={"embed_dim": 8, "layout": "concatenated"},
        call="table",
        arguments=([1],),
        pick=(0,),
        expected=(0.8415, 0.0998, 0.0100, 0.0010, 0.5403, 0.9950, 0.99995, 1.0),
        tolerance=6e-5,
        fault="C03",
    ),
    Golden(
        id="sinusoidal-first",
        slugs=("sinusoidal",),
        what="The first dimension of position 1 is sin 1",
        source=_VASWANI,
        fields={"embed_dim": 512},
        call="table",
        arguments=([1],),
        pick=(0, 0),
        expected=0.8414709848,
        tolerance=6e-8,
    ),
    Golden(
        id="sinusoidal-slowest",
        slugs=("sinusoidal",),
        what="The slowest sine of position 1 at d = 512",
        source=_VASWANI,
        fields={"embed_dim": 512},
        call="table",
        arguments=([1],),
        pick=(0, 510),
        expected=1.0366329e-4,
        tolerance=1e-11,
    ),
    Golden(
        id="sinusoidal-odd",
        slugs=("sinusoidal",),
        what="Row 1 at an odd dimension, 5: one sine more than cosines",
        source=f"{_VASWANI}, column by column",
        fields={"embed_dim": 5},
        call="table",
        arguments=([1],),
        pick=(0,),
        expected=(0.84147098, 0.54030231, 0.02511622, 0.99968454, 0.00063096),
        tolerance=5e-8,
        fault="C01",
    ),
)

LEARNED = (
    Golden(
        id="learned-handbook",
        slugs=("learned",),
        what="The first five dimensions of rows 0 to 4 of the 128 × 64 table, seed 42",
        source=_HANDBOOK,
        call="table",
        arguments=([0, 1, 2, 3, 4],),
        pick=(slice(None), slice(5)),
        expected=(
            (0.062, -0.017, 0.081, 0.19, -0.029),
            (0.102, 0.17, -0.009, 0.125, 0.045),
            (0.012, -0.063, -0.194, 0.009, -0.133),
            (0.027, -0.156, 0.022, 0.048, -0.11),
            (0.158, -0.088, 0.055, 0.097, -0.116),
        ),
        tolerance=5.1e-4,
    ),
)


def _alibi(num_heads: int, expected: tuple[float, ...], fault: str = "") -> Golden:
    return Golden(
        id=f"alibi-{num_heads}-heads",
        slugs=("alibi",),
        what=f"The slopes of {num_heads} heads",
        source=_SLOPES,
        fields={"num_heads": num_heads},
        call="slopes",
        expected=expected,
        tolerance=6e-7,
        fault=fault,
    )


_EIGHT = tuple(2.0**-power for power in range(1, 9))

ALIBI = (
    _alibi(8, _EIGHT, fault="C57"),
    _alibi(12, (*_EIGHT, 0.707107, 0.353553, 0.176777, 0.088388)),
    _alibi(3, (1 / 16, 1 / 256, 1 / 4)),
    _alibi(6, (1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8)),
    Golden(
        id="alibi-symmetric",
        slugs=("alibi",),
        what="The bias of 4 × 4 positions with slope 1/16: symmetric, zero on the diagonal",
        source="x-transformers' AlibiPositionalBias",
        fields={"num_heads": 2},
        call="bias",
        arguments=([0, 1, 2, 3], [0, 1, 2, 3]),
        pick=(0,),
        expected=tuple(tuple(-abs(i - j) / 16 for j in range(4)) for i in range(4)),
        tolerance=0.0,
        fault="C60",
    ),
)

# The distances at which a new bucket starts, and the bucket there and just before the next.
_BOTH_WAYS = [0, 7, 8, 11, 12, 15, 16, 22, 23, 31, 32, 45, 46, 63, 64, 90, 91, 10**7]
_BACKWARDS = [16, 18, 19, 20, 21, 23, 24, 26, 27, 30, 31, 34, 35, 39, 40, 45, 46, 51, 52, 58]
_BACKWARDS += [59, 66, 67, 76, 77, 86, 87, 98, 99, 112, 113, 10**7]

T5 = (
    Golden(
        id="t5-before",
        slugs=("t5",),
        what="Buckets of keys before the query, both ends of each (32 buckets, to 128)",
        source=_T5,
        call="buckets",
        arguments=([10**7], [10**7 - distance for distance in _BOTH_WAYS]),
        pick=(0,),
        expected=(0, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15),
        tolerance=0.0,
    ),
    Golden(
        id="t5-after",
        slugs=("t5",),
        what="Buckets of keys after the query: 16 more; bucket 16 itself is never used",
        source=_T5,
        call="buckets",
        arguments=([0], _BOTH_WAYS),
        pick=(0,),
        expected=(0, 23, 24, 24, 25, 25, 26, 26, 27, 27, 28, 28, 29, 29, 30, 30, 31, 31),
        tolerance=0.0,
    ),
    Golden(
        id="t5-causal",
        slugs=("t5",),
        what="Buckets of a decoder from distance 16 on, both ends of each",
        source=_T5,
        fields={"bidirectional": False},
        call="buckets",
        arguments=([10**7], [10**7 - distance for distance in _BACKWARDS]),
        pick=(0,),
        expected=tuple(bucket for bucket in range(16, 32) for _ in range(2)),
        tolerance=0.0,
    ),
)

GOLDEN: tuple[Golden, ...] = (*SINUSOIDAL, *LEARNED, *ALIBI, *T5, *RELATIVE, *ROTARY)
