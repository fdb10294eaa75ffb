"""What the landing page says about its picture: names, numbers, what position does to h."""

from __future__ import annotations

from collections.abc import Sequence

from pages._ui import live
from pages._ui.figures.equation import TERMS, Look, Panel
from pages._ui.theme import tinted
from posembed_core import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    RelativeEncoding,
    RotaryEncoding,
)
from posembed_core.combination import concat_identity
from posembed_core.operations import Combined, LayerNorm, Operation
from posembed_core.pictures.preview import Frame, Preview
from posembed_core.pictures.resolution import Span

_SIGNS = {"add": "+", "multiply": "∘", "concat": ";"}
_TEX = {"add": "$+$", "multiply": r"$\circ$", "concat": "$;$"}


def equation(cls: type[Encoding], operation: Operation, layer_norm: bool) -> str:
    """The equation of the pictures, each term in its colour."""
    e, p, h = tinted("token", "$e$"), tinted("position", r"$s\cdot p$"), tinted("combined", "$h$")
    if issubclass(cls, RotaryEncoding):
        right = tinted("position", r"$R(s\cdot i)$") + f" {e}"
    elif issubclass(cls, AdditiveEncoding):
        right = f"{e} {_TEX[operation]} {p}"
    else:
        right = e
    if operation == "concat":
        right = f"[{right}]"
    return f"{h} $=$ LN({right})" if layer_norm else f"{h} $=$ {right}"


def look(preview: Preview, words: Sequence[str] = ()) -> Look:
    """Headings, axes and signs of the three pictures."""
    encoding, (n, d), columns = preview.encoding, preview.shape, preview.columns
    token = Panel("token e", "e", columns, d)
    middle = Panel("scale · position s·p", "s·p", columns, d)
    combined = Panel("combined h", "h", columns, d)
    signs = (_SIGNS[preview.operation], "=")
    if isinstance(encoding, RotaryEncoding):
        middle = Panel("rotation: cos of the angle", "cos", columns, d, own_scale=True)
        signs = ("R(i)", "=")
    elif isinstance(encoding, BiasEncoding):
        heading = f"score bias of head {preview.head + 1}"
        middle = Panel(heading, "s·b", preview.queries, n, "query", "key", own_scale=True)
        signs = ("", "")
    elif isinstance(encoding, RelativeEncoding):
        middle = Panel("relative vectors at query 0", "s·a", columns, d, across="key")
        signs = ("", "")
    elif preview.operation == "concat":
        # The second half starts at a whole cell: the first's last one may be drawn too long.
        half, start = columns.cells * columns.step, 2 * columns.start
        both = Span(start, start + 2 * half, columns.step)
        combined = Panel("combined h: e, then s·p", "h", both, max(2 * d, both.stop))
    if preview.layer_norm is not None:
        signs = (signs[0], "LN =")
    return Look((token, middle, combined), preview.rows, n, signs, tuple(words))


def seen(preview: Preview) -> str:
    """What a cell stands for."""
    rows, columns = preview.rows.step, preview.columns.step
    if rows == columns == 1:
        return "Each cell is one value."
    return (
        f"Each cell is the mean of {rows} × {columns} values (positions × dimensions); "
        "zoom in until it is one."
    )


def asides(preview: Preview, scale: float) -> list[str]:
    """What must be said of this combination besides: where position acts, what it costs."""
    said = [_role(preview.encoding)]
    if preview.is_of_another_kind:
        said.append(
            "The middle picture has colours of its own, from blue (least) to red (greatest)."
        )
    if preview.operation == "concat":
        said.append(_concat_cost(preview, scale))
    if preview.layer_norm is not None:
        own = preview.layer_norm.weight is not None
        said.append("LayerNorm has the model's own weight and bias." if own else "")
    return [sentence for sentence in said if sentence]


def alt(preview: Preview, frame: Frame, scale: float) -> str:
    """The picture in one sentence, with its numbers."""
    norms = [getattr(frame.norms, term) for term in TERMS]
    spans = ", ".join(
        f"{term} {float(norm.min()):.3g} to {float(norm.max()):.3g}"
        for term, norm in zip(TERMS, norms, strict=True)
    )
    n, d = preview.shape
    return (
        f"Heatmaps of {n} token vectors of {d} dimensions, of {preview.encoding.title} at scale "
        f"{scale:g}, and of both combined. Norms per position: {spans}."
    )


def numbers(
    rows: Sequence[tuple[int, str, Combined]], layer_norm: LayerNorm | None = None, shown: int = 5
) -> live.Table:
    """Norms and first values at chosen positions, to three decimals as the handbook prints them.

    ``layer_norm`` adds a column with the combined vector after it.
    """
    terms = (tinted("token", "e"), tinted("position", "s·p"), tinted("combined", "h"))
    heads = ["position", *(f"‖{term}‖" for term in terms), *terms]
    heads += ["LayerNorm(h)"] if layer_norm else []
    lines = []
    for position, word, one in rows:
        norms = one.norms()
        vectors = [one.token, one.moved, one.combined]
        vectors += [layer_norm(one.combined)] if layer_norm else []
        cells = [f"{position} {_code(word)}" if word else f"{position}"]
        cells += [f"{float(getattr(norms, term)[0]):.3f}" for term in TERMS]
        cells += [_first(vector[0].tolist(), shown) for vector in vectors]
        lines.append(cells)
    return live.Table("Numbers at chosen positions", heads, lines, numbers=(1, 2, 3))


def _role(encoding: Encoding) -> str:
    if isinstance(encoding, RotaryEncoding):
        return (
            f"{encoding.title} turns each pair of channels by an angle that grows with the "
            "position: nothing is added. In a model it turns queries and keys. "
            "Here ‖s·p‖ is ‖h − e‖."
        )
    if isinstance(encoding, BiasEncoding):
        return (
            f"{encoding.title} leaves the vectors as they are, h = e, and adds a bias to the "
            "attention scores: the middle picture, query × key."
        )
    if isinstance(encoding, RelativeEncoding):
        return (
            f"{encoding.title} leaves the vectors as they are, h = e: vectors for relative "
            "positions join the queries and keys inside attention."
        )
    return ""


def _concat_cost(preview: Preview, scale: float) -> str:
    one, d = preview.exact(preview.shape[0] - 1, scale), preview.shape[1]
    same = concat_identity(one.token, one.moved, out=d)
    return (
        "A projection of both is a sum of two projections, W[e; s·p] = W₁e + W₂s·p (computed: "
        f"largest difference {same.residual:.1e}); to {d} channels it has "
        f"{same.concat_parameters:,} parameters, after a sum {same.add_parameters:,}."
    )


def _first(values: Sequence[float], shown: int) -> str:
    dots = [" …"] if len(values) > shown else []
    # No-break spaces: a vector stays on one line.
    return "[" + "\u00a0".join([f"{value:.3f}" for value in values[:shown]] + dots) + "]"


def _code(word: str) -> str:
    # Nothing in it ends the code.
    signs = (
        c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in word.replace("`", "ˋ")
    )
    return "`" + "".join(signs) + "`"
