"""The colour scales of both themes: what is farther from zero stands out more from the ground."""

from __future__ import annotations

import itertools
import re

import pytest

from pages._ui.theme import DIVERGING, SEQUENTIAL, shade

THEMES = ("light", "dark")


def luminance(colour: str, theme: str) -> float:
    """The relative luminance of WCAG 2.2."""
    pair = re.fullmatch(r"var\(--either-(\w{6})-(\w{6})\)", colour)
    assert pair
    shares = [value / 255 for value in bytes.fromhex(pair[1 + THEMES.index(theme)])]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", THEMES)
def test_zero_is_pale_in_the_light_theme_and_dark_in_the_dark_one(theme: str) -> None:
    zero = luminance(shade(0.5), theme)
    assert zero == luminance(SEQUENTIAL[0][1], theme)
    assert (zero > 0.9) if theme == "light" else (zero < 0.02)


@pytest.mark.parametrize("theme", THEMES)
def test_luminance_goes_one_way_from_zero_to_either_end(theme: str) -> None:
    sign = -1 if theme == "light" else 1
    values = [sign * luminance(shade(step / 100), theme) for step in range(101)]
    below, above = values[:51][::-1], values[50:]
    for side in (below, above):
        assert all(nearer < farther for nearer, farther in itertools.pairwise(side))
    # Equal distances from zero look about as far from it.
    assert abs(below[-1] - above[-1]) < 0.2


def test_the_sequential_scale_is_the_upper_half() -> None:
    assert SEQUENTIAL[0][1] == DIVERGING[5][1]
    assert SEQUENTIAL[-1] == DIVERGING[-1]
    assert [at for at, _ in DIVERGING] == [step / 10 for step in range(11)]
