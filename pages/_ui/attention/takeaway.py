"""Each view of the attention page as code and as files."""

from __future__ import annotations

from collections.abc import Callable
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
    shifted_or_why,
    shuffled,
    split,
)
from pages._ui.attention.settings import OF_VIEWS, PAGE, Chosen
from pages._ui.attention.words import FOUR, columns_said, distance_said, shift_said, shuffle_done
from pages._ui.numbers import written
from pages._ui.server.installed_model import needed_model
from pages._ui.takeaway import OnScreen, Plot, Script, remembered
from posembed_core import Encoding
from posembed_core.attention.distance import random_scores_at_distances, scores_at_distances
from posembed_core.attention.experiments import four_terms, shift_test
from posembed_core.attention.layer import attend
from posembed_core.attention.shuffle import PermutationTest, permutation_test
from posembed_core.scripts.combine import attention_script
from posembed_core.scripts.experiments import (
    distance_script,
    four_script,
    shift_script,
    shuffle_script,
)
from posembed_core.scripts.values import Head, ModelTokens, Tokens, WordTokens


def weights_shown(chosen: Chosen) -> OnScreen:
    """Scores and weights."""
    scale, temperature = _slider("scale"), _slider("temperature")
    words = chosen.inputs.tokens
    query = min(remembered(PAGE).get("query", 0), len(words) - 1)

    def heads() -> list[Seen]:
        return [
            attention(chosen.scene, encoding, chosen.head, scale, chosen.causal, temperature)
            for encoding in chosen.encodings
        ]

    def write(encoding: Encoding) -> str:
        return attention_script(
            _tokens(chosen), encoding, _head(chosen), causal=chosen.causal,
            temperature=temperature, at=[query], **_options(chosen, encoding, scale),
        )  # fmt: skip

    mask = "causal" if chosen.causal else "none"
    return OnScreen(
        name=_name(chosen),
        title=_title(chosen, "Attention"),
        plots={
            "": Plot(
                f"{PAGE}.weights",
                lambda: pictures.weights_chart(heads(), chosen.titles, words).figure(),
                alt=lambda: pictures.weights_alt(heads(), chosen.titles),
                caption=lambda: (
                    "Scores and softmax of one head of one attention layer, query × key."
                ),
            )
        },
        settings=_settings(chosen, scale, mask=mask, temperature=written(temperature)),
        tables=lambda: arrays.of_weights(chosen, scale, temperature),
        scripts=_scripts(chosen, write),
        sources=[attend, *_classes(chosen)],
        references=_references(chosen),
    )


def shuffle_shown(chosen: Chosen) -> OnScreen:
    """The shuffle test."""
    scale, seed = _slider("scale"), _slider("shuffle")

    words, titles, head = chosen.inputs.tokens, chosen.titles, chosen.head

    def tests(causal: bool) -> list[PermutationTest]:
        return [
            shuffled(chosen.scene, encoding, seed, scale, causal, 1.0)
            for encoding in chosen.encodings
        ]

    def columns() -> go.Figure:
        return pictures.columns_chart(tests(False), titles, words, head).figure()

    def errors() -> go.Figure:
        return pictures.shuffle_picture(tests(False), tests(True), titles, words)[0]

    def write(encoding: Encoding) -> str:
        options = _options(chosen, encoding, scale)
        draws = shuffled(chosen.scene, encoding, seed, scale, False, 1.0).draws
        return shuffle_script(
            _tokens(chosen), encoding, _head(chosen), seed=seed, draws=draws,
            fixed=chosen.inputs.special, **options,
        )  # fmt: skip

    return OnScreen(
        name=_name(chosen, "shuffle"),
        title=_title(chosen, "The shuffle test"),
        plots={
            "columns": Plot(
                pictures.COLUMNS,
                columns,
                alt=lambda: pictures.columns_alt(tests(False), words, head),
                caption=lambda: columns_said(titles, head, chosen.inputs.projections.head_dim),
            ),
            "errors": Plot(
                pictures.SHUFFLES,
                errors,
                alt=lambda: pictures.SHUFFLE_ALT,
                caption=lambda: f"{shuffle_done(chosen.inputs.stays)}; all heads, in float64.",
            ),
        },
        settings=_settings(chosen, scale, seed=f"{seed}"),
        tables=lambda: arrays.of_shuffle(chosen, seed, scale),
        scripts=_scripts(chosen, write),
        sources=[permutation_test, attend, *_classes(chosen)],
        references=_references(chosen),
    )


def shift_shown(chosen: Chosen) -> OnScreen:
    """The shift test."""
    scale, by = _slider("scale"), _slider("shift")
    words = chosen.inputs.tokens

    def figure() -> go.Figure:
        tests = [shifted_or_why(chosen.scene, encoding, by, scale) for encoding in chosen.encodings]
        return pictures.shift_chart(tests, chosen.titles, words, chosen.head).figure()

    def write(encoding: Encoding) -> str:
        options = _options(chosen, encoding, scale)
        return shift_script(_tokens(chosen), encoding, _head(chosen), shift=by, **options)

    return OnScreen(
        name=_name(chosen, "shift"),
        title=_title(chosen, "The shift test"),
        plots={
            "": Plot(
                pictures.SHIFTS,
                figure,
                alt=lambda: pictures.SHIFT_ALT,
                caption=lambda: shift_said(by, len(words), chosen.head),
            )
        },
        settings=_settings(chosen, scale, shift=f"{by}"),
        tables=lambda: arrays.of_shift(chosen, by, scale),
        scripts=_scripts(chosen, write),
        sources=[shift_test, attend, *_classes(chosen)],
        references=_references(chosen),
    )


