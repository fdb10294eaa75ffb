"""The server's log: one line per event, fields as ``key=value``, nothing that visitors typed."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path
from typing import Any

from streamlit.logger import get_logger

_ROOT = Path(__file__).parents[3]
_LOG = get_logger("posembed")


def log(level: int, event: str, **fields: object) -> None:
    """One line ``event=… key=value …``; text is quoted as in JSON, so it stays on one line."""
    _LOG.log(level, "%s", " ".join([f"event={event}", *_words(fields)]))


def error_fields(error: BaseException) -> dict[str, object]:
    """An error's type and place, without its message, which may hold what a visitor typed."""
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return {"error": name, "frames": frames(error)}


def frames(error: BaseException) -> list[str]:
    """``file:line function`` from outermost to innermost, without Streamlit's own frames."""
    return [
        f"{Path(frame.filename).as_posix().removeprefix(f'{_ROOT.as_posix()}/')}"
        f":{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "/streamlit/" not in Path(frame.filename).as_posix()
    ]


def tidy() -> None:
    """Make every library's log records single lines, and leave out the messages of errors.

    With ``--logger.level debug`` tracebacks stay as they are. Call it once per process, when the
    server starts.
    """
    logging.getLogger("streamlit.error_util").addFilter(_is_no_repetition)
    get_logger("posembed_core")  # without this the core's records have neither time nor level
    logging.setLogRecordFactory(_one_line)


def _words(fields: dict[str, object]) -> list[str]:
    return [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]


def _is_no_repetition(record: logging.LogRecord) -> bool:
    """False for Streamlit's own report of a script error, unless the level is debug."""
    return record.msg != "Uncaught app execution" or _LOG.isEnabledFor(logging.DEBUG)


def _one_line(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = logging.LogRecord(*args, **kwargs)
    if _LOG.isEnabledFor(logging.DEBUG):
        return record
    error = record.exc_info[1] if record.exc_info else None
    message = record.getMessage()
    if error is not None:
        record.exc_info = None
        message = " ".join([f"message={json.dumps(message)}", *_words(error_fields(error))])
    if error is not None or "\n" in message:
        record.msg, record.args = message.replace("\n", r"\n"), ()
    return record
