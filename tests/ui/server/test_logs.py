"""Every record is one line, whoever wrote it, and says nothing that a visitor typed."""

import logging
import re
from collections.abc import Iterator

import pytest

from pages._ui.server import logs


@pytest.fixture
def tidy() -> Iterator[None]:
    factory = logging.getLogRecordFactory()
    logs.tidy()
    yield
    logging.setLogRecordFactory(factory)


def formatted(records: list[logging.LogRecord]) -> list[str]:
    return [logging.Formatter("%(levelname)s %(message)s").format(record) for record in records]


def test_an_event_has_its_fields_quoted(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("posembed")
    logger.addHandler(caplog.handler)
    try:
        logs.log(logging.WARNING, "sample", words='two "lines"\nof text', count=3)
        logs.log(logging.WARNING, "bare")
    finally:
        logger.removeHandler(caplog.handler)
    assert formatted(caplog.records) == [
        r'WARNING event=sample words="two \"lines\"\nof text" count=3',
        "WARNING event=bare",
    ]


@pytest.mark.usefixtures("tidy")
def test_a_traceback_becomes_type_and_place(caplog: pytest.LogCaptureFixture) -> None:
    try:
        int("my secret words")
    except ValueError:
        logging.getLogger("a.library").exception("It %s", "failed\nbadly")
    (line,) = formatted(caplog.records)
    assert re.fullmatch(
        r'ERROR message="It failed\\nbadly" error="builtins\.ValueError" '
        r'frames=\["tests/ui/server/test_logs\.py:\d+ test_a_traceback_becomes_type_and_place"\]',
        line,
    )


@pytest.mark.usefixtures("tidy")
def test_other_lines_stay_as_they_are_but_for_one(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("a.library").warning("first\nsecond %d%%", 5)
    logging.getLogger("a.library").warning("%s is plain", {"a": 1})
    assert formatted(caplog.records) == [r"WARNING first\nsecond 5%", "WARNING {'a': 1} is plain"]


@pytest.mark.usefixtures("tidy")
def test_debugging_shows_the_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("posembed"), "level", logging.DEBUG)
    logging.getLogger("posembed").manager._clear_cache()
    try:
        int("everything")
    except ValueError:
        logging.getLogger("a.library").exception("It failed")
    logging.getLogger("posembed").manager._clear_cache()
    (text,) = formatted(caplog.records)
    assert "Traceback" in text
    assert "everything" in text
