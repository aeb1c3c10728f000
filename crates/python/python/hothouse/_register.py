"""Registration of all environments in Gymnasium, under `hothouse/`."""

from gymnasium.envs.registration import register as add
from gymnasium.envs.registration import registry


def register() -> None:
    """Adds the environments to Gymnasium's registry, unless they are there already."""
    from ._native import environments

    for id in environments():
        if f"hothouse/{id}" not in registry:
            add(
                f"hothouse/{id}",
                entry_point="hothouse.envs:make",
                vector_entry_point="hothouse.envs:_registered",
                kwargs={"env": id},
            )
