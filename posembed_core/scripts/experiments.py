"""Scripts of the experiments in `attention.shuffle`, `.experiments` and `.distance`."""

from __future__ import annotations

from collections.abc import Sequence

from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    EncodingError,
    RelativeEncoding,
)
from posembed_core.scripts.values import (
    PROMISE,
    Head,
    ModelTokens,
    NoRecipeError,
    Tokens,
    check_own,
    family_of,
    given_fields,
    given_norm,
    given_tokens,
    heading_of,
    length_of,
    projections_of,
    recipe_of,
    source_of,
)
from posembed_core.scripts.writer import Function, Given, Part, has_section, write

_PROBES, _ATTENTION, _FOUR, _DISTANCE = (
    f"blocks/{name}" for name in ("probes", "attention", "four", "distance")
)


def shuffle_script(
    tokens: Tokens,
    encoding: Encoding,
    head: Head,
    *,
    seed: int,
    draws: int = 1,
    fixed: Sequence[int] = (),
    scale: float = 1.0,
    sqrt_dim: bool = False,
) -> str:
    """The script of `attention.shuffle.permutation_test`, without a mask and with one.

    ``draws`` is the test's: which of the seed's shuffles it is; the tokens in the ``fixed`` slots
    stay there. All heads, in float64; ``head`` says where the projections come from. Raises
    `NoRecipeError` as `posembed_core.scripts.combine.attention_script` does.

    >>> import posembed_core as pc
    >>> from posembed_core.scripts.values import DrawnTokens
    >>> tokens, none, head = DrawnTokens(8, 4), pc.create("none", embed_dim=4), Head(0, 2, 4)
    >>> "shuffle_seed = 3" in shuffle_script(tokens, none, head, seed=3)
    True
    """
    own = check_own(tokens, head)
    inside = _layer(encoding, own, tokens, "positions")
    kind = "model output" if own else "drawn output"
    inside += [Part(_PROBES, ("softmax",)), Part(_ATTENTION, (kind,))]
    if isinstance(encoding, RelativeEncoding):
        inside.append(Part(recipe_of(encoding), ("values",)))
    signature = "def output_of(head: int, e: torch.Tensor, causal: bool) -> torch.Tensor:"
    parts: list[Part | Function] = [
        source_of(tokens),
        *_rows(encoding, tokens, "rows"),
        Function(signature, tuple(inside), "return output"),
        Part(_PROBES, ("shuffle",)),
    ]
    given = _given(tokens, encoding, head, length_of(tokens), scale, sqrt_dim)
    given |= {
        "shuffle_seed": Given(seed),
        "draws": Given(draws, "the first of the seed's shuffles that changes the text"),
        "fixed": Given(list(fixed), "the slots of special tokens, which stay"),
    }
    title = f"{encoding.title}: attention on shuffled words. {PROMISE}"
    return write(title, parts, given, double=True)


def shift_script(
    tokens: Tokens,
    encoding: Encoding,
    head: Head,
    *,
    shift: int,
    scale: float = 1.0,
    sqrt_dim: bool = False,
    at: Sequence[int] = (0,),
) -> str:
    """The script of `attention.experiments.shift_test`; it prints the changes of queries ``at``.

    Raises `NoRecipeError` as `shuffle_script` does, and where a table has no row for a position.

    >>> import posembed_core as pc
    >>> from posembed_core.scripts.values import DrawnTokens
    >>> tokens, none, head = DrawnTokens(8, 4), pc.create("none", embed_dim=4), Head(0, 2, 4)
    >>> "shift = 5" in shift_script(tokens, none, head, shift=5)
    True
    """
    own, n = check_own(tokens, head), length_of(tokens)
    if isinstance(encoding, AdditiveEncoding):
        try:
            encoding.check_positions([n - 1 + shift])
        except EncodingError as error:
            reason = str(error).partition(";")[0]
            raise NoRecipeError(f"There is nothing to compute: {reason}.") from error
    inside = _layer(encoding, own, tokens, "moved")
    parts: list[Part | Function] = [
        source_of(tokens),
        *_rows(encoding, tokens, "shifted rows"),
        Function(
            "def scores_of(head: int, i: torch.Tensor) -> torch.Tensor:",
            tuple(inside),
            "return scores",
        ),
        Part(_PROBES, ("shift",)),
    ]
    given = _given(tokens, encoding, head, n + shift, scale, sqrt_dim)
    given |= {
        "shift": Given(shift, "how far all positions move"),
        "shown_head": Given(head.number, "the first is 0"),
        "at": Given(list(at), "the queries to print"),
    }
    title = f"{encoding.title}: what scores notice when all positions move. {PROMISE}"
    return write(title, parts, given, double=True)


def four_script(
    tokens: Tokens,
    encoding: AdditiveEncoding,
    head: Head,
    *,
    scale: float = 1.0,
    sqrt_dim: bool = False,
    removed: float = 0.0,
    at: Sequence[int] = (0,),
) -> str:
    """The script of `attention.experiments.four_terms` for one head; it prints queries ``at``.

    >>> import posembed_core as pc
    >>> from posembed_core.scripts.values import DrawnTokens
    >>> tokens, none, head = DrawnTokens(8, 4), pc.create("none", embed_dim=4), Head(0, 2, 4)
    >>> "softmax_scale" in four_script(tokens, none, head)
    True
    """
    own = check_own(tokens, head)
    weights = "model weights" if own else "drawn weights"
    parts: list[Part | Function] = [
        source_of(tokens),
        *_rows(encoding, tokens, "rows"),
        Part(_FOUR, ("parts", "projected") if removed else ("parts",)),
        Part(_ATTENTION, (weights,)),
        Part(_FOUR, ("model" if own else "drawn", "show")),
    ]
    given = _given(tokens, encoding, head, length_of(tokens), scale, sqrt_dim)
    given |= {
        "head": Given(head.number, "the first is 0"),
        "has_weights": Given(own and given["has_weights"].value),
        "removed": Given(removed, "how much of the positions' directions is projected out"),
        "at": Given(list(at), "the queries to print"),
    }
    title = f"{encoding.title}: the scores of one head as a sum of four. {PROMISE}"
    return write(title, parts, given, double=True)


