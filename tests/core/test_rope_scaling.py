"""RoPE's scalings: closed forms, faults that users reported, and parity with transformers 5.24."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoConfig
from transformers import modeling_rope_utils as reference

import posembed_core as pc
from posembed_core.frequencies import inverse_frequencies
from posembed_core.model_config import known_configs, read_rope

LENGTHS = (None, 1, 2048, 4096, 4097, 8192, 100_000)


def close(values: torch.Tensor, expected: list[float], rtol: float = 2e-6) -> None:
    torch.testing.assert_close(
        values, torch.tensor(expected, dtype=torch.float64), rtol=rtol, atol=0
    )


# closed forms


def test_linear_divides_every_frequency() -> None:
    inv_freq = pc.create("rope-linear", head_dim=128, factor=4).inv_freq()
    close(inv_freq[[0, 1, 63]], [0.25, 0.2164911, 2.886955e-5])


def test_ntk_slows_the_last_pair_as_linear_does() -> None:
    ntk = pc.create("rope-ntk", head_dim=128, factor=4).inv_freq()
    linear = pc.create("rope-linear", head_dim=128, factor=4).inv_freq()
    assert ntk[0] == 1.0
    torch.testing.assert_close(ntk[-1], linear[-1], rtol=1e-14, atol=0)
    torch.testing.assert_close(ntk, inverse_frequencies(128, 40889.942), rtol=1e-7, atol=0)


def test_ntk_leaves_a_single_pair_alone() -> None:
    assert pc.create("rope-ntk", head_dim=2, factor=8).inv_freq().tolist() == [1.0]


def test_dynamic_base() -> None:
    dynamic = pc.create(
        "rope-dynamic", head_dim=128, factor=2, original_max_position_embeddings=2048
    )
    close(dynamic.inv_freq(4096)[[-1]], [3.849273e-5])
    for length, base in ((4096, 30527.7367), (2049, 10009.9207)):
        expected = inverse_frequencies(128, base)
        torch.testing.assert_close(dynamic.inv_freq(length), expected, rtol=1e-8, atol=0)


def test_c40_dynamic_stretch_grows_with_the_length() -> None:
    dynamic = pc.create(
        "rope-dynamic", head_dim=128, factor=4, original_max_position_embeddings=2048
    )
    stretches = [dynamic.stretch(length) for length in (None, 1, 2048, 4096, 8192)]
    assert stretches == [1, 1, 1, 5, 13]
    torch.testing.assert_close(dynamic.inv_freq(2048), inverse_frequencies(128, 1e4))
    expected = inverse_frequencies(128, 1e4 * 5 ** (128 / 126))
    torch.testing.assert_close(dynamic.inv_freq(4096), expected, rtol=1e-13, atol=0)


def test_c40_dynamic_forgets_the_lengths_before() -> None:
    dynamic = pc.create("rope-dynamic", factor=4)
    first = dynamic.inv_freq(3000)
    dynamic.inv_freq(100_000)
    assert torch.equal(dynamic.inv_freq(3000), first)


def test_yarn_ramp() -> None:
    settings = {"head_dim": 128, "factor": 4, "original_max_position_embeddings": 2048}
    yarn = pc.create("rope-yarn", **settings)
    assert yarn.ramp_ends() == (16, 41)
    close(yarn.inv_freq()[[32]], [0.0052])
    low, high = pc.create("rope-yarn", **settings, truncate=False).ramp_ends()
    assert (round(low, 3), round(high, 4)) == (16.128, 40.2104)
    plain = inverse_frequencies(128, 1e4)
    assert torch.equal(yarn.inv_freq()[:17], plain[:17])
    torch.testing.assert_close(yarn.inv_freq()[41:], plain[41:] / 4, rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (0.5, 1.0),
        (1, 1.0),
        (2, 1.069315),
        (4, 1.138629436),
        (8, 1.207944),
        (16, 1.277259),
        (32, 1.346574),
        (40, 1.368888),
    ],
)
def test_yarn_attention_factor(factor: float, expected: float) -> None:
    attention_factor = pc.create("rope-yarn", factor=factor).attention_factor()
    assert attention_factor == pytest.approx(expected, rel=1e-6)


def test_yarn_mscale_is_a_ratio_and_an_explicit_factor_wins() -> None:
    equal = {"factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0}
    assert pc.create("rope-yarn", **equal).attention_factor() == 1.0
    ratio = pc.create("rope-yarn", factor=40, mscale=0.707, mscale_all_dim=1.0)
    log = math.log(40)
    assert ratio.attention_factor() == pytest.approx((0.0707 * log + 1) / (0.1 * log + 1))
    assert pc.create("rope-yarn", **equal, attention_factor=1.5).attention_factor() == 1.5
    # One of the two alone counts for nothing.
    assert pc.create("rope-yarn", factor=4, mscale=2.0).attention_factor() == pytest.approx(
        1.138629436
    )


def test_yarn_attention_factor_multiplies_scores_by_its_square() -> None:
    x = torch.ones(1, 64)
    yarn = pc.create("rope-yarn", factor=4)
    score = yarn.scores(x, x, [7], [7])
    assert score.item() == pytest.approx(64 * 1.296477, rel=1e-6)


def test_c47_yarn_without_truncation_is_gpt_oss() -> None:
    settings: dict[str, Any] = {
        "head_dim": 64,
        "base": 150000,
        "factor": 32,
        "original_max_position_embeddings": 4096,
    }
    exact = pc.create("rope-yarn", **settings, truncate=False)
    low, high = exact.ramp_ends()
    assert (round(low, 6), round(high, 6)) == (8.092779, 17.398025)
    close(exact.inv_freq()[[12]], [6.794959e-3], rtol=1e-6)
    close(pc.create("rope-yarn", **settings).inv_freq()[[12]], [7.015714e-3], rtol=1e-6)


def test_llama3_8b() -> None:
    inv_freq = pc.create("rope-llama3", head_dim=128, base=5e5).inv_freq()
    rows = [0, 28, 29, 30, 31, 32, 33, 34, 63]
    close(
        inv_freq[rows],
        [
            1.0,
            0.003211446,
            0.002166571,
            0.001371894,
            0.000856751,
            0.000524846,
            0.000312694,
            0.000178508,
            3.068926e-7,
        ],
        rtol=3e-6,
    )
    plain = inverse_frequencies(128, 5e5)
    assert torch.equal(inv_freq[:29], plain[:29])
    assert torch.equal(inv_freq[35:], plain[35:] / 8)
    assert ((inv_freq < plain) & (inv_freq > plain / 8))[29:35].all()


def test_c51_longrope_chooses_its_list_by_length() -> None:
    longrope = pc.create(
        "rope-longrope",
        head_dim=8,
        original_max_position_embeddings=4096,
        short_factor=[1, 1, 1, 1],
        long_factor=[1, 2, 4, 8],
    )
    for length in (None, 1, 4096):
        close(longrope.inv_freq(length), [1, 0.1, 0.01, 0.001])
    close(longrope.inv_freq(4097), [1, 0.05, 0.0025, 0.000125])


@pytest.mark.parametrize(
    ("factor", "trained", "expected"), [(32, 4096, 1.190238), (16, 8192, 1.143544), (1, 4096, 1.0)]
)
def test_longrope_attention_factor(factor: float, trained: int, expected: float) -> None:
    longrope = pc.create("rope-longrope", factor=factor, original_max_position_embeddings=trained)
    assert longrope.attention_factor(None) == pytest.approx(expected, rel=1e-6)
    assert longrope.attention_factor(10 * trained) == pytest.approx(expected, rel=1e-6)


def test_longrope_refuses_a_list_of_the_wrong_length() -> None:
    with pytest.raises(pc.EncodingError, match=r"each of the 32 pairs .* got 3"):
        pc.create("rope-longrope", head_dim=64, long_factor=[1, 2, 3])


def test_proportional_leaves_slow_pairs_out() -> None:
    inv_freq = pc.create("rope-proportional", head_dim=64).inv_freq()
    assert torch.equal(inv_freq[:8], inverse_frequencies(64, 1e4)[:8])
    assert not inv_freq[8:].any()


def test_a_ramp_that_runs_backwards_is_refused() -> None:
    with pytest.raises(pc.EncodingError, match="beta_fast must not be below beta_slow, got 1 and"):
        pc.create("rope-yarn", beta_fast=1, beta_slow=32)
    with pytest.raises(pc.EncodingError, match="high_freq_factor must not be below"):
        pc.create("rope-llama3", low_freq_factor=4, high_freq_factor=3)
    with pytest.raises(pc.EncodingError, match=r"base must be between 1\.001"):
        pc.create("rope-yarn", base=1)


# laws


def scaled() -> list[Any]:
    return [
        pc.create(slug)
        for slug, cls in pc.encodings().items()
        if issubclass(cls, pc.RotaryEncoding) and slug.startswith("rope")
    ]


@pytest.mark.parametrize("encoding", scaled(), ids=lambda encoding: encoding.slug)
def test_scores_see_only_the_distance(encoding: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 1, encoding.head_dim, generator=generator, dtype=torch.float64)
    # Both at one length, as within one sequence.
    rows = [
        (encoding.rotate(q, [i], 10_000) * encoding.rotate(k, [j], 10_000)).sum()
        for i, j in ((5, 2), (105, 102), (9005, 9002))
    ]
    torch.testing.assert_close(torch.stack(rows), rows[0].repeat(3))


@pytest.mark.parametrize("encoding", scaled(), ids=lambda encoding: encoding.slug)
def test_frequencies_fall_and_never_exceed_those_before(encoding: Any) -> None:
    plain = inverse_frequencies(encoding.rotary_dim, encoding.base)
    for length in LENGTHS:
        inv_freq = encoding.inv_freq(length)
        assert (inv_freq.diff() <= 0).all()
        assert (inv_freq <= plain * (1 + 1e-12)).all()
        assert (inv_freq * encoding.stretch(length) >= plain * (1 - 1e-12))[inv_freq > 0].all()


# parity with transformers


def theirs(
    config: Any, seq_len: int | None, layer_type: str | None = None
) -> tuple[torch.Tensor, float]:
    """Frequencies by transformers; the unscaled ones are in each model's own file."""
    config.standardize_rope_params()
    block = config.rope_parameters[layer_type] if layer_type else config.rope_parameters
    if block["rope_type"] == "default":
        head_dim = getattr(config, "head_dim", None)
        dim = head_dim or config.hidden_size // config.num_attention_heads
        dim = int(dim * block.get("partial_rotary_factor", 1.0))
        powers = torch.arange(0, dim, 2, dtype=torch.int64).to(dtype=torch.float) / dim
        return 1.0 / (block["rope_theta"] ** powers), 1.0
    function = reference.ROPE_INIT_FUNCTIONS[block["rope_type"]]
    arguments = {"layer_type": layer_type} if layer_type else {}
    return function(config, "cpu", seq_len=seq_len, **arguments)


