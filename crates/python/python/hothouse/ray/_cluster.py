"""A cluster to work on: one that there is, or this machine."""

from __future__ import annotations

import os
import socket

import ray

#: Seconds that an address has to answer in.
_PATIENCE_S = 10.0


def connect(address: str | None = None, **settings: object) -> None:
    """Joins the cluster at `address` ("auto": the one of this machine), or starts one here. Where one is joined already, that stays.

    Raises:
        ConnectionError: Nobody answers there.
    """
    if ray.is_initialized():
        return
    # Nothing is told to anybody.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
    if address is None:
        ray.init("local", **{**quiet, **settings})
        return
    if address != "auto":
        _answers(address)
    del quiet["include_dashboard"]
    try:
        ray.init(address, **{**quiet, **settings})
    except (ConnectionError, RuntimeError, ValueError) as error:
        if address == "auto":
            raise ConnectionError(
                "no Ray cluster runs on this machine. Start one with `ray start --head`, name the address of another, or leave the "
                "address out to work on this machine alone"
            ) from error
        raise ConnectionError(f"the cluster at {address} cannot be joined ({error}). See that it runs the same Ray and Python") from error


def _answers(address: str) -> None:
    """Ray itself would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        raise ConnectionError(f"'{address}' is no address of a cluster. Write HOST:PORT, as `ray start --head` prints it, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S).close()
    except OSError as error:
        raise ConnectionError(f"nobody answers at {address} ({error}). Start a cluster there with `ray start --head`, or name another") from error
