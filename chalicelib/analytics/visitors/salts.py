"""Daily salts: a day's salt turns an address and a user agent into a visitor of the day.

After a salt's deletion, no data can link one day's visitors with the next day's, or with an
address.
"""

import hmac
import random
from datetime import datetime, timedelta
from typing import TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.database import Database

from chalicelib import signing
from chalicelib.analytics.hits import DAY, day_of
from chalicelib.database import Collection, Document

# From the day's beginning: a hit may come one day late.
KEPT = timedelta(hours=48)
_SALT_BYTES = 32
_VISITOR_CHARACTERS = 12


class Salt(TypedDict):
    """The salt of a day; `_id` is the day as 20260301."""

    _id: str
    day: datetime
    salt: str


SALTS = Collection(
    "hit.salt",
    Salt,
    indexes=(IndexModel([("day", ASCENDING)], expireAfterSeconds=int(KEPT.total_seconds())),),
)


class Salts:
    """A container's salts of today and of yesterday; it reads each once."""

    def __init__(self, database: Database[Document], rng: random.Random) -> None:
        self._database = database
        self._random = rng
        self._held: dict[datetime, str] = {}

    def of_day(self, day: datetime) -> str:
        """Return the salt of a day; the first container of the day draws it for all."""
        if day not in self._held:
            self._held = {each: salt for each, salt in self._held.items() if day - each <= DAY}
            self._held[day] = self._draw(day)
        return self._held[day]

    def _draw(self, day: datetime) -> str:
        drawn = signing.encode(self._random.randbytes(_SALT_BYTES))
        stored = SALTS.of(self._database).find_one_and_update(
            {"_id": f"{day:%Y%m%d}"},
            {"$setOnInsert": {"day": day, "salt": drawn}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )
        assert stored is not None  # noqa: S101 - an upsert leaves a document to return
        return stored["salt"]

    def visitor(self, site: str, address: str, user_agent: str, at: datetime) -> str:
        """Return a visitor's digest of the day: HMAC-SHA256 (RFC 2104), in 12 characters."""
        return self._digest(f"{site}\0{address}\0{user_agent}", at)

    def network(self, site: str, network: str, at: datetime) -> str:
        """Return a network's digest of the day, the same for all user agents."""
        return self._digest(f"{site}\0{network}", at)

    def _digest(self, text: str, at: datetime) -> str:
        key, message = self.of_day(day_of(at)).encode(), text.encode(errors="replace")
        return signing.encode(hmac.digest(key, message, "sha256"))[:_VISITOR_CHARACTERS]
