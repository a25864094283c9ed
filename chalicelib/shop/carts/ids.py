"""The ids of carts: secrets, by which whoever has one may use the cart."""

import base64
import random
from typing import Annotated

from pydantic import Field, StringConstraints

_BYTES = 16

CartId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{22}$"),
    Field(description="A cart's id, which is a secret.", examples=["dGhpcyBpcyBhIGNhcnQhIQ"]),
]


def new_cart_id(rng: random.Random) -> str:
    """Return 128 random bits in 22 characters of base64url."""
    return base64.urlsafe_b64encode(rng.randbytes(_BYTES)).decode("ascii").rstrip("=")
