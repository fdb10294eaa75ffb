"""The about box: what the numbers of a page were checked against, from what the tests run."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages._ui.numbers import with_minus_signs, written
from posembed_core import Encoding, PositionTable, encodings
from posembed_core.evidence import Check, Golden, Law, Parity, evidence_for

NO_CHECKS = "No check names the encoding shown here: its numbers come from a file."


def about(slugs: Iterable[str]) -> None:
    """A folded box about the encodings that a page shows now."""
    with st.expander("What these numbers were checked against", key="about"):
        st.markdown(checked_against(tuple(dict.fromkeys(slugs))))


def of_family(family: type) -> list[str]:
    """The slugs of a family's encodings, for a page about all of them."""
    return [slug for slug, cls in encodings().items() if issubclass(cls, family)]


def checked_against(slugs: tuple[str, ...]) -> str:
    """Each encoding with the papers, implementations and laws that its tests hold it to."""
    parts = [_of_encoding(slug) for slug in slugs if evidence_for(slug)]
    return "\n\n".join(parts) if parts else NO_CHECKS


def _of_encoding(slug: str) -> str:
    tables: dict[str, type[Encoding]] = {PositionTable.slug: PositionTable}
    cls, checks = (encodings() | tables)[slug], evidence_for(slug)
    golden = [check for check in checks if isinstance(check, Golden)]
    lines = [f"**{cls.title}**: {cls.reference}", ""]
    lines += [
        f"- **{check.implementation}**: {check.what[0].lower()}{check.what[1:]} "
        f"({_within(check.tolerance)})"
        for check in checks
        if isinstance(check, Parity)
    ]
    for source, known in _by_source(golden).items():
        count = f"{len(known)} known numbers" if len(known) > 1 else "1 known number"
        lines.append(f"- {count} from {source}: {'; '.join(check.what for check in known)}")
    lines += [f"- Law: {check.what} ({check.source})" for check in checks if isinstance(check, Law)]
    return with_minus_signs("\n".join(lines))


def _by_source(checks: Iterable[Check]) -> dict[str, list[Check]]:
    grouped: dict[str, list[Check]] = {}
    for check in checks:
        grouped.setdefault(check.source, []).append(check)
    return grouped


def _within(tolerance: float) -> str:
    return "equal" if tolerance == 0 else f"within {written(tolerance)}"
