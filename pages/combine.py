"""The landing page: h = e + s·p, its three pictures and their norms, live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, get_args

import streamlit as st

from pages._ui import live
from pages._ui.about import about
from pages._ui.combine.arithmetic import arithmetic, cell_at, has_cell
from pages._ui.combine.takeaway import NoPicture, Taken
from pages._ui.combine.window import window_of, zoom_to
from pages._ui.combine.words import alt, asides, equation, look, numbers, seen
from pages._ui.controls.controls import (
    Indices,
    Text,
    encoding_choice,
    encoding_fields,
    setting,
    sizes,
    slider,
)
from pages._ui.controls.link import Link, open_link
from pages._ui.figures.equation import (
    NORMS,
    TERMS,
    Look,
    equation_figure,
    narrow_layout,
    ranges,
)
from pages._ui.server import cached
from pages._ui.server.cached import RandomTokens, SentenceTokens, Setting
from pages._ui.server.kept import kept
from pages._ui.takeaway.view import remember, remembered, tools
from posembed_core import CheckpointError, EncodingError, RotaryEncoding, create, encodings
from posembed_core.base import MAX_DIM, MAX_LENGTH, BiasEncoding, Encoding
from posembed_core.operations import Operation
from posembed_core.parameters import Choice, Flag, Integer, Real
from posembed_core.pictures.preview import Frame, Preview
from posembed_core.tables.position_table import PositionTable

LENGTH = Integer("Max length", low=1, high=MAX_LENGTH, help="Positions: rows of the table")
DIMENSION = Integer("Dimension", low=2, high=MAX_DIM, help="Channels of each vector")
SCALE = Real("Scale s", low=0.0, high=5.0, help="Multiplies what position contributes; 0 is none")
TOKENS = Choice("Tokens", options=("random", "sentence"))
SENTENCE = Text("Sentence", most=4000)
SEED = Integer("Token seed", low=0, high=2**32 - 1)
STD = Real("Token std", low=0.0, high=100.0)
SKIP = Integer("Token draws skipped", low=0, high=10**7)
OPERATION = Choice("Operation", options=get_args(Operation))
LAYER_NORM = Flag("LayerNorm after", help="Normalise h, as BERT does (biased variance)")
SQRT_DIM = Flag("Tokens × √d", help="Vaswani et al. 2017, section 3.4: e times √d, p as it is")
HEAD = Integer("Head shown", low=1, high=256)
AT = Indices("Numbers at positions", help="Up to eight, with spaces between")
CELL = Indices("Cell", most=3)
ZOOM = Indices("Zoom", most=4)
EXAMPLE = "The keys to the cabinet are on the table."
OWN_TABLE = "model"  # in the menu of encodings: the position table of the sentence's model

# The handbook's three printed outputs, as links to this page.
PRESETS = {
    "The table: seed 42, 128 × 64": {"encoding": "learned", "at": "0_1_2_3_4"},
    "Combining: 10 tokens, 64 dimensions": {"encoding": "learned", "length": "10"},
    "Injection: 4 × 8, positions × 0.1": {
        "encoding": "learned", "length": "4", "dimension": "8", "at": "0_1_2_3",
        "token_skip": "24", "token_std": "1", "seed": "123", "skip": "56", "std": "0.1",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """What the controls above the sliders say."""

    source: RandomTokens | SentenceTokens
    slug: str
    fields: dict[str, Any]
    operation: Operation
    layer_norm: bool
    sqrt_dim: bool
    head: int
    at: tuple[int, ...]

    @property
    def in_words(self) -> bool:
        """Whether a sentence is shown, in the width of its model."""
        return isinstance(self.source, SentenceTokens)

    def encoding(self, length: int, dimension: int) -> Encoding:
        """The encoding at these sizes; `EncodingError` where the fields don't fit together."""
        if self.slug == OWN_TABLE:
            return cached.needed_model().positions
        return create(self.slug, **self.fields, **sizes(encodings()[self.slug], length, dimension))


