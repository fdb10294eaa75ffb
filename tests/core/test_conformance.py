"""What every registered encoding must do; nothing here names a particular one."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.parameters import Choice, Flag, Number, Parameter, Reals
from tests.strategies import FAR, legal, positions, vectors, width

SLUGS = list(pc.encodings())
every_encoding = pytest.mark.parametrize("slug", SLUGS)
examples = settings(max_examples=12)


def contribution(encoding: pc.Encoding, at: list[int], x: torch.Tensor) -> torch.Tensor:
    """What the encoding's own family method gives for these positions, positions first."""
    match encoding:
        case pc.AdditiveEncoding():
            return encoding.table(at)
        case pc.RotaryEncoding():
            return encoding.rotate(x, at, max(at) + 1)
        case pc.BiasEncoding():
            return encoding.bias(at, at).transpose(0, 1)
        case pc.RelativeEncoding():
            return torch.stack([encoding.vectors(position, at) for position in at])
    raise TypeError(encoding)


@every_encoding
def test_it_says_what_it_is(slug: str) -> None:
    cls = pc.encodings()[slug]
    assert cls.slug == slug
    assert cls.title
    assert 1990 < cls.year < 2100
    assert "20" in cls.reference
    assert cls.formula
    assert cls.door in {"none", "input", "scores", "projections"}
    assert cls.__doc__
    assert all(parameter.label for parameter in cls.parameters().values())


@every_encoding
@examples
@given(data=st.data())
def test_scores_have_the_shape_and_dtype_of_the_queries(slug: str, data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()[slug])
    keys = data.draw(positions(encoding))
    queries = keys[: data.draw(st.integers(1, len(keys)))]
    for dtype in (torch.float32, torch.float64):
        q, k = (vectors(encoding, len(at), dtype=dtype) for at in (queries, keys))
        scores = encoding.scores(q, k, queries, keys)
        assert scores.shape == (*q.shape[:-1], len(keys))
        assert scores.dtype == dtype
        assert scores.isfinite().all()


@every_encoding
@examples
@given(data=st.data())
def test_the_contribution_is_finite_and_the_same_twice(slug: str, data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()[slug])
    at = data.draw(positions(encoding))
    x = vectors(encoding, len(at))
    given_x, given_at = x.clone(), list(at)
    first = contribution(encoding, at, x)
    again = contribution(dataclasses.replace(encoding), at, x)
    assert first.isfinite().all()
    assert torch.equal(first, again)
    assert torch.equal(x, given_x)
    assert at == given_at


@every_encoding
@examples
@given(data=st.data())
def test_one_position_at_a_time_equals_all_at_once(slug: str, data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()[slug])
    at = data.draw(positions(encoding))
    q, k = vectors(encoding, len(at), 1), vectors(encoding, len(at), 2)
    together = encoding.scores(q, k, at, at)
    for index, position in enumerate(at):
        # All keys are given, for encodings whose frequencies depend on the length.
        alone = encoding.scores(q[..., index : index + 1, :], k, [position], at)
        row = together[..., index : index + 1, :]
        torch.testing.assert_close(alone, row, rtol=1e-6, atol=1e-6)


@every_encoding
@pytest.mark.parametrize("position", [0, FAR])
def test_length_one_and_dimension_two(slug: str, position: int) -> None:
    cls = pc.encodings()[slug]
    fields = {name: 2 for name, item in cls.parameters().items() if item.role == "dimension"}
    encoding = cls(**fields)
    if isinstance(encoding, pc.AdditiveEncoding) and encoding.position_count is not None:
        position = min(position, encoding.position_count - 1)
    q, k = vectors(encoding, 1, 1, torch.float32), vectors(encoding, 1, 2, torch.float32)
    scores = encoding.scores(q, k, [position], [position])
    assert scores.shape[-2:] == (1, 1)
    assert scores.isfinite().all()


@every_encoding
@examples
@given(data=st.data())
def test_batch_entries_do_not_leak(slug: str, data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()[slug])
    at = data.draw(positions(encoding))
    q = torch.stack([vectors(encoding, len(at), seed) for seed in (1, 2)])
    k = torch.stack([vectors(encoding, len(at), seed) for seed in (3, 4)])
    together = encoding.scores(q, k, at, at)
    for index in range(2):
        alone = encoding.scores(q[index], k[index], at, at)
        torch.testing.assert_close(together[index], alone, rtol=1e-9, atol=1e-9)


