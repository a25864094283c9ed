"""Ad events: the queue's message and the stored row."""

from datetime import datetime
from typing import ClassVar, Literal, TypedDict

from pydantic import TypeAdapter, field_validator
from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.ads.bounds import MAX_BUDGET_MICROS
from chalicelib.ads.ids import advertiser_of
from chalicelib.database import Collection, Document
from chalicelib.messaging import Message

KEPT_SECONDS = 90 * 24 * 3_600
# An order's signature never expires, and a buyer may open the receipt page again.
ORDERS_KEPT_SECONDS = 3 * 365 * 24 * 3_600


class StoredAdEvent(TypedDict):
    """A stored event; `billed` says whether its price was paid."""

    _id: str
    type: Literal["impression", "click", "conversion"]
    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    price_micros: int
    lease_id: str | None
    ts: datetime
    is_bot: bool
    order: str | None
    value_micros: int
    billed: bool
    revenue_micros: int


EVENTS = Collection(
    "ad.event",
    StoredAdEvent,
    indexes=(
        IndexModel([("campaign_id", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("site_id", ASCENDING), ("ts", ASCENDING)]),
        IndexModel(
            [("ts", ASCENDING)],
            expireAfterSeconds=KEPT_SECONDS,
            partialFilterExpression={"order": None},
        ),
        IndexModel(
            [("ts", ASCENDING)],
            expireAfterSeconds=ORDERS_KEPT_SECONDS,
            partialFilterExpression={"order": {"$type": "string"}},
        ),
    ),
    shard_key={"_id": "hashed"},
)


class AdEvent(Message):
    """An impression, click or conversion of a served ad, without the visitor.

    `price_micros`: 0 for a kind of event without a price. A conversion has its value, and its
    order if the advertiser sent it.
    """

    queue: ClassVar[str] = "ad-events"
    type: Literal["impression", "click", "conversion"]
    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    price_micros: int
    lease_id: str | None
    ts: datetime
    is_bot: bool = False
    order: str | None = None
    value_micros: int = 0

    @field_validator("price_micros", "value_micros")
    @classmethod
    def _check_amount(cls, micros: int) -> int:
        if not 0 <= micros <= MAX_BUDGET_MICROS:
            raise ValueError("no event is worth this much")
        return micros

    @property
    def id(self) -> str:
        """The id of the event and of its repeats.

        A bot's event has another id, so that a bot's preview of a page does not replace a person's
        impression.
        """
        if self.order is not None:
            return f"{advertiser_of(self.campaign_id)}:order:{self.order}:{self.type}"
        return f"{self.decision}:{self.slot}:{self.type}" + (":bot" if self.is_bot else "")

    @property
    def is_priced(self) -> bool:
        """Return whether the event has a price and no bot caused it."""
        return self.price_micros > 0 and not self.is_bot


def is_repeat(database: Database[Document], event: AdEvent) -> bool:
    """Return whether an event has already counted; an event in the queue has not."""
    return EVENTS.of(database).find_one({"_id": event.id}, {"_id": 1}) is not None


AD_EVENT: TypeAdapter[AdEvent] = TypeAdapter(AdEvent)
