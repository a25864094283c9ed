"""A person's choices: the channels of each kind of notifications, and quiet hours.

If a kind is off in the inbox, a worker stores its items as withheld, and no inbox shows them: a
repeat after the person's next choice makes no second item. For a letter or push
message, the choices at the time when a worker writes it apply.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from pymongo.errors import DuplicateKeyError

from chalicelib import time_zones
from chalicelib.database import Document, upsert
from chalicelib.instants import moment
from chalicelib.notifications.errors import KindAlwaysOn
from chalicelib.notifications.rows import INBOXES, Inbox, Kind, Quiet
from chalicelib.runtime import Runtime

Channel = Literal["in_app", "email", "push"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Strangers may write on a person's wall: its owner always gets the item in the inbox.
ALWAYS_ON: frozenset[tuple[Channel, Kind]] = frozenset({("in_app", "post.wall")})
_DAY = timedelta(days=1)


class Preferences(NamedTuple):
    """The kinds that are off by channel, and the hours without letters and push messages."""

    off: frozenset[tuple[Channel, Kind]]
    quiet: Quiet | None

    def has(self, channel: Channel, kind: Kind) -> bool:
        """Return whether a kind comes by a channel; off in the inbox, it comes by no channel."""
        return ("in_app", kind) not in self.off and (channel, kind) not in self.off


NONE = Preferences(frozenset(), None)


def of_row(row: Inbox | None) -> Preferences:
    """Return the choices in a person's row, without kinds that this release does not know."""
    if row is None:
        return NONE
    stored = frozenset(row.get("off", []))
    known: list[tuple[Channel, Kind]] = [
        (channel, kind)
        for channel in get_args(Channel)
        for kind in KINDS
        if f"{channel}/{kind}" in stored
    ]
    return Preferences(frozenset(known), row.get("quiet"))


def find(runtime: Runtime, user_id: str) -> Preferences:
    """Return a person's choices."""
    return of_row(INBOXES.of(runtime.database).find_one({"_id": user_id}))


def find_seen(runtime: Runtime, user_id: str) -> datetime:
    """Return the `seen` mark of a person's inbox; 1970: the person never looked."""
    row = INBOXES.of(runtime.database).find_one({"_id": user_id}, {"seen": 1})
    return row["seen"] if row else moment(0)


def find_all(runtime: Runtime, user_ids: Sequence[str]) -> dict[str, Preferences]:
    """Return the choices of people by id; people without a row are missing."""
    rows = INBOXES.of(runtime.database).find({"_id": {"$in": list(user_ids)}})
    return {row["_id"]: of_row(row) for row in rows}


def choose(runtime: Runtime, user_id: str, wanted: Preferences) -> None:
    """Store a person's choices in place of the earlier; raises KindAlwaysOn."""
    if wanted.off & ALWAYS_ON:
        raise KindAlwaysOn
    upsert(INBOXES.of(runtime.database), {"_id": user_id}, _update(runtime, wanted))


def _update(runtime: Runtime, wanted: Preferences) -> Document:
    """Return the update that stores choices; a new row gets `seen` of 1970."""
    off = sorted(f"{channel}/{kind}" for channel, kind in wanted.off)
    fields: Document = {"off": off, "changed": runtime.now()}
    update: Document = {"$set": fields, "$setOnInsert": {"seen": moment(0)}}
    if wanted.quiet is None:
        update["$unset"] = {"quiet": ""}
    else:
        fields["quiet"] = wanted.quiet
    return update


def find_off(runtime: Runtime, recipients: Mapping[str, Kind]) -> frozenset[str]:
    """Return recipients who have the kind of their notification off in the inbox."""
    if not recipients:
        return frozenset()
    found = find_all(runtime, list(recipients))
    return frozenset(
        who for who, chosen in found.items() if not chosen.has("in_app", recipients[who])
    )


def by_channel(chosen: Preferences, channel: Channel) -> Document:
    """Return the filter of items that come by a channel."""
    off = [kind for kind in KINDS if not chosen.has(channel, kind)]
    return {"kind": {"$nin": off}} if off else {}


def quiet_until(chosen: Preferences, time_zone: str, now: datetime) -> datetime | None:
    """Return the end of the present quiet hours, in UTC; None: `now` is outside quiet hours."""
    if chosen.quiet is None:
        return None
    begin, end = chosen.quiet["begin"], chosen.quiet["end"]
    day = now.astimezone(ZoneInfo(time_zone)).date()
    # Quiet hours over midnight may have begun the day before.
    for first in (day - _DAY, day):
        last = first if begin < end else first + _DAY
        ends = time_zones.hour_of(last, end, time_zone)
        if time_zones.hour_of(first, begin, time_zone) <= now < ends:
            return ends
    return None


def kinds_off(rows: Iterable[tuple[Kind, Collection[Channel]]]) -> frozenset[tuple[Channel, Kind]]:
    """Return the pairs of channel and kind that are off; each row has a kind and its channels."""
    off: set[tuple[Channel, Kind]] = set()
    for kind, channels in rows:
        # A kind that is off in the inbox comes by no other channel.
        if "in_app" not in channels:
            off.add(("in_app", kind))
        else:
            off |= {(each, kind) for each in get_args(Channel) if each not in channels}
    return frozenset(off)


def give(runtime: Runtime, giver: str, to: str) -> None:
    """Transfer a person's choices to an account without any; delete the person's inbox row."""
    rows = INBOXES.of(runtime.database)
    row = rows.find_one({"_id": giver})
    if row is None:
        return
    if "changed" in row:
        # The account may choose meanwhile.
        unchosen = {"_id": to, "changed": None}
        with suppress(DuplicateKeyError):
            rows.update_one(unchosen, _update(runtime, of_row(row)), upsert=True)
    # If the person has chosen meanwhile, the row stays for the second run of the join.
    rows.delete_one({"_id": giver, "changed": row.get("changed")})
