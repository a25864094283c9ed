"""The forms in which the API answers beacons, clicks and questions for conversion keys."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ads.tracking.conversion_keys import MAX_KEYS, ConversionKey


class ConversionKeyAnswer(TypedDict):
    """A key that an advertiser's server signs conversions with."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8}$")]
    secret: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$")],
        Field(description="The characters themselves are the key of the MAC."),
    ]
    made_at: datetime


class ConversionKeysAnswer(TypedDict):
    """An advertiser's valid keys."""

    keys: Annotated[
        list[ConversionKeyAnswer],
        Field(max_length=MAX_KEYS, description="The newest first; empty before the first."),
    ]


def keys_answer(keys: list[ConversionKey]) -> ConversionKeysAnswer:
    """Return an advertiser's keys as the API shows them."""
    return {
        "keys": [
            {"id": key["key_id"], "secret": key["secret"], "made_at": key["made_at"]}
            for key in keys
        ]
    }
