"""The collection of carts, and their secret ids."""

import base64
import random
from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field, StringConstraints
from pymongo import ASCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost
from chalicelib.shop.pricing import MAX_ADJUSTMENTS, Adjustment

MAX_LINES = 100
MAX_QTY = 999
# The most stored checkouts of a cart: after a refused order, the buyer checks out again.
MAX_ATTEMPTS = 20
_KEPT_SECONDS = 90 * 24 * 3_600

State = Literal["open", "checkout", "ordered", "expired"]


class Line(TypedDict):
    """A line of a cart: `qty` units of a SKU; the cart holds `held` units up to the time `until`.

    `product` is the SKU's product at the time of the write. A line of an earlier release has no
    `held`: the cart held all its units.
    """

    product: str
    qty: int
    price_micros: int
    title: str
    until: datetime
    held: NotRequired[int]


class CheckoutAttempt(TypedDict):
    """A checkout of a cart: its Idempotency-Key, and its order.

    `digest` is the tag of the request's body under a signing key: without that signing key, a
    reader of the database cannot confirm a guessed address.
    """

    key: str
    digest: str
    order: str


class Cart(TypedDict):
    """A cart; `version` rises with each change of its lines, holds or user.

    `order` is its latest order. MongoDB deletes a cart 90 days after it `ended`. `first` has the
    time of the cart's first hold of each SKU, also of removed lines. `adjustments` belong to its
    latest order; a cart that release 0.3.0 froze lacks them. `erased`: an erasure removed the buyer
    of its order, so no user can claim the cart again.
    """

    _id: str
    site: str
    user: str | None
    state: State
    lines: dict[str, Line]
    order: str | None
    attempts: Annotated[list[CheckoutAttempt], AtMost(MAX_ATTEMPTS)]
    version: int
    touched: datetime
    ended: datetime | None
    adjustments: NotRequired[Annotated[list[Adjustment], AtMost(MAX_ADJUSTMENTS)]]
    first: NotRequired[dict[str, datetime]]
    erased: NotRequired[bool]


CARTS = Collection(
    "shop.cart",
    Cart,
    indexes=(
        IndexModel([("state", ASCENDING), ("touched", ASCENDING)]),
        IndexModel([("ended", ASCENDING)], expireAfterSeconds=_KEPT_SECONDS),
        # For the erasure of a user.
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
