"""The attention page's heads as code and as files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from pages._ui import cached
from pages._ui.attention_choices import PAGE, Chosen
from pages._ui.attention_inputs import EMBED_DIM, MOST_TOKENS, attention
from pages._ui.code import code_popover
from pages._ui.takeaway import here, take_away_popover
from posembed_core import Encoding
from posembed_core.attention import attend
from posembed_core.position_table import PositionTable
from posembed_core.scripts import Head, ModelTokens, WordTokens, attention_script
from posembed_core.takeaway import Table, View


@dataclass(frozen=True)
class Taken:
    """What is on the screen: the choices, the sliders, and the query whose row is explained."""

    chosen: Chosen
    scale: float
    temperature: float
    query: int

    def script(self, encoding: Encoding) -> str:
        """One of the encodings in plain PyTorch."""
        chosen, scene = self.chosen, self.chosen.scene
        weights = chosen.there.projections
        tokens: ModelTokens | WordTokens
        if scene.real:
            model = cached.needed_model()
            tokens = ModelTokens(scene.text, model, min(MOST_TOKENS, model.max_seq_len))
        else:
            std = EMBED_DIM**-0.5
            tokens = WordTokens(scene.text, EMBED_DIM, scene.seed, std, MOST_TOKENS)
        seed = None if scene.real else 7
        return attention_script(
            tokens,
            encoding,
            Head(chosen.head, weights.num_heads, weights.head_dim, seed),
            scale=self.scale,
            sqrt_dim=scene.sqrt_dim and not isinstance(encoding, PositionTable),
            causal=chosen.causal,
            temperature=self.temperature,
            at=[self.query],
        )

    def view(self) -> View:
        """The scores and weights of each encoding, to take away."""
        chosen, link = self.chosen, here()
        encodings = dict(zip(chosen.slugs, chosen.encodings, strict=True))
        about = "\n\n".join(
            [
                f"Head {chosen.head + 1} of one attention layer: scores and softmax, query × key.",
                *(f"{type(one).title}: {type(one).reference}" for one in encodings.values()),
            ]
        )
        return View(
            name=f"posembed-attention-{'-'.join(chosen.slugs)}",
            title=f"Posembed: attention with {', '.join(chosen.titles)}",
            about=about,
            link=link,
            settings={
                "sentence": " ".join(chosen.there.tokens),
                "weights": "the model's" if chosen.scene.real else "drawn",
                "head": f"{chosen.head + 1}",
                "causal mask": "yes" if chosen.causal else "no",
                "scale": f"{self.scale:g}",
                "temperature": f"{self.temperature:g}",
            },
            tables=[
                self._table(slug, encoding, what)
                for slug, encoding in encodings.items()
                for what in ("scores", "weights")
            ],
        )

    def _table(self, slug: str, encoding: Encoding, what: str) -> Table:
        chosen, n = self.chosen, len(self.chosen.there.tokens)

        def rows(at: slice) -> Tensor:
            found = attention(
                chosen.scene, encoding, chosen.head, self.scale, chosen.causal, self.temperature
            )
            cells: Tensor = getattr(found, what)[at]
            return cells.masked_fill(~found.allowed[at], -torch.inf if what == "scores" else 0.0)

        about = f"{what} with {type(encoding).title}, query × key"
        return Table(f"{slug}-{what}", about, (n, n), rows, row="query")


def tools(chosen: Chosen, scale: float, temperature: float, query: int) -> None:
    """The buttons for code and files, for what is on the screen."""
    taken = Taken(chosen, scale, temperature, query)
    pairs = zip(chosen.titles, chosen.encodings, strict=True)
    code_popover(
        {title: partial(taken.script, encoding) for title, encoding in pairs},
        [attend, *dict.fromkeys(type(encoding) for encoding in chosen.encodings)],
        name="posembed-attention",
        key=f"{PAGE}.code",
    )
    take_away_popover(taken.view, chart=f"{PAGE}.weights", key=f"{PAGE}.take")
