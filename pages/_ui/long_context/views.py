"""All that the page about long contexts shows of a model's RoPE at some lengths."""

from __future__ import annotations

import streamlit as st

from pages._ui import live
from pages._ui.long_context.layers import draw_strip, say_what_it_has
from pages._ui.long_context.pictures import (
    CELLS,
    packed_pairs,
    packed_query_scale,
    packed_scores,
)
from pages._ui.long_context.reading import Group, Reading
from pages._ui.long_context.settings import PAGE, Chosen, Sliders, offer_json
from pages._ui.long_context.words import (
    beside_the_rotation,
    collisions,
    drift,
    finding_text,
    pairs_alt,
    pairs_key,
    query_scale_alt,
    scores_alt,
    scores_key,
    settings_line,
    worst_table,
)
from pages._ui.sentences import sentence
from posembed_core.long_context.pairs import MAX_DISTANCE, distance_edges, pair_table
from posembed_core.long_context.precision import ARITHMETICS, worst_pair
from posembed_core.long_context.report import summary


def draw_config(reading: Reading, group: Group | None) -> None:
    """What is odd about a config, what its layers do, and what stands beside a rotation."""
    for finding in reading.findings:
        if finding.severity == "note":
            continue
        show = st.error if finding.severity == "error" else st.warning
        show(finding_text(finding))
    offer_json(reading.text)
    if group is None:
        return
    if reading.has_no_rope:
        say_what_it_has(reading)
    draw_strip(reading, group, f"{PAGE}.layers")
    if not reading.has_no_rope and group.settings is None:
        st.markdown(sentence(group.example.why))
    if explained := beside_the_rotation(group.example, reading.findings):
        st.markdown(f":small[{explained}]")
    if group.settings is None:
        _draw_queries(group)


def _draw_queries(group: Group) -> None:
    """What queries are multiplied by, where it is a function of their position."""
    queries = group.example.queries
    if queries.kind:
        live.plot(packed_query_scale(queries), key=f"{PAGE}.queries", alt=query_scale_alt(queries))


def draw(chosen: Chosen, sliders: Sliders) -> None:
    """The pairs, the settings in a line, the scores, and what rounding does to both."""
    encoding, rounding = chosen.encoding, ARITHMETICS[chosen.arithmetic]
    trained, wanted, position = sliders.lengths.trained, sliders.lengths.wanted, sliders.position
    table = pair_table(encoding, wanted)
    in_short = summary(table, trained, wanted, sliders.lengths.is_given)
    live.plot(
        packed_pairs(encoding, sliders.lengths, position, chosen.quantity),
        key=f"{PAGE}.pairs",
        alt=pairs_alt(table, in_short),
    )
    st.markdown(f":small[{in_short} {pairs_key(position, trained, sliders.lengths.is_given)}]")
    st.markdown(settings_line(chosen.settings, wanted))
    live.plot(
        packed_scores(encoding, sliders.lengths, chosen.arithmetic),
        key=f"{PAGE}.scores",
        alt=scores_alt(rounding),
    )
    st.markdown(f":small[{scores_key(distance_edges(MAX_DISTANCE, CELLS))}]")
    st.markdown(f"{collisions(wanted, rounding)} {drift(table, rounding)}")
    st.markdown(worst_table(worst_pair(table.after, position, rounding), rounding))
    _draw_queries(chosen.group)
