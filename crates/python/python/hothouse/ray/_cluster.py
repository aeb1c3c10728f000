"""Connection to a Ray cluster, or to this machine."""

from __future__ import annotations

import os
import socket

import ray

#: Maximum seconds to wait for a connection.
_PATIENCE_S = 10.0


def connect(address: str | None = None, **settings: object) -> None:
    """Joins the cluster at `address` ("auto": the running cluster of this machine). Without `address`, starts a cluster on this machine.

    An existing connection is kept.

    Raises:
        ConnectionError: The address does not answer.
    """
    if ray.is_initialized():
        return
    # Ray sends no usage reports with this setting.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
    if address is None:
        ray.init("local", **{**quiet, **settings})
        return
    if address != "auto":
        _check_answer(address)
    del quiet["include_dashboard"]
    try:
        ray.init(address, **{**quiet, **settings})
    except (ConnectionError, RuntimeError, ValueError) as error:
        if address == "auto":
            raise ConnectionError(
                "no Ray cluster runs on this machine. Start one with `ray start --head`, give another address, or omit the "
                "address to use this machine only"
            ) from error
        raise ConnectionError(f"the cluster at {address} cannot be joined ({error}). Check that it runs the same versions of Ray and Python") from error


def _check_answer(address: str) -> None:
    """Raises an error if the address does not answer. Ray itself would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        raise ConnectionError(f"'{address}' is not the address of a cluster. Give HOST:PORT, as `ray start --head` prints it, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S).close()
    except OSError as error:
        raise ConnectionError(f"no answer from {address} ({error}). Start a cluster there with `ray start --head`, or give another address") from error
