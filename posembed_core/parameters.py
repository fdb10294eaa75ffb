"""The typed fields of an encoding: what is allowed, how it is labelled and written in a URL."""

from __future__ import annotations

import dataclasses
import math
import operator
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np


class _Short(reprlib.Repr):
    def repr_int(self, number: int, level: int) -> str:
        # Python refuses to print a number of more than 4300 digits.
        huge = abs(number) >= 10**4000
        return f"{number.bit_length()} bits" if huge else super().repr_int(number, level)


_short = _Short()
_short.maxstring = _short.maxother = _short.maxlong = 40

Role = Literal["option", "length", "dimension"]


class EncodingError(ValueError):
    """A setting that an encoding can't have, or a position without a vector.

    The message says in one sentence what was given, what is allowed and what to try; ``field``
    names the parameter and ``nearest`` is the legal value closest to what was given, where there
    is one.

    >>> import posembed_core as pc
    >>> try:
    ...     pc.create("rope", head_dim=7)
    ... except pc.EncodingError as error:
    ...     print(error.field, error.nearest)
    head_dim 8
    """

    def __init__(self, message: str, *, field: str | None = None, nearest: Any = None) -> None:
        super().__init__(message)
        self.field = field
        self.nearest = nearest


@dataclass(frozen=True)
class Parameter:
    """One field: its label, what it stands for, and the values that it may have.

    ``role`` tells a user interface which fields are the sizes that several encodings share: the
    ``"length"`` of the sequence or the ``"dimension"`` of a vector; all others are options.
    """

    label: str
    help: str = ""
    role: Role = "option"

    def check(self, name: str, value: Any) -> Any:
        """The value in its own type, or an `EncodingError`."""
        raise TypeError(f"{type(self).__name__} has no check for {name}={value!r}")

    def parse(self, name: str, text: str) -> Any:
        """The value written as ``text`` (the inverse of `format`), checked."""
        return self.check(name, text)

    def format(self, value: Any) -> str:
        """The value as text without loss, for a URL."""
        return str(value)


@dataclass(frozen=True)
class Number(Parameter):
    """A number between two bounds, both allowed; ``log`` suggests a logarithmic slider."""

    low: float = -math.inf
    high: float = math.inf
    log: bool = False
    optional: bool = False

    def check(self, name: str, value: Any) -> Any:
        if value is None and self.optional:
            return None
        number = self._number(name, value)
        if not self.low <= number <= self.high:
            nearest = self._cast(min(max(number, self.low), self.high))
            raise EncodingError(
                f"{name} must be between {self.format(self._cast(self.low))} and "
                f"{self.format(self._cast(self.high))}, got {self._said(number)}; "
                f"try {self.format(nearest)}",
                field=name,
                nearest=nearest,
            )
        return number

    def parse(self, name: str, text: str) -> Any:
        if self.optional and text == "":
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise EncodingError(f"{name} must be a number, got {shown(text)}", field=name)
        exact = int(text) if text.lstrip("+-").isdecimal() and len(text) < 30 else number
        return self.check(name, exact)

    def format(self, value: Any) -> str:
        if value is None:
            return ""
        # repr round-trips a float exactly; a whole number reads better without its ".0".
        short = isinstance(value, int) or (abs(value) < 1e16 and value.is_integer())
        return str(int(value)) if short else repr(value)

    def _said(self, number: Any) -> str:
        return self.format(number) if abs(number) < 1e16 else shown(number)

    def _number(self, name: str, value: Any) -> Any:
        raise TypeError(f"{type(self).__name__} has no type for {name}={value!r}")

    def _cast(self, value: float) -> Any:
        return value


@dataclass(frozen=True)
class Integer(Number):
    """A whole number between two bounds."""

    def _number(self, name: str, value: Any) -> int:
        whole = int_or_none(value)
        if whole is None:
            raise EncodingError(f"{name} must be a whole number, got {shown(value)}", field=name)
        return whole

    def _cast(self, value: float) -> Any:
        return int(value) if math.isfinite(value) else value


