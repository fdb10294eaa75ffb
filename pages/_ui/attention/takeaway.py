"""Each view of the attention page as code and as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go

from pages._ui.attention import arrays, pictures
from pages._ui.attention.distance import DISTANCES, FARTHEST, width_of
from pages._ui.attention.inputs import (
    EMBED_DIM,
    MOST_TOKENS,
    Seen,
    attention,
    shifted,
    shuffled,
    split,
)
from pages._ui.attention.settings import PAGE, Chosen
from pages._ui.attention.words import FOUR, distance_said, shift_said
from pages._ui.server import cached
from pages._ui.takeaway.code import Script
from pages._ui.takeaway.files import Table
from pages._ui.takeaway.view import OnScreen, Plot, remembered
from posembed_core import AdditiveEncoding, Encoding, EncodingError
from posembed_core.attention.distance import random_scores_at_distances, scores_at_distances
from posembed_core.attention.experiments import ShiftTest, four_terms, permutation_test, shift_test
from posembed_core.attention.layer import attend
from posembed_core.scripts.combine import attention_script
from posembed_core.scripts.experiments import (
    distance_script,
    four_script,
    shift_script,
    shuffle_script,
)
from posembed_core.scripts.values import Head, ModelTokens, Tokens, WordTokens
from posembed_core.tables.position_table import PositionTable


@dataclass(frozen=True)
class Taken:
    """What all views have in common: the choices above the pictures, and the scale."""

    chosen: Chosen
    scale: float

    @property
    def tokens(self) -> Tokens:
        """Where a script finds the words."""
        scene = self.chosen.scene
        if scene.real:
            model = cached.needed_model()
            return ModelTokens(scene.text, model, min(MOST_TOKENS, model.max_seq_len))
        return WordTokens(scene.text, EMBED_DIM, scene.seed, EMBED_DIM**-0.5, MOST_TOKENS)

    @property
    def head(self) -> Head:
        """Where a script finds the projections."""
        weights = self.chosen.there.projections
        seed = None if self.chosen.scene.real else 7
        return Head(self.chosen.head, weights.num_heads, weights.head_dim, seed)

    def settings(self, **more: str) -> dict[str, str]:
        """What was chosen, in words."""
        chosen = self.chosen
        return {
            "sentence": " ".join(chosen.there.tokens),
            "weights": "the model's" if chosen.scene.real else "drawn",
            "head": f"{chosen.head + 1}",
            "scale": f"{self.scale:g}",
            **more,
        }

    def options(self, encoding: Encoding) -> dict[str, Any]:
        """What every script but that of distances is told."""
        own_words = isinstance(encoding, PositionTable)
        return {"scale": self.scale, "sqrt_dim": self.chosen.scene.sqrt_dim and not own_words}

    def scripts(self, write: Callable[[Encoding], str]) -> dict[str, Script]:
        """A script for each encoding, by its title."""
        pairs = zip(self.chosen.titles, self.chosen.encodings, strict=True)
        return {title: partial(write, encoding) for title, encoding in pairs}

    def shown(
        self,
        view: str,
        title: str,
        figure: Callable[[], go.Figure],
        caption: Callable[[], str],
        settings: dict[str, str],
        tables: Callable[[], Sequence[Table]],
        scripts: dict[str, Script],
        sources: Sequence[Callable[..., Any]],
        *,
        key: str,
        alt: Callable[[], str],
    ) -> OnScreen:
        """The view called ``view`` with these encodings."""
        chosen = self.chosen
        slugs = "-".join(chosen.slugs)
        return OnScreen(
            name=f"posembed-attention-{view}-{slugs}" if view else f"posembed-attention-{slugs}",
            title=f"{title} with {', '.join(chosen.titles)}",
            plots={"": Plot(key, figure, alt, caption)},
            settings=settings,
            tables=tables,
            scripts=scripts,
            sources=[*sources, *dict.fromkeys(type(one) for one in chosen.encodings)],
            references=[f"{type(one).title}: {type(one).reference}" for one in chosen.encodings],
        )


def _taken(chosen: Chosen) -> Taken:
    return Taken(chosen, remembered(PAGE).get("scale", 1.0))


def weights_shown(chosen: Chosen) -> OnScreen:
    """Scores and weights."""
    taken, words = _taken(chosen), chosen.there.tokens
    temperature, query = remembered(PAGE).get("temperature", 1.0), remembered(PAGE).get("query", 0)

    def found() -> list[Seen]:
        return [
            attention(chosen.scene, one, chosen.head, taken.scale, chosen.causal, temperature)
            for one in chosen.encodings
        ]

    def write(encoding: Encoding) -> str:
        return attention_script(
            taken.tokens, encoding, taken.head, causal=chosen.causal, temperature=temperature,
            at=[min(query, len(words) - 1)], **taken.options(encoding),
        )  # fmt: skip

    return taken.shown(
        "",
        "Attention",
        lambda: pictures.weights_chart(found(), chosen.titles, words).figure(),
        lambda: "Scores and softmax of one head of one attention layer, query × key.",
        taken.settings(mask="causal" if chosen.causal else "none", temperature=f"{temperature:g}"),
        lambda: arrays.of_weights(chosen, taken.scale, temperature),
        taken.scripts(write),
        [attend],
        key=f"{PAGE}.weights",
        alt=lambda: pictures.weights_alt(found(), chosen.titles),
    )


def shuffle_shown(chosen: Chosen) -> OnScreen:
    """The shuffle test."""
    taken, seed = _taken(chosen), remembered(PAGE).get("shuffle", 1)

    def figure() -> go.Figure:
        plain, masked = (
            [shuffled(chosen.scene, one, seed, taken.scale, causal, 1.0)
             for one in chosen.encodings]
            for causal in (False, True)
        )  # fmt: skip
        words = chosen.there.tokens
        return pictures.shuffle_packed(plain, masked, chosen.titles, words)[0]

    def write(encoding: Encoding) -> str:
        return shuffle_script(
            taken.tokens, encoding, taken.head, seed=seed, **taken.options(encoding)
        )

    return taken.shown(
        "shuffle",
        "The shuffle test",
        figure,
        lambda: "The words change places, positions stay with the slots; all heads, in float64.",
        taken.settings(seed=f"{seed}"),
        lambda: arrays.of_shuffle(chosen, seed, taken.scale),
        taken.scripts(write),
        [permutation_test, attend],
        key=pictures.SHUFFLES,
        alt=lambda: pictures.SHUFFLE_ALT,
    )


def shift_shown(chosen: Chosen) -> OnScreen:
    """The shift test."""
    taken, by, head = _taken(chosen), remembered(PAGE).get("shift", 100), chosen.head
    words = chosen.there.tokens

    def figure() -> go.Figure:
        tests = [shift_or_why(chosen, one, by, taken.scale) for one in chosen.encodings]
        return pictures.shift_chart(tests, chosen.titles, words, head).figure()

    def write(encoding: Encoding) -> str:
        return shift_script(taken.tokens, encoding, taken.head, shift=by, **taken.options(encoding))

    return taken.shown(
        "shift",
        "The shift test",
        figure,
        lambda: shift_said(by, len(words), head),
        taken.settings(shift=f"{by}"),
        lambda: arrays.of_shift(chosen, by, taken.scale),
        taken.scripts(write),
        [shift_test, attend],
        key=pictures.SHIFTS,
        alt=lambda: pictures.SHIFT_ALT,
    )


def shift_or_why(chosen: Chosen, encoding: Encoding, by: int, scale: float) -> ShiftTest | str:
    """The test, or the sentence that says why there is none."""
    try:
        return shifted(chosen.scene, encoding, by, scale)
    except EncodingError as error:
        return str(error).partition(":")[0]


def four_shown(chosen: Chosen) -> OnScreen | None:
    """The four terms of one additive encoding; None where there is none."""
    taken = _taken(chosen)
    additive = {
        slug: (title, one)
        for slug, title, one in zip(chosen.slugs, chosen.titles, chosen.encodings, strict=True)
        if isinstance(one, AdditiveEncoding)
    }
    if not additive:
        return None
    of = remembered(PAGE).get("of", "")
    title, encoding = additive.get(of, list(additive.values())[-1])
    words = chosen.there.tokens

    def figure() -> go.Figure:
        terms = split(chosen.scene, encoding, taken.scale)
        return pictures.four_chart(terms, FOUR, words, chosen.head).figure()

    def write() -> str:
        return four_script(taken.tokens, encoding, taken.head, **taken.options(encoding))

    return taken.shown(
        "four",
        "Four terms of the scores",
        figure,
        lambda: f"The scores of {title}, multiplied out: queries and keys of words, of positions.",
        taken.settings(encoding=title),
        lambda: arrays.of_four(chosen, encoding, taken.scale),
        {title: write},
        [four_terms, attend],
        key=pictures.FOURS,
        alt=lambda: pictures.FOUR_ALT,
    )


def distance_shown(chosen: Chosen) -> OnScreen:
    """Score against distance."""
    taken = Taken(chosen, 1.0)

    def write(encoding: Encoding) -> str:
        return distance_script(encoding, width_of(encoding), DISTANCES, head=chosen.head)

    return taken.shown(
        "distance",
        "Score against distance",
        lambda: pictures.distance_packed(chosen.encodings, chosen.titles, chosen.head)[0],
        lambda: distance_said(FARTHEST, chosen.head),
        {"head": f"{chosen.head + 1}"},
        lambda: arrays.of_distance(chosen),
        taken.scripts(write),
        [scores_at_distances, random_scores_at_distances],
        key=pictures.DISTANCES_KEY,
        alt=lambda: pictures.DISTANCE_ALT,
    )
