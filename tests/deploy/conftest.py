"""Three replicas behind nginx, shared by the tests of the deployment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deploy.cluster import Proxy, Replica, Visitor, run, until
from tests.ports import free_port

SECRET = "the same for all replicas, and long enough for that"  # noqa: S105


@dataclass(frozen=True)
class Cluster:
    """The replicas, the proxy, and two pages elsewhere, of which only one may embed the app."""

    replicas: tuple[Replica, ...]
    proxy: Proxy
    host_port: int
    stranger_port: int

    def alive(self) -> list[Replica]:
        """The replicas whose process is running."""
        return [replica for replica in self.replicas if replica.process.poll() is None]

    def counts(self) -> dict[Replica, int]:
        """How many sessions each running replica has now."""
        return {replica: replica.sessions() for replica in self.alive()}

    def newcomer(self) -> tuple[Visitor, Replica]:
        """A visitor who has just opened the page, and the replica that got the session."""
        visitor = Visitor(self.proxy.port)
        visitor.ask("GET", "/")
        return visitor, self.replica_of(visitor)

    def replica_of(self, visitor: Visitor) -> Replica:
        """The replica that a session of this visitor gets, found by opening one."""
        before = self.counts()
        with visitor.open() as websocket:
            run(websocket)
            after = self.counts()
        until(lambda: self.counts() == before)
        (replica,) = [replica for replica in before if after[replica] == before[replica] + 1]
        return replica

    def visitor_of(self, wanted: Replica) -> Visitor:
        """A visitor whom the proxy sends to this replica."""
        for _ in range(100):
            visitor, replica = self.newcomer()
            if replica is wanted:
                return visitor
        raise AssertionError("no visitor gets there")

    def whole(self) -> None:
        """Restart what was killed, and wait until the proxy uses it again."""
        gone = [replica for replica in self.replicas if replica not in self.alive()]
        for replica in gone:
            replica.start()
        for replica in gone:
            replica.wait()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder: Path = tmp_path_factory.mktemp("replicas")
    host, stranger = free_port(), free_port()
    ancestors = f"'self' http://127.0.0.1:{host}"
    own = {"STREAMLIT_SERVER_COOKIE_SECRET": SECRET, "POSEMBED_FRAME_ANCESTORS": ancestors}
    own["POSEMBED_HANG_SECONDS"] = "600"  # longer than a test has one stand still
    replicas = tuple(Replica(folder, **own) for _ in range(3))
    try:
        for replica in replicas:
            replica.start()
        for replica in replicas:
            replica.wait()
        with Proxy(*replicas, frame_ancestors=ancestors).running() as proxy:
            yield Cluster(replicas, proxy, host, stranger)
    finally:
        for replica in replicas:
            replica.end()
