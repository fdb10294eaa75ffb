"""Sentences that several pages say alike: an error, and a number of things."""

from __future__ import annotations

from pages._ui.escaped import in_markdown
from pages._ui.numbers import with_minus_signs


def sentence(error: Exception | str, start: str = "") -> str:
    r"""An error's message as a sentence of Markdown that shows it as it is, whoever wrote it.

    >>> sentence("[a](b) is not a number", "Refused: ")
    'Refused: \\[a\\](b) is not a number.'
    """
    return in_markdown(plain_sentence(error, start))


def plain_sentence(error: Exception | str, start: str = "") -> str:
    """An error's message as a sentence of its own, or after the beginning of one.

    A setting's name keeps its small letter.

    >>> plain_sentence(ValueError("the shift must be 0 or more, got -3"))
    'The shift must be 0 or more, got −3.'
    >>> plain_sentence("no file", "Refused: ")
    'Refused: no file.'
    >>> plain_sentence("max_seq_len must be 1 or more")
    'max_seq_len must be 1 or more.'
    """
    text = start + with_minus_signs(str(error))
    is_name = "_" in text.partition(" ")[0]
    return f"{text[0] if is_name else text[0].upper()}{text[1:]}."


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things, in words for one and for several.

    >>> counted(1, "position"), counted(2, "position"), counted(2048, "axis", "axes")
    ('1 position', '2 positions', '2,048 axes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
