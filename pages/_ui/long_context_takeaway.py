"""A model's RoPE as code and as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from pages._ui.code import code_popover
from pages._ui.figures.standalone import standalone_html
from pages._ui.figures.two_pictures import Lengths
from pages._ui.rope_pictures import pairs_picture, score_columns
from pages._ui.rope_words import pairs_alt
from pages._ui.takeaway import here, take_away_popover
from posembed_core import RotaryEncoding
from posembed_core.long_context import pair_table
from posembed_core.rope_report import pair_columns, stacked, summary
from posembed_core.scripts import NoRecipeError, frequency_script
from posembed_core.takeaway import Table, View


@dataclass(frozen=True)
class Taken:
    """What is on the screen: a model's RoPE, the two lengths, and what the left picture shows."""

    model: str
    encoding: RotaryEncoding
    lengths: Lengths
    position: int
    quantity: str

    def script(self) -> str:
        """The frequencies in plain PyTorch."""
        return frequency_script(self.encoding, self.lengths.wanted)

    def view(self) -> View:
        """The tables behind both pictures, and the left one, to take away."""
        encoding, (trained, wanted) = self.encoding, (self.lengths.trained, self.lengths.wanted)
        table, link = pair_table(encoding, wanted), here()
        said = summary(table, trained, wanted)
        name, title = f"posembed-{encoding.slug}-{wanted}", f"RoPE of {self.model}"

        def picture() -> str:
            return standalone_html(
                pairs_picture(encoding, trained, wanted, self.position, self.quantity),
                title=title, alt=pairs_alt(table, said), caption=said, link=link, name=name,
            )  # fmt: skip

        try:
            script = self.script()
        except NoRecipeError:
            script = ""
        return View(
            name=name,
            title=f"Posembed: {title}",
            about=f"{said}\n\n{encoding.title}: {encoding.reference}",
            link=link,
            settings={
                "encoding": encoding.title,
                **{
                    field: parameter.format(getattr(encoding, field)) or "default"
                    for field, parameter in encoding.parameters().items()
                },
                "trained length": f"{trained}",
                "wanted length": f"{wanted}",
            },
            tables=(
                _columns(
                    "pairs", "each pair of channels", pair_columns(table, trained, wanted), "row"
                ),
                _columns(
                    "scores", "mean score against distance", score_columns(encoding, wanted), "row"
                ),
            ),
            picture=picture,
            script=script,
        )


def _columns(name: str, about: str, columns: Mapping[str, Tensor], row: str) -> Table:
    matrix = stacked(columns)
    shape = (matrix.shape[0], matrix.shape[1])
    return Table(name, about, shape, lambda at: matrix[at], row, tuple(columns), "<f8")


def tools(taken: Taken, page: str) -> None:
    """The buttons for code and files, for what is on the screen."""
    code_popover(
        taken.script,
        [pair_table, type(taken.encoding)],
        name="posembed-rope",
        key=f"{page}.code",
    )
    take_away_popover(taken.view, chart=f"{page}.pairs", key=f"{page}.take")
