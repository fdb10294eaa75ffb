"""Properties that hold for every legal setting; the tests draw settings and try each."""

from __future__ import annotations

from posembed_core.base import RotaryEncoding
from posembed_core.evidence.checks import Law
from posembed_core.registry import encodings as registered

_EVERY = tuple(registered())
_ROTARY = tuple(slug for slug, cls in registered().items() if issubclass(cls, RotaryEncoding))
_TRANSLATION_INVARIANT = (
    "alibi",
    "t5",
    "kerple",
    "shaw",
    "transformer-xl",
    "deberta",
    "cope",
    "xpos",
)
_LENGTH_FREE = tuple(slug for slug in _ROTARY if slug not in {"rope-dynamic", "rope-longrope"})

LAWS: tuple[Law, ...] = (
    Law(
        id="conformance",
        slugs=_EVERY,
        what="One position at a time equals all at once, finite at every position it has, up to "
        "10,000,000, deterministic, in the dtype asked for",
        source="the project's own contract",
    ),
    Law(
        id="batch-independent",
        slugs=_EVERY,
        what="A batch's or head's scores don't depend on the others",
        source="the project's own contract",
    ),
    Law(
        id="no-position-at-zero",
        slugs=_EVERY,
        what="At scale 0 the scores are those of the vectors alone (times the attention factor)",
        source="the project's own contract",
    ),
    Law(
        id="rotation-norm",
        slugs=_ROTARY,
        what="A rotation keeps norms, up to the attention factor",
        source="Su et al. 2021, section 3.2.2: rotation matrices are orthogonal",
    ),
    Law(
        id="rotation-relative",
        slugs=_ROTARY,
        what="At one sequence length, rotated products depend on i - j alone",
        source="Su et al. 2021, eq. 16",
    ),
    Law(
        id="translation-invariant",
        slugs=(*_TRANSLATION_INVARIANT, *(slug for slug in _LENGTH_FREE if slug != "xpos")),
        what="Moving all positions by the same number changes no score",
        source="by definition: only j - i enters",
    ),
    Law(
        id="permutation",
        slugs=("none",),
        what="Shuffling the tokens shuffles the scores: no order in them",
        source="Kazemnejad et al. 2023, section 3",
    ),
    Law(
        id="toeplitz",
        slugs=("sinusoidal",),
        what="The dot product of two rows depends on their distance alone; norms are sqrt(d/2)",
        source="sin a sin b + cos a cos b = cos(a - b)",
    ),
    Law(
        id="prefix",
        slugs=("learned",),
        what="A longer table begins with the rows of a shorter one",
        source="NumPy's legacy generator draws row by row",
    ),
    Law(
        id="half-lives",
        slugs=("alibi",),
        what="A weight halves with each ln 2 / slope tokens",
        source="Press et al. 2022: exp(-m d) = 1/2",
    ),
    Law(
        id="monotone-buckets",
        slugs=("t5",),
        what="Buckets rise with distance on both sides, by the integer rule at every boundary",
        source="Raffel et al. 2020, section 2.1",
    ),
    Law(
        id="alibi-is-kerple",
        slugs=("kerple", "alibi"),
        what="The power kernel with p = 1 and a = slope is ALiBi",
        source="Chi et al. 2022, section 4",
    ),
    Law(
        id="fire-bounded",
        slugs=("fire",),
        what="Normalised distances of keys up to the query lie between 0 and 1",
        source="Li et al. 2023, section 3: progressive interpolation",
    ),
    Law(
        id="fire-shift",
        slugs=("fire",),
        what="Shifts go unnoticed while the query is within the threshold",
        source="Li et al. 2023, section 3",
    ),
    Law(
        id="shaw-vectors",
        slugs=("shaw",),
        what="Relative scores and values equal the sums written out pair by pair",
        source="Shaw et al. 2018, eq. 3 and 4",
    ),
    Law(
        id="transformer-xl-shift",
        slugs=("transformer-xl",),
        what="Asking R at i - j equals the paper's shift trick where a decoder looks",
        source="Dai et al. 2019, appendix B",
    ),
    Law(
        id="cope-counts",
        slugs=("cope",),
        what="Positions fall towards the query, from at most i - j + 1 and the table's last row",
        source="Golovneva et al. 2024, section 4",
    ),
    Law(
        id="xpos-centre",
        slugs=("xpos",),
        what="Scores equal those of scaled queries and keys around any centre",
        source="Sun et al. 2022, section 2.3",
    ),
)
