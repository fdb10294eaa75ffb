"""A picture against the whole computation: `combine` gives the same cells and norms."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import posembed_core as pc
from posembed_core.operations import OPERATIONS, Combined
from posembed_core.pictures import preview as preview_module
from posembed_core.pictures.preview import Frame, Preview
from posembed_core.pictures.resolution import (
    MAX_COLUMNS,
    MAX_ROWS,
    Span,
    as_tensor,
    choose,
    choose_rows,
    span,
)

ROOT = Path(__file__).parents[3]
SLUGS = list(pc.encodings())
INSIDE = (pc.BiasEncoding, pc.RelativeEncoding)
CHOSEN = (600, 300)
# Windows with a cell for each index, and with cells that the matrix's end cuts or doesn't.
WINDOWS: dict[tuple[int, int], list[tuple[Any, ...]]] = {
    (128, 64): [(None,) * 4, (10.2, 40.8, 5.0, 20.0), (3.0, 121.4, 50.0, 11.0)],
    CHOSEN: [(None,) * 4, (20.0, 541.0, 290.0, 11.0)],
}


def sized(slug: str, shape: tuple[int, int]) -> pc.Encoding:
    """An encoding with this many positions and dimensions; few heads, so that all fit in memory."""
    cls = pc.encodings()[slug]
    by_role = {"length": shape[0], "dimension": shape[1]}
    fields: dict[str, Any] = {
        name: by_role[item.role] for name, item in cls.parameters().items() if item.role in by_role
    }
    if issubclass(cls, pc.BiasEncoding):
        fields["num_heads"] = 2
    return pc.create(slug, **fields)


def preview_of(encoding: pc.Encoding, tokens: torch.Tensor, **more: Any) -> Preview:
    """A preview whose matrices are computed on demand."""
    vectors = None
    if isinstance(encoding, pc.AdditiveEncoding):
        vectors = lambda shown: encoding.table(as_tensor(shown))  # noqa: E731
    elif isinstance(encoding, pc.RelativeEncoding):
        vectors = lambda shown: encoding.vectors(0, as_tensor(shown))  # noqa: E731
    return Preview(
        shape=tuple(tokens.shape), tokens=lambda: tokens, encoding=encoding, vectors=vectors, **more
    )


def expected_cells(preview: Preview, c: Combined, d: int) -> dict[str, torch.Tensor]:
    """The three pictures, each cell the value that `combine` gives at its indices."""
    rows, columns = preview.rows, preview.columns
    combined = choose(c.combined[:, :d], rows, columns)
    if preview.operation == "concat":
        combined = torch.cat((combined, choose(c.combined[:, d:], rows, columns)), dim=1)
    if preview.shows_bias:
        position = choose(c.position[preview.head].T, rows, preview.queries)
    else:
        position = choose(c.position, rows, columns)
    return {"token": choose(c.token, rows, columns), "position": position, "combined": combined}


def check(preview: Preview, tokens: torch.Tensor, scale: float) -> Frame:
    """Compare one frame with `combine`, all three pictures and all three norms."""
    c = pc.combine(
        tokens,
        preview.encoding,
        scale=scale,
        operation=preview.operation,
        layer_norm=preview.layer_norm or False,
    )
    frame = preview.frame(scale)
    for picture, cells in expected_cells(preview, c, tokens.shape[1]).items():
        shown = frame.cells(picture)
        assert shown.dtype == torch.float32
        torch.testing.assert_close(shown, cells, rtol=1e-5, atol=1e-5)
    norms = c.norms()
    for term in ("token", "position", "combined"):
        shown, whole = getattr(frame.norms, term), getattr(norms, term)
        assert shown.dtype == torch.float64
        assert shown.shape == (preview.rows.cells,)
        torch.testing.assert_close(shown, choose_rows(whole, preview.rows), rtol=1e-6, atol=2e-6)
    return frame


def operations(slug: str) -> tuple[Any, ...]:
    """The operations that can join an encoding to the tokens."""
    additive = issubclass(pc.encodings()[slug], pc.AdditiveEncoding)
    return OPERATIONS if additive else ("add",)


CASES = [(slug, operation) for slug in SLUGS for operation in operations(slug)]


@pytest.mark.parametrize("layer_norm", [None, pc.LayerNorm()], ids=["plain", "LayerNorm"])
@pytest.mark.parametrize("shape", list(WINDOWS), ids=["small", "chosen"])
@pytest.mark.parametrize(("slug", "operation"), CASES)
def test_every_cell_is_a_value_that_combine_gives(
    slug: str, operation: Any, shape: tuple[int, int], layer_norm: pc.LayerNorm | None
) -> None:
    tokens, encoding = pc.random_tokens(*shape), sized(slug, shape)
    for window, scale in zip(WINDOWS[shape], (0.7, 5.0, 0.0), strict=False):
        preview = preview_of(
            encoding, tokens, operation=operation, layer_norm=layer_norm, window=window
        )
        check(preview, tokens, scale)


@pytest.mark.parametrize("layer_norm", [None, pc.LayerNorm()], ids=["plain", "LayerNorm"])
@pytest.mark.parametrize(
    ("encoding", "operation"),
    [
        (pc.create("sinusoidal", embed_dim=4), "add"),
        (pc.create("sinusoidal", embed_dim=4), "multiply"),
        (pc.create("sinusoidal", embed_dim=4), "concat"),
        # Its frequencies depend on the whole length, so no piece may use its own length instead.
        (pc.create("rope-dynamic", head_dim=4, original_max_position_embeddings=16), "add"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.slug,
)
def test_pieces_leave_no_seam(
    encoding: pc.Encoding,
    operation: Any,
    layer_norm: pc.LayerNorm | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of about 1100 rows 367 are shown, in pieces of 100.
    monkeypatch.setattr(preview_module, "_PIECE", 400)
    tokens = pc.random_tokens(1100, 4)
    preview = preview_of(encoding, tokens, operation=operation, layer_norm=layer_norm)
    assert preview.rows.cells == 367
    check(preview, tokens, 0.7)


@pytest.mark.parametrize(
    "slug", [s for s in SLUGS if issubclass(pc.encodings()[s], pc.BiasEncoding)]
)
def test_another_head_shows_another_bias(slug: str) -> None:
    tokens, encoding = pc.random_tokens(40, 8), sized(slug, (40, 8))
    first, second = (check(preview_of(encoding, tokens, head=h), tokens, 1.0) for h in (0, 1))
    assert not torch.equal(first.cells("position"), second.cells("position"))


@pytest.mark.parametrize(
    "slug", [s for s in SLUGS if issubclass(pc.encodings()[s], pc.BiasEncoding)]
)
def test_a_head_that_does_not_exist_is_refused_with_both_numbers(slug: str) -> None:
    with pytest.raises(pc.EncodingError, match=r"head 3 .* 2 heads") as caught:
        preview_of(sized(slug, (40, 8)), pc.random_tokens(40, 8), head=2)
    assert caught.value.nearest == 2


@pytest.mark.parametrize("shape", [(1, 2), (1, 4096), (7, 3), (513, 257), (1024, 512)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_shapes_at_the_edges(shape: tuple[int, int], operation: Any) -> None:
    tokens, encoding = pc.random_tokens(*shape), sized("sinusoidal", shape)
    frame = check(preview_of(encoding, tokens, operation=operation), tokens, 1.3)
    assert frame.cells("token").shape[0] <= MAX_ROWS
    assert frame.cells("combined").shape[1] <= MAX_COLUMNS


@pytest.mark.parametrize("slug", SLUGS)
def test_a_position_alone_is_combines_row(slug: str) -> None:
    shape = (50, 8)
    tokens, encoding = pc.random_tokens(*shape), sized(slug, shape)
    for operation in operations(slug):
        preview = preview_of(encoding, tokens, operation=operation, layer_norm=pc.LayerNorm())
        c = pc.combine(tokens, encoding, scale=0.7, operation=operation, layer_norm=True)
        for row in (0, 17, 49):
            exact = preview.exact(row, 0.7)
            torch.testing.assert_close(exact.token[0], c.token[row], rtol=0, atol=0)
            torch.testing.assert_close(exact.moved[0], c.moved[row])
            torch.testing.assert_close(exact.combined[0], c.combined[row])
            assert float(exact.norms().combined) == pytest.approx(float(c.norms().combined[row]))
            # A bias is not a vector: it moves this one by zero and has no row of its own.
            if preview.shows_bias:
                assert exact.position.numel() == 0
                assert not exact.moved.any()
            else:
                torch.testing.assert_close(exact.position[0], c.position[row])


# --- what moving the scale costs ---


@pytest.mark.parametrize(
    ("slug", "operation"),
    [case for case in CASES if not issubclass(pc.encodings()[case[0]], pc.RotaryEncoding)],
)
def test_another_scale_needs_no_other_arrays(slug: str, operation: Any) -> None:
    tokens, encoding = pc.random_tokens(*CHOSEN), sized(slug, CHOSEN)
    asked: list[str] = []
    preview = preview_of(encoding, tokens, operation=operation)
    watched = dataclasses.replace(
        preview, tokens=lambda: (asked.append("tokens"), tokens)[1], vectors=preview.vectors
    )
    first = watched.frame(1.0)
    asked.clear()
    second = watched.frame(2.0)
    assert second.arrays.keys() == first.arrays.keys()
    kept = [name for name in first.arrays if second.arrays[name] is first.arrays[name]]
    if operation == "concat":
        assert set(kept) == {"token", "position"}
    else:
        assert kept == list(first.arrays)
        assert asked == []


@pytest.mark.parametrize("window", [(None,) * 4, (0.0, 511.0, None, None)])
def test_a_preview_holds_no_whole_matrix(window: Any) -> None:
    shape = (2000, 256)
    tokens, encoding = pc.random_tokens(*shape), sized("sinusoidal", shape)
    frame = preview_of(encoding, tokens, window=window).frame(1.0)
    cells = MAX_ROWS * MAX_COLUMNS
    assert all(a.untyped_storage().nbytes() <= 4 * cells for a in frame.arrays.values())
    assert all(a.is_contiguous() for a in frame.arrays.values())


# --- reading a preview at one scale ---


@pytest.mark.parametrize("slug", SLUGS)
def test_a_reading_is_the_preview_at_its_scale(slug: str) -> None:
    tokens, encoding = pc.random_tokens(20, 8), sized(slug, (20, 8))
    preview = preview_of(encoding, tokens)
    reading, frame = preview.at(0.7), preview.frame(0.7)
    for picture in ("token", "position", "combined"):
        assert torch.equal(reading.frame.cells(picture), frame.cells(picture))
    norms = pc.combine(tokens, encoding, scale=0.7).norms()
    greatest = max(float(n.max()) for n in (norms.token, norms.position, norms.combined))
    assert reading.highest == pytest.approx(greatest, rel=1e-6)
    assert torch.equal(reading.row(3).combined, preview.exact(3, 0.7).combined)
    assert torch.equal(
        reading.rows(slice(2, 5)).combined, preview.exact_rows(slice(2, 5), 0.7).combined
    )


def test_a_reading_computes_nothing_before_it_is_read() -> None:
    asked: list[str] = []
    encoding = sized("rope", (20, 8))
    preview = Preview(
        (20, 8), lambda: (asked.append("tokens"), pc.random_tokens(20, 8))[1], encoding
    )
    reading = preview.at(0.5)
    assert asked == []
    assert reading.frame is reading.frame
    before = len(asked)
    assert reading.highest == reading.highest > 0
    assert reading.limits.own_peak == 1.0
    assert len(asked) == before


@pytest.mark.parametrize(
    "slug", [s for s in SLUGS if issubclass(pc.encodings()[s], pc.BiasEncoding)]
)
def test_a_readings_bias_is_that_of_the_head_shown(slug: str) -> None:
    encoding = sized(slug, (20, 8))
    preview = preview_of(encoding, pc.random_tokens(20, 8), head=1)
    whole = encoding.bias(range(20), range(20))[1]  # type: ignore[attr-defined]
    torch.testing.assert_close(preview.at(0.5).bias(slice(3, 6)), 0.5 * whole[3:6])
    assert preview.bias(7, 2) == pytest.approx(float(whole[7, 2]), rel=1e-6)


def test_what_has_no_bias_shows_none() -> None:
    preview = preview_of(sized("rope", (20, 8)), pc.random_tokens(20, 8))
    with pytest.raises(pc.EncodingError, match="RoPE has no bias"):
        preview.at(1.0).bias(slice(0, 1))


# --- closed forms ---


def table_preview(tokens: torch.Tensor, weight: torch.Tensor, **more: Any) -> Preview:
    from posembed_core.tables.position_table import PositionTable

    table = PositionTable(weight=weight, name="p", source="test")
    return preview_of(table, tokens, **more)


@pytest.mark.parametrize("scale", [0.25, 1.0, 3.0])
def test_norms_where_both_cancel_are_zero(scale: float) -> None:
    weight = pc.random_tokens(30, 16, std=1.0)
    frame = table_preview(-scale * weight, weight).frame(scale)
    norm = (scale * weight).norm(dim=1).double()
    assert not frame.norms.combined.isnan().any()
    # Every square is off by one rounding of float64, whose root is 1e-8.
    assert float((frame.norms.combined / norm).max()) < 1e-7
    torch.testing.assert_close(frame.norms.token, frame.norms.position, rtol=1e-6, atol=0)
    assert float(frame.cells("combined").abs().max()) < 1e-6


def test_norms_that_nearly_cancel_keep_their_digits() -> None:
    weight, rest = pc.random_tokens(30, 64, std=1.0), pc.random_tokens(30, 64, seed=5, std=1e-3)
    tokens = rest - weight
    exact = (tokens.double() + weight.double()).norm(dim=1)
    shown = table_preview(tokens, weight).frame(1.0).norms.combined
    torch.testing.assert_close(shown, exact, rtol=1e-7, atol=0)


def test_norms_of_orthogonal_vectors_add_in_squares() -> None:
    tokens, weight = torch.zeros(5, 8), torch.zeros(5, 8)
    tokens[:, :4], weight[:, 4:] = 3.0, 2.0
    norms = table_preview(tokens, weight).frame(2.0).norms
    assert norms.token.tolist() == pytest.approx([6.0] * 5)
    assert norms.position.tolist() == pytest.approx([8.0] * 5)
    assert norms.combined.tolist() == pytest.approx([10.0] * 5)


@pytest.mark.parametrize("size", [1e-25, 1e-15, 1e15])
def test_tiny_and_huge_vectors_have_norms(size: float) -> None:
    weight = torch.full((4, 8), size)
    for layer_norm in (None, pc.LayerNorm()):
        norms = table_preview(weight, weight, layer_norm=layer_norm).frame(1.0).norms
        assert norms.token.tolist() == pytest.approx([size * math.sqrt(8)] * 4, rel=1e-6, abs=0)


def test_cells_of_a_constant_are_that_constant() -> None:
    tokens, weight = torch.full(CHOSEN, 0.25), torch.full(CHOSEN, 0.5)
    frame = table_preview(tokens, weight).frame(3.0)
    assert set(frame.cells("combined").unique().tolist()) == {1.75}


# --- where the colours end ---


def test_the_peak_is_the_greatest_of_the_three_pictures() -> None:
    tokens, weight = torch.full((4, 8), 0.5), torch.full((4, 8), -2.0)
    assert table_preview(tokens, weight).frame(1.0).peak == 2.0
    assert table_preview(tokens, weight).frame(0.0).peak == 0.5
    assert table_preview(tokens, -weight).frame(1.0).peak == 2.5


def test_a_few_outliers_do_not_fade_the_others() -> None:
    tokens = pc.random_tokens(200, 50, std=1.0)
    zero = torch.zeros(200, 50)
    calm = table_preview(tokens, zero).frame(0.0).peak
    assert calm == pytest.approx(2.2, rel=0.03)
    tokens[3, 4] = 50.0
    spiky = table_preview(tokens, zero).frame(0.0).peak
    assert spiky == pytest.approx(2.2 * math.sqrt(1 + 50**2 / 10_000), rel=0.03)


def test_a_bias_or_a_cosine_does_not_set_the_range() -> None:
    tokens = torch.full((64, 8), 1e-3)
    for slug in ("alibi", "rope"):
        assert preview_of(sized(slug, (64, 8)), tokens).frame(1.0).peak < 2e-3


# --- limits that stand still while the scale moves ---

SCALES = (0.0, 0.3, 1.0, 2.0, 5.0)


@pytest.mark.parametrize("operation", ["add", "multiply", "concat"])
@pytest.mark.parametrize("layer_norm", [None, pc.LayerNorm()])
@pytest.mark.parametrize("slug", SLUGS)
def test_limits_are_the_same_at_every_scale(
    slug: str, operation: Any, layer_norm: pc.LayerNorm | None
) -> None:
    tokens, encoding = pc.random_tokens(20, 8), sized(slug, (20, 8))
    if operation != "add" and not isinstance(encoding, pc.AdditiveEncoding):
        return

    def make() -> Preview:
        return preview_of(encoding, tokens, operation=operation, layer_norm=layer_norm)

    first, *others = [make().at(scale).limits for scale in SCALES]
    for other in others:
        assert dataclasses.astuple(other) == pytest.approx(dataclasses.astuple(first), rel=1e-5)
    for scale in (0.0, 0.3, 1.0, 1.7, 2.0):
        assert make().at(scale).highest <= first.highest * (1 + 1e-5)


def test_limits_are_those_of_e_and_of_p_at_scale_1() -> None:
    tokens, weight = torch.full((4, 8), 0.5), torch.full((4, 8), -2.0)
    limits = table_preview(tokens, weight).at(5.0).limits
    assert (limits.peak, limits.own_peak) == (2.0, 1.0)
    # At scale 2: ‖s·p‖ = 4 √8, ‖h‖ = 3.5 √8.
    assert limits.highest == pytest.approx(4 * math.sqrt(8))
    fitted = table_preview(tokens, weight).at(1.0, fitted_at=5.0).limits
    assert (fitted.peak, fitted.highest) == (10.0, limits.highest)


def test_what_lies_beyond_is_counted() -> None:
    tokens, weight = torch.full((4, 8), 0.5), torch.full((4, 8), -2.0)
    tokens[1, 1] = 3.0
    reading = table_preview(tokens, weight).at(1.0)
    beyond = reading.beyond(("token", "position", "combined"), 1.5)
    # One token above; all of s·p = −2 below; of h = −1.5 none, but 3 − 2.
    assert (beyond.cells, beyond.below, beyond.above, beyond.count) == (96, 32, 1, 33)
    assert (beyond.farthest, beyond.picture) == (3.0, "token")
    assert reading.beyond(("token", "position"), 3.0).count == 0


# --- bounds ---


def test_what_does_not_fit_is_refused_when_the_preview_is_made() -> None:
    with pytest.raises(pc.EncodingError, match="10 dimensions"):
        preview_of(sized("sinusoidal", (5, 8)), pc.random_tokens(5, 10))
    with pytest.raises(pc.EncodingError, match="multiply"):
        preview_of(sized("rope", (5, 8)), pc.random_tokens(5, 8), operation="multiply")


@pytest.mark.parametrize(("slug", "operation", "layer_norm"), [
    ("sinusoidal", "add", False), ("learned", "concat", True), ("rope", "add", True),
    ("alibi", "add", False),
])  # fmt: skip
def test_the_largest_picture_stays_within_two_gigabytes(
    slug: str, operation: str, layer_norm: bool
) -> None:
    code = f"""