def distance_script(
    encoding: Encoding,
    width: int,
    distances: Sequence[int],
    *,
    head: int = 0,
    draws: int = 256,
    asked: Sequence[int] = (0, 1, 10, 100),
) -> str:
    """The script of score against distance; it prints the distances ``asked``.

    q and k are ``width`` wide: all ones (zeros for an additive encoding and a bias, whose own
    curve is shown), then ``draws`` independent normal ones. The query stands at the last of the
    ascending ``distances``. Raises `NoRecipeError` for an encoding without a recipe.

    >>> import posembed_core as pc
    >>> "farthest = 4" in distance_script(pc.create("rope", head_dim=4), 4, [0, 1, 4])
    True
    """
    family, recipe, farthest = family_of(encoding), recipe_of(encoding), distances[-1]
    if encoding.counts_keys:
        distances = range(farthest + 1)
    every = len(distances) == farthest + 1
    bare = isinstance(encoding, AdditiveEncoding | BiasEncoding)
    signature = "def scores_of(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:"
    own = Part(recipe, ("",), heading_of(encoding))
    scores = Part(recipe if has_section(recipe, "scores") else family, ("scores",))
    before: list[Part | Function]
    if isinstance(encoding, AdditiveEncoding):
        before = [Part(_DISTANCE, ("all rows",)), own, Part(_DISTANCE, ("added",))]
        inside = [Part(_DISTANCE, ("scores",))]
    elif isinstance(encoding, BiasEncoding):
        bias = "def bias_of(i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:"
        before = [Part(_DISTANCE, ("positions",)), Function(bias, (own,), "return b")]
        inside = [Part(_DISTANCE, ("biased",))]
    else:
        before = [Part(_DISTANCE, ("positions",)), Part(family, ("width",)), own]
        before.append(Part(family, ("rotation",)))
        inside = [Part(recipe, ("attention",)), scores]
    claim = {"blocks/rotary": ("rotary",), "blocks/bias": ("bias",)}.get(family, ())
    given = {
        **given_fields(encoding, farthest + 1),
        "s": Given(1.0, "the scale of position"),
        "width": Given(width, "dimensions of q and k"),
        "value": Given(0.0 if bare else 1.0, "of q and k: their product is left out at 0"),
        "draws": Given(draws),
        "head": Given(head, "the first is 0"),
        "softmax_scale": Given(encoding.softmax_scale(width)),
        "scaled": Given(getattr(encoding, "scaled", True)),
        "farthest": Given(farthest, "the query's position"),
        "apart": Given(range(farthest + 1) if every else list(distances), "tokens back"),
        "asked": Given(
            [distance for distance in asked if distance in distances], "the distances to print"
        ),
    }
    parts = [*before, Function(signature, tuple(inside), "return scores"),
             Part(_DISTANCE, ("show", *claim))]  # fmt: skip
    return write(f"{encoding.title}: score against distance. {PROMISE}", parts, given, double=True)


def _rows(encoding: Encoding, tokens: Tokens, positions: str) -> list[Part]:
    """What an additive encoding computes once for all heads: a vector for each position."""
    if not isinstance(encoding, AdditiveEncoding):
        return []
    return [
        Part(_PROBES, (positions,)),
        Part(recipe_of(encoding, tokens), ("",), heading_of(encoding)),
    ]


def _layer(encoding: Encoding, own: bool, tokens: Tokens, positions: str) -> list[Part]:
    """What the function of one head does, up to its scores."""
    family, recipe = family_of(encoding), recipe_of(encoding, tokens)
    inside = [Part(_PROBES, (positions,))]
    if isinstance(encoding, AdditiveEncoding):
        inside = [Part(_PROBES, ("positions", "added") if positions == "positions" else
                       ("added there",))]  # fmt: skip
    else:
        inside.append(Part(_PROBES, ("alone",)))
    inside.append(Part(_ATTENTION, projections_of(own)))
    if not isinstance(encoding, AdditiveEncoding):
        inside += [
            Part(family, ("width",)),
            Part(recipe, ("", "attention"), heading_of(encoding)),
            Part(family, ("rotation",)),
        ]
    inside.append(Part(recipe if has_section(recipe, "scores") else family, ("scores",)))
    return inside


def _given(
    tokens: Tokens, encoding: Encoding, head: Head, seq_len: int, scale: float, sqrt_dim: bool
) -> dict[str, Given]:
    return {
        **given_tokens(tokens, sqrt_dim),
        **given_fields(encoding, seq_len),
        **given_norm(tokens, isinstance(tokens, ModelTokens) and head.seed is None, "add"),
        "s": Given(scale, "the scale of position"),
        "head_dim": Given(head.head_dim),
        "num_heads": Given(head.num_heads),
        "projection_seed": Given(head.seed),
        "layer": Given(head.layer),
        "softmax_scale": Given(encoding.softmax_scale(head.head_dim)),
        "scaled": Given(getattr(encoding, "scaled", True)),
    }
