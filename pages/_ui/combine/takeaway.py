"""The landing page's picture as code and as files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor

from pages._ui.combine.words import alt, look, seen
from pages._ui.figures.equation import NORMS, TERMS, equation_figure, ranges
from pages._ui.server import cached
from pages._ui.server.cached import SentenceTokens, Setting
from pages._ui.takeaway.code import IN_PYTORCH, NothingShownError, Script
from pages._ui.takeaway.files import Table, View
from pages._ui.takeaway.filled import filled
from pages._ui.takeaway.popover import here
from pages._ui.takeaway.standalone import standalone_html
from pages._ui.takeaway.view import written
from posembed_core import BiasEncoding, RelativeEncoding, RotaryEncoding
from posembed_core.combination import combine
from posembed_core.operations import Combined
from posembed_core.pictures.preview import Preview
from posembed_core.scripts.combine import combine_script
from posembed_core.scripts.values import DrawnTokens, ModelTokens


@dataclass(frozen=True)
class Taken:
    """What is on the screen: the setting, the scale, the positions with numbers."""

    setting: Setting
    scale: float
    at: tuple[int, ...]

    chart = "combine.plot"

    @property
    def preview(self) -> Preview:
        """The setting's picture."""
        return cached.picture(self.setting).preview

    @property
    def scripts(self) -> dict[str, Script]:
        """The setting in plain PyTorch."""
        return {IN_PYTORCH: self.script}

    @property
    def sources(self) -> list[Callable[..., Any]]:
        """What computes it."""
        return [combine, type(self.setting.encoding)]

    @property
    def name(self) -> str:
        """The name of its files."""
        n, d = self.preview.shape
        return f"posembed-{type(self.setting.encoding).slug}-{n}x{d}"

    def script(self) -> str:
        """The setting in plain PyTorch."""
        setting, (n, d) = self.setting, self.preview.shape
        source = setting.source
        tokens: DrawnTokens | ModelTokens
        if isinstance(source, SentenceTokens):
            tokens = ModelTokens(source.text, cached.needed_model())
        else:
            tokens = DrawnTokens(n, d, source.seed, source.std, source.skip)
        return combine_script(
            tokens,
            setting.encoding,
            scale=self.scale,
            operation=setting.operation,
            layer_norm=setting.layer_norm,
            sqrt_dim=setting.sqrt_dim,
            head=setting.head,
            at=[i for i in self.at if i < n] or [0],
        )

    def view(self) -> View:
        """All of it, to take away."""
        cls, link = type(self.setting.encoding), here()
        about = "\n\n".join(
            [
                f"Tokens e and {cls.title}, combined: h.",
                "Matrices are positions × channels, in float32; angles are computed in float64.",
                (cls.__doc__ or "").split("\n")[0],
                cls.reference,
                alt(self.preview, self.preview.frame(self.scale), self.scale),
            ]
        )
        return View(
            name=self.name,
            title=f"Posembed: {cls.title}, combined with tokens",
            about=about,
            link=link,
            settings=self.settings(),
            tables=self.tables(),
            pictures={"": lambda: self.picture(link)},
            scripts=written({"": self.script}),
        )

    def picture(self, link: str) -> str:
        """The figure as it is seen, as a page of its own."""
        preview = self.preview
        frame = preview.frame(self.scale)
        words: tuple[str, ...] = ()
        if isinstance(self.setting.source, SentenceTokens):
            words = cached.sentence(self.setting.source.text).tokens
        curves = {NORMS[term]: getattr(frame.norms, term).numpy() for term in TERMS}
        highest = max(float(curve.max()) for curve in curves.values())
        own_peak = float(frame.cells("position").abs().max())
        figure = filled(
            equation_figure(look(preview, words)),
            {term: frame.cells(term).T.numpy() for term in TERMS},
            curves,
            ranges(frame.peak, own_peak, highest),
        )
        said = "; ".join(f"{name} {value}" for name, value in self.settings().items())
        return standalone_html(
            figure,
            title=f"{type(self.setting.encoding).title}, combined with tokens",
            alt=alt(preview, frame, self.scale),
            caption=f"{seen(preview).replace('; zoom in until it is one', '')} {said}.",
            link=link,
            name=self.name,
        )

    def settings(self) -> dict[str, str]:
        """What was chosen, in words."""
        setting, encoding = self.setting, self.setting.encoding
        fields = {
            name: parameter.format(getattr(encoding, name))
            for name, parameter in encoding.parameters().items()
        }
        source = setting.source
        if isinstance(source, SentenceTokens):
            tokens = f"{source.text!r} in {cached.needed_model().name}"
        else:
            tokens = f"RandomState({source.seed}), std {source.std:g}, {source.skip} draws skipped"
        return {
            "encoding": type(encoding).title,
            **{name: text or "default" for name, text in fields.items()},
            "tokens": tokens,
            "scale": f"{self.scale:g}",
            "operation": setting.operation,
            "LayerNorm": "after the combination" if setting.layer_norm else "none",
            "tokens times √d": "yes" if setting.sqrt_dim else "no",
        }

    def tables(self) -> tuple[Table, ...]:
        """The matrices behind the picture, whole, and their norms."""
        preview, scale, encoding = self.preview, self.scale, self.setting.encoding
        n, d = preview.shape
        width = 2 * d if preview.operation == "concat" else d

        def exact(at: slice) -> Combined:
            return preview.exact_rows(at, scale)

        def norms(at: slice) -> Tensor:
            three = exact(at).norms()
            return torch.stack([getattr(three, term) for term in TERMS], dim=1)

        def of_head(at: slice) -> Tensor:
            head, where = slice(preview.head, preview.head + 1), torch.arange(n)
            bias: Tensor = encoding.bias(where[at], where, heads=head)[0]  # type: ignore[attr-defined]
            return scale * bias

        middle = "vectors of position, scale times p"
        if isinstance(encoding, RotaryEncoding):
            middle = "cosine of the angle by which each channel's pair is turned"
        elif isinstance(encoding, RelativeEncoding):
            middle = "relative vectors of each key, as the query at 0 sees them"
        position = Table("position", middle, (n, d), lambda at: exact(at).position)
        if isinstance(encoding, BiasEncoding):
            about = f"score bias of head {preview.head + 1}, query × key, scale times b"
            position = Table("bias", about, (n, n), of_head, row="query")
        return (
            Table("norms", "norms per position", (n, 3), norms, columns=TERMS, dtype="<f8"),
            Table("token", "token vectors e", (n, d), lambda at: exact(at).token),
            position,
            Table(
                "combined", "combined vectors h", (n, width),
                lambda at: exact(at).combined,
            ),
        )  # fmt: skip


class NoPicture:
    """In place of `Taken` where the settings make no picture."""

    name, chart, sources = "posembed", "combine.plot", (combine,)

    @property
    def scripts(self) -> dict[str, Script]:
        """One that only says why there is none."""
        return {IN_PYTORCH: self.view}

    def view(self) -> NoReturn:
        """Says why there is nothing to take away."""
        raise NothingShownError("There is no picture now: its settings don't fit together.")