@pytest.mark.parametrize("seq_len", LENGTHS)
@pytest.mark.parametrize("name", known_configs())
def test_well_known_settings_equal_transformers(name: str, seq_len: int | None) -> None:
    for setting in read_rope(known_configs()[name]).settings:
        published = known_configs()[name]
        if (published.get("rope_scaling") or {}).get("type") == "su":
            # transformers 5.24 renames it too late and then misses a key.
            published["rope_scaling"]["type"] = "longrope"
        hf = AutoConfig.for_model(**published)
        frequencies, attention = theirs(hf, seq_len, setting.layer_type or None)
        inv_freq = setting.encoding.inv_freq(seq_len)
        torch.testing.assert_close(inv_freq, frequencies.double(), rtol=1e-6, atol=0)
        assert setting.encoding.attention_factor(seq_len) == pytest.approx(attention, rel=1e-12)


class Float64Tensor(torch.Tensor):
    def float(self) -> torch.Tensor:
        return self.double()


class Float64Torch:
    """Torch with float64 for float32, to see a reference's formula without its rounding."""

    def __getattr__(self, name: str) -> Any:
        if name in {"float", "float32"}:
            return torch.float64
        if name == "arange":
            return lambda *args, **_: torch.arange(*args, dtype=torch.float64).as_subclass(
                Float64Tensor
            )
        return getattr(torch, name)


