"""Keys of circles: a later circle of the same id has another key.

Posts, fields of profiles and memberships name a circle by its key: the owner's id for the circle,
a colon, and a random id. Circles of older releases have no key: their id serves as their key. No
id has a colon, so two circles of one owner never share a key.
"""

import random
from collections.abc import Iterable, Mapping
from datetime import datetime

from chalicelib.ids import new_id
from chalicelib.social.graph.users import Circle

_MARK = ":"


def new_key(circle_id: str, now: datetime, rng: random.Random) -> str:
    """Draw the key of a new circle."""
    return f"{circle_id}{_MARK}{new_id(now, rng)}"


def key_of(circle_id: str, circle: Circle) -> str:
    """Return the key of a stored circle."""
    return circle.get("key", circle_id)


def by_key(circles: Mapping[str, Circle]) -> dict[str, Circle]:
    """Return a user's stored circles by their keys."""
    return {key_of(circle_id, circle): circle for circle_id, circle in circles.items()}


def id_of(key: str) -> str:
    """Return the owner's id for a circle; `*public*` and `*circles*` return unchanged."""
    return key.partition(_MARK)[0]


def ids_of(keys: Iterable[str]) -> list[str]:
    """Return the owner's ids for circles."""
    return [id_of(key) for key in keys]
