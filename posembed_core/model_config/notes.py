"""What is no fault of a config but worth knowing: several axes of position, attention sinks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from posembed_core.model_config.blocks import ConfigError, RopeBlock
from posembed_core.model_config.defaults import default_of
from posembed_core.model_config.findings import Finding
from posembed_core.model_config.numbers import number
from posembed_core.parameters import int_or_none, shown

# HunYuan-VL calls them by another name.
_SECTIONS = ("mrope_section", "xdrope_section")
# Types whose softmax has one more entry: their modelling files in transformers 5.24.
SINKS = frozenset(
    """deepseek_v4 flint gpt_oss granite_swa granitemoe_swa hy_v4 hy_v4_vl_text inkling2_text
    inkling2_loop_text mimo_v2_flash openai_privacy_filter""".split()  # noqa: SIM905
)
_ONLY_WITH_A_WINDOW = frozenset(["mimo_v2_flash"])


def about_sinks(config: Mapping[str, Any]) -> Iterator[Finding]:
    """A note about the attention sinks of the language model, by its type.

    >>> [finding.severity for finding in about_sinks({"model_type": "gpt_oss"})]
    ['note']
    """
    name = config.get("model_type")
    if isinstance(name, str) and name in SINKS:
        layers = "In layers with a window, softmax" if name in _ONLY_WITH_A_WINDOW else "Softmax"
        yield Finding(
            "note",
            "",
            f"{layers} has one more entry, an attention sink, which takes weight from all tokens.",
            "It has no position, so it isn't drawn.",
        )


def about_axes(block: RopeBlock, pairs: int) -> Iterator[Finding]:
    """A note about pairs that take their positions from several axes (M-RoPE).

    ``pairs`` is how many turn. Raises `ConfigError` for sections that aren't as many together.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> (block,) = rope_blocks({"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})
    >>> [finding.severity for finding in about_axes(block, 64)]
    ['note']
    """
    key = next((key for key in _SECTIONS if block.keys.get(key) is not None), None)
    if key is not None:
        sections = _checked(block.place(key), block.keys[key], pairs)
    elif not (sections := default_of(block.config, _SECTIONS[0])):
        return
    yield Finding(
        "note",
        block.place(key) if key else "",
        f"The pairs take their positions from {len(sections)} axes, in sections of "
        f"{', '.join(map(str, sections))} pairs.",
        "A text has the same position on each axis: that is what is shown.",
    )


def _checked(key: str, given: Any, pairs: int) -> list[int]:
    reason = "Each pair takes its position from one of the axes."
    entries = given if isinstance(given, list | tuple) else []
    sections = [int_or_none(number(f"{key}[{i}]", entry)) for i, entry in enumerate(entries)]
    counts = [count for count in sections if count is not None and count >= 0]
    if not counts or len(counts) != len(sections):
        raise ConfigError(
            f"{key} must be a list with a whole number of pairs for each axis, got {shown(given)}",
            field=key,
            reason=reason,
        )
    if sum(counts) != pairs:
        raise ConfigError(
            f"{key} must add up to the {pairs} pairs that turn, got {shown(given)}, which add up "
            f"to {sum(counts)}",
            field=key,
            reason=reason,
        )
    return counts
