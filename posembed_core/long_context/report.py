"""A model's RoPE as text to copy and as tables to keep."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.base import RotaryEncoding
from posembed_core.long_context.pairs import KINDS, PairTable, incomplete_pairs
from posembed_core.long_context.precision import ARITHMETICS, Arithmetic, max_cos_error
from posembed_core.model_config import Finding, RopeSettings
from posembed_core.model_config.findings import in_text

MILESTONES = (2**13, 2**17, 2**20)
_ABOUT_ALL = ("head_dim", "base", "pairing", "rotary_fraction")


def pair_columns(table: PairTable, trained: int, wanted: int) -> dict[str, Float[Tensor, " pairs"]]:
    """``{heading: values}`` of the pairs, float64, in the order of the table to download.

    ``trained`` and ``wanted`` are lengths in tokens: turns and phases are those reached there.

    >>> import posembed_core as pc
    >>> from posembed_core.long_context.pairs import pair_table
    >>> list(pair_columns(pair_table(pc.create("rope", head_dim=4)), 10, 20))[:3]
    ['pair', 'inv_freq_before', 'inv_freq_after']
    """
    turns_trained, _ = table.turns(trained)
    turns_before, turns_after = table.turns(wanted)
    phase_trained, _ = table.phases(trained)
    phase_before, phase_after = table.phases(wanted)
    return {
        "pair": torch.arange(len(table.before), dtype=torch.float64),
        "inv_freq_before": table.before,
        "inv_freq_after": table.after,
        "wavelength_before": table.wavelength_before,
        "wavelength_after": table.wavelength_after,
        f"turns_before_at_{trained}": turns_trained,
        f"turns_before_at_{wanted}": turns_before,
        f"turns_after_at_{wanted}": turns_after,
        f"phase_before_at_{trained}": phase_trained,
        f"phase_before_at_{wanted}": phase_before,
        f"phase_after_at_{wanted}": phase_after,
    }


def distance_columns(
    edges: Int[Tensor, " edges"], before: Float[Tensor, " cells"], after: Float[Tensor, " cells"]
) -> dict[str, Float[Tensor, " cells"]]:
    """``{heading: values}`` of the mean scores of distances ``from`` … ``to``, both included.

    >>> columns = distance_columns(torch.tensor([0, 1, 4]), torch.ones(2), torch.ones(2))
    >>> columns["from"].tolist(), columns["to"].tolist()
    ([0.0, 1.0], [0.0, 3.0])
    """
    return {
        "from": edges[:-1].to(torch.float64),
        "to": edges[1:].to(torch.float64) - 1,
        "score_before": before,
        "score_after": after,
    }


def to_csv(
    columns: Mapping[str, Float[Tensor, " rows"]], words: Mapping[str, Sequence[str]] | None = None
) -> str:
    """The columns as CSV, every float64 with all its digits; ``words`` are columns of text.

    >>> columns = {"n": torch.tensor([1.0, 0.1], dtype=torch.float64)}
    >>> print(to_csv(columns, {"kind": ["a", "b"]}), end="")
    n,kind
    1,a
    0.1,b
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    lists: list[Iterable[str]] = [map(_exact, values.tolist()) for values in columns.values()]
    lists += (words or {}).values()
    writer.writerow([*columns, *(words or {})])
    writer.writerows(zip(*lists, strict=True))
    return text.getvalue()


def stacked(columns: Mapping[str, Float[Tensor, " rows"]]) -> Float[Tensor, "rows columns"]:
    """The columns side by side, for a .npy file.

    >>> stacked({"a": torch.zeros(3), "b": torch.ones(3)}).shape
    torch.Size([3, 2])
    """
    return torch.stack(list(columns.values()), dim=-1)


def report(
    name: str,
    settings: RopeSettings,
    findings: Sequence[Finding],
    table: PairTable,
    lengths: tuple[int, int],
    layers: Sequence[str] = (),
) -> str:
    """What the page shows, as plain text; ``lengths`` are the trained and the wanted one.

    ``layers`` are lines about the whole model, which may have several kinds of layers.

    >>> import posembed_core as pc
    >>> from posembed_core.long_context.pairs import pair_table
    >>> from posembed_core.model_config import read_rope
    >>> (settings,) = read_rope({"head_dim": 4}).settings
    >>> text = report("a model", settings, (), pair_table(settings.encoding, 64), (64, 64))
    >>> print(text.splitlines()[0])
    RoPE of a model
    """
    encoding, (_, wanted) = settings.encoding, lengths
    factor = encoding.attention_factor(wanted)
    facts = {
        "rope type": f"{settings.rope_type} ({encoding.title})",
        **own_fields(encoding),
        "base": f"{encoding.base:.12g} (from {settings.base_from})",
        "head": f"{encoding.head_dim} dimensions (from {settings.head_dim_from})",
        "rotated": (
            f"{encoding.rotary_dim} dimensions, {len(table.before)} pairs, {encoding.pairing}"
        ),
        "attention factor": f"{factor:.9g} on cos and sin, {factor**2:.9g} on scores",
    }
    parts = [
        f"RoPE of {name}" + (f", {settings.layer_type}" if settings.layer_type else ""),
        "\n".join(f"{key:<34}{value}" for key, value in facts.items()),
        summary(table, *lengths, trained_is_given(settings)),
        "\n".join([*layers, in_text(findings)]),
        _rounding(table.after),
        _pairs(table),
    ]
    return "\n\n".join(parts) + "\n"


