"""A slider that reruns its fragment while it is dragged."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

from pages._ui.live.assets import stub

Number = TypeVar("Number", int, float)

_slider = st.components.v2.component("live_slider", js=stub("slider.js"))
_PRINTF = re.compile(r"%(?:\.(\d+))?[dfg]")


def live_slider(
    label: str,
    *,
    key: str,
    value: Number,
    low: Number,
    high: Number,
    step: Number,
    format: str | None = None,  # noqa: A002, the names that st.slider has
    help: str | None = None,  # noqa: A002
    log: bool = False,
    disabled: bool = False,
) -> Number:
    """A slider with an editable number; call it inside the `@st.fragment` that draws the result.

    value: what to show at first. A later call with a different value moves the slider there, unless
        that is merely the slider's own last answer (as when the page keeps it in the URL).
    log: equal distances are equal ratios; needs low > 0. Values still are multiples of `step`
        counted from `low`; Page keys go to the next power of two.
    format: printf-like with one number, such as "%.2f" or "%d tokens". By default as many decimals
        as `step` has.

    Returns an int if low, high and step are ints, else a float; always within low … high, whatever
    the browser sent. Raises ValueError for a range or step that leaves no choice.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high and step > 0):
        raise ValueError(f"a slider needs low < high and step > 0, got {low}, {high}, {step}")
    if log and low <= 0:
        raise ValueError(f"a logarithmic slider needs low > 0, got {low}")
    spec = (low, high, step)
    record = _record(key)
    # Without a state it was not moved yet, or is shown again after a visit to another page.
    number, seq, dragging = _browser_state(st.session_state.get(key)) or (None, 0, False)

    override = record.get("override")
    if "given" not in record or (value != record["given"] and value != record.get("returned")):
        override = (value, seq)
    record["given"] = value
    # An override holds until the person moves the slider again.
    if override is not None and override[1] in (seq, None):
        override = (override[0], seq)
        number = override[0]
    else:
        override = None
    current = snap(number if number is not None else value, *spec)
    record.update(override=override, returned=current, dragging=dragging)

    prefix, decimals, suffix = _split_format(format or "%f", step)
    _slider(
        key=key,
        data={
            "label": label,
            "help": help,
            "value": current,
            "seq": seq,
            "low": low,
            "high": high,
            "step": step,
            "log": log,
            "disabled": disabled,
            "prefix": prefix,
            "suffix": suffix,
            "decimals": decimals,
        },
        on_at_change=_ignore,
    )
    return current


def set_live_slider(key: str, value: float) -> None:
    """Move the slider `key` from Python, e.g. in a button's callback, before it is drawn."""
    _record(key)["override"] = (value, None)
    _record(key).setdefault("given", value)


def is_dragging(key: str) -> bool:
    """Whether the slider `key` was held when this run was asked for."""
    return bool(_record(key).get("dragging", False))


def snap(number: float, low: Number, high: Number, step: Number) -> Number:
    """The nearest multiple of `step` from `low`, within the range; an int if all three are.

    Half a step is rounded up. js/steps.js says the same: a value that the browser snapped stays.
    """
    ends = (low, high, step)
    steps, part = divmod((min(max(number, low), high) - low) / step, 1)
    snapped = min(low + (int(steps) + (part >= 0.5)) * step, high)
    if all(isinstance(end, int) for end in ends):
        return int(snapped)
    # low + 3 · 0.1 is 0.30000000000000004; say 0.3
    return float(round(snapped, max(map(_decimals, ends))))  # type: ignore[return-value]


def _record(key: str) -> dict[str, Any]:
    """What the slider remembers between runs, besides the browser's own state."""
    record: dict[str, Any] = st.session_state.setdefault(f"{key}--live", {})
    return record


def _browser_state(state: object) -> tuple[float, int, bool] | None:
    """Value, sequence number and dragging as the browser sent them, or None if they make no sense.

    The websocket is open to anybody, so nothing about its content is certain.
    """
    at = state.get("at") if isinstance(state, Mapping) else None
    if not isinstance(at, Mapping):
        return None
    number, seq = at.get("value"), at.get("seq")
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    if isinstance(seq, bool) or not isinstance(seq, int) or not 0 <= seq < 2**53:
        return None
    if not abs(number) < 1e300:  # refuses NaN, infinities and integers beyond a float
        return None
    return number, seq, at.get("dragging") is True


def _decimals(number: float) -> int:
    """How many decimals `number` is written with, at most 12."""
    text = f"{number:.12f}".rstrip("0")
    return len(text.partition(".")[2])


def _split_format(template: str, step: float) -> tuple[str, int, str]:
    """Prefix, decimals and suffix of a printf-like format with one number."""
    parts = _PRINTF.split(template.replace("%%", "%"))
    if len(parts) != 3:
        raise ValueError(f"format must contain one of %d, %f, %.2f, %g, got {template!r}")
    prefix, decimals, suffix = parts
    return prefix, _decimals(step) if decimals is None else int(decimals), suffix


def _ignore() -> None:
    """Streamlit only keeps a component's state between runs if it has a callback."""
