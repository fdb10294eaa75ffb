"""The figures about attention, read as data."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import posembed_core as pc
from pages._ui import live
from pages._ui.attention.distance import DISTANCES, bound, claims, same_vector, turning
from pages._ui.attention.pictures import distance_picture
from pages._ui.figures.attention import (
    CHANGES,
    SCORES,
    WEIGHTS,
    Look,
    clipped,
    colours,
    grid_figure,
    place_of,
    trace_name,
)
from pages._ui.figures.attention_lines import Curve, distance_figure, shuffle_figure
from posembed_core.attention.distance import scores_at_distances
from posembed_core.tokens.words import split_words, word_vectors

WORDS = ("[CLS]", "the", "<b>", "an-extraordinary-word")
LOOK = Look(("None", "RoPE", "ALiBi"), (SCORES, WEIGHTS, CHANGES), WORDS)


def test_every_picture_has_words_on_both_axes_and_the_first_no_difference() -> None:
    figure, _ = grid_figure(LOOK)
    names = [trace.name for trace in figure.data]
    assert len(names) == 8
    assert trace_name(CHANGES, 0) not in names
    for trace in figure.data:
        for axis in (trace.xaxis, trace.yaxis):
            drawn = figure.layout[f"{axis[0]}axis{axis[1:]}"]
            assert drawn.ticktext == ("[CLS]", "the", "&lt;b&gt;", "an-extraord…")
            assert drawn.tickvals == (0, 1, 2, 3)
        # The first word is on top, as in a written matrix.
        assert figure.layout[f"yaxis{trace.yaxis[1:]}"].range == (3.5, -0.5)


@pytest.mark.parametrize("narrow", [False, True])
def test_pictures_do_not_overlap(narrow: bool) -> None:
    figure, phone = grid_figure(LOOK)
    layout = phone if narrow else figure.layout.to_plotly_json()
    boxes = [
        (*layout[f"xaxis{trace.xaxis[1:]}"]["domain"], *layout[f"yaxis{trace.yaxis[1:]}"]["domain"])
        for trace in figure.data
    ]
    for index, (left, right, low, high) in enumerate(boxes):
        assert 0 <= left < right <= 1
        assert 0 <= low < high <= 1
        for other in boxes[index + 1 :]:
            apart = other[0] >= right or other[1] <= left or other[2] >= high or other[3] <= low
            assert apart


def test_words_that_do_not_fit_are_numbers() -> None:
    figure, _ = grid_figure(Look(("None",), (SCORES,), tuple("word" for _ in range(64))))
    assert figure.layout.xaxis.ticktext is None
    assert figure.layout.xaxis.title.text == "key"
    assert "query" in figure.layout.yaxis.title.text


def test_colours_of_weights_begin_at_zero_and_scores_are_centred() -> None:
    ends = colours(LOOK, {"scores": 4.1, "weights": 0.31, "changes": 0.0})
    assert (ends["coloraxis.cmin"], ends["coloraxis.cmax"]) == (-5.0, 5.0)
    assert (ends["coloraxis2.cmin"], ends["coloraxis2.cmax"]) == (0.0, 0.5)
    assert (ends["coloraxis3.cmin"], ends["coloraxis3.cmax"]) == (-1.0, 1.0)


def test_a_trace_knows_its_place() -> None:
    assert place_of(trace_name(WEIGHTS, 2)) == ("weights", 2)
    assert place_of("line") is None
    assert clipped(("short", "much too long"), 6) == ("short", "much …")


def test_signs_stand_between_the_terms() -> None:
    look = Look(("a", "b", "c"), (SCORES,), WORDS, ("+", "="))
    figure, narrow = grid_figure(look)
    signs = [note for note in figure.layout.annotations if note.text in {"+", "="}]
    assert [sign.text for sign in signs] == ["+", "="]
    for sign, left, right in zip(signs, ("xaxis", "xaxis2"), ("xaxis2", "xaxis3"), strict=True):
        assert figure.layout[left].domain[1] < sign.x < figure.layout[right].domain[0]
    assert not [note for note in narrow["annotations"] if note["text"] in {"+", "="}]


def test_lines_of_the_shuffle_and_of_distance() -> None:
    curves = [Curve(0, "None", [0.0, 1e-16]), Curve(1, "RoPE", [1.0, 2.0])]
    figure, _ = shuffle_figure(curves, curves, ["b", "a"])
    assert [min(trace.y) > 0 for trace in figure.data] == [True] * 4  # each as a logarithm
    assert figure.layout.xaxis.ticktext == ("b", "a")
    errors = [Curve(0, "None", [0.0, 1.0], [0.1, 0.2])]
    figure, narrow = distance_figure([0, 5], curves, [curves[1]], errors)
    band = next(trace for trace in figure.data if trace.fill == "toself")
    assert list(band.y) == pytest.approx([0.2, 1.4, 0.6, -0.2])
    assert narrow["yaxis2"]["domain"][1] < narrow["yaxis"]["domain"][0]
    live.pack_figure(figure, narrow=narrow)


def test_curves_are_the_scores_at_each_distance() -> None:
    alibi = pc.create("alibi", num_heads=12)
    curve = same_vector(alibi, 3)
    assert curve.tolist() == pytest.approx([-float(alibi.slopes[3]) * back for back in DISTANCES])
    sinusoidal = pc.create("sinusoidal", embed_dim=8)
    table = sinusoidal.table([511, 411], torch.float64)
    score = float(same_vector(sinusoidal, 0)[DISTANCES.index(100)])
    assert score == pytest.approx(float(table[0] @ table[1]) / 8**0.5)


@pytest.mark.parametrize("slug", ["rope", "rope-yarn", "rope-proportional"])
@pytest.mark.parametrize("fraction", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("width", [32, 128])
def test_claims_hold_on_the_channels_that_turn(slug: str, fraction: float, width: int) -> None:
    encoding = pc.create(slug, head_dim=width, rotary_fraction=fraction)
    *cosines, su, _ = claims(encoding, 0)
    for claim in cosines:
        assert claim.claimed == claim.computed
    assert su.difference == "holds"
    assert ("dimensions that turn" in su.what) == (encoding.rotary_dim < width)


def test_the_bound_s_curve_starts_above_the_scores() -> None:
    partial = pc.create("rope", head_dim=32, rotary_fraction=0.25)
    figure, _ = distance_picture([partial], ["RoPE"], 0)
    (scores,) = (trace for trace in figure.data if trace.name == "RoPE" and trace.xaxis != "x2")
    (above,) = (trace for trace in figure.data if trace.name == "RoPE: bound")
    assert (np.array(above.y) - np.array(scores.y)).min() >= -1e-9
    turned = float(turning(partial)[0])
    assert above.y[0] == pytest.approx((float(bound(partial)[0]) - 1) * turned)


def test_every_distance_is_drawn() -> None:
    rope = pc.create("rope", head_dim=32)
    figure, _ = distance_picture([rope], ["RoPE"], 0)
    for trace in figure.data:
        if trace.fill != "toself":
            assert list(trace.x) == list(range(512))
    ones = torch.ones(32, dtype=torch.float64)
    exact = scores_at_distances(rope, ones, ones, [0, 314], softmax_scale=32**-0.5)
    (curve,) = (trace for trace in figure.data if trace.name == "RoPE" and trace.xaxis != "x2")
    assert curve.y[314] == pytest.approx(float(exact[1] - exact[0]))


def test_a_half_life_is_claimed_where_there_is_a_formula() -> None:
    kerple = pc.create("kerple", num_heads=12)
    for head in range(12):
        (claim,) = claims(kerple, head)
        assert f"{float(kerple.half_lives[head]):,.4f}" in claim.claimed
        assert claim.difference == "agrees"
    (t5, _) = claims(pc.create("t5", num_heads=12), 0)
    assert t5.claimed == "none"
    assert "first at" in t5.computed or "none within" in t5.computed


def test_claims_that_fail_would_show() -> None:
    # xPos fades as well as rotates, so its scores don't follow from the rotation alone.
    for slug, agrees in (("rope", True), ("xpos", False)):
        claim = claims(pc.create(slug, head_dim=32), 0)[2]
        assert (abs(float(claim.claimed) - float(claim.computed)) < 1e-6) == agrees
    (buckets,) = (known for known in claims(pc.create("t5"), 0) if "bucket" in known.what)
    assert buckets.computed.startswith("0 to 7 one each; 8–11, 12–15, 16–22, 23–31, ")
    assert buckets.difference == "16 buckets"


# words without a model


def test_equal_words_have_equal_vectors() -> None:
    sentence = split_words("The keys to the\tcabinet ")
    assert sentence.tokens == ("the", "keys", "to", "the", "cabinet")
    assert sentence.ids == (0, 1, 2, 0, 3)
    vectors = word_vectors(sentence, 8, seed=3)
    assert torch.equal(vectors[0], vectors[3])
    assert len(np.unique(vectors.numpy(), axis=0)) == 4
    assert word_vectors(split_words(""), 8).shape == (0, 8)
