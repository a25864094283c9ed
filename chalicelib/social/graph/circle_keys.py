"""Keys of circles: the identity of one circle, which no later circle of the same id has.

Posts, fields of profiles and memberships name a circle by its key: the owner's id for it, a colon,
and an id that is drawn when the circle is made. Circles of older releases have no key of their own;
until they are deleted, their id is their key. No id has a colon, so no key is the key of two.
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
    """Return the owner's id for a circle; `*public*` and `*circles*` stay as they are."""
    return key.partition(_MARK)[0]


def ids_of(keys: Iterable[str]) -> list[str]:
    """Return the owner's ids for circles."""
    return [id_of(key) for key in keys]