def trained_is_given(settings: RopeSettings) -> bool:
    """Whether the config says on how many tokens the model was trained.

    Beside a scaling that has no trained length of its own, the one length that is given is what is
    asked for: Gemma 3's 131,072 with a factor of 8.

    >>> from posembed_core.model_config import read_rope
    >>> config = {"head_dim": 64, "rope_theta": 10000.0, "max_position_embeddings": 131072}
    >>> linear = {"rope_scaling": {"type": "linear", "factor": 8}}
    >>> [trained_is_given(read_rope(config | more).settings[0]) for more in ({}, linear)]
    [True, False]
    """
    encoding = settings.encoding
    stretched = getattr(encoding, "factor", 1.0) != 1.0
    own = hasattr(encoding, "original_max_position_embeddings")
    return settings.trained_length is not None and (own or not stretched)


def summary(table: PairTable, trained: int, wanted: int, given: bool = True) -> str:
    """What becomes of the pairs, in two sentences; ``given`` says whether ``trained`` is known.

    >>> import posembed_core as pc
    >>> from posembed_core.long_context.pairs import pair_table
    >>> summary(pair_table(pc.create("rope", head_dim=4), 64), 32, 64).partition(".")[0]
    'Of 2 pairs at 64 tokens: 2 untouched'
    """
    counts, pairs = Counter(table.kind), len(table.before)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    unseen = incomplete_pairs(table.before, trained)
    over = _counted(trained, "position")
    over = f"the {over} of training" if given else f"the first {over}"
    return (
        f"Of {_counted(pairs, 'pair')} at {_counted(wanted, 'token')}: {kinds}. {unseen} never "
        f"complete{'s' * (unseen == 1)} a turn over {over}, "
        f"{incomplete_pairs(table.after, wanted)} over {wanted:,} with the scaling."
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def rounding(inv_freq: Float[Tensor, " pairs"], arithmetic: Arithmetic) -> list[float]:
    """The largest error of a cosine over all pairs and the 1,024 positions up to `MILESTONES`.

    >>> [error < 0.05 for error in rounding(torch.tensor([1.0]).double(), ARITHMETICS["float32"])]
    [True, True, True]
    """
    return [max_cos_error(inv_freq, last, arithmetic, last - 1024) for last in MILESTONES]


def _rounding(inv_freq: Float[Tensor, " pairs"]) -> str:
    heads = "".join(f"{f'at {last:,}':>14}" for last in MILESTONES)
    lines = [f"{'largest error of cos':<46}{heads}"]
    for arithmetic in ARITHMETICS.values():
        cells = "".join(f"{error:>14.3g}" for error in rounding(inv_freq, arithmetic))
        lines.append(f"{arithmetic.title:<46}{cells}")
    return "\n".join(lines)


def _pairs(table: PairTable) -> str:
    lines = ["pair  inv_freq before  after           wavelength before  after           kind"]
    rows = zip(
        table.before.tolist(),
        table.after.tolist(),
        table.wavelength_before.tolist(),
        table.wavelength_after.tolist(),
        table.kind,
        strict=True,
    )
    lines += [
        f"{pair:>4}  {before:<15.9g}  {after:<14.9g}  {long:<17.9g}  {longer:<14.9g}  {kind}"
        for pair, (before, after, long, longer, kind) in enumerate(rows)
    ]
    return "\n".join(lines)


def own_fields(encoding: RotaryEncoding) -> dict[str, str]:
    """The fields set here that plain RoPE lacks, as ``{config key: value}``.

    >>> import posembed_core as pc
    >>> own_fields(pc.create("rope-linear", factor=4))
    {'factor': '4'}
    """
    spelled = {field: key for key, field in encoding.aliases.items()}
    fields = {}
    for name, parameter in encoding.parameters().items():
        value = getattr(encoding, name)
        text = f"{len(value)} numbers" if isinstance(value, tuple) else parameter.format(value)
        if name not in _ABOUT_ALL and value not in {None, ()}:
            fields[spelled.get(name, name)] = text
    return fields


def _exact(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