def four_shown(chosen: Chosen) -> OnScreen | None:
    """The four terms of one additive encoding; None where there is none."""
    additive = chosen.additive
    if not additive:
        return None
    scale, removed = _slider("scale"), _slider("removed")
    title, encoding = additive.get(_slider("of"), list(additive.values())[-1])

    def figure() -> go.Figure:
        whole, terms = (split(chosen.scene, encoding, scale, part) for part in (0.0, removed))
        words = chosen.inputs.tokens
        return pictures.four_chart(terms, FOUR, words, chosen.head, whole).figure()

    def write() -> str:
        options = _options(chosen, encoding, scale)
        return four_script(_tokens(chosen), encoding, _head(chosen), removed=removed, **options)

    return OnScreen(
        name=_name(chosen, "four"),
        title=_title(chosen, "Four terms of the scores"),
        plots={
            "": Plot(
                pictures.FOURS,
                figure,
                alt=lambda: pictures.FOUR_ALT,
                caption=lambda: (
                    f"The scores of {title}, multiplied out: queries and keys of "
                    "tokens, of positions."
                ),
            )
        },
        settings=_settings(chosen, scale, encoding=title)
        | {"position projected out": f"{removed:g}"},
        tables=lambda: arrays.of_four(chosen, encoding, scale, removed),
        scripts={title: write},
        sources=[four_terms, attend, *_classes(chosen)],
        references=_references(chosen),
    )


def distance_shown(chosen: Chosen) -> OnScreen:
    """Score against distance."""

    def write(encoding: Encoding) -> str:
        return distance_script(encoding, width_of(encoding), DISTANCES, head=chosen.head)

    return OnScreen(
        name=_name(chosen, "distance"),
        title=_title(chosen, "Score against distance"),
        plots={
            "": Plot(
                pictures.DISTANCES_KEY,
                lambda: pictures.distance_picture(chosen.encodings, chosen.titles, chosen.head)[0],
                alt=lambda: pictures.DISTANCE_ALT,
                caption=lambda: distance_said(FARTHEST, chosen.head),
            )
        },
        settings={"head": f"{chosen.head + 1}"},
        tables=lambda: arrays.of_distance(chosen),
        scripts=_scripts(chosen, write),
        sources=[scores_at_distances, random_scores_at_distances, *_classes(chosen)],
        references=_references(chosen),
    )


def _slider(name: str) -> Any:
    """What a slider of the view last said."""
    return remembered(PAGE).get(name, OF_VIEWS[name][1])


def _tokens(chosen: Chosen) -> Tokens:
    """Where a script finds the words."""
    scene = chosen.scene
    if scene.real:
        model = needed_model()
        return ModelTokens(scene.text, model, min(MOST_TOKENS, model.max_seq_len))
    return WordTokens(scene.text, EMBED_DIM, scene.seed, EMBED_DIM**-0.5, MOST_TOKENS)


def _head(chosen: Chosen) -> Head:
    """Where a script finds the projections."""
    weights = chosen.inputs.projections
    seed = None if chosen.scene.real else 7
    return Head(chosen.head, weights.num_heads, weights.head_dim, seed)


def _options(chosen: Chosen, encoding: Encoding, scale: float) -> dict[str, Any]:
    """What every script but that of distances is told."""
    return {"scale": scale, "sqrt_dim": chosen.inputs.multiplied(encoding)}


def _scripts(chosen: Chosen, write: Callable[[Encoding], str]) -> dict[str, Script]:
    """A script for each encoding, by its title."""
    pairs = zip(chosen.titles, chosen.encodings, strict=True)
    return {title: partial(write, encoding) for title, encoding in pairs}


def _name(chosen: Chosen, view: str = "") -> str:
    return "-".join(["posembed-attention", *([view] if view else []), *chosen.slugs])


def _title(chosen: Chosen, view: str) -> str:
    return f"{view} with {', '.join(chosen.titles)}"


def _settings(chosen: Chosen, scale: float, **more: str) -> dict[str, str]:
    """What was chosen, in words."""
    return {
        "sentence": " ".join(chosen.inputs.tokens),
        "weights": "the model's" if chosen.scene.real else "drawn",
        "head": f"{chosen.head + 1}",
        "scale": written(scale),
        **more,
    }


def _classes(chosen: Chosen) -> list[type[Encoding]]:
    return list(dict.fromkeys(type(encoding) for encoding in chosen.encodings))


def _references(chosen: Chosen) -> list[str]:
    classes = [type(encoding) for encoding in chosen.encodings]
    return [f"{cls.title}: {cls.reference}" for cls in classes]
