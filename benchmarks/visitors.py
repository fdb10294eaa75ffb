"""A browser's side of the websocket, without the browser: visit a page, move its sliders."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

PATIENCE = 120.0
SUBPROTOCOLS = [Subprotocol("streamlit")]


class Visitor:
    """One session, and what its last run drew."""

    def __init__(self, url: str, query: str = "", page: str = "") -> None:
        self.url = f"ws://{urlsplit(url).netloc}/_stcore/stream"
        self.query, self.page = query, page
        self.widgets: dict[str, str] = {}  # id → kind of element
        self.fragments: dict[str, str] = {}  # id → the fragment that draws it
        self.seen: set[str] = set()  # kinds of elements that the last run drew
        self.alerts: list[str] = []
        self.bytes = 0
        self._seq: dict[str, int] = {}
        self._socket: ClientConnection | None = None

    async def open(self) -> float:
        """Connect and run the page; seconds until it had finished."""
        start = time.perf_counter()
        self._socket = await connect(
            self.url, subprotocols=SUBPROTOCOLS, max_size=None, proxy=None, open_timeout=60
        )
        await self.run()
        return time.perf_counter() - start

    async def close(self) -> None:
        """Leave."""
        if self._socket is not None:
            await self._socket.close()

    async def run(self, states: Iterable[WidgetState] = (), fragment: str = "") -> float:
        """Ask for a run with these widgets' states; seconds until it had finished."""
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.page_name, rerun.fragment_id = self.query, self.page, fragment
        rerun.widget_states.widgets.extend(states)
        self.seen, self.alerts = set(), []
        if not fragment:  # it may be a different page now
            self.widgets, self.fragments = {}, {}
        start = time.perf_counter()
        await self.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            while not await self._receive():
                pass
        return time.perf_counter() - start

    async def move(self, key: str, value: float, dragging: bool = False) -> float:
        """Move a live slider, as slider.js does; seconds until its fragment had run."""
        name = self.named(key)
        self._seq[name] = self._seq.get(name, 0) + 1
        at = {"seq": self._seq[name], "value": value, "dragging": dragging}
        state = WidgetState(id=name, json_value=json.dumps({"at": at}))
        return await self.run([state], self.fragments[name])

    def named(self, key: str) -> str:
        """The id of the widget with that key."""
        return next(name for name in self.widgets if name.endswith(f"-{key}"))

    async def send(self, payload: bytes) -> None:
        """Send bytes, whatever they are."""
        assert self._socket is not None, "not connected"
        await self._socket.send(payload)

    async def _receive(self) -> bool:
        """Take in one message; True if it says that the run has finished."""
        assert self._socket is not None, "not connected"
        payload = await self._socket.recv()
        self.bytes += len(payload)
        message = ForwardMsg.FromString(payload if isinstance(payload, bytes) else payload.encode())
        kind = message.WhichOneof("type")
        if kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._take(message)
        elif kind == "script_finished":
            return bool(message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN)
        return False

    def _take(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind is None:
            return
        self.seen.add(kind)
        drawn: Message = getattr(element, kind)
        if kind == "alert":
            self.alerts.append(element.alert.body)
        name = getattr(drawn, "id", "")
        if isinstance(name, str) and name.startswith("$$"):
            whole = kind == "number_input" and element.number_input.data_type == NumberInput.INT
            self.widgets[name] = "integer_input" if whole else kind
            self.fragments[name] = message.delta.fragment_id
