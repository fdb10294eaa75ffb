"""What the pages say of an encoding that acts on scores, held to the scores that it computes."""

from __future__ import annotations

import re

import pytest
import torch

import posembed_core as pc
from pages._ui.fading import fading
from tests.visits import arrived


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("length", [2, 128, 4096])
def test_what_is_said_of_xpos_is_what_its_scores_do(scale: float, length: int) -> None:
    xpos, rope = pc.create("xpos", head_dim=8), pc.create("rope", head_dim=8)
    text = fading(xpos, length, scale).replace("−", "-")
    (*_, last) = re.findall(r"by (\S+) to (\S+) for", text)
    for pair, expected in zip((0, 3), map(float, last), strict=True):
        vector = torch.zeros(8, dtype=torch.float64)
        vector[[pair, pair + 4]] = 1.0
        faded, turned = (
            encoding.scores(vector[None], vector[None], [length - 1], [0], scale=scale)[0, 0]
            for encoding in (xpos, rope)
        )
        assert float(faded / turned) == pytest.approx(expected, rel=6e-3)


@pytest.mark.parametrize("slug", [slug for slug in pc.encodings() if slug != "xpos"])
def test_nothing_is_said_of_an_encoding_whose_picture_shows_all(slug: str) -> None:
    assert fading(pc.create(slug), 64) == ""


@pytest.mark.parametrize(
    ("page", "params"),
    [("combine", {"encoding": "xpos"}), ("compare", {"encodings": "rope_xpos"})],
)
def test_xpos_does_not_pass_for_rope(page: str, params: dict[str, str]) -> None:
    app = arrived(page, params)
    seen = " ".join(element.value for element in app.markdown)
    frames = b" ".join(element.proto.bytes for element in app.get("bidi_component"))
    assert "multiplied by a power of its" in seen + frames.decode("utf-8", "ignore")
