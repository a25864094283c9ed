"""Carts as they are stored, and their secret ids."""

import base64
import random
from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field, StringConstraints
from pymongo import ASCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

MAX_LINES = 100
MAX_QTY = 999
# Checkouts of a cart whose keys are known: a cart that was let go is checked out again.
MAX_ATTEMPTS = 20
_KEPT_SECONDS = 90 * 24 * 3_600

State = Literal["open", "checkout", "ordered", "expired"]


class Line(TypedDict):
    """Units of one SKU, of the product that had it then; `held` of them are held `until` then.

    A line of earlier releases has no `held`: all of it was.
    """

    product: str
    qty: int
    price_micros: int
    title: str
    until: datetime
    held: NotRequired[int]


class Attempt(TypedDict):
    """A checkout of a cart: its Idempotency-Key, and the order it made.

    `digest` is its body's tag under a signing key: without the key, nobody finds out by trying
    whose address it was made of.
    """

    key: str
    digest: str
    order: str


class Cart(TypedDict):
    """A cart; `version` rises with each change of its lines.

    `order` is the last that was made of it. 90 days after it has `ended` it is deleted. `first`
    is the first hold of each SKU that it ever held, also of those that it has no more.
    """

    _id: str
    site: str
    user: str | None
    state: State
    lines: dict[str, Line]
    order: str | None
    attempts: Annotated[list[Attempt], AtMost(MAX_ATTEMPTS)]
    version: int
    touched: datetime
    ended: datetime | None
    first: NotRequired[dict[str, datetime]]


CARTS = Collection(
    "shop.cart",
    Cart,
    indexes=(
        IndexModel([("state", ASCENDING), ("touched", ASCENDING)]),
        IndexModel([("ended", ASCENDING)], expireAfterSeconds=_KEPT_SECONDS),
        # Finds the carts of somebody who is erased.
        IndexModel([("user", ASCENDING)], partialFilterExpression={"user": {"$gt": ""}}),
    ),
    shard_key={"_id": "hashed"},
)

_BYTES = 16

CartId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{22}$"),
    Field(description="A cart's id, which is a secret.", examples=["dGhpcyBpcyBhIGNhcnQhIQ"]),
]


def new_cart_id(rng: random.Random) -> str:
    """Return 128 random bits in 22 characters of base64url."""
    return base64.urlsafe_b64encode(rng.randbytes(_BYTES)).decode("ascii").rstrip("=")