widths = st.integers(2, 64).map(lambda pairs: 2 * pairs)
bases = st.floats(100, 1e8)
factors = st.floats(1, 64)
trained = st.integers(64, 100_000)
lengths = st.none() | st.integers(1, 1_000_000)
positive = st.floats(0.5, 100)


@st.composite
def blocks(draw: st.DrawFn, rope_type: str, pairs: int) -> dict[str, Any]:
    block: dict[str, Any] = {"rope_type": rope_type, "rope_theta": draw(bases)}
    if rope_type != "proportional" or draw(st.booleans()):
        block["factor"] = draw(factors)
    if rope_type == "proportional":
        block["partial_rotary_factor"] = draw(st.floats(0, 1))
    if rope_type in {"yarn", "llama3", "longrope"}:
        block["original_max_position_embeddings"] = draw(trained)
    if rope_type == "yarn":
        slow = draw(st.floats(0.1, 8))
        optional = {
            "beta_slow": st.just(slow),
            "beta_fast": st.floats(8, 64),
            "mscale": positive,
            "mscale_all_dim": positive,
            "attention_factor": positive,
            "truncate": st.booleans(),
        }
        block |= draw(st.fixed_dictionaries({}, optional=optional))
    if rope_type == "llama3":
        low = draw(st.floats(0.1, 8))
        block |= {"low_freq_factor": low, "high_freq_factor": low + draw(positive)}
    if rope_type == "longrope":
        lists = st.lists(st.floats(1, 100), min_size=pairs, max_size=pairs)
        block |= {"short_factor": draw(lists), "long_factor": draw(lists)}
        block |= draw(st.fixed_dictionaries({}, optional={"attention_factor": positive}))
    return block


