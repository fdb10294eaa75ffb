"""Ports for the servers that tests start."""

from __future__ import annotations

import itertools
import os
import socket

# Below the ports that the system hands out by itself, so that nothing else is given one while its
# server starts or restarts; each process begins at another number.
_PORTS = itertools.count(11_000 + os.getpid() * 97 % 20_000)


def free_port() -> int:
    """A port of the loopback interface on which nobody listens; a different one at each call."""
    for port in _PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("an endless count ended")
