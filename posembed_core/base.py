"""What an encoding's file imports: families, fields, positions, seeded draws.

Beyond this module it needs only `register` and the arithmetic of frequencies and buckets.
"""

from posembed_core.encoding import MAX_DIM, MAX_LENGTH, Encoding
from posembed_core.families.additive import AdditiveEncoding
from posembed_core.families.bias import BiasEncoding
from posembed_core.families.relative import RelativeEncoding
from posembed_core.families.rotary import RotaryEncoding
from posembed_core.parameters import EncodingError, choice, flag, integer, real, reals
from posembed_core.positions import Positions, as_positions, relative_positions
from posembed_core.seeded import seeded_normal, seeded_uniform

__all__ = [
    "MAX_DIM",
    "MAX_LENGTH",
    "AdditiveEncoding",
    "BiasEncoding",
    "Encoding",
    "EncodingError",
    "Positions",
    "RelativeEncoding",
    "RotaryEncoding",
    "as_positions",
    "choice",
    "flag",
    "integer",
    "real",
    "reals",
    "relative_positions",
    "seeded_normal",
    "seeded_uniform",
]