@every_encoding
@examples
@given(data=st.data())
def test_no_position_at_scale_zero(slug: str, data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()[slug])
    at = data.draw(positions(encoding))
    q, k = vectors(encoding, len(at), 1), vectors(encoding, len(at), 2)
    scores = encoding.scores(q, k, at, at, scale=0.0, softmax_scale=0.5)
    if isinstance(encoding, pc.RotaryEncoding):
        # The temperature that some scalings put on the rotated dimensions isn't position.
        factor = torch.ones(width(encoding), dtype=torch.float64)
        factor[: encoding.rotary_dim] = encoding.attention_factor(max(at) + 1)
        q, k = q * factor, k * factor
    torch.testing.assert_close(scores, 0.5 * (q @ k.mT), rtol=1e-9, atol=1e-9)


@every_encoding
@examples
@given(data=st.data())
def test_every_setting_survives_a_url(slug: str, data: st.DataObject) -> None:
    cls = pc.encodings()[slug]
    encoding = legal(data, cls)
    written = {
        name: parameter.format(getattr(encoding, name))
        for name, parameter in cls.parameters().items()
    }
    read = {name: cls.parameters()[name].parse(name, text) for name, text in written.items()}
    assert pc.create(slug, **read) == encoding


def illegal_values(parameter: Parameter) -> list[tuple[Any, str]]:
    """Values that a field can't have, each with what the error must say is allowed."""
    match parameter:
        case Number():
            bounds = [(parameter.low - 1, f"{int(parameter.low)}"), (parameter.high * 2 + 1, "")]
            return [*bounds, (math.nan, "number"), ("many", "number")]
        case Choice():
            return [("no such word", option) for option in parameter.options]
        case Flag():
            return [("perhaps", "true or false"), (1, "true or false")]
        case Reals():
            return [((-1.0,), "between"), (("many",), "number"), (3.0, "list")]
    raise TypeError(parameter)


FIELDS = [(slug, name) for slug, cls in pc.encodings().items() for name in cls.parameters()]


@pytest.mark.parametrize(("slug", "name"), FIELDS)
def test_an_illegal_value_is_refused_by_name(slug: str, name: str) -> None:
    parameter = pc.encodings()[slug].parameters()[name]
    for value, allowed in illegal_values(parameter):
        with pytest.raises(pc.EncodingError) as caught:
            pc.create(slug, **{name: value})
        message = str(caught.value)
        assert name in message
        assert "got" in message
        assert allowed in message
        assert "\n" not in message
        assert (caught.value.field or "").startswith(name)


@every_encoding
def test_an_unknown_field_is_refused_by_name(slug: str) -> None:
    with pytest.raises(pc.EncodingError, match="no_such_field"):
        pc.create(slug, no_such_field=1)


@every_encoding
def test_settings_are_frozen(slug: str) -> None:
    encoding = pc.create(slug)
    with pytest.raises(dataclasses.FrozenInstanceError):
        encoding.new = 1  # type: ignore[attr-defined]


@every_encoding
def test_positions_must_be_whole_numbers(slug: str) -> None:
    encoding = pc.create(slug)
    x = vectors(encoding, 1, dtype=torch.float32)
    with pytest.raises(pc.EncodingError, match="whole numbers"):
        encoding.scores(x, x, torch.tensor([0.5]), [0])


@every_encoding
def test_half_precision_is_the_cast_of_a_close_value(slug: str) -> None:
    encoding = pc.create(slug)
    at = [0, 1, 5, 90]
    q, k = vectors(encoding, 4, 1), vectors(encoding, 4, 2)
    exact = encoding.scores(q, k, at, at)
    half = encoding.scores(q.bfloat16(), k.bfloat16(), at, at)
    assert half.dtype == torch.bfloat16
    # Eight bits of each factor: a relative error of 2^-8 in every product.
    size = 2**-6 * float(exact.abs().max()) + 2**-6 * width(encoding) ** 0.5 * 4
    assert float((half.double() - exact).abs().max()) < size
