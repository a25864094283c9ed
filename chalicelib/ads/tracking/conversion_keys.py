"""Conversion keys: an advertiser's server signs its conversions with them.

Two keys are valid at a time, so that pages may still use the old key after a rotation.
"""

import hashlib
import hmac
import random
from datetime import datetime
from typing import Annotated, TypedDict

from pymongo import ReturnDocument
from pymongo.database import Database

from chalicelib import signing
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

MAX_KEYS = 2
_SECRET_BYTES = 32


class ConversionKey(TypedDict):
    """A stored key; the characters of `secret` are the key of the MAC."""

    key_id: str
    secret: str
    made_at: datetime


class AdvertiserKeys(TypedDict):
    """An advertiser's keys, the newest first."""

    _id: str
    keys: Annotated[list[ConversionKey], AtMost(MAX_KEYS)]


CONVERSION_KEYS = Collection("ad.conversion_key", AdvertiserKeys)


def read(database: Database[Document], advertiser: str) -> list[ConversionKey]:
    """Return an advertiser's valid keys, the newest first; none before its first rotation."""
    found = CONVERSION_KEYS.of(database).find_one({"_id": advertiser})
    return found["keys"] if found else []


def rotate(
    database: Database[Document], advertiser: str, now: datetime, rng: random.Random
) -> list[ConversionKey]:
    """Make a new key and return the valid keys: the new key and the key before it."""
    key: ConversionKey = {
        "key_id": signing.encode(rng.randbytes(6)),
        "secret": signing.encode(rng.randbytes(_SECRET_BYTES)),
        "made_at": now,
    }
    stored = CONVERSION_KEYS.of(database).find_one_and_update(
        {"_id": advertiser},
        {"$push": {"keys": {"$each": [key], "$position": 0, "$slice": MAX_KEYS}}},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    assert stored is not None  # noqa: S101 - an upsert leaves a document to return
    return stored["keys"]


def sign(secret: str, advertiser: str, order: str | None, value_micros: int) -> str:
    """Return the signature of a conversion: HMAC-SHA256 (RFC 2104) in hexadecimal.

    The message is `conversion:<advertiser>:<order>:<value_micros>`, with an empty order for none.
    """
    message = f"conversion:{advertiser}:{order or ''}:{value_micros}"
    return hmac.digest(secret.encode(), message.encode(), hashlib.sha256).hex()


def is_signed(
    database: Database[Document],
    advertiser: str,
    order: str | None,
    value_micros: int,
    signature: str,
) -> bool:
    """Return whether one of the advertiser's keys signed a conversion."""
    return any(
        hmac.compare_digest(signature, sign(key["secret"], advertiser, order, value_micros))
        for key in read(database, advertiser)
    )