from pathlib import Path
import torch
import posembed_core as pc
from posembed_core.pictures.preview import Preview
torch.set_num_threads(1)
n, d = 8192, 4096
cls = pc.encodings()[{slug!r}]
sizes = {{"length": n, "dimension": d}}
encoding = pc.create({slug!r}, **{{
    name: sizes[item.role] for name, item in cls.parameters().items() if item.role in sizes
}})
tokens = pc.random_tokens(n, d)
table = encoding.table(torch.arange(n)) if hasattr(encoding, "table") else None
preview = Preview(
    shape=(n, d), tokens=lambda: tokens, encoding=encoding,
    vectors=None if table is None else lambda shown: table[list(shown.indices)],
    operation={operation!r},
    layer_norm=pc.LayerNorm() if {layer_norm} else None,
)
for scale in (1.0, 0.5):
    frame = preview.frame(scale)
assert frame.cells("token").shape == (512, frame.cells("token").shape[1])
assert all(bool(a.isfinite().all()) for a in frame.arrays.values())
# Not ru_maxrss, which begins with what the process had that started this one.
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True
    )
    kilobytes = int(run.stdout)
    assert 2 * 8192 * 4096 * 4 / 1024 / 2 < kilobytes < 2 * 2**20


def test_the_spans_of_a_zoom_are_those_of_its_window() -> None:
    shape = (8192, 512)
    preview = Preview(
        shape=shape, tokens=lambda: torch.zeros(shape), encoding=sized("none", shape),
        window=(100.0, 355.0, 400.2, 10.0),
    )  # fmt: skip
    assert preview.rows == Span(100, 356)
    assert preview.columns == span(512, MAX_COLUMNS, 400.2, 10.0, of_dimensions=True)
    assert preview.queries == Span(0, 8192, 32)
    assert preview.columns.centres()[0] == 10.5
