"""Letters of notifications: a person's setting, and the time of the person's next letter.

A row has `next_due` only while there may be new items. A new item sets it (`wake`). The end of a
letter removes it, unless a new item or a change of the setting raised `wakes` meanwhile.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from zoneinfo import ZoneInfo

from pymongo import ASCENDING, IndexModel

from chalicelib import time_zones
from chalicelib.database import Collection, Document, insert_missing, upsert
from chalicelib.database.validators import AtMost
from chalicelib.languages import Language
from chalicelib.notifications import preferences
from chalicelib.runtime import Runtime

Every = Literal["off", "at_once", "hourly", "daily", "weekly"]
# Long enough for a present reader to see an item on the page before its letter begins.
AT_ONCE_AFTER = timedelta(minutes=5)
_DAYS_OF_A_WEEK = 7
# The most ids in `former`; the latest stay.
MAX_FORMER = 20


class MailSetting(TypedDict):
    """When a person gets letters, and where; `_id` is the person's id.

    - `hour`, `weekday` (1: Monday): by the clock of `time_zone`.
    - `email`: in `addressing.ascii_form`; letters go there once it `is_confirmed`.
    - `changed`: the time of the person's last change.
    - `since`: letters cover no item up to this time.
    - `wakes`: the number of changes of the setting, and of calls of `wake` for the person.
    - `next_due`: the time of the next letter; missing: no letter is due.
    - `until`: the end of the span of the letter under way.
    - `lease`: the time at which another worker may continue that letter.
    - `former`: ids of people whose past this account has taken over; links in their old letters
      lead to this setting.
    """

    _id: str
    every: Every
    hour: int
    weekday: int
    time_zone: str
    language: Language
    is_confirmed: bool
    changed: datetime
    since: datetime
    wakes: int
    email: NotRequired[str]
    next_due: NotRequired[datetime]
    until: NotRequired[datetime]
    lease: NotRequired[datetime]
    former: NotRequired[Annotated[list[str], AtMost(MAX_FORMER)]]


MAILINGS = Collection(
    "notifications.mail",
    MailSetting,
    indexes=(
        IndexModel("next_due", partialFilterExpression={"next_due": {"$exists": True}}),
        # Finds due letters of the rhythm `at_once` among many other due letters.
        IndexModel(
            [("every", ASCENDING), ("next_due", ASCENDING)],
            partialFilterExpression={"next_due": {"$exists": True}},
        ),
        IndexModel("lease", partialFilterExpression={"lease": {"$exists": True}}),
        # Finds an account's setting by the id of a former person in an old link.
        IndexModel("former", partialFilterExpression={"former": {"$exists": True}}),
    ),
    shard_key={"_id": "hashed"},
)
UNDER_WAY = ("until", "lease")
# The filter of the people who get letters.
_ON: Document = {"every": {"$ne": "off"}, "is_confirmed": True}


class Rhythm(NamedTuple):
    """The times of letters, by the clock of a time zone, and the language of the letters."""

    every: Every
    hour: int
    weekday: int
    time_zone: str
    language: Language


NEVER = Rhythm("off", 8, 1, "UTC", "en")


def rhythm_of(row: MailSetting) -> Rhythm:
    """Return the rhythm of a setting."""
    return Rhythm(row["every"], row["hour"], row["weekday"], row["time_zone"], row["language"])


def find(runtime: Runtime, user_id: str) -> MailSetting | None:
    """Return the setting of a person; None: they never chose one."""
    return MAILINGS.of(runtime.database).find_one({"_id": user_id})


def find_by_link(runtime: Runtime, user_id: str) -> MailSetting | None:
    """Return the setting of the person in a link, or of an account with the person in `former`.

    None: neither exists.
    """
    own = find(runtime, user_id)
    return own or MAILINGS.of(runtime.database).find_one({"former": user_id})


def due_after(rhythm: Rhythm, now: datetime) -> datetime:
    """Return the time of the first letter after `now`, in UTC.

    If the clock skips the hour, the letter comes later by the skip. If the clock repeats the hour,
    the first counts.
    """
    match rhythm.every:
        case "daily":
            return _next_hour(rhythm, now, frozenset(range(1, _DAYS_OF_A_WEEK + 1)))
        case "weekly":
            return _next_hour(rhythm, now, frozenset({rhythm.weekday}))
        case "hourly":
            return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        case _:
            return now + AT_ONCE_AFTER


def _next_hour(rhythm: Rhythm, now: datetime, weekdays: frozenset[int]) -> datetime:
    day = now.astimezone(ZoneInfo(rhythm.time_zone)).date()
    # A zone that crosses the date line skips a day.
    days = (day + timedelta(days=number) for number in range(2 * _DAYS_OF_A_WEEK + 1))
    hours = (
        time_zones.hour_of(each, rhythm.hour, rhythm.time_zone)
        for each in days
        if each.isoweekday() in weekdays
    )
    return next(each for each in hours if each > now)


def choose(
    runtime: Runtime, user_id: str, rhythm: Rhythm, email: str | None, *, sure: bool
) -> None:
    """Store the setting of a person; `sure`: the address is confirmed; `email` None: unchanged.

    If letters were off, the next letter covers items from now on.
    """
    now, before = runtime.now(), find(runtime, user_id)
    fields: dict[str, Any] = {**rhythm._asdict(), "is_confirmed": sure, "changed": now}
    gone = dict.fromkeys(UNDER_WAY, "")
    if email is not None:
        fields["email"] = email
    if sure and rhythm.every != "off":
        fields["next_due"] = due_after(rhythm, now)
        if before is not None and _is_on(before):
            gone = {}
        else:
            fields["since"] = now
    else:
        gone["next_due"] = ""
    made: Document = {} if "since" in fields else {"since": now}
    update = {"$set": fields, "$inc": {"wakes": 1}, "$setOnInsert": made, "$unset": gone}
    update = {name: value for name, value in update.items() if value}
    upsert(MAILINGS.of(runtime.database), {"_id": user_id}, update)


def _is_on(row: MailSetting) -> bool:
    return row["every"] != "off" and row["is_confirmed"]


def confirm(runtime: Runtime, row: MailSetting) -> bool:
    """Confirm the address of a row; return False if the row changed since the caller read it.

    A repeat changes nothing.
    """
    if row["is_confirmed"]:
        return True
    now = runtime.now()
    fields: dict[str, Any] = {"is_confirmed": True, "changed": now, "since": now}
    if row["every"] != "off":
        fields["next_due"] = due_after(rhythm_of(row), now)
    as_read = {"_id": row["_id"], "email": row.get("email"), "wakes": row["wakes"]}
    update = {"$set": fields, "$inc": {"wakes": 1}}
    return MAILINGS.of(runtime.database).update_one(as_read, update).matched_count > 0


def stop(runtime: Runtime, user_id: str) -> None:
    """Turn off the letters of a person, and of an account that took over the person's setting.

    A repeat changes nothing.
    """
    gone = dict.fromkeys(("next_due", *UNDER_WAY), "")
    update = {"$set": {"every": "off", "changed": runtime.now()}, "$inc": {"wakes": 1}}
    named: list[Document] = [{"_id": user_id}, {"former": user_id}]
    on: Document = {"$or": named, "every": {"$ne": "off"}}
    MAILINGS.of(runtime.database).update_many(on, {**update, "$unset": gone})


def wake(runtime: Runtime, people: Sequence[str]) -> None:
    """Set a missing `next_due` of people with new items; call it after storing the items."""
    if not people:
        return
    rows, now = MAILINGS.of(runtime.database), runtime.now()
    # One write for each time: many people share a few times.
    due_at: dict[datetime, list[str]] = {}
    for row in rows.find({"_id": {"$in": list(people)}, **_ON}):
        due_at.setdefault(due_after(rhythm_of(row), now), []).append(row["_id"])
    for due, woken in due_at.items():
        fields = {"wakes": {"$add": ["$wakes", 1]}, "next_due": {"$ifNull": ["$next_due", due]}}
        rows.update_many({"_id": {"$in": woken}, **_ON}, [{"$set": fields}])


def give(runtime: Runtime, giver: str, to: str, keys: Sequence[str] | None) -> None:
    """Transfer the setting of a person to an account without one; else delete it.

    `keys`: hashes of the account's verified address; None: no check. It also deletes a setting with
    another address: a stranger with the person's token may have confirmed that address, and would
    read the account's letters.

    Call it after the account has the person's items, and before the deletion of the person's inbox:
    a due letter then covers the items that the person has not seen. If the account's letters go to
    the same address, the links in the person's old letters lead to the account's setting.
    """
    # Imported here: workers that only wake people do not need it.
    from chalicelib.mail import addressing

    rows = MAILINGS.of(runtime.database)
    row = rows.find_one({"_id": giver})
    if row is None:
        return
    # A letter under way may have gone already.
    since = max(row.get("until", row["since"]), preferences.find_seen(runtime, giver))
    own: Any = {**row, "_id": to, "since": since}
    for name in (*UNDER_WAY, "former"):
        own.pop(name, None)
    address = row.get("email")
    theirs = addressing.address_keys(address, runtime.settings.signing_keys) if address else []
    if keys is None or not set(keys).isdisjoint(theirs):
        insert_missing(rows, [own])
    same = {"_id": to, "email": row.get("email"), "former": {"$ne": giver}}
    former = {"$each": [*row.get("former", []), giver], "$slice": -MAX_FORMER}
    rows.update_one(same, {"$push": {"former": former}})
    if "next_due" in row:
        wake(runtime, [to])
    left = rows.find_one_and_delete({"_id": giver})
    if left is not None and left["wakes"] != row["wakes"] and left["every"] == "off":
        # A stop since the read has found the person's own setting alone.
        stop(runtime, giver)


# Leasing and finishing letters.

# Longer than a run of the schedule.
LEASE = timedelta(minutes=10)
# An item has `risen` from before its write; a worker ends the write within this time.
_SETTLED = timedelta(minutes=1)


def find_due(runtime: Runtime, most: int) -> list[MailSetting]:
    """Return up to `most` rows with a letter to write, in each kind the longest wait first.

    First come letters with an expired lease. Then come due letters of the rhythm `at_once`, up to
    half of `most`: many daily letters are due at the same hour. Then come the other due letters.
    """
    rows, now = MAILINGS.of(runtime.database), runtime.now()
    left = list(rows.find({"lease": {"$lte": now}}).sort("lease", ASCENDING).limit(most))
    free: Document = {"next_due": {"$lte": now}, "lease": None}
    urgent = rows.find({"every": "at_once", **free}).sort("next_due", ASCENDING)
    first = list(urgent.limit(max(most // 2, 1)))
    known = {row["_id"] for row in first}
    others = rows.find(free).sort("next_due", ASCENDING).limit(most)
    return [*left, *first, *(row for row in others if row["_id"] not in known)][:most]


def lease(runtime: Runtime, row: MailSetting) -> MailSetting | None:
    """Begin the letter of a row, or continue it; None if the row changed since the caller read it.

    The first lease fixes the end of the span (`until`), so that a later worker writes the same
    letter.
    """
    now = runtime.now()
    # Not before `since`: no letter covers the time while letters were off.
    until = row.get("until", max(now - _SETTLED, row["since"]))
    fields: Any = {"until": until, "lease": now + LEASE, "next_due": due_after(rhythm_of(row), now)}
    as_read = {name: row.get(name) for name in ("_id", "wakes", "next_due", *UNDER_WAY)}
    if not MAILINGS.of(runtime.database).update_one(as_read, {"$set": fields}).matched_count:
        return None
    leased: MailSetting = {**row, **fields}
    return leased


def postpone(runtime: Runtime, row: MailSetting, until: datetime) -> None:
    """Postpone the letter of a row until a time; do nothing if the row changed since its read.

    The span of a letter under way stays.
    """
    as_read = {name: row.get(name) for name in ("_id", "wakes", "next_due", *UNDER_WAY)}
    due = "lease" if "lease" in row else "next_due"
    MAILINGS.of(runtime.database).update_one(as_read, {"$set": {due: until}})


def finish(runtime: Runtime, leased: MailSetting, *, has_later: bool) -> None:
    """End a letter; without later items, and unless `wakes` has changed, remove `next_due`."""
    rows, until = MAILINGS.of(runtime.database), leased["until"]
    update = {"$set": {"since": until}, "$unset": dict.fromkeys(UNDER_WAY, "")}
    rows.update_one({"_id": leased["_id"], "until": until}, update)
    if not has_later:
        same = {"_id": leased["_id"], "wakes": leased["wakes"], "until": None}
        rows.update_one(same, {"$unset": {"next_due": ""}})