def main() -> None:
    """Ask, then draw."""
    link = Link("combine")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        headline = st.container(width=230)
        kind = setting(link, "tokens", TOKENS, "random", on_change=switch_tokens, width=130)
        own = {OWN_TABLE: "The model's own table"} if kind == "sentence" else {}
        menu, titles = encoding_choice(own)
        slug = setting(
            link, "encoding", menu, "sinusoidal", format_func=titles.__getitem__, width=220
        )
        with st.popover("More"):
            chosen = choose(link, slug, kind)
        with st.popover("Handbook"):
            st.caption("The handbook's printed outputs, number for number:")
            for title, params in PRESETS.items():
                st.button(title, on_click=open_link, args=(params,), type="tertiary")
        place_of_tools = st.container(width="content")
    cls = encodings().get(slug, PositionTable)
    headline.markdown(f"### {equation(cls, chosen.operation, chosen.layer_norm)}")
    if chosen.in_words:
        chosen = replace(chosen, source=SentenceTokens(setting(link, "text", SENTENCE, EXAMPLE)))
    link.note_unknown("length", "dimension", "scale", "cell", "zoom")
    link.show_notices()
    if chosen.in_words and cached.model_problem():
        st.info(cached.model_problem())
        link.carry("length", "dimension", "scale")
        link.write()
    else:
        pictures(link, chosen)
        with place_of_tools:
            tools("combine", lambda: remembered("combine")["taken"])
    about([slug])


def switch_tokens() -> None:
    """A sentence starts with its model's own table, which random tokens can't have."""
    sentence = st.session_state["combine.tokens"] == "sentence"
    # A state that a browser didn't send need not have both.
    if sentence or st.session_state.get("combine.encoding") == OWN_TABLE:
        st.session_state["combine.encoding"] = OWN_TABLE if sentence else "sinusoidal"


def choose(link: Link, slug: str, kind: str) -> Chosen:
    """The encoding's own fields, the tokens' source, and what is done with both."""
    cls = encodings().get(slug)
    fields = encoding_fields(link, cls) if cls else {}
    source: RandomTokens | SentenceTokens = SentenceTokens("")
    if kind == "random":
        source = RandomTokens(
            setting(link, "token_seed", SEED, 123),
            setting(link, "token_std", STD, 0.5),
            setting(link, "token_skip", SKIP, 0),
        )
    has_heads = cls is not None and issubclass(cls, BiasEncoding)
    return Chosen(
        source=source,
        slug=slug,
        fields=fields,
        operation=setting(link, "operation", OPERATION, "add"),
        layer_norm=setting(link, "layer_norm", LAYER_NORM, False),
        sqrt_dim=setting(link, "sqrt_dim", SQRT_DIM, False),
        head=setting(link, "head", HEAD, 1) - 1 if has_heads else 0,
        at=setting(link, "at", AT, (0, 5, 9)),
    )


@st.fragment
def pictures(link: Link, chosen: Chosen) -> None:
    """The live sliders and what follows them: the figure, the numbers, a cell's arithmetic."""
    model = cached.needed_model() if chosen.in_words else None
    pairs = issubclass(encodings().get(chosen.slug, PositionTable), RotaryEncoding)
    left, middle, right = st.columns(3)
    with left:
        rows = model.max_seq_len if model and chosen.slug == OWN_TABLE else None
        length = slider(
            link, "length", LENGTH, 128, step=1, log=True, fixed=rows, fixed_by="the model's table"
        )
    with middle:
        dimension = slider(
            link, "dimension", DIMENSION, 64, step=2 if pairs else 1, log=True,
            fixed=model.embed_dim if model else None, fixed_by="the model's width",
        )  # fmt: skip
    with right:
        scale = slider(link, "scale", SCALE, 1.0, step=0.01)
    link.show_notices()
    remember("combine", taken=NoPicture())
    try:
        draw(link, chosen, length, dimension, scale)
    except (EncodingError, CheckpointError) as error:
        st.error(f"{str(error)[0].upper()}{str(error)[1:]}.")
    link.show_notices()
    if not any(live.is_dragging(f"combine.{name}") for name in ("length", "dimension", "scale")):
        link.write()


