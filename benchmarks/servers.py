"""Servers to measure: `streamlit run` in a process of its own, on the loopback interface."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
APP = ROOT / "app.py"
FLOOR = ROOT / "benchmarks" / "apps" / "floor.py"
NAIVE = ROOT / "benchmarks" / "apps" / "naive.py"
START_SECONDS = 120


@dataclass(frozen=True)
class Server:
    """A server that answers. start_seconds: from its process to its first healthy answer."""

    port: int
    pid: int
    log: Path
    start_seconds: float

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def resident(self) -> int:
        """Bytes of memory that the process holds right now."""
        return self._status("VmRSS")

    def resident_peak(self) -> int:
        """The most that it has held so far."""
        return self._status("VmHWM")

    def complaints(self) -> list[str]:
        """Lines of the log that tell of an error."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if re.search(r"level=(ERROR|CRITICAL)|Traceback", line)]

    def _status(self, name: str) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        kilobytes = re.search(rf"^{name}:\s*(\d+) kB$", status, re.MULTILINE)
        assert kilobytes, f"no {name} in /proc/{self.pid}/status"
        return int(kilobytes[1]) * 1024


@contextlib.contextmanager
def serving(script: Path, **environment: str) -> Iterator[Server]:
    """A server of that script, with more variables in its environment, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log = Path(tempfile.mkstemp(prefix=f"bench-{script.stem}-", suffix=".log")[1])
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    command += ["--server.address=127.0.0.1", "--server.headless=true"]
    start = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(process, port, log)
        yield Server(port, process.pid, log, time.perf_counter() - start)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2).close()
            return
        time.sleep(0.02)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")