@dataclass(frozen=True)
class Real(Number):
    """A finite real number between two bounds."""

    def _number(self, name: str, value: Any) -> float:
        number = float_or_none(value)
        if number is None:
            raise EncodingError(f"{name} must be a number, got {shown(value)}", field=name)
        if not math.isfinite(number):
            raise EncodingError(f"{name} must be a finite number, got {shown(value)}", field=name)
        return number

    def _cast(self, value: float) -> float:
        return float(value)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few words."""

    options: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in self.options:
            *others, last = map(repr, self.options)
            words = f"{', '.join(others)} or {last}" if others else last
            raise EncodingError(f"{name} must be {words}, got {shown(value)}", field=name)
        return value


@dataclass(frozen=True)
class Flag(Parameter):
    """Yes or no."""

    def check(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise EncodingError(f"{name} must be true or false, got {shown(value)}", field=name)
        return value

    def parse(self, name: str, text: str) -> bool:
        if text not in {"true", "false"}:
            raise EncodingError(f"{name} must be true or false, got {shown(text)}", field=name)
        return text == "true"

    def format(self, value: Any) -> str:
        return "true" if value else "false"


@dataclass(frozen=True)
class Reals(Parameter):
    """A list of positive numbers, such as LongRoPE's factor for each pair; () where not given."""

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        entry = Real(self.label, low=1e-6, high=1e6)
        scalar = not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0
        if isinstance(value, str) or scalar:
            raise EncodingError(f"{name} must be a list of numbers, got {shown(value)}", field=name)
        return tuple(_of_entry(entry.check, f"{name}[{i}]", item) for i, item in enumerate(value))

    def parse(self, name: str, text: str) -> tuple[float, ...]:
        entry = Real(self.label, low=1e-6, high=1e6)
        parts = text.split("_") if text else []
        return tuple(_of_entry(entry.parse, f"{name}[{i}]", part) for i, part in enumerate(parts))

    def format(self, value: Any) -> str:
        # "_" needs no escape in a query string, "," does.
        return "_".join(Real(self.label).format(item) for item in value)


def _of_entry(read: Callable[[str, Any], float | None], name: str, item: Any) -> float:
    try:
        return float(read(name, item))  # type: ignore[arg-type]  # an entry is never optional
    except EncodingError as error:
        # What is nearest to an entry isn't nearest to the list: nothing is offered.
        raise EncodingError(str(error), field=error.field) from None


def shown(value: Any) -> str:
    """``repr(value)``, cut in the middle where it would fill a screen, on one line.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaa'"
    """
    return " ".join(_short.repr(value).split())


def as_float(value: Any) -> float:
    """``float(value)``, with infinity for a whole number too large for one.

    >>> as_float(10**400)
    inf
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_or_none(value: Any) -> float | None:
    """``value`` as a float when it is one number and no array, not even an array of one.

    >>> float_or_none(np.float32(0.5)), float_or_none("0.5")
    (0.5, None)
    """
    single = hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0
    return as_float(value) if single and not isinstance(value, bool | np.bool_) else None


def int_or_none(value: Any) -> int | None:
    """``value`` as an int when it is a whole number (``8``, ``8.0``, ``numpy.int64(8)``).

    >>> int_or_none(8.0), int_or_none(8.5)
    (8, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)
    except TypeError:
        return None


def integer(default: int, label: str, *, low: int, high: int, **more: Any) -> Any:
    """A dataclass field for a whole number from ``low`` to ``high``.

    >>> integer(8, "Heads", low=1, high=256).metadata["parameter"].check("num_heads", 12)
    12
    """
    return field(default, Integer(label, low=low, high=high, **more))


def real(default: float | None, label: str, *, low: float, high: float, **more: Any) -> Any:
    """A dataclass field for a real number from ``low`` to ``high``.

    >>> real(1e4, "Base", low=1.0, high=1e12).metadata["parameter"].check("base", 500000)
    500000.0
    """
    return field(default, Real(label, low=low, high=high, **more))


def choice(default: str, label: str, options: tuple[str, ...], **more: Any) -> Any:
    """A dataclass field for one of ``options``.

    >>> choice("half", "Pairs", ("half", "interleaved")).metadata["parameter"].options
    ('half', 'interleaved')
    """
    return field(default, Choice(label, options=options, **more))


def flag(default: bool, label: str, **more: Any) -> Any:
    """A dataclass field for yes or no.

    >>> flag(False, "Causal").metadata["parameter"].parse("causal", "true")
    True
    """
    return field(default, Flag(label, **more))


def reals(label: str, **more: Any) -> Any:
    """A dataclass field for a list of positive numbers, empty unless given.

    >>> reals("Factors").metadata["parameter"].parse("short_factor", "1_1.5")
    (1.0, 1.5)
    """
    return field((), Reals(label, **more))


def field(default: Any, parameter: Parameter) -> Any:
    """A dataclass field that carries its `Parameter`.

    >>> field(8, Integer("Heads", low=1, high=256)).default
    8
    """
    return dataclasses.field(default=default, metadata={"parameter": parameter})
