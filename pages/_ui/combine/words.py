"""What the landing page says about its picture: names, numbers, what position does to h."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pages._ui import live
from pages._ui.combine.arithmetic import arithmetic
from pages._ui.combine.settings import Chosen
from pages._ui.escaped import in_code
from pages._ui.fading import fading
from pages._ui.families import enters_elsewhere, words_of
from pages._ui.figures.axes import Placed, nice_ceiling
from pages._ui.figures.equation import TERMS, Look, Panel
from pages._ui.numbers import written
from pages._ui.sentences import counted
from pages._ui.server.installed_model import needed_model
from pages._ui.theme import tinted
from posembed_core import Encoding, RotaryEncoding
from posembed_core.combination import concat_identity
from posembed_core.operations import Combined, LayerNorm, Operation
from posembed_core.pictures.limits import Beyond
from posembed_core.pictures.preview import Preview, Reading

_SIGNS = {"add": "+", "multiply": "∘", "concat": ";"}
_TEX = {"add": "$+$", "multiply": r"$\circ$", "concat": "$;$"}


def equation(
    cls: type[Encoding], operation: Operation, layer_norm: bool, sqrt_dim: bool = False
) -> str:
    """The equation of the pictures, each term in its colour, and where position enters besides."""
    words = words_of(cls)
    position = rf"$m\,${words.position}" if _has_factor(cls) else words.position
    e, p, h = tinted("token", "$e$"), tinted("position", position), tinted("combined", "$h$")
    right = words.equation.format(e=e, p=p, join=_TEX[operation])
    if operation == "concat":
        right = f"[{right}]"
    written = f"{h} $=$ LN({right})" if layer_norm else f"{h} $=$ {right}"
    if sqrt_dim:
        written += rf", {e} $=$ $\sqrt{{d}}\,x$"
    elsewhere = enters_elsewhere(cls)
    return f"{written} :small[{elsewhere}]" if elsewhere else written


def _has_factor(cls: type[Encoding]) -> bool:
    """Whether a rotation may make vectors longer or shorter."""
    return (
        issubclass(cls, RotaryEncoding)
        and cls.attention_factor is not RotaryEncoding.attention_factor
    )


def look(preview: Preview, tokens: Sequence[str] = ()) -> Look:
    """Headings, axes and signs of the three pictures; ``tokens`` are a sentence's."""
    (n, d), columns, words = preview.shape, preview.columns, words_of(preview.encoding)
    token = Panel("token e", "e", columns, d)
    combined = Panel("combined h", "h", columns, d)
    if preview.operation == "concat":
        # The second half starts at a whole cell: the first's last one may be drawn too long.
        half, start = columns.cells * columns.step, 2 * columns.start
        dimensions = (*columns.indices, *(d + dimension for dimension in columns.indices))
        both = Placed(start, start + 2 * half, columns.step, dimensions)
        combined = Panel("combined h: e, then s·p", "h", both, max(2 * d, both.stop))
    middle = Panel(
        words.middle.heading.format(head=preview.head + 1),
        words.middle.symbol,
        *((preview.queries, n) if preview.shows_bias else (columns, d)),
        words.middle.up,
        words.middle.across,
        own_scale=words.middle.own_scale,
    )
    between, equals = (sign.format(join=_SIGNS[preview.operation]) for sign in words.signs)
    if preview.layer_norm is not None:
        equals = "LN ="
    return Look((token, middle, combined), preview.rows, n, (between, equals), tuple(tokens))


def explain(chosen: Chosen, reading: Reading, cell: tuple[int, ...]) -> Iterator[live.notes.Note]:
    """What the cells are, the clicked cell's arithmetic, and the numbers at chosen positions."""
    preview, tokens = reading.preview, chosen.tokens
    n = preview.shape[0]
    told = [seen(preview), colours(reading), *asides(reading)]
    if len(tokens) > n:
        told.append(f"Max length cuts the sentence: {n} of its {len(tokens)} tokens are shown.")
    if chosen.sqrt_dim:
        d = preview.shape[1]
        told.append(f"e is √d = {d**0.5:.4g} times the token's vector x.")
    yield live.notes.Line(" ".join(told))
    if cell:
        yield live.notes.Line(arithmetic(reading, cell), "arithmetic")
    rows = [(i, tokens[i] if tokens else "", reading.row(i)) for i in chosen.at if i < n]
    # The model's LayerNorm has its width, which a concatenation exceeds.
    fits = chosen.in_words and preview.layer_norm is None and chosen.operation != "concat"
    yield numbers(rows, needed_model().layer_norm if fits else None)
    beyond = [str(i) for i in chosen.at if i >= n]
    if beyond:
        known = f"positions go from 0 to {n - 1}" if n > 1 else "the only position is 0"
        missing = "is no position" if len(beyond) == 1 else "are no positions"
        yield live.notes.Line(f"There {missing} {' and '.join(beyond)}: {known}.")


