"""The landing page's picture as code and as files."""

from __future__ import annotations

from functools import partial
from typing import NoReturn

import torch
from torch import Tensor

from pages._ui.combine.pictures import chart
from pages._ui.combine.settings import CHART, sentence_tokens
from pages._ui.combine.words import alt, colours, seen
from pages._ui.families import words_of
from pages._ui.figures.equation import TERMS
from pages._ui.numbers import written
from pages._ui.sentences import counted
from pages._ui.server.installed_model import needed_model
from pages._ui.server.pictures import picture
from pages._ui.server.setting import SentenceTokens, Setting
from pages._ui.takeaway import IN_PYTORCH, NothingShownError, OnScreen, Plot, Table
from posembed_core.combination import combine
from posembed_core.pictures.preview import Reading
from posembed_core.scripts.combine import combine_script
from posembed_core.scripts.values import DrawnTokens, ModelTokens


def combination_shown(
    setting: Setting | None = None,
    scale: float = 1.0,
    at: tuple[int, ...] = (),
    fitted_at: float | None = None,
) -> OnScreen:
    """The pictures, and the numbers at the positions ``at``; without a setting, why there are none.

    Raises `EncodingError` or `CheckpointError` where the setting makes no picture.
    """
    if setting is None:
        return _nothing_shown()
    reading = picture(setting).preview.at(scale, fitted_at)
    # The title of its kind: a table that was read has one of its own besides.
    cls, (n, d) = type(setting.encoding), reading.preview.shape
    plot = Plot(
        CHART,
        figure=lambda: chart(reading, sentence_tokens(setting.source)[:n]),
        alt=lambda: alt(reading),
        caption=lambda: " ".join(
            [seen(reading.preview).replace("; zoom in to see all", ""), colours(reading)]
        ),
    )
    return OnScreen(
        name=f"posembed-{cls.slug}-{n}x{d}",
        title=f"{cls.title}, combined with tokens",
        plots={"": plot},
        settings=_settings(setting, scale),
        tables=lambda: _tables(reading),
        scripts={IN_PYTORCH: partial(_script, setting, scale, at, n)},
        sources=[combine, cls],
        about=lambda: "\n\n".join(
            [
                f"Tokens e and {cls.title}, combined: h.",
                "Matrices are positions × dimensions, in float32; angles are computed in float64.",
                (cls.__doc__ or "").split("\n")[0],
                cls.reference,
                alt(reading),
            ]
        ),
    )


def _nothing_shown() -> OnScreen:
    def refuse() -> NoReturn:
        raise NothingShownError("There is no picture: the settings don't fit together.")

    return OnScreen(
        name="posembed",
        title="",
        plots={"": Plot(CHART, figure=refuse, alt=refuse, caption=refuse)},
        settings={},
        tables=tuple,
        scripts={IN_PYTORCH: refuse},
        sources=[combine],
    )


def _script(setting: Setting, scale: float, at: tuple[int, ...], n: int) -> str:
    """The setting in plain PyTorch."""
    source = setting.source
    tokens: DrawnTokens | ModelTokens
    if isinstance(source, SentenceTokens):
        tokens = ModelTokens(source.text, needed_model(), setting.length)
    else:
        tokens = DrawnTokens(n, setting.dimension, source.seed, source.std, source.skip)
    return combine_script(
        tokens,
        setting.encoding,
        scale=scale,
        operation=setting.operation,
        layer_norm=setting.layer_norm,
        sqrt_dim=setting.sqrt_dim,
        head=setting.head,
        at=[i for i in at if i < n] or [0],
    )


def _settings(setting: Setting, scale: float) -> dict[str, str]:
    """What was chosen, in words."""
    encoding, source = setting.encoding, setting.source
    fields = {
        name: parameter.format(getattr(encoding, name))
        for name, parameter in encoding.parameters().items()
    }
    if isinstance(source, SentenceTokens):
        tokens = f"{source.text!r} in {needed_model().name}"
        if len(sentence_tokens(source)) > setting.length:
            tokens += f", its first {counted(setting.length, 'token')}"
    else:
        tokens = (
            f"RandomState({source.seed}), std {written(source.std)}, {source.skip} draws skipped"
        )
    return {
        "encoding": type(encoding).title,
        **{name: text or "default" for name, text in fields.items()},
        "tokens": tokens,
        "scale": written(scale),
        "operation": setting.operation,
        "LayerNorm": "after the combination" if setting.layer_norm else "none",
        "tokens times √d": "yes" if setting.sqrt_dim else "no",
    }


def _tables(reading: Reading) -> tuple[Table, ...]:
    """The matrices behind the picture, whole, and their norms."""
    preview, (n, d) = reading.preview, reading.preview.shape
    width = 2 * d if preview.operation == "concat" else d
    middle = words_of(preview.encoding).middle
    about = middle.about.format(head=preview.head + 1)

    def norms(at: slice) -> Tensor:
        three = reading.rows(at).norms()
        return torch.stack([getattr(three, term) for term in TERMS], dim=1)

    position = Table(middle.array, about, (n, d), lambda at: reading.rows(at).position)
    if preview.shows_bias:
        position = Table(middle.array, about, (n, n), reading.bias, row=middle.up)
    return (
        Table("norms", "norms per position", (n, 3), norms, columns=TERMS, dtype="<f8"),
        Table("token", "token vectors e", (n, d), lambda at: reading.rows(at).token),
        position,
        Table("combined", "combined vectors h", (n, width), lambda at: reading.rows(at).combined),
    )
