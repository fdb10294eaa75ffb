"""Every kind of field: what it accepts, what it refuses and how, and how it survives a URL."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posembed_core.parameters import (
    Choice,
    EncodingError,
    Flag,
    Integer,
    Number,
    Parameter,
    Real,
    Reals,
    shown,
)

LONG = 10**5000  # more digits than Python turns into text
INTEGER = Integer("Heads", low=1, high=2**32 - 1)
REAL = Real("Base", low=0.0, high=1e12)
OPTIONAL = Real("Std", low=0.0, high=100.0, optional=True)
CHOICE = Choice("Layout", options=("interleaved", "concatenated"))
FLAG = Flag("Causal")
REALS = Reals("Factors")


def refused(parameter: Parameter, value: Any, *, parse: bool = False) -> EncodingError:
    """The error, which must be one short sentence that names the field."""
    with pytest.raises(EncodingError) as caught:
        parameter.parse("the_field", value) if parse else parameter.check("the_field", value)
    error = caught.value
    assert type(error) is EncodingError
    assert str(error).startswith("the_field")
    assert (error.field or "").startswith("the_field")
    assert "\n" not in str(error)
    assert len(str(error)) < 200
    return error


# --- parse is the inverse of format ---


def returns(parameter: Parameter, value: Any) -> None:
    checked = parameter.check("x", value)
    text = parameter.format(checked)
    again = parameter.parse("x", text)
    assert again == checked
    assert type(again) is type(checked)
    assert text.isprintable()
    assert len(text) < 30 or isinstance(parameter, Reals)


@given(st.integers(-(2**63), 2**63))
def test_integers_return(value: int) -> None:
    returns(Integer("x", low=-(2**63), high=2**63), value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reals_return_bit_for_bit(value: float) -> None:
    real = Real("x")
    returns(real, value)
    assert math.frexp(real.parse("x", real.format(value))) == math.frexp(value)


@given(st.none() | st.floats(0, 100))
def test_optional_reals_return(value: float | None) -> None:
    returns(OPTIONAL, value)


@pytest.mark.parametrize("value", CHOICE.options)
def test_choices_return(value: str) -> None:
    returns(CHOICE, value)


@pytest.mark.parametrize("value", [True, False])
def test_flags_return(value: bool) -> None:
    returns(FLAG, value)


@given(st.lists(st.floats(1e-6, 1e6)))
def test_lists_return(value: list[float]) -> None:
    returns(REALS, tuple(value))
    text = REALS.format(tuple(value))
    # None of these needs an escape in a query string.
    assert set(text) <= set("0123456789.e-_")


def test_a_whole_number_is_written_without_a_point() -> None:
    assert REAL.format(10000.0) == "10000"
    assert REAL.format(0.1) == "0.1"
    assert REALS.format((1.0, 2.5, 1e-6)) == "1_2.5_1e-06"
    assert OPTIONAL.format(None) == ""


# --- equal values of other types ---


@pytest.mark.parametrize(
    "value", [8, 8.0, np.int64(8), np.uint8(8), np.float64(8), torch.tensor(8), np.array(8)]
)
def test_an_integer_takes_every_whole_eight(value: Any) -> None:
    checked = INTEGER.check("x", value)
    assert checked == 8
    assert type(checked) is int


@pytest.mark.parametrize("value", [2.5, np.float64(2.5), np.float32(2.5), Fraction(5, 2)])
def test_a_real_takes_every_two_and_a_half(value: Any) -> None:
    checked = REAL.check("x", value)
    assert checked == 2.5
    assert type(checked) is float


@pytest.mark.parametrize(
    "value", [[1, 2.5], (1.0, 2.5), np.array([1, 2.5]), torch.tensor([1, 2.5])]
)
def test_a_list_takes_arrays(value: Any) -> None:
    assert REALS.check("x", value) == (1.0, 2.5)


# --- what is refused, and how ---

NOT_WHOLE: list[Any] = [
    2.5, math.nan, math.inf, -math.inf, True, np.True_, None, "8", "many", b"8", 3 + 4j,
    [8], np.array([8, 9]), np.array([2.5]), torch.tensor(2.5), torch.tensor([8, 9]), Ellipsis,
]  # fmt: skip
NOT_REAL: list[Any] = [
    math.nan, math.inf, -math.inf, np.float64("nan"), True, np.True_, None, "2.5", b"2", 3 + 4j,
    [2.5], np.array([2.5, 1.0]), torch.tensor([2.5, 1.0]), Ellipsis,
]  # fmt: skip


@pytest.mark.parametrize("value", NOT_WHOLE, ids=repr)
def test_an_integer_refuses(value: Any) -> None:
    assert "whole number" in str(refused(INTEGER, value))


@pytest.mark.parametrize("value", NOT_REAL, ids=repr)
def test_a_real_refuses(value: Any) -> None:
    error = refused(REAL, value)
    assert "number, got" in str(error)
    assert error.nearest is None


def test_only_an_optional_real_accepts_none() -> None:
    assert OPTIONAL.check("x", None) is None
    assert OPTIONAL.parse("x", "") is None
    refused(REAL, "", parse=True)


@given(st.integers(-(10**40), 10**40).filter(lambda i: not 1 <= i < 2**32))
def test_out_of_range_names_the_value_the_range_and_the_nearest(value: int) -> None:
    error = refused(INTEGER, value)
    assert "between 1 and 4294967295" in str(error)
    assert error.nearest == (1 if value < 1 else 2**32 - 1)
    assert str(error).endswith(f"try {error.nearest}")
    if abs(value) < 10**15:
        assert f"got {value};" in str(error)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not 0 <= x <= 1e12))
def test_a_real_out_of_range(value: float) -> None:
    error = refused(REAL, value)
    assert "between 0 and 1000000000000" in str(error)
    assert error.nearest in {0.0, 1e12}
    assert isinstance(error.nearest, float)
    assert REAL.check("x", error.nearest) == error.nearest


@pytest.mark.parametrize("number", [INTEGER, REAL, Real("x", low=0, high=1, optional=True)])
@pytest.mark.parametrize("value", [LONG, -LONG, 10**300, 10**400, 1e300], ids=shown)
def test_huge_numbers_are_refused_in_a_short_sentence(number: Number, value: Any) -> None:
    refused(number, value)


@pytest.mark.parametrize("text", ["1" * 5000, "-" + "9" * 40, "1e400", "1e300", "0" * 40 + "x"])
def test_huge_texts_are_refused_in_a_short_sentence(text: str) -> None:
    refused(INTEGER, text, parse=True)
    refused(Real("x", low=0.0, high=1.0), text, parse=True)


@pytest.mark.parametrize("parameter", [CHOICE, FLAG, REALS], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("value", [LONG, "x" * 10_000, ["x"] * 10_000, None, math.nan], ids=shown)
def test_anything_else_is_refused_in_a_short_sentence(parameter: Parameter, value: Any) -> None:
    refused(parameter, value)


@pytest.mark.parametrize(
    "parameter", [INTEGER, REAL, CHOICE, FLAG, REALS], ids=lambda p: type(p).__name__
)
@pytest.mark.parametrize("text", ["nan", "x" * 10_000, "<b>", "true ", "1\n2", "\0", "1_0_x", "٣x"])
def test_no_text_breaks_the_parser(parameter: Parameter, text: str) -> None:
    refused(parameter, text, parse=True)


@pytest.mark.parametrize("parameter", [INTEGER, REAL, OPTIONAL, CHOICE, FLAG, REALS])
@given(text=st.text(max_size=60))
def test_any_text_is_a_legal_value_or_an_encoding_error(parameter: Parameter, text: str) -> None:
    try:
        value = parameter.parse("x", text)
    except EncodingError:
        return
    assert parameter.check("x", value) == value


def test_a_choice_names_its_options() -> None:
    error = refused(CHOICE, "backwards")
    assert "'interleaved' or 'concatenated', got 'backwards'" in str(error)


@pytest.mark.parametrize("value", [1, 0, "true", np.True_, None])
def test_a_flag_takes_nothing_but_true_and_false(value: Any) -> None:
    assert "true or false" in str(refused(FLAG, value))


@pytest.mark.parametrize("text", ["True", "1", "yes", ""])
def test_a_flag_in_a_url_is_true_or_false(text: str) -> None:
    refused(FLAG, text, parse=True)


@pytest.mark.parametrize(
    ("value", "named"),
    [((1.0, -1.0), "[1]"), ((0.0,), "[0]"), ((1.0, 2.0, math.nan), "[2]"), ((True,), "[0]")],
)
def test_a_list_names_the_entry(value: tuple[Any, ...], named: str) -> None:
    assert str(refused(REALS, value)).startswith(f"the_field{named} ")


@pytest.mark.parametrize("value", [3.0, "1_2", np.array(3.0), torch.tensor(3.0), None])
def test_a_list_must_be_a_list(value: Any) -> None:
    assert "list of numbers" in str(refused(REALS, value))


def test_short_values_are_shown_whole_and_long_ones_cut_in_the_middle() -> None:
    assert shown("half") == "'half'"
    assert shown("x" * 10_000).count("x") < 40
    assert "..." in shown("x" * 10_000)
    assert len(shown(LONG)) < 60
    assert len(shown([LONG])) < 80