@pytest.mark.parametrize("rope_type", sorted(reference.ROPE_INIT_FUNCTIONS))
@settings(max_examples=60, deadline=None)
@given(data=st.data(), head_dim=widths, seq_len=lengths, longest=trained)
def test_any_legal_setting_equals_transformers(
    rope_type: str, data: st.DataObject, head_dim: int, seq_len: int | None, longest: int
) -> None:
    block = data.draw(blocks(rope_type, head_dim // 2))
    config = SimpleNamespace(
        head_dim=head_dim,
        hidden_size=head_dim,
        num_attention_heads=1,
        max_position_embeddings=longest,
        rope_parameters=block,
        standardize_rope_params=lambda: None,
    )
    ours = pc.rotary_from_config(
        {"head_dim": head_dim, "max_position_embeddings": longest, "rope_parameters": block}
    )
    function = reference.ROPE_INIT_FUNCTIONS[rope_type]
    rounded, attention = function(config, "cpu", seq_len=seq_len)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "torch", Float64Torch())
        exact, _ = function(config, "cpu", seq_len=seq_len)
    inv_freq = ours.inv_freq(seq_len)
    torch.testing.assert_close(inv_freq, exact.double(), rtol=1e-10, atol=0)
    assert ours.attention_factor(seq_len) == pytest.approx(attention, rel=1e-12)
    # In float32, as it stands, blends of two frequencies lose more than one rounding step.
    torch.testing.assert_close(inv_freq, rounded.double(), rtol=1e-4, atol=0)
