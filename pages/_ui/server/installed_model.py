"""The installed model, opened once for all sessions, and the sentences it has read."""

from __future__ import annotations

import threading

from cachetools import cached

from pages._ui.server.kept import kept
from posembed_core import CheckpointError
from posembed_core.tokens.sentence_model import (
    HOW_TO_GET_A_MODEL,
    Sentence,
    SentenceModel,
    load_model,
    model_folder,
)


@cached({}, key=model_folder, condition=threading.Condition())
def model() -> SentenceModel | None:
    """The installed model's embedding layer; None if no model is installed.

    Raises `CheckpointError` for a model folder that can't be read.
    """
    folder = model_folder()
    return None if folder is None else load_model(folder)


def model_problem() -> str:
    """Why no sentence can be read, in one sentence; empty where one can."""
    try:
        return "" if model() is not None else HOW_TO_GET_A_MODEL
    except CheckpointError as error:
        return f"{error}. {HOW_TO_GET_A_MODEL}"


def needed_model() -> SentenceModel:
    """The installed model, for settings that need one."""
    installed = model()
    if installed is None:
        raise CheckpointError("there is no model to read the sentence with")
    return installed


@kept()
def sentence(text: str) -> Sentence:
    """The sentence's tokens."""
    return needed_model().tokenize(text)
