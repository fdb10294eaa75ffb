"""What is wrong with a config's RoPE, or merely not what it seems: plain sentences with numbers."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from posembed_core.base import RotaryEncoding
from posembed_core.model_config.blocks import ConfigError, RopeBlock
from posembed_core.model_config.has import what_it_has
from posembed_core.model_config.model_types import model_type
from posembed_core.model_config.settings import (
    RopeSettings,
    alpha_of,
    is_interleaved,
    long_mscale_of,
)
from posembed_core.parameters import EncodingError, int_or_none, shown
from posembed_core.registry import encodings

_NAMES = frozenset({"rope_type", "type"})
_ANY_TYPE = frozenset(
    {"rope_theta", "partial_rotary_factor", "rotary_pct", "mrope_section", "mrope_interleaved",
     "xdrope_section"}
)  # fmt: skip

_REASONS = {
    "head_dim": "Rotation takes dimensions in pairs.",
    "rotary_fraction": "Rotation takes dimensions in pairs.",
    "short_factor": "Each pair of dimensions has a factor of its own.",
    "long_factor": "Each pair of dimensions has a factor of its own.",
    "beta_fast": "The ramp between the two would run backwards.",
    "high_freq_factor": "The blend between the two would run backwards.",
}


@dataclass(frozen=True)
class Finding:
    """One thing to know: an error stops the frequencies from being computed, a warning doesn't.

    A note is about no fault: the model has something beside its frequencies. ``key`` is its place
    in the config, ``message`` the fact, ``reason`` why it matters.
    """

    severity: Literal["error", "warning", "note"]
    key: str
    message: str
    reason: str


def finding_of(error: EncodingError, block: RopeBlock | None = None) -> Finding:
    """The error as a finding; ``block`` is where the field that it names may be.

    >>> finding_of(EncodingError("factor must be a number", field="factor")).key
    'factor'
    """
    if isinstance(error, ConfigError):
        return Finding("error", error.field or "", str(error), error.reason)
    field = error.field or ""
    reason = _REASONS.get(field, "No frequencies follow from such a setting.")
    if block and field in block.keys:
        return Finding("error", block.place(field), str(error), reason)
    spelled = {"base": block.bases(), "rotary_fraction": block.rotated_parts()} if block else {}
    return Finding("error", next(iter(spelled.get(field, {})), field), str(error), reason)


def in_text(findings: Sequence[Finding]) -> str:
    """The findings as plain text, one a line, and a line that says so where nothing is odd.

    >>> in_text([])
    'Nothing odd was found in the config.'
    """
    lines = [f"{finding.severity}: {finding.message} {finding.reason}" for finding in findings]
    if all(finding.severity == "note" for finding in findings):
        lines.insert(0, "Nothing odd was found in the config.")
    return "\n".join(lines)


def about_type(text: Mapping[str, Any]) -> Iterator[Finding]:
    """A warning about a type that isn't known here, and what is assumed of it.

    >>> [finding.key for finding in about_type({"model_type": "mine", "rope_theta": 1e4})]
    ['model_type']
    """
    position = what_it_has(text)
    if position.known == "type" or text.get("model_type") is None:
        return
    pairs = "neighbouring dimensions" if is_interleaved(text) else "halves"
    read = "" if position.has else "read as a Llama-like RoPE all the same: "
    yield Finding(
        "warning",
        "model_type",
        f"The model is {read}{position.why}.",
        f"That its rotation pairs {pairs} is an assumption, and so is what it leaves out.",
    )


def about_config(text: Mapping[str, Any]) -> Iterator[Finding]:
    """Warnings about the language model's part of a config, whatever its layers are.

    >>> config = {"rope_scaling": {"factor": 2}, "rope_parameters": {"factor": 4}}
    >>> [finding.key for finding in about_config(config)]
    ['rope_scaling']
    """
    old, new = text.get("rope_scaling"), text.get("rope_parameters")
    if old and new and old != new:
        yield Finding(
            "warning",
            "rope_scaling",
            f"rope_scaling {shown(old)} and rope_parameters {shown(new)} are both given and "
            "differ; transformers takes rope_scaling.",
            "Other programs take the other one and scale differently.",
        )
    path, block = ("rope_scaling", old) if old else ("rope_parameters", new)
    if isinstance(block, Mapping) and any(isinstance(value, Mapping) for value in block.values()):
        for key, value in block.items():
            if value is not None and not isinstance(value, Mapping):
                yield Finding(
                    "warning",
                    f"{path}.{key}",
                    f"{path}.{key} = {shown(value)} stands beside blocks for kinds of layers and "
                    "is ignored.",
                    "Once layers have blocks of their own, each reads its own block.",
                )


def given_twice(block: RopeBlock) -> Iterator[Finding]:
    """Warnings about numbers and names that a config spells in two ways which differ.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> (block,) = rope_blocks({"rope_theta": 1e4, "rope_scaling": {"rope_theta": 1e6}})
    >>> [finding.key for finding in given_twice(block)]
    ['rope_scaling.rope_theta']
    """
    for word, values in (
        ("base", block.bases()),
        ("rotated part", block.rotated_parts()),
        ("trained length", block.trained_lengths()),
    ):
        if len(values) > 1 and len(set(map(_spelled_alike, values.values()))) > 1:
            places = " and ".join(f"{shown(value)} in {key}" for key, value in values.items())
            yield Finding(
                "warning",
                next(iter(values)),
                f"The {word} is given twice, {places}; the first one counts.",
                "Programs that read the other key compute other frequencies.",
            )
    names = {key: block.keys[key] for key in ("rope_type", "type") if block.keys.get(key)}
    if len(set(map(str, names.values()))) > 1:
        yield Finding(
            "warning",
            block.place("type"),
            f"rope_type {shown(names['rope_type'])} and type {shown(names['type'])} differ; "
            "rope_type counts.",
            "Programs that read the old spelling scale differently.",
        )


def _spelled_alike(value: Any) -> str:
    """One spelling for numbers that are equal: 10000 and 10000.0."""
    whole = int_or_none(value)
    return shown(value if whole is None else whole)


def ignored_keys(block: RopeBlock, cls: type[RotaryEncoding]) -> Iterator[Finding]:
    """Warnings about keys of the block that the formula of its type doesn't use.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> (block,) = rope_blocks({"rope_scaling": {"type": "linear", "factr": 2}})
    >>> [finding.key for finding in ignored_keys(block, encodings()["rope-linear"])]
    ['rope_scaling.factr']
    """
    read = {*cls.required_keys, *cls.optional_keys}
    everywhere = {
        key
        for other in encodings().values()
        if issubclass(other, RotaryEncoding)
        for key in (*other.required_keys, *other.optional_keys)
    } | _ANY_TYPE
    for key, value in block.keys.items():
        if value is None or key in read | _ANY_TYPE | _NAMES | _read_by(block):
            continue
        # YaRN's first code multiplies its factor by attn_factor; attention_factor replaces it.
        near = [] if key == "attn_factor" else everywhere
        close = difflib.get_close_matches(str(key), near, n=1, cutoff=0.8)
        hint = f"; did you mean {close[0]!r}?" if close and key not in everywhere else "."
        known = model_type(block.config.get("model_type")) is not None or key in everywhere
        reads = "ignored" if known or hint != "." else "not known to be read"
        yield Finding(
            "warning",
            block.place(key),
            f"{block.place(key)} = {shown(value)} is {reads} by type {block.rope_type!r}{hint}",
            "The type's formula has no such number, so changing it changes nothing."
            if reads == "ignored"
            else "The type's formula has no such number; the model's own code may read it.",
        )


def own_formulas(block: RopeBlock) -> Iterator[Finding]:
    """Warnings about numbers that a model's own code reads and other programs don't.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> scaling = {"type": "dynamic", "alpha": 1000.0, "factor": 1}
    >>> (block,) = rope_blocks({"model_type": "hunyuan_v1_dense", "rope_scaling": scaling})
    >>> [finding.key for finding in own_formulas(block)]
    ['rope_scaling.alpha']
    """
    if (alpha := alpha_of(block)) is not None:
        yield Finding(
            "warning",
            block.place("alpha"),
            f"alpha = {shown(alpha)} raises the base once for all lengths, as HunYuan's code does; "
            f"factor = {shown(block.keys.get('factor'))} isn't read.",
            "Programs that read the factor of type 'dynamic' turn by other frequencies.",
        )
    if (mscale := long_mscale_of(block)) is not None:
        short = block.keys.get("short_mscale")
        differ = "" if short == mscale else f"; up to the trained length it is {shown(short)}"
        yield Finding(
            "warning",
            block.place("long_mscale"),
            f"long_mscale = {shown(mscale)} multiplies cosines and sines{differ}.",
            "Phi-3.5-MoE's code reads it; programs that don't take the factor from the lengths.",
        )


def _read_by(block: RopeBlock) -> set[str]:
    """The keys that a model's own code reads besides those of its type."""
    keys = {"max_position_embeddings", "llama_4_scaling_beta"}
    if alpha_of(block) is not None:
        keys |= {"alpha", "factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow"}
    if long_mscale_of(block) is not None:
        keys |= {"short_mscale", "long_mscale"}
    return keys


