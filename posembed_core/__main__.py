"""`python -m posembed_core config.json`: what a model's config says about position, in a shell.

Prints how it is known, what is added to the input, each kind of layer and all findings; with
``--json`` the same for programs. "-" reads standard input. Status 0: nothing is wrong; 1: a
finding is an error; 2: the file can't be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from posembed_core.model_config import read_config
from posembed_core.model_config.positions import read_positions
from posembed_core.model_config.report import model_report, report_text
from posembed_core.model_config.text import MAX_BYTES
from posembed_core.parameters import EncodingError

WRONG, UNREADABLE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Read one config, print its report, and return the status.

    >>> main(["nowhere.json"])  # and says on standard error that there is no such file
    2
    """
    parser = argparse.ArgumentParser(prog="python -m posembed_core", description=__doc__)
    parser.add_argument("config", help="a config.json, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    asked = parser.parse_args(arguments)
    try:
        config = read_config(_bytes(asked.config))
    except (OSError, EncodingError) as error:
        sys.stderr.write(f"{asked.config}: {error}\n")
        return UNREADABLE
    model, findings = read_positions(config)
    if asked.json:
        report = model_report(model) if model else {}
        shown = json.dumps({**report, "findings": list(map(vars, findings))}, indent=2)
    else:
        shown = report_text(model, findings)
    sys.stdout.write(f"{shown}\n")
    return WRONG if any(finding.severity == "error" for finding in findings) else 0


def _bytes(name: str) -> bytes:
    """The file, as far as it may be read: one byte more says that it is too large."""
    if name == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_BYTES + 1)


if __name__ == "__main__":
    sys.exit(main())