def seen(preview: Preview) -> str:
    """What a cell stands for."""
    rows, columns = preview.rows.step, preview.columns.step
    if rows == columns == 1:
        return "Each cell is one value."
    return (
        f"Each cell is one of {rows} × {columns} values (positions × dimensions), chosen at random "
        "but the same in every picture; zoom in to see all."
    )


def lying_beyond(reading: Reading) -> tuple[Beyond, Beyond]:
    """What lies beyond the ends of the shared colours, and of the middle picture's own."""
    limits = reading.limits
    if not reading.preview.is_of_another_kind:
        return reading.beyond(TERMS, nice_ceiling(limits.peak)), Beyond()
    return (
        reading.beyond(("token", "combined"), nice_ceiling(limits.peak)),
        reading.beyond(("position",), nice_ceiling(limits.own_peak)),
    )


def colours(reading: Reading) -> str:
    """Where the colours end, and what lies beyond."""
    shared, own = lying_beyond(reading)
    symbols = dict(zip(TERMS, ("e", words_of(reading.preview.encoding).middle.symbol, "h"),
                       strict=True))  # fmt: skip
    sentences = [_ending("Colours end", reading.limits.peak, shared, symbols)]
    if own.count:
        sentences.append(_ending("The middle picture's end", reading.limits.own_peak, own, symbols))
    return " ".join(sentences)


def _ending(start: str, peak: float, beyond: Beyond, symbols: Mapping[str, str]) -> str:
    end = f"{start} at ±{written(nice_ceiling(peak), '.3g')}"
    if not beyond.count:
        return f"{end}, and no cell lies beyond."
    lie = "lies" if beyond.count == 1 else "lie"
    farthest = written(beyond.farthest, ".3g")
    return (
        f"{end}; {beyond.count:,} of {counted(beyond.cells, 'cell')} {lie} beyond, "
        f"the farthest at {farthest} in {symbols[beyond.picture]}."
    )


def asides(reading: Reading) -> list[str]:
    """What must be said of this combination besides: where position acts, what it costs."""
    preview = reading.preview
    sentences = [words_of(preview.encoding).role.format(title=preview.encoding.title)]
    if isinstance(preview.encoding, RotaryEncoding) and _has_factor(type(preview.encoding)):
        factor = preview.encoding.attention_factor(preview.shape[0])
        sentences.append(f"Cos and sin are multiplied by m = {factor:.4g}.")
    sentences.append(fading(preview.encoding, preview.shape[0], reading.scale))
    if preview.operation == "concat":
        sentences.append(_concat_cost(reading))
    if preview.layer_norm is not None:
        own = preview.layer_norm.weight is not None
        sentences.append("LayerNorm has the model's own weight and bias." if own else "")
    return [sentence for sentence in sentences if sentence]


def alt(reading: Reading) -> str:
    """The picture in one sentence, with its numbers."""
    norms = [getattr(reading.norms, term) for term in TERMS]
    spans = ", ".join(
        f"{term} {written(norm.min(), '.3g')} to {written(norm.max(), '.3g')}"
        for term, norm in zip(TERMS, norms, strict=True)
    )
    n, d = reading.preview.shape
    return (
        f"Heatmaps of {counted(n, 'token vector')} of {d} dimensions, of "
        f"{reading.preview.encoding.title} at scale {written(reading.scale)}, and of both "
        f"combined. Norms per position: {spans}."
    )


def numbers(
    rows: Sequence[tuple[int, str, Combined]], layer_norm: LayerNorm | None = None, shown: int = 5
) -> live.notes.Table:
    """Norms and first values at chosen positions, to three decimals as the handbook prints them.

    ``layer_norm`` adds a column with the combined vector after it.
    """
    terms = (tinted("token", "e"), tinted("position", "s·p"), tinted("combined", "h"))
    heads = ["position", *(f"‖{term}‖" for term in terms), *terms]
    heads += ["LayerNorm(h)"] if layer_norm else []
    lines = []
    for position, word, row in rows:
        norms = row.norms()
        vectors = [row.token, row.moved, row.combined]
        vectors += [layer_norm(row.combined)] if layer_norm else []
        cells = [f"{position} {in_code(word)}" if word else f"{position}"]
        cells += [written(getattr(norms, term)[0], ".3f") for term in TERMS]
        cells += [_first(vector[0].tolist(), shown) for vector in vectors]
        lines.append(cells)
    return live.notes.Table("Numbers at chosen positions", heads, lines, numbers=(1, 2, 3))


def _concat_cost(reading: Reading) -> str:
    n, d = reading.preview.shape
    last = reading.row(n - 1)
    same = concat_identity(last.token, last.moved, out=d)
    return (
        "A projection of both is a sum of two projections, W[e; s·p] = W₁e + W₂s·p (computed: "
        f"largest difference {written(same.residual, '.1e')}); to {d} dimensions it has "
        f"{same.concat_parameters:,} parameters, after a sum {same.add_parameters:,}."
    )


def _first(values: Sequence[float], shown: int) -> str:
    dots = [" …"] if len(values) > shown else []
    # No-break spaces: a vector stays on one line.
    return "[" + "\u00a0".join([written(value, ".3f") for value in values[:shown]] + dots) + "]"
