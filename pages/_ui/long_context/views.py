"""All that the page about long contexts shows of a model's RoPE at some lengths."""

from __future__ import annotations

import streamlit as st

from pages._ui import live
from pages._ui.long_context.pictures import CELLS, packed_pairs, packed_scores
from pages._ui.long_context.settings import PAGE, Chosen, Sliders
from pages._ui.long_context.words import (
    collisions,
    drift,
    pairs_alt,
    pairs_key,
    scores_alt,
    scores_key,
    settings_line,
    worst_table,
)
from posembed_core.long_context.pairs import MAX_DISTANCE, distance_edges, pair_table
from posembed_core.long_context.precision import ARITHMETICS, worst_pair
from posembed_core.long_context.report import summary, trained_is_given


def draw(chosen: Chosen, sliders: Sliders) -> None:
    """The settings in a line, the pairs, the scores, and what rounding does to both."""
    encoding, rounding = chosen.encoding, ARITHMETICS[chosen.arithmetic]
    trained, wanted, position = sliders.lengths.trained, sliders.lengths.wanted, sliders.position
    table = pair_table(encoding, wanted)
    in_short = summary(table, trained, wanted, trained_is_given(chosen.settings))
    st.markdown(settings_line(chosen.settings, wanted))
    live.plot(
        packed_pairs(encoding, trained, wanted, position, chosen.quantity),
        key=f"{PAGE}.pairs",
        alt=pairs_alt(table, in_short),
    )
    st.markdown(
        f":small[{in_short} {pairs_key(position, trained, trained_is_given(chosen.settings))}]"
    )
    live.plot(
        packed_scores(encoding, trained, wanted, chosen.arithmetic),
        key=f"{PAGE}.scores",
        alt=scores_alt(rounding),
    )
    st.markdown(f":small[{scores_key(distance_edges(MAX_DISTANCE, CELLS))}]")
    st.markdown(f"{collisions(wanted, rounding)} {drift(table, rounding)}")
    st.markdown(worst_table(worst_pair(table.after, position, rounding), rounding))
