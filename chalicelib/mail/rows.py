"""Documents of letters, and of addresses that take none."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost
from chalicelib.jobs.resending import Resending

# `waiting` and `sending` are the states of an unfinished letter. The final states:
# - `sent`: the provider has accepted it;
# - `rejected`: the provider will never accept it;
# - `unwanted`: its address takes no mail, or has reached its limit for now;
# - `unknown`: the provider may have accepted it or not, and Plaza never sends it again;
# - `late`: no provider took it in time.
State = Literal["waiting", "sending", "sent", "rejected", "unwanted", "unknown", "late"]
# A deployment has a few signing keys while it rotates them.
MAX_KEYS = 10
# Longer than a message lives in a queue and its dead-letter queue: a repeat finds the row.
KEPT = timedelta(days=15)


class Letter(TypedDict):
    """A letter; a repeat of its cause has the same `_id`, and stores no second letter.

    - `address_keys`: the keyed hashes of its address, the first by the key that signs now.
    - `due`: the time at which the schedule sends its message again.
    - `claimed`: the time at which a worker began to send it.

    A letter in a final state has none of the fields in UNTIL_SENT.
    """

    _id: str
    kind: str
    state: State
    address_keys: Annotated[list[str], AtMost(MAX_KEYS)]
    queued: datetime
    expires: datetime
    to: NotRequired[str]
    subject: NotRequired[str]
    text: NotRequired[str]
    language: NotRequired[str]
    html: NotRequired[str]
    stop_url: NotRequired[str]
    due: NotRequired[datetime]
    claimed: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


# The fields of a `waiting` or `sending` letter alone.
UNTIL_SENT = (
    *("to", "subject", "text", "language", "html", "stop_url"),
    *("due", "claimed", "resends", "resent_by"),
)
LETTERS = Collection(
    "mail.letter",
    Letter,
    indexes=(
        IndexModel([("due", ASCENDING)], sparse=True),
        IndexModel("claimed", sparse=True),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"_id": "hashed"},
)
RESENDING = Resending(at="due", where={"state": "waiting"})


class MailRefusal(TypedDict):
    """An address that takes no mail; `_id` is its keyed hash, and the row names no person."""

    _id: str
    why: Literal["bounced", "complained"]
    at: datetime


REFUSALS = Collection("mail.refusal", MailRefusal, shard_key={"_id": "hashed"})