def about_settings(block: RopeBlock, settings: RopeSettings) -> Iterator[Finding]:
    """Warnings about settings that can be computed but contradict one another.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> from posembed_core.model_config import read_rope
    >>> config = {"head_dim": 64, "rope_scaling": {"type": "linear", "factor": 0.5}}
    >>> (block,), (settings,) = rope_blocks(config), read_rope(config).settings
    >>> [finding.key for finding in about_settings(block, settings)]
    ['rope_scaling.factor']
    """
    encoding, trained = settings.encoding, settings.trained_length
    factor, wanted = getattr(encoding, "factor", 1.0), settings.wanted_length
    if factor < 1:
        yield Finding(
            "warning",
            block.place("factor"),
            f"factor {factor:g} is below 1: it makes the pairs turn {1 / factor:g} times faster.",
            "The trained context gets shorter, not longer.",
        )
    if trained and wanted and trained > wanted:
        yield Finding(
            "warning",
            "max_position_embeddings",
            f"original_max_position_embeddings {trained} is above max_position_embeddings "
            f"{wanted}.",
            "A context that is not extended needs no scaling.",
        )
    turns = getattr(encoding, "low_freq_factor", None)
    if turns is not None and turns == getattr(encoding, "high_freq_factor", None):
        yield Finding(
            "warning",
            block.place("high_freq_factor"),
            f"low_freq_factor and high_freq_factor are both {turns:g}: a step, no blend, between "
            "pairs that are divided by the factor and pairs that aren't.",
            "The formula of the blend divides by their difference, which is 0.",
        )
    yield from _attention(block, settings)


def _attention(block: RopeBlock, settings: RopeSettings) -> Iterator[Finding]:
    encoding, trained = settings.encoding, settings.trained_length
    if "attention_factor" not in encoding.optional_keys:
        return
    factor, wanted = getattr(encoding, "factor", 1.0), settings.wanted_length
    if trained and wanted and wanted > trained and abs(wanted / trained / factor - 1) > 1e-6:
        yield Finding(
            "warning",
            block.place("factor"),
            f"factor {factor:g} disagrees with max_position_embeddings {wanted} / "
            f"original_max_position_embeddings {trained} = {wanted / trained:g}.",
            "Frequencies and attention factor follow the factor, the length limit the other.",
        )
    given = block.keys.get("attention_factor")
    if given is None:
        return
    cleared: dict[str, Any] = {encoding.aliases["attention_factor"]: None}
    free = dataclasses.replace(encoding, **cleared).attention_factor()
    if given <= 1.0 < free:
        yield Finding(
            "warning",
            block.place("attention_factor"),
            f"attention_factor {given:g} cancels the default {free:.6g} of factor {factor:g}: "
            f"scores are multiplied by {given**2:.6g}, not by {free**2:.6g}.",
            "The frequencies are stretched without the larger scores that go with them.",
        )
