"""What goes into the first attention layer: the handbook's numbers, closed forms, laws, errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.base import MAX_DIM
from posembed_core.combination import check_fit, concat_identity
from posembed_core.encoding import Excerpt
from posembed_core.operations import OPERATIONS
from tests.strategies import legal

SLUGS = list(pc.encodings())
ADDITIVE = [slug for slug, cls in pc.encodings().items() if issubclass(cls, pc.AdditiveEncoding)]
ROTARY = [slug for slug, cls in pc.encodings().items() if issubclass(cls, pc.RotaryEncoding)]
INSIDE = [
    slug
    for slug, cls in pc.encodings().items()
    if issubclass(cls, pc.BiasEncoding | pc.RelativeEncoding)
]
examples = settings(max_examples=15)
scales = st.floats(-8, 8)


def at_width(slug: str, width: int, **more: Any) -> pc.Encoding:
    """An encoding whose vectors have this many dimensions."""
    parameters = pc.encodings()[slug].parameters()
    sized = {name: width for name, item in parameters.items() if item.role == "dimension"}
    return pc.create(slug, **sized, **more)


def printed(values: Any) -> list[str]:
    """Numbers as the handbook prints them."""
    return [f"{float(value):.3f}" for value in values]


# --- the handbook's printed output (NUMBERS.md, section 1) ---


def test_handbook_table() -> None:
    table = pc.create("learned", max_seq_len=128, embed_dim=64, seed=42).table(range(5))
    assert [printed(row[:5]) for row in table] == [
        ["0.062", "-0.017", "0.081", "0.190", "-0.029"],
        ["0.102", "0.170", "-0.009", "0.125", "0.045"],
        ["0.012", "-0.063", "-0.194", "0.009", "-0.133"],
        ["0.027", "-0.156", "0.022", "0.048", "-0.110"],
        ["0.158", "-0.088", "0.055", "0.097", "-0.116"],
    ]


@pytest.mark.parametrize(
    ("row", "token", "position", "combined"),
    [
        (0, "4.709", "0.910", "4.554"),
        (5, "3.886", "0.881", "3.958"),
        (9, "4.019", "1.000", "4.333"),
    ],
)
def test_handbook_combining(row: int, token: str, position: str, combined: str) -> None:
    learned = pc.create("learned", max_seq_len=128, embed_dim=64, seed=42)
    norms = pc.combine(pc.random_tokens(10, 64, seed=123), learned).norms()
    three = (norms.token[row], norms.position[row], norms.combined[row])
    assert printed(three) == [token, position, combined]


def test_handbook_injection() -> None:
    tokens = pc.random_tokens(4, 8, seed=123, std=1.0, skip=24)
    # The positions are drawn right after the tokens: 24 + 4 · 8 = 56.
    drawn = pc.create("learned", max_seq_len=4, embed_dim=8, seed=123, skip=56, std=0.1)
    c = pc.combine(tokens, drawn)
    assert printed(c.token[0, :4]) == ["-1.254", "-0.638", "0.907", "-1.429"]
    assert printed(c.position[0, :4]) == ["0.089", "0.175", "0.150", "0.107"]
    assert printed(c.combined[0, :4]) == ["-1.165", "-0.462", "1.057", "-1.322"]


def test_handbook_numbers_come_from_numpy_itself() -> None:
    random = np.random.RandomState(123)
    tokens = random.randn(10, 64) * 0.5
    table = np.random.RandomState(42).randn(128, 64) / np.sqrt(64)
    expected = np.linalg.norm(tokens + table[:10], axis=1)
    c = pc.combine(pc.random_tokens(10, 64), pc.create("learned"))
    np.testing.assert_allclose(c.norms().combined.numpy(), expected, rtol=1e-6)


# --- closed forms ---


@pytest.mark.parametrize(
    ("sqrt_dim", "expected"),
    [
        (False, [[-1.0, 0.0], [-0.158529, 1.540302]]),
        (True, [[-1.414214, -0.414214], [-0.572743, 1.954516]]),
    ],
)
def test_c24_sqrt_d_multiplies_the_token_alone(sqrt_dim: bool, expected: list[list[float]]) -> None:
    tokens = torch.tensor([[-1.0, -1.0], [-1.0, 1.0]])
    encoding = pc.create("sinusoidal", embed_dim=2)
    c = pc.combine(tokens, encoding, sqrt_dim=sqrt_dim)
    torch.testing.assert_close(c.combined, torch.tensor(expected), rtol=0, atol=1e-6)
    torch.testing.assert_close(c.position, encoding.table([0, 1]), rtol=0, atol=0)
    torch.testing.assert_close(c.token, tokens * (math.sqrt(2) if sqrt_dim else 1.0))


# [1, 2, 3, 4] and the sinusoid of position 0, which is [0, 1, 0, 1].
FOUR = torch.tensor([[1.0, 2.0, 3.0, 4.0]])


def test_c26_sum_and_norms() -> None:
    c = pc.combine(FOUR, pc.create("sinusoidal", embed_dim=4))
    assert c.combined.tolist() == [[1, 3, 3, 5]]
    norms = c.norms()
    three = [float(x) for x in (norms.token, norms.position, norms.combined)]
    assert three == pytest.approx([math.sqrt(30), math.sqrt(2), math.sqrt(44)], rel=1e-15)
    assert norms.token.dtype == norms.position.dtype == norms.combined.dtype == torch.float64


def test_c26_layer_norm_has_the_biased_variance() -> None:
    c = pc.combine(FOUR, pc.create("sinusoidal", embed_dim=4), layer_norm=True)
    expected = torch.tensor([[-1.41421, 0.0, 0.0, 1.41421]])
    torch.testing.assert_close(c.combined, expected, rtol=0, atol=1e-5)


def test_layer_norm_has_its_epsilon_inside_the_root_and_its_own_weights() -> None:
    weight, bias = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.5, 0.0, -0.5, 1.0])
    norm = pc.LayerNorm(weight, bias, eps=0.7)
    c = pc.combine(FOUR, pc.create("sinusoidal", embed_dim=4), layer_norm=norm)
    h = np.array([1.0, 3.0, 3.0, 5.0])
    expected = (h - h.mean()) / np.sqrt(h.var() + 0.7) * weight.numpy() + bias.numpy()
    np.testing.assert_allclose(c.combined[0].numpy(), expected, rtol=1e-6)


def test_c26_concat_keeps_both_and_adds_the_widths() -> None:
    tokens, encoding = pc.random_tokens(3, 4), pc.create("sinusoidal", embed_dim=6)
    c = pc.combine(tokens, encoding, scale=0.5, operation="concat")
    assert c.combined.shape == (3, 10)
    assert torch.equal(c.combined[:, :4], tokens)
    assert torch.equal(c.combined[:, 4:], 0.5 * encoding.table(range(3)))


def test_c26_concat_norms_add_in_squares() -> None:
    encoding = pc.create("sinusoidal", embed_dim=6)
    norms = pc.combine(pc.random_tokens(5, 4), encoding, operation="concat").norms()
    expected = (norms.token**2 + norms.position**2).sqrt()
    torch.testing.assert_close(norms.combined, expected, rtol=1e-14, atol=0)


def test_multiply_is_elementwise() -> None:
    tokens, encoding = pc.random_tokens(4, 6), pc.create("sinusoidal", embed_dim=6)
    c = pc.combine(tokens, encoding, scale=2.0, operation="multiply")
    expected = tokens.numpy() * (2.0 * encoding.table(range(4)).numpy())
    np.testing.assert_array_equal(c.combined.numpy(), expected)


@given(
    n=st.integers(1, 6), d=st.integers(2, 9), p=st.integers(2, 9),
    out=st.integers(1, 12), seed=st.integers(0, 99),
)  # fmt: skip
@examples
def test_projection_of_a_concatenation_is_a_sum_of_two(
    n: int, d: int, p: int, out: int, seed: int
) -> None:
    token, position = pc.random_tokens(n, d, seed=seed), pc.random_tokens(n, p, seed=seed + 1)
    identity = concat_identity(token, position, out, seed=seed)
    assert 0 <= identity.residual < 1e-14 * (d + p)
    assert identity.concat_parameters == out * d + out * p
    assert identity.add_parameters == out * d


def test_the_identity_is_computed_and_not_assumed() -> None:
    # 100 + 10 terms summed in another order hardly ever give the same bits.
    identity = concat_identity(pc.random_tokens(50, 100), pc.random_tokens(50, 10), out=40)
    assert identity.residual > 0


# --- C10: positions follow the position axis, whatever the shape ---


def test_c10_every_entry_of_a_square_batch_gets_the_same_positions() -> None:
    encoding = pc.create("sinusoidal", embed_dim=4)
    batch = pc.random_tokens(9, 4).double().reshape(3, 3, 4)
    expected = encoding.table(range(3), torch.float64)
    for entry in batch:
        moved = pc.combine(entry, encoding).combined - entry
        torch.testing.assert_close(moved, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_c10_square_matrices_are_not_transposed(size: int) -> None:
    encoding = pc.create("sinusoidal", embed_dim=size)
    moved = pc.combine(torch.zeros(size, size), encoding).combined
    # Position 0 is [0, 1, 0, 1 …], along the dimensions.
    assert moved[0].tolist() == [float(k % 2) for k in range(size)]
    assert float(moved[1, 0]) == pytest.approx(math.sin(1), abs=1e-7)


# --- each family ---


@pytest.mark.parametrize("slug", ROTARY)
@given(data=st.data(), scale=scales)
@examples
def test_a_rotation_keeps_every_norm(slug: str, data: st.DataObject, scale: float) -> None:
    encoding = legal(data, pc.encodings()[slug])
    width = encoding.head_dim  # type: ignore[attr-defined]
    tokens = pc.random_tokens(5, width).double()
    c = pc.combine(tokens, encoding, scale=scale)
    turning = encoding.rotary_dim  # type: ignore[attr-defined]
    factor = encoding.attention_factor(5)  # type: ignore[attr-defined]
    torch.testing.assert_close(
        c.combined[:, :turning].norm(dim=1), factor * tokens[:, :turning].norm(dim=1)
    )
    assert torch.equal(c.combined[:, turning:], tokens[:, turning:])
    assert torch.equal(c.combined, encoding.rotate(tokens, range(5), scale=scale))  # type: ignore[attr-defined]
    torch.testing.assert_close(c.norms().position, (c.combined - tokens).norm(dim=1))


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_a_rotations_picture_is_what_it_does_to_the_first_of_each_pair(pairing: str) -> None:
    rope = pc.create("rope", head_dim=8, pairing=pairing, rotary_fraction=0.5)
    ones = torch.zeros(6, 8, dtype=torch.float64)
    firsts = [0, 1] if pairing == "half" else [0, 2]
    ones[:, firsts] = 1.0
    turned = pc.combine(ones, rope, scale=0.7).combined
    picture = pc.combine(ones, rope, scale=0.7).position
    torch.testing.assert_close(picture[:, firsts], turned[:, firsts])
    torch.testing.assert_close(picture, rope.cosines(torch.arange(6), scale=0.7))
    assert torch.equal(picture[:, 4:], torch.ones(6, 4, dtype=torch.float64))
    expected = [[math.cos(0.7 * i * 10000.0 ** (-2 * m / 4)) for m in range(2)] for i in range(6)]
    np.testing.assert_allclose(picture[:, firsts].numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("slug", INSIDE)
@given(scale=scales)
@examples
def test_what_acts_inside_attention_leaves_the_vectors(slug: str, scale: float) -> None:
    tokens, encoding = pc.random_tokens(5, 8), at_width(slug, 8)
    c = pc.combine(tokens, encoding, scale=scale)
    assert torch.equal(c.combined, tokens)
    norms = c.norms()
    assert torch.equal(norms.combined, norms.token)
    assert torch.equal(norms.position, torch.zeros(5, dtype=torch.float64))
    shown = (
        encoding.bias(range(5), range(5))
        if isinstance(encoding, pc.BiasEncoding)
        else encoding.vectors(0, range(5))  # type: ignore[attr-defined]
    )
    torch.testing.assert_close(c.position, scale * shown)


# --- laws over every registered encoding ---


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_dtype_is_that_of_the_tokens(slug: str, dtype: torch.dtype) -> None:
    tokens = pc.random_tokens(3, 8).to(dtype)
    for layer_norm in (False, True):
        c = pc.combine(tokens, at_width(slug, 8), scale=0.3, layer_norm=layer_norm, sqrt_dim=True)
        assert c.token.dtype == c.position.dtype == c.combined.dtype == dtype


@pytest.mark.parametrize("slug", SLUGS)
def test_inputs_are_left_alone(slug: str) -> None:
    tokens, given = pc.random_tokens(3, 8), torch.tensor([0, 1, 2])
    kept = tokens.clone()
    pc.combine(tokens, at_width(slug, 8), given, scale=3.0, layer_norm=True, sqrt_dim=True)
    assert torch.equal(tokens, kept)
    assert given.tolist() == [0, 1, 2]


@pytest.mark.parametrize("slug", SLUGS)
@given(start=st.integers(0, 9), count=st.integers(1, 6), scale=scales)
@examples
def test_given_positions_are_rows_of_the_whole(
    slug: str, start: int, count: int, scale: float
) -> None:
    encoding, tokens = at_width(slug, 8), pc.random_tokens(16, 8).double()
    whole = pc.combine(tokens, encoding, scale=scale)
    # Includes the last position, since some frequencies depend on the sequence's length.
    here = [*range(start, start + count), 15]
    part = pc.combine(tokens[here], encoding, here, scale=scale)
    torch.testing.assert_close(part.combined, whole.combined[here], rtol=1e-12, atol=1e-12)
    expected = whole.position[:, here][:, :, here] if whole.position.ndim == 3 else None
    torch.testing.assert_close(
        part.position, whole.position[here] if expected is None else expected
    )


@pytest.mark.parametrize("slug", [*ADDITIVE, *INSIDE])
@pytest.mark.parametrize("operation", OPERATIONS)
@given(scale=scales)
@examples
def test_linear_in_the_scale(slug: str, operation: Any, scale: float) -> None:
    if slug in INSIDE and operation != "add":
        return
    tokens, encoding = pc.random_tokens(6, 8).double(), at_width(slug, 8)
    zero, unscaled, many = (
        pc.combine(tokens, encoding, scale=s, operation=operation) for s in (0.0, 1.0, scale)
    )
    torch.testing.assert_close(many.position, scale * unscaled.position)
    line = zero.combined + scale * (unscaled.combined - zero.combined)
    torch.testing.assert_close(many.combined, line, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("slug", SLUGS)
def test_scale_zero_is_no_position(slug: str) -> None:
    tokens, encoding = pc.random_tokens(6, 8), at_width(slug, 8)
    c = pc.combine(tokens, encoding, scale=0.0)
    # The temperature that some scalings put on the rotated dimensions isn't position.
    factor = encoding.attention_factor(6) if isinstance(encoding, pc.RotaryEncoding) else 1.0
    torch.testing.assert_close(c.combined, factor * tokens)


@pytest.mark.parametrize("slug", ROTARY)
def test_half_the_scale_of_a_rotation_is_half_the_angle(slug: str) -> None:
    tokens, encoding = pc.random_tokens(1, 8).double(), at_width(slug, 8)
    slow = pc.combine(tokens, encoding, [6], scale=0.5)
    fast = encoding.rotate(tokens, [3], 7)  # type: ignore[attr-defined]
    torch.testing.assert_close(slow.combined, fast, rtol=1e-12, atol=1e-12)


# --- parts of a family's contribution ---


@pytest.mark.parametrize("slug", SLUGS)
@given(start=st.integers(0, 12), count=st.integers(1, 4), scale=scales)
@examples
def test_an_excerpt_is_what_the_whole_contributes_there(
    slug: str, start: int, count: int, scale: float
) -> None:
    encoding, tokens = at_width(slug, 8), pc.random_tokens(16, 8)
    whole = pc.combine(tokens, encoding, scale=scale)
    rows = slice(start, start + count)
    kept = None
    if isinstance(encoding, pc.AdditiveEncoding):
        kept = encoding.table(range(16))[rows]
    elif isinstance(encoding, pc.RelativeEncoding):
        kept = encoding.vectors(0, range(16))[rows]
    elif isinstance(encoding, pc.BiasEncoding):
        kept = torch.empty(count, 0)
    excerpt = Excerpt(kept, seq_len=16)
    part = encoding.contribute(tokens[rows], torch.arange(16)[rows], scale, excerpt=excerpt)
    torch.testing.assert_close(part.combined, whole.combined[rows])
    torch.testing.assert_close(part.moved, whole.moved[rows])
    if isinstance(encoding, pc.BiasEncoding):
        assert part.position.shape == (count, 0)
    else:
        torch.testing.assert_close(part.position, whole.position[rows])


def test_vectors_that_are_given_are_not_computed_again() -> None:
    given_rows = torch.full((2, 8), 3.0)
    for slug in ("sinusoidal", "shaw"):
        contributed = at_width(slug, 8).contribute(
            torch.zeros(2, 8), torch.arange(2), 0.5, excerpt=Excerpt(given_rows)
        )
        assert contributed.position.unique().tolist() == [1.5]


def test_a_bias_is_that_of_the_heads_asked_for() -> None:
    encoding = pc.create("alibi", num_heads=8)
    excerpt = Excerpt(heads=slice(2, 3))
    some = encoding.contribute(torch.zeros(5, 8), torch.arange(5), 0.5, excerpt=excerpt).position
    assert torch.equal(some, 0.5 * encoding.bias(range(5), range(5))[2:3])


@pytest.mark.parametrize(
    "slug", [s for s in INSIDE if issubclass(pc.encodings()[s], pc.RelativeEncoding)]
)
def test_relative_vectors_are_seen_from_the_query_asked_for(slug: str) -> None:
    encoding = at_width(slug, 8)
    excerpt = Excerpt(query=4)
    seen = encoding.contribute(torch.zeros(5, 8), torch.arange(5), excerpt=excerpt).position
    assert torch.equal(seen, encoding.vectors(4, range(5)))  # type: ignore[attr-defined]


def test_an_encoding_from_outside_contributes_as_its_family() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Ramp(pc.AdditiveEncoding):
        slug: ClassVar[str] = "ramp"
        title: ClassVar[str] = "Ramp"

        def table(self, positions: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.as_tensor(positions)[:, None].expand(-1, self.embed_dim).to(dtype)

    combined = pc.combine(torch.ones(3, 4), Ramp(embed_dim=4), scale=2.0).combined
    assert combined[:, 0].tolist() == [1.0, 3.0, 5.0]


def test_an_encoding_of_no_family_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Alone(pc.Encoding):
        slug: ClassVar[str] = "alone"
        title: ClassVar[str] = "Alone"

        def scores(self, *args: Any, **options: Any) -> torch.Tensor:
            raise NotImplementedError

    assert "no family" in str(refused(pc.random_tokens(3, 8), Alone()))


# --- errors: both numbers, and what to do ---


def refused(tokens: torch.Tensor, encoding: pc.Encoding, **more: Any) -> pc.EncodingError:
    with pytest.raises(pc.EncodingError) as caught:
        pc.combine(tokens, encoding, **more)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("slug", [*ADDITIVE, *ROTARY])
def test_another_width_is_refused_with_both_numbers(slug: str) -> None:
    error = refused(pc.random_tokens(3, 10), at_width(slug, 8))
    assert "10 dimensions" in str(error)
    assert " 8" in str(error)
    assert "=10" in str(error)
    assert error.nearest == 10
    assert error.field in {"embed_dim", "head_dim"}


@pytest.mark.parametrize(
    "slug", [slug for slug in INSIDE if issubclass(pc.encodings()[slug], pc.RelativeEncoding)]
)
def test_another_width_of_relative_vectors_is_refused(slug: str) -> None:
    error = refused(pc.random_tokens(3, 10), at_width(slug, 8))
    assert "10 dimensions" in str(error)
    assert "head_dim 8" in str(error)


@pytest.mark.parametrize("operation", ["multiply", "add"])
def test_the_widths_error_offers_the_concatenation(operation: str) -> None:
    error = refused(
        pc.random_tokens(3, 10), pc.create("sinusoidal", embed_dim=8), operation=operation
    )
    assert "operation='concat'" in str(error)
    assert repr(operation) in str(error)


@pytest.mark.parametrize("slug", [*ROTARY, *INSIDE])
@pytest.mark.parametrize("operation", ["multiply", "concat"])
def test_an_operation_needs_two_vectors(slug: str, operation: str) -> None:
    error = refused(pc.random_tokens(3, 8), at_width(slug, 8), operation=operation)
    assert repr(operation) in str(error)
    assert pc.encodings()[slug].title in str(error)
    assert error.field == "operation"
    assert error.nearest == "add"


@pytest.mark.parametrize("slug", ["learned"])
@pytest.mark.parametrize(
    ("positions", "named"), [([0, 1, 100], "100"), ([0, -1, 1], "-1"), ([7, 101, 5], "101")]
)
def test_c17_a_position_beyond_the_table_is_refused_with_both_numbers(
    slug: str, positions: list[int], named: str
) -> None:
    encoding = at_width(slug, 8, max_seq_len=100)
    error = refused(pc.random_tokens(3, 8), encoding, positions=positions)
    assert f"position {named} " in str(error)
    assert "100 rows" in str(error)


def test_one_position_for_each_token() -> None:
    error = refused(pc.random_tokens(3, 8), pc.create("none", embed_dim=8), positions=[0, 1])
    assert "3 tokens" in str(error)
    assert "got 2" in str(error)


def test_a_batch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as a user calls it
    error = refused(torch.zeros(2, 3, 8), pc.create("none", embed_dim=8))
    assert error.field == "tokens"
    assert "(2, 3, 8)" in str(error)


def test_positions_of_two_axes_are_refused() -> None:
    column = torch.zeros(3, 1, dtype=torch.int64)
    error = refused(pc.random_tokens(3, 8), pc.create("none", embed_dim=8), positions=column)
    assert error.field == "positions"


def test_the_greatest_width() -> None:
    c = pc.combine(pc.random_tokens(2, MAX_DIM), pc.create("sinusoidal", embed_dim=MAX_DIM))
    assert c.norms().position.tolist() == pytest.approx([math.sqrt(MAX_DIM / 2)] * 2)


def test_an_unknown_operation_names_the_known_ones() -> None:
    # Straight to the check: the type checker would refuse the word before `combine` does.
    with pytest.raises(pc.EncodingError, match="add, multiply, concat, got 'subtract'") as caught:
        check_fit(pc.create("none", embed_dim=8), 8, "subtract")
    assert caught.value.field == "operation"
