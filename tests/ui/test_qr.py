"""The QR code's link is one that a phone in the room can open."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import streamlit as st
from streamlit import config

from pages._ui import qr

ROOM = "192.168.7.20"


@pytest.fixture(autouse=True)
def in_a_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str | None]:
    """A computer with the address `ROOM`, and no container; returns the server's options."""
    options: dict[str, str | None] = {"server.address": None, "browser.serverAddress": "localhost"}
    monkeypatch.setattr(config, "get_option", options.__getitem__)
    monkeypatch.setattr(qr, "_IN_CONTAINER", tmp_path / "none")
    monkeypatch.setattr(qr, "room_address", lambda: ROOM)
    return options


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.2.1", "::1", "::"])
def test_an_address_that_is_this_computers_own_becomes_the_rooms(host: str) -> None:
    assert qr.host_for_others(host) == ROOM


@pytest.mark.parametrize("host", ["posembed.example.org", "10.1.2.3", "fd00::2"])
def test_an_address_that_others_reach_stays(host: str) -> None:
    assert qr.host_for_others(host) == host


@pytest.mark.parametrize("listens", ["localhost", "127.0.0.1", "::1"])
def test_a_server_for_this_computer_only_has_no_link_for_others(
    in_a_room: dict[str, str | None], listens: str
) -> None:
    in_a_room["server.address"] = listens
    assert qr.host_for_others("localhost") in qr.HOW
    assert "--server.address 0.0.0.0" in qr.HOW[qr.host_for_others("localhost")]


def test_what_the_operator_says_goes_first(in_a_room: dict[str, str | None]) -> None:
    in_a_room["browser.serverAddress"] = "class.example.org"
    assert qr.host_for_others("localhost") == "class.example.org"


def test_a_container_and_a_computer_without_network_know_no_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(qr, "room_address", lambda: "")
    assert "--browser.serverAddress" in qr.HOW[qr.host_for_others("localhost")]
    monkeypatch.setattr(qr, "room_address", lambda: "172.17.0.2")
    monkeypatch.setattr(qr, "_IN_CONTAINER", tmp_path)
    assert qr.host_for_others("localhost") in qr.HOW


def test_the_link_is_the_address_bars_without_the_projector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Params:
        def to_dict(self) -> dict[str, str]:
            return {"scale": "2", "lesson": "square-root.1", "present": "true"}

    monkeypatch.setattr(st, "query_params", Params())
    bar = urlsplit("http://localhost:8501/attention?present=true")
    query = "scale=2&lesson=square-root.1"
    assert qr.address(bar, ROOM) == f"http://{ROOM}:8501/attention?{query}"
    assert qr.address(urlsplit("https://x.org"), "x.org") == f"https://x.org/?{query}"
    assert qr.address(bar, "fd00::2").startswith("http://[fd00::2]:8501/")


def test_the_rooms_address_is_found_without_sending_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()

    def never(*_: object) -> None:
        raise AssertionError("a packet was sent")

    for name in ("send", "sendto", "sendall"):
        monkeypatch.setattr(socket.socket, name, never)
    address = qr.room_address()
    assert not address or qr.host_for_others(address) == address
