"""Which tensors of a checkpoint look like position tables, and what their odd rows stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from jaxtyping import Float
from torch import Tensor

from posembed_core.tables.position_table import dims

# GPT-2 wpe · BERT position_embeddings · CLIP position_embedding, positional_embedding · timm and
# MAE pos_embed · torchvision pos_embedding · BART, OPT, Whisper embed_positions · minGPT pos_emb ·
# PyTorch's tutorial pos_encoder.pe · pos_table
_POSITION = re.compile(
    r"(^|[._/])(wpe|pe|(abs(olute)?_)?pos(ition(al)?)?s?_?"
    r"(emb|embed|embedding|enc|encoder|encoding|table)s?"
    r"|embed_positions?|position_table)([._/]|$)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"relative|rel_pos|rotary|inv_freq|bias|norm|token_type|_ids?([._/]|$)", re.IGNORECASE
)
_WORDS = re.compile(
    r"(^|[._/])(wte|word_?embeddings?|embed_tokens|tok(en)?_?emb(ed|edding|eddings)?"
    r"|token_embedding_table|shared|embeddings?|(src_|tgt_)?(en|de)coder|emb)[._/]?(weight)?$",
    re.IGNORECASE,
)
_VISION = re.compile(r"vision|visual|image|patch|(^|[._/])(vit|deit)([._/]|$)", re.IGNORECASE)
# LayoutLM's tables of where a word stands on the page: left, top, width and height of its box.
_OF_A_PAGE = re.compile(r"(^|[._/])([xywh]|row|col(umn)?|height|width)_", re.IGNORECASE)
_NAMELESS = {"array", "tensor", "arr_0"}  # what .npy, a bare tensor in a .pt, and .npz are called

# RoBERTa, BART, OPT, ESM-2, Longformer, BGE-M3: positions start at row 2 (padding_idx + 1).
_TWO_MORE = {length + 2 for length in (512, 1024, 2048, 4096, 8192)}
# A class token and 14², 24² or 37² patches: sizes that no text model has. 16² + 1 and 32² + 1 are
# no such sizes: a text table of a power of two and one may have them, too.
_ONE_MORE = {side**2 + 1 for side in (14, 24, 37)}

# Where transformers' modeling files count positions from padding_idx + 1
# (create_position_ids_from_input_ids), and from 2, whatever the padding is.
_AFTER_PADDING = frozenset({
    "altclip_text_model", "bridgetower_text_model", "camembert", "clap_text_model",
    "data2vec-text", "esm", "ibert", "layoutlmv3", "lilt", "longformer", "luke", "markuplm",
    "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
})  # fmt: skip
_PADDING = {"lilt": 0, "markuplm": 0}  # not 1, which the others have
_FROM_TWO = frozenset({
    "bart", "biogpt", "mbart", "mpnet", "mra", "mvp", "nystromformer", "opt", "plbart", "yoso",
})  # fmt: skip
_FROM_ZERO = frozenset({
    "albert", "bert", "bert-generation", "big_bird", "canine", "convbert", "deberta", "deberta-v2",
    "distilbert", "electra", "ernie", "gpt2", "gpt_bigcode", "gpt_neo", "layoutlm", "layoutlmv2",
    "megatron-bert", "mobilebert", "openai-gpt", "rembert", "roc_bert", "splinter", "squeezebert",
    "visual_bert",
})  # fmt: skip


def looks_like_positions(name: str, shape: tuple[int, ...]) -> bool:
    """Whether a tensor's name and shape are those of a position table.

    >>> looks_like_positions("transformer.wpe.weight", (1024, 768))
    True
    >>> looks_like_positions("transformer.wte.weight", (50257, 768))
    False
    """
    return is_flat(shape) and is_named_like_positions(name)


def is_named_like_positions(name: str) -> bool:
    """Whether a name is that of a position table, whatever its shape.

    >>> is_named_like_positions("pos_embed"), is_named_like_positions("rel_pos_emb.weight")
    (True, False)
    """
    return _POSITION.search(name) is not None and _OTHER.search(name) is None


def is_flat(shape: tuple[int, ...]) -> bool:
    """Whether it is a matrix, or one with a third axis of length 1, as (1, n, d) or (n, 1, d).

    >>> is_flat((1, 197, 768)), is_flat((50, 1, 8)), is_flat((50, 8, 1))
    (True, True, False)
    """
    return len(shape) == 2 or (len(shape) == 3 and 1 in shape[:2])


def flattened(shape: tuple[int, ...]) -> tuple[int, int]:
    """The two axes of a shape that `is_flat`.

    >>> flattened((1, 197, 768)), flattened((50, 1, 8))
    ((197, 768), (50, 8))
    """
    return (shape[-3] if len(shape) == 3 and shape[0] != 1 else shape[-2]), shape[-1]


def not_text(name: str, shape: tuple[int, ...]) -> int:
    """0 for the position table of a text, 1 of an image, 2 of a word's place on a page.

    >>> not_text("position_embeddings.weight", (512, 8)), not_text("pos_embed", (1, 197, 8))
    (0, 1)
    """
    if _OF_A_PAGE.search(name):
        return 2
    return int(_VISION.search(name) is not None or (len(shape) == 3 and shape[0] == 1))


def unlike_positions(name: str, others: list[str]) -> str | None:
    """A sentence about a table whose name isn't one of a position table; None where it may be.

    ``others`` names the tensors of the file that are called so but can't be shown.

    >>> unlike_positions("wte.weight", [])
    "'wte.weight' is named like a table of words, not of positions"
    """
    if name in _NAMELESS or is_named_like_positions(name):
        return None
    words = _WORDS.search(name)
    what = "like a table of words, not of positions" if words else "like no position table"
    instead = f"; the file's {' and '.join(others)} can't be shown" if others else ""
    return f"{name!r} is named {what}{instead}"


def leading_rows(
    name: str, shape: tuple[int, ...], config: Mapping[str, Any] | None = None
) -> tuple[int, str | None]:
    """How many first rows belong to no position, and a sentence about it, if any do.

    ``shape`` is the tensor's as the file has it: timm's vision tables are 1 × rows × columns.
    ``config`` is the model's config.json where there is one; the type that it names decides.

    >>> leading_rows("embeddings.position_embeddings.weight", (514, 768))[0]
    2
    >>> leading_rows("position_embeddings", (40, 8), {"model_type": "mpnet", "pad_token_id": 1})[0]
    2
    """
    rows = flattened(shape)[0]
    known = None if config is None else _of_type(rows, config)
    return known or _of_shape(name, shape, rows)


def _of_type(rows: int, config: Mapping[str, Any]) -> tuple[int, str | None] | None:
    kind = str(config.get("model_type", ""))
    if kind in _AFTER_PADDING:
        padding = config.get("pad_token_id")
        first = int(_PADDING.get(kind, 1) if padding is None else padding) + 1
        return first, f"positions of {kind} start after the padding row, at row {first}"
    longest = config.get("max_position_embeddings")
    if kind in _FROM_TWO or (kind not in _FROM_ZERO and longest == rows - 2):
        return 2, f"positions of {kind or 'this model'} start at row 2"
    return (0, None) if kind in _FROM_ZERO else None


def _of_shape(name: str, shape: tuple[int, ...], rows: int) -> tuple[int, str | None]:
    side = math.isqrt(max(rows - 1, 0))
    vision = not_text(name, shape) == 1
    is_gpts = re.search(r"(^|[._/])wpe([._/]|$)", name) is not None
    if side**2 + 1 == rows and ((vision and side >= 2) or (rows in _ONE_MORE and not is_gpts)):
        return 1, (
            f"{rows} = {side}² + 1 rows: row 0 belongs to the class token, "
            f"the others to {side} × {side} patches"
        )
    # DeiT's distillation token stands behind its class token.
    if vision and math.isqrt(max(rows - 2, 0)) ** 2 + 2 == rows and rows > 2 + 4:
        side = math.isqrt(rows - 2)
        return 2, (
            f"{rows} = {side}² + 2 rows: the first two belong to the class and the distillation "
            f"token, the others to {side} × {side} patches"
        )
    if rows in _TWO_MORE:
        return 2, (
            f"{rows} = {rows - 2} + 2 rows: the first two belong to no position, "
            "as in RoBERTa, BART and OPT, where position 0 is row 2"
        )
    return 0, None


def prefix_rows(count: int) -> str | None:
    """A sentence about first rows that a reader says belong to no position, if there are any.

    >>> prefix_rows(1)
    'row 0 belongs to no position, as was chosen'
    """
    if count < 1:
        return None
    rows, verb = ("row 0", "belongs") if count == 1 else (f"rows 0–{count - 1}", "belong")
    return f"{rows} {verb} to no position, as was chosen"


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
    """A sentence about an axis of length 1 that is dropped, if there is one.

    >>> squeezed((1, 197, 768))
    '1 × 197 × 768 read as 197 × 768'
    """
    return f"{dims(shape)} read as {dims(flattened(shape))}" if len(shape) == 3 else None


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