def draw(link: Link, chosen: Chosen, length: int, dimension: int, scale: float) -> None:
    """Compute the pictures at these sizes and show them."""
    asked = zoom_to(link.read("zoom", ZOOM, ())) if link.changed else None
    zoom = live.zoom_of("combine.plot") if asked is None else asked
    setting = Setting(
        source=chosen.source,
        length=length,
        dimension=dimension,
        encoding=chosen.encoding(length, dimension),
        operation=chosen.operation,
        layer_norm=chosen.layer_norm,
        sqrt_dim=chosen.sqrt_dim,
        head=chosen.head,
        window=(*zoom.get("xaxis", (None, None)), *zoom.get("yaxis", (None, None))),
    )
    shown = cached.picture(setting)
    frame = shown.preview.frame(scale)
    curves = [getattr(frame.norms, term) for term in TERMS]
    highest = max(float(curve.max()) for curve in curves)
    own_peak = frame.peak
    if shown.preview.is_of_another_kind:
        own_peak = float(frame.cells("position").abs().max())
    figure = packed_figure(look(shown.preview, words_of(chosen)))
    cell = clicked(link, shown.preview, live.click_of("combine.plot", figure))
    live.plot(
        figure,
        key="combine.plot",
        arrays=shown.pack(frame),
        mixes=frame.mixes,
        lines=dict(zip(NORMS.values(), curves, strict=True)),
        patch=ranges(frame.peak, own_peak, highest),
        alt=alt(shown.preview, frame, scale),
        notes=explain(chosen, shown.preview, frame, scale, cell),
        zoom=asked,
    )
    link.keep("zoom", ZOOM, window_of(zoom, *shown.preview.shape), ())
    remember("combine", taken=Taken(setting, scale, chosen.at))


def explain(
    chosen: Chosen, preview: Preview, frame: Frame, scale: float, cell: tuple[int, ...]
) -> Iterator[live.Note]:
    """What the cells are, the clicked cell's arithmetic, and the numbers at chosen positions."""
    words, n = words_of(chosen), preview.shape[0]
    yield live.Line(" ".join([seen(preview), *asides(preview, scale)]))
    if cell:
        yield live.Line(arithmetic(preview, frame, cell, scale), "arithmetic")
    rows = [(i, words[i] if words else "", preview.exact(i, scale)) for i in chosen.at if i < n]
    # The model's LayerNorm has its width, which a concatenation exceeds.
    fits = chosen.in_words and preview.layer_norm is None and chosen.operation != "concat"
    yield numbers(rows, cached.needed_model().layer_norm if fits else None)
    beyond = [str(i) for i in chosen.at if i >= n]
    if beyond:
        yield live.Line(f"Positions go from 0 to {n - 1}: there is no {', '.join(beyond)}.")


def clicked(link: Link, preview: Preview, click: live.Click | None) -> tuple[int, ...]:
    """The cell to explain: the one just clicked, or the one in the URL; () for none."""
    key = "combine.cell"
    if link.changed:
        st.session_state[key] = link.read("cell", CELL, ())
    if click is not None:
        st.session_state[key] = cell_at(preview, click.trace, click.x, click.y)
    cell: tuple[int, ...] = st.session_state.get(key, ())
    if not has_cell(preview, cell):
        if link.changed and cell:
            link.note(f"The link has cell={CELL.format(cell)}, which is no cell of this picture.")
        return ()
    link.keep("cell", CELL, cell, ())
    return cell


@kept()
def packed_figure(shape: Look) -> live.PackedFigure:
    """The empty figure of a look."""
    return live.pack_figure(equation_figure(shape), narrow=narrow_layout(shape))


def words_of(chosen: Chosen) -> tuple[str, ...]:
    """The sentence's tokens, none for random ones."""
    if isinstance(chosen.source, SentenceTokens):
        return cached.sentence(chosen.source.text).tokens
    return ()


main()
