"""Which tensors of a checkpoint look like position tables, and what their odd rows stand for."""

from __future__ import annotations

import math
import re

from jaxtyping import Float
from torch import Tensor

from posembed_core.tables.position_table import dims

# GPT-2 wpe · BERT position_embeddings · CLIP position_embedding, positional_embedding · timm and
# MAE pos_embed · torchvision pos_embedding · BART, OPT, Whisper embed_positions · minGPT pos_emb
_POSITION = re.compile(
    r"(^|[._/])(wpe|pe|(abs(olute)?_)?pos(ition(al)?)?s?_?(emb|embed|embedding|enc|encoding)s?"
    r"|embed_positions?|position_table)([._/]|$)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"relative|rel_pos|rotary|inv_freq|bias|norm|token_type|_ids?([._/]|$)", re.IGNORECASE
)
_VISION = re.compile(r"vision|visual|image|patch|(^|[._/])vit([._/]|$)", re.IGNORECASE)

# RoBERTa, BART, OPT, ESM-2, Longformer, BGE-M3: positions start at row 2 (padding_idx + 1).
_TWO_MORE = {length + 2 for length in (512, 1024, 2048, 4096, 8192)}
# A class token and 14², 16², 24², 32², 37² patches: sizes that no text model has.
_ONE_MORE = {side**2 + 1 for side in (14, 16, 24, 32, 37)}


def looks_like_positions(name: str, shape: tuple[int, ...]) -> bool:
    """Whether a tensor's name and shape are those of a position table.

    >>> looks_like_positions("transformer.wpe.weight", (1024, 768))
    True
    >>> looks_like_positions("transformer.wte.weight", (50257, 768))
    False
    """
    flat = len(shape) == 2 or (len(shape) == 3 and shape[0] == 1)
    return flat and _POSITION.search(name) is not None and _OTHER.search(name) is None


def leading_rows(name: str, shape: tuple[int, ...]) -> tuple[int, str | None]:
    """How many first rows belong to no position, and a sentence about it, if any do.

    ``shape`` is the tensor's as the file has it: timm's vision tables are 1 × rows × columns.

    >>> leading_rows("embeddings.position_embeddings.weight", (514, 768))[0]
    2
    """
    rows = shape[-2]
    side = math.isqrt(max(rows - 1, 0))
    vision = _VISION.search(name) is not None or len(shape) == 3
    if side**2 + 1 == rows and ((vision and side >= 2) or rows in _ONE_MORE):
        return 1, (
            f"{rows} = {side}² + 1 rows: row 0 belongs to the class token, "
            f"the others to {side} × {side} patches"
        )
    if rows in _TWO_MORE:
        return 2, (
            f"{rows} = {rows - 2} + 2 rows: the first two belong to no position, "
            "as in RoBERTa, BART and OPT, where position 0 is row 2"
        )
    return 0, None


def zero_rows(weight: Float[Tensor, "rows columns"], offset: int) -> str | None:
    """A sentence that names the rows which are zero throughout, if there are any.

    >>> import torch
    >>> zero_rows(torch.tensor([[1.0], [0.0]]), 0)
    'row 1 is zero: never trained'
    """
    zero = (weight == 0).all(dim=1).nonzero().flatten().tolist()
    if not zero:
        return None
    if zero == [1] and offset == 2:
        return "row 1, the padding row, is zero"
    which = "row" if len(zero) == 1 else "rows"
    verb = "is" if len(zero) == 1 else "are"
    return f"{which} {ranges(zero)} {verb} zero: never trained"


def squeezed(shape: tuple[int, ...]) -> str | None:
    """A sentence about a leading axis of length 1, if there is one.

    >>> squeezed((1, 197, 768))
    '1 × 197 × 768 read as 197 × 768'
    """
    return f"{dims(shape)} read as {dims(shape[1:])}" if len(shape) == 3 else None


def ranges(numbers: list[int]) -> str:
    """Ascending numbers in words: ``3, 7–9``.

    >>> ranges([3, 7, 8, 9])
    '3, 7–9'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    shown = ["–".join(map(str, span)) for span in spans[:8]]
    return ", ".join(shown) + (" …" if len(spans) > 8 else "")
