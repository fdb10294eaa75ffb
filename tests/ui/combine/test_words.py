"""What the landing page says: its equation, its numbers, and a cell's arithmetic, re-evaluated."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

import posembed_core as pc
from pages._ui.combine.arithmetic import arithmetic, cell_at, has_cell
from pages._ui.combine.words import alt, asides, equation, look, numbers, seen
from pages._ui.server.pictures import picture
from pages._ui.server.setting import RandomTokens, Setting
from posembed_core.pictures.preview import Preview

SHAPE = (12, 8)
SLUGS = list(pc.encodings())
FAMILY = {
    family: [slug for slug, cls in pc.encodings().items() if issubclass(cls, family)]
    for family in (
        pc.AdditiveEncoding, pc.RotaryEncoding, pc.BiasEncoding, pc.RelativeEncoding,
    )
}  # fmt: skip


def preview(slug: str, shape: tuple[int, int] = SHAPE, **more: Any) -> Preview:
    cls = pc.encodings()[slug]
    by_role = {"length": shape[0], "dimension": shape[1]}
    sizes = {n: by_role[p.role] for n, p in cls.parameters().items() if p.role in by_role}
    fields = {n: more.pop(n) for n in list(more) if n in cls.parameters()}
    encoding = pc.create(slug, **sizes, **fields)
    vectors = None
    if isinstance(encoding, pc.AdditiveEncoding):
        vectors = lambda shown: encoding.table(shown.indices)  # noqa: E731
    elif isinstance(encoding, pc.RelativeEncoding):
        vectors = lambda shown: encoding.vectors(0, shown.indices)  # noqa: E731
    tokens = pc.random_tokens(*shape)
    return Preview(shape=shape, tokens=lambda: tokens, encoding=encoding, vectors=vectors, **more)


def plain(markdown: str) -> str:
    """The text without colours and emphasis, its minus signs as Python reads them."""
    text = re.sub(r":\w+\[((?:[^\[\]]|\[[^\]]*\])*)\]", r"\1", markdown)
    return text.replace("**", "").replace("−", "-")


# --- the equation ---


def written(slug: str, operation: Any, *flags: bool) -> str:
    """The heading without its colours, and without the small words after it."""
    heading = equation(pc.encodings()[slug], operation, *flags)
    assert heading.startswith(":green[")
    return re.sub(r":\w+\[((?:\$[^$]*\$)+)\]", r"\1", heading).split(" :small[")[0]


@pytest.mark.parametrize(
    ("slug", "operation", "layer_norm", "sqrt_dim", "expected"),
    [
        ("sinusoidal", "add", False, False, r"$h$ $=$ $e$ $+$ $s\cdot p$"),
        ("sinusoidal", "multiply", False, False, r"$h$ $=$ $e$ $\circ$ $s\cdot p$"),
        ("learned", "concat", False, False, r"$h$ $=$ [$e$ $;$ $s\cdot p$]"),
        ("sinusoidal", "add", True, False, r"$h$ $=$ LN($e$ $+$ $s\cdot p$)"),
        ("sinusoidal", "add", False, True, r"$h$ $=$ $e$ $+$ $s\cdot p$, $e$ $=$ $\sqrt{d}\,x$"),
        ("rope", "add", False, False, r"$h$ $=$ $R(s\cdot i)$ $e$"),
        ("rope-yarn", "add", False, False, r"$h$ $=$ $m\,$$R(s\cdot i)$ $e$"),
        ("alibi", "add", False, False, "$h$ $=$ $e$"),
        ("shaw", "add", True, False, "$h$ $=$ LN($e$)"),
    ],
)
def test_the_equation(
    slug: str, operation: Any, layer_norm: bool, sqrt_dim: bool, expected: str
) -> None:
    assert written(slug, operation, layer_norm, sqrt_dim) == expected


@pytest.mark.parametrize("slug", SLUGS)
def test_the_equation_says_where_position_enters_besides(slug: str) -> None:
    heading = equation(pc.encodings()[slug], "add", False)
    words = [
        ("position enters the scores", slug in FAMILY[pc.BiasEncoding] or slug == "xpos"),
        ("position enters queries and keys", slug in FAMILY[pc.RelativeEncoding]),
    ]
    for phrase, expected in words:
        assert (f":small[{phrase}" in heading) == expected


# What a part of the heading is in Python, in this order.
READ = (
    (r"\sqrt{d}\,x", "root_d * x"), (r"m\,", "m *"), (r"R(s\cdot i)", "R @"),
    (r"\circ", "*"), (r"\cdot", "*"), ("[", "cat(("), ("]", "))"), (";", ","), ("$", ""),
)  # fmt: skip


class Turning:
    """R(s·i) as an operator on vectors."""

    def __init__(self, encoding: pc.RotaryEncoding, length: int, scale: float) -> None:
        angles = scale * torch.arange(length)[:, None] * encoding.inv_freq(length)
        channels = torch.arange(encoding.rotary_dim)
        half = encoding.rotary_dim // 2
        self.pairs = (
            (channels[:half], channels[half:])
            if encoding.pairing == "half"
            else (channels[::2], channels[1::2])
        )
        self.cos, self.sin = angles.cos(), angles.sin()

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        (a, b), out = self.pairs, x.clone()
        out[:, a] = x[:, a] * self.cos - x[:, b] * self.sin
        out[:, b] = x[:, a] * self.sin + x[:, b] * self.cos
        return out

    def __rmul__(self, factor: float) -> Longer:
        return Longer(factor, self)


class Longer:
    """m·R(s·i); the channels that don't turn keep their length."""

    def __init__(self, factor: float, turning: Turning) -> None:
        self.factor, self.turning = factor, turning

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        out = self.turning @ x
        for channels in self.turning.pairs:
            out[:, channels] *= self.factor
        return out


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("operation", ["add", "multiply", "concat"])
@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("sqrt_dim", [False, True])
def test_the_heading_evaluated_gives_the_pictures_numbers(
    slug: str, operation: Any, layer_norm: bool, sqrt_dim: bool
) -> None:
    if operation != "add" and slug not in FAMILY[pc.AdditiveEncoding]:
        with pytest.raises(pc.EncodingError):
            preview(slug, operation=operation)
        return
    n, d, scale = *SHAPE, 0.7
    cls = pc.encodings()[slug]
    own = {"length": n, "dimension": d}
    fields = {k: own[p.role] for k, p in cls.parameters().items() if p.role in own}
    setting = Setting(
        RandomTokens(), n, d, pc.create(slug, **fields), operation, layer_norm, sqrt_dim
    )
    frame = picture(setting).preview.frame(scale)
    tokens = pc.random_tokens(n, d).double()
    encoding = setting.encoding
    names: dict[str, Any] = {
        "x": tokens, "e": tokens, "s": scale, "root_d": d**0.5,
        "cat": lambda parts: torch.cat(parts, dim=1),
        "LN": lambda h: functional.layer_norm(h, h.shape[1:]),
    }  # fmt: skip
    if isinstance(encoding, pc.AdditiveEncoding):
        names["p"] = encoding.table(range(n)).double()
    if isinstance(encoding, pc.RotaryEncoding):
        names["R"] = Turning(encoding, n, scale)
        names["m"] = encoding.attention_factor(n)
    formula = written(slug, operation, layer_norm, sqrt_dim)
    for part, python in READ:
        formula = formula.replace(part, python)
    h, _, e = formula.removeprefix("h = ").partition(", e = ")
    if e:
        names["e"] = eval(e, names)  # noqa: S307
    expected = eval(h, names)  # noqa: S307
    torch.testing.assert_close(frame.cells("token").double(), names["e"], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(frame.cells("combined").double(), expected, atol=2e-5, rtol=2e-5)


def test_the_equation_has_the_colours_of_the_lines() -> None:
    written = equation(pc.encodings()["sinusoidal"], "add", False)
    assert written == r":green[$h$] $=$ :blue[$e$] $+$ :orange[$s\cdot p$]"


# --- what a cell is ---


def test_a_cell_of_one_value_says_so() -> None:
    assert seen(preview("sinusoidal")) == "Each cell is one value."


def test_a_cell_of_many_values_says_how_many() -> None:
    assert "Each cell is one of 16 × 4 values (positions × dimensions)" in seen(
        Preview(
            shape=(8192, 1024), tokens=lambda: torch.zeros(1),
            encoding=pc.create("sinusoidal", embed_dim=1024),
        )
    )  # fmt: skip


@pytest.mark.parametrize("slug", SLUGS)
def test_every_family_says_where_position_acts(slug: str) -> None:
    text = " ".join(asides(preview(slug).at(1.0)))
    title = pc.encodings()[slug].title
    if slug in FAMILY[pc.AdditiveEncoding]:
        assert text == ""
    else:
        assert title in text
    if slug in FAMILY[pc.BiasEncoding]:
        assert "h = e" in text
        assert "bias" in text
    if slug in FAMILY[pc.RelativeEncoding]:
        assert "h = e" in text
    if slug in FAMILY[pc.RotaryEncoding]:
        assert "nothing is added" in text


def test_what_a_concatenation_costs() -> None:
    text = " ".join(asides(preview("sinusoidal", operation="concat").at(0.5)))
    assert "to 8 dimensions it has 128 parameters, after a sum 64" in text
    residual = float(re.findall(r"largest difference (\S+)\)", text)[0].replace("−", "-"))
    assert residual < 1e-13


def test_a_models_own_layer_norm_is_named() -> None:
    own = pc.LayerNorm(torch.ones(8), torch.zeros(8))
    assert "own weight" in " ".join(asides(preview("sinusoidal", layer_norm=own).at(1.0)))
    assert "own weight" not in " ".join(
        asides(preview("sinusoidal", layer_norm=pc.LayerNorm()).at(1.0))
    )


@pytest.mark.parametrize("slug", SLUGS)
def test_the_picture_in_one_sentence(slug: str) -> None:
    reading = preview(slug).at(0.5)
    frame, text = reading.frame, alt(reading)
    assert "12 token vectors of 8 dimensions" in text
    assert pc.encodings()[slug].title in text
    assert "at scale 0.5" in text
    ends = [float(x) for x in re.findall(r"(?:token|position|combined) (\S+) to", text)]
    lowest = [
        float(norm.min())
        for norm in (frame.norms.token, frame.norms.position, frame.norms.combined)
    ]
    assert ends == pytest.approx(lowest, rel=5e-3)
    assert "nan" not in text


# --- the table of numbers ---


def test_numbers_as_the_handbook_prints_them() -> None:
    shown = preview("learned", (10, 64))
    rows = numbers([(i, "", shown.exact(i, 1.0)) for i in (0, 5, 9)]).rows
    # 64 dimensions, but a table of 10 rows is the first rows of one of 128.
    assert [row[:4] for row in rows] == [
        ["0", "4.709", "0.910", "4.554"],
        ["5", "3.886", "0.881", "3.958"],
        ["9", "4.019", "1.000", "4.333"],
    ]
    assert rows[0][5] == "[0.062\u00a0−0.017\u00a00.081\u00a00.190\u00a0−0.029\u00a0 …]"


def test_short_vectors_are_whole() -> None:
    shown = preview("sinusoidal", (3, 4))
    (row,) = numbers([(0, "", shown.exact(0, 1.0))]).rows
    assert row[5] == "[0.000\u00a01.000\u00a00.000\u00a01.000]"


def test_a_layer_norm_has_a_column_of_its_own() -> None:
    shown, norm = preview("sinusoidal"), pc.LayerNorm()
    table = numbers([(1, "", shown.exact(1, 1.0))], norm)
    (row,) = table.rows
    assert len(row) == len(table.heads) == 8
    assert table.heads[-1] == "LayerNorm(h)"
    first = float(row[-1].strip("[").split("\u00a0")[0].replace("−", "-"))
    expected = norm(shown.exact(1, 1.0).combined)[0, 0]
    assert first == pytest.approx(float(expected), abs=6e-4)


MARKUP = [
    "|", "||", "*", "**", "_", "[", "]", "[a](http://x)", "![a](http://x)", "$", "$x$", "`", "``",
    "`a`", "\\", "\\|", "<b>", "<script>", "&lt;", ":red[x]", ":material/home:", "~~", "#", "a b",
    "Ġthe", "▁the", "</s>", "<|endoftext|>", "\n", "a\nb", "\r", "\u2028",
]  # fmt: skip


def is_safe(cell: str) -> bool:
    """Whether it is a position and one code span, in which markup has no meaning."""
    return re.fullmatch(r"7 `[^`\n\r]+`", cell) is not None


@pytest.mark.parametrize("word", MARKUP)
def test_tokens_break_neither_table_nor_page(word: str) -> None:
    exact = preview("sinusoidal").exact(7, 1.0)
    (row,) = numbers([(7, word, exact)]).rows
    assert is_safe(row[0])


@given(word=st.text(min_size=1, max_size=12))
@settings(max_examples=200)
def test_any_token_is_one_cell(word: str) -> None:
    exact = preview("sinusoidal").exact(7, 1.0)
    (row,) = numbers([(7, word, exact)]).rows
    assert len(row) == 7
    assert is_safe(row[0])


def test_a_token_still_reads_as_itself() -> None:
    exact = preview("sinusoidal").exact(7, 1.0)
    for word in ("##able", "<b>", "<|endoftext|>"):
        assert numbers([(7, word, exact)]).rows[0][0] == f"7 `{word}`"


# --- a cell's arithmetic: every number in the sentence, computed again ---

NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?"


def claims(sentence: str) -> tuple[dict[str, float], list[float]]:
    """The named terms of a sentence (``e[1, 2] = 0.5``) and the results in bold."""
    named = {
        f"{name}{indices}": float(value)
        for name, indices, value in re.findall(
            rf"(\w)(\[\d+, \d+\]) = ({NUMBER})(?= and|,|:)", plain(sentence)
        )
    }
    return named, [float(x) for x in re.findall(rf"\*\*({NUMBER})\*\*", sentence.replace("−", "-"))]


scales = st.integers(0, 500).map(lambda i: i / 100)
rows_columns = {"row": st.integers(0, SHAPE[0] - 1), "column": st.integers(0, SHAPE[1] - 1)}


def close(value: float, expected: float, size: float = 1.0) -> None:
    # float32: a few roundings of numbers of about this size.
    assert value == pytest.approx(expected, rel=3e-7, abs=3e-7 * max(1.0, size))


@pytest.mark.parametrize("operation", ["add", "multiply"])
@given(scale=scales, **rows_columns)
@settings(max_examples=30)
def test_a_sum_adds_up(operation: Any, row: int, column: int, scale: float) -> None:
    shown = preview("sinusoidal", operation=operation)
    frame = shown.frame(scale)
    sentence = arithmetic(shown.at(scale), (row, column))
    sign = r"\+" if operation == "add" else "·"
    match = re.search(
        rf"= ({NUMBER}) {sign} ({NUMBER}) · \(?({NUMBER})\)? = ({NUMBER})$", plain(sentence)
    )
    assert match
    e, s, p, h = map(float, match.groups())
    assert s == scale
    close(h, e + s * p if operation == "add" else e * (s * p), scale)
    # The terms are the picture's, to the last digit of float32.
    assert torch.tensor(e) == frame.cells("token")[row, column]
    assert torch.tensor(p) == shown.encoding.table([row])[0, column]  # type: ignore[attr-defined]
    close(h, float(frame.cells("combined")[row, column]), scale)


@given(scale=scales, **rows_columns)
@settings(max_examples=20)
def test_a_concatenation_names_both_places(row: int, column: int, scale: float) -> None:
    shown = preview("sinusoidal", operation="concat")
    sentence = arithmetic(shown.at(scale), (row, column))
    assert f"h[{row}, {column}] = e[{row}, {column}]" in plain(sentence)
    assert f"h[{row}, {8 + column}] = s · p[{row}, {column}]" in plain(sentence)
    _, (first, second) = claims(sentence)
    h = shown.exact(row, scale).combined[0]
    assert torch.tensor(first) == h[column]
    assert torch.tensor(second) == h[8 + column]


def rotated(sentence: str) -> float:
    """A rotation's sentence evaluated with Python's floats."""
    text = plain(sentence)
    match = re.search(
        rf"= (?:({NUMBER}) · \()?e\[(\d+), (\d+)\] cos θ ([-+]) e\[(\d+), (\d+)\] sin θ", text
    )
    assert match
    factor, i, a, sign, j, b = match.groups()
    named, _ = claims(sentence)
    angle = re.search(rf"= ({NUMBER}) rad", text)
    assert angle
    theta = float(angle[1])
    first = named[f"e[{i}, {a}]"] * math.cos(theta)
    second = named[f"e[{j}, {b}]"] * math.sin(theta)
    return float(factor or 1) * (first + second if sign == "+" else first - second)


@pytest.mark.parametrize("slug", FAMILY[pc.RotaryEncoding])
@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@given(scale=scales, **rows_columns)
@settings(max_examples=8)
def test_a_rotation_adds_up(slug: str, pairing: str, row: int, column: int, scale: float) -> None:
    shown = preview(slug, pairing=pairing)
    frame = shown.frame(scale)
    sentence = arithmetic(shown.at(scale), (row, column))
    _, (result,) = claims(sentence)
    close(result, rotated(sentence), 2.0)
    close(result, float(frame.cells("combined")[row, column]), 2.0)


def test_a_partial_rotation_says_what_stays() -> None:
    shown = preview("rope", rotary_fraction=0.5)
    sentence = plain(arithmetic(shown.at(1.0), (3, 6)))
    e = float(shown.tokens()[3, 6])
    assert f"h[3, 6] = e[3, 6] = {e:.9g}: dimensions from 4 on don't turn" in sentence


@pytest.mark.parametrize("slug", FAMILY[pc.BiasEncoding])
@given(scale=scales, key=st.integers(0, 11), query=st.integers(0, 11), head=st.integers(0, 7))
@settings(max_examples=15)
def test_a_bias_multiplies(slug: str, scale: float, key: int, query: int, head: int) -> None:
    shown = preview(slug, head=head)
    frame = shown.frame(scale)
    sentence = arithmetic(shown.at(scale), (key, query, 1))
    assert f"Head {head + 1}, query {query}, key {key}" in sentence
    match = re.search(rf"= ({NUMBER}) · \(?({NUMBER})\)? = ({NUMBER}),", plain(sentence))
    assert match
    s, bias, product = map(float, match.groups())
    assert s == scale
    assert product == pytest.approx(s * bias, rel=1e-8)
    assert torch.tensor(bias) == shown.encoding.bias([query], [key])[head, 0, 0]  # type: ignore[attr-defined]
    close(product, float(frame.cells("position")[key, query]), 100.0)


@pytest.mark.parametrize("slug", [*FAMILY[pc.BiasEncoding], *FAMILY[pc.RelativeEncoding]])
def test_what_acts_later_leaves_the_value(slug: str) -> None:
    shown = preview(slug)
    _, (value,) = claims(arithmetic(shown.at(1.0), (2, 3)))
    assert torch.tensor(value) == shown.tokens()[2, 3]


@pytest.mark.parametrize("slug", ["sinusoidal", "rope", "shaw"])
def test_a_layer_norm_gives_its_own_value_last(slug: str) -> None:
    shown = preview(slug, layer_norm=pc.LayerNorm())
    frame = shown.frame(1.0)
    _, (before, after) = claims(arithmetic(shown.at(1.0), (4, 5)))
    close(after, float(frame.cells("combined")[4, 5]))
    plain_h = float(preview(slug).exact(4, 1.0).combined[0, 5])
    close(before, plain_h, 2.0)


@pytest.mark.parametrize("operation", ["add", "multiply", "concat"])
@pytest.mark.parametrize("at", [(0.0, 0.0), (1023.0, 511.0), (700.4, 300.0)])
def test_a_click_at_any_zoom_explains_the_value_shown(
    operation: Any, at: tuple[float, float]
) -> None:
    shown = preview("sinusoidal", (1024, 512), operation=operation)
    row, column = cell_at(shown, "token", *at)
    assert (row, column) != (round(at[0]), round(at[1])) or at == (0.0, 0.0)
    place = shown.rows.indices.index(row), shown.columns.indices.index(column)
    assert place[0] == int(at[0] + 0.5) // shown.rows.step
    reading = shown.at(0.5)
    sentence = arithmetic(reading, (row, column))
    assert f"h[{row}, {column}]" in plain(sentence)
    close(claims(sentence)[1][0], float(reading.frame.cells("combined")[place]))


# --- which cell was clicked ---


def test_a_click_finds_its_cell() -> None:
    shown = preview("sinusoidal")
    assert cell_at(shown, "token", 3.2, 4.4) == (3, 4)
    assert cell_at(shown, "combined", 11.4, 7.4) == (11, 7)
    for trace, x, y in (("‖e‖", 1, 1), ("token", None, 1), ("token", "the", 1), ("nothing", 1, 1)):
        assert cell_at(shown, trace, x, y) == ()


def test_a_click_on_a_bias_is_a_pair_of_positions() -> None:
    shown = preview("alibi")
    assert cell_at(shown, "position", 3.0, 9.0) == (3, 9, 1)
    assert cell_at(shown, "token", 3.0, 7.0) == (3, 7)


def test_a_click_on_the_second_half_is_the_same_dimension() -> None:
    shown = preview("sinusoidal", operation="concat")
    assert cell_at(shown, "combined", 3.0, 7.0) == (3, 7)
    assert cell_at(shown, "combined", 3.0, 8.0) == (3, 0)
    assert cell_at(shown, "combined", 3.0, 15.0) == (3, 7)


def test_a_click_on_the_second_half_of_many_dimensions_is_the_one_shown() -> None:
    shown = preview("sinusoidal", (1024, 512), operation="concat")
    drawn = look(shown).panels[2].rows
    for cell, dimension in enumerate(drawn.indices):  # type: ignore[attr-defined]
        y = drawn.start + (cell + 0.5) * drawn.step - 0.5
        assert cell_at(shown, "combined", 3.0, y)[1] == dimension % 512


def test_the_second_half_of_a_zoomed_concatenation() -> None:
    window = (None, None, 2.0, 5.0)
    shown = preview("sinusoidal", operation="concat", window=window)
    # Dimensions 2 … 5 are drawn at 4 … 7, and those of the positions at 8 … 11.
    from pages._ui.combine.words import look

    start = look(shown).panels[2].rows.start
    assert [cell_at(shown, "combined", 0.0, float(start + k)) for k in range(8)] == [
        (0, dimension) for dimension in (2, 3, 4, 5, 2, 3, 4, 5)
    ]


@pytest.mark.parametrize(
    ("slug", "cell", "exists"),
    [
        ("sinusoidal", (), False), ("sinusoidal", (3,), False), ("sinusoidal", (11, 7), True),
        ("sinusoidal", (12, 0), False), ("sinusoidal", (0, 8), False),
        ("sinusoidal", (0, 0, 1), False), ("alibi", (11, 11, 1), True),
        ("alibi", (11, 12, 1), False), ("alibi", (11, 11, 2), False), ("alibi", (11, 7), True),
    ],
)  # fmt: skip
def test_which_cells_there_are(slug: str, cell: tuple[int, ...], exists: bool) -> None:
    assert has_cell(preview(slug), cell) is exists
