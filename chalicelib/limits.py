"""Rate limits of writes, for each person and address: GCRA, with one date in one row.

The generic cell rate algorithm (ITU-T I.371, annex A) stores one instant for each limited thing:
the theoretical arrival time `tat` of its next write at an even pace. A write may happen while `tat`
is at most `burst - 1` intervals ahead of now, and moves it on by one interval. A row has no value
once its `tat` has passed, and a TTL index deletes it then.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple, TypedDict

from pydantic import SecretStr
from pymongo import ASCENDING, IndexModel, UpdateOne, WriteConcern
from pymongo.collection import Collection as MongoCollection
from pymongo.errors import BulkWriteError

from chalicelib import signing
from chalicelib.database import DUPLICATE_KEY, Collection
from chalicelib.errors import TooFast
from chalicelib.identity import Principal
from chalicelib.instants import MILLISECOND
from chalicelib.runtime import Runtime

# An address may write this many times as often as a person: offices and phones share addresses.
ADDRESS_SHARE = 10
# An IPv6 /48, a customer's usual block, may write as often as 16 of its /64 networks. Without this
# bound, its 65,536 networks could use up a fifth of all slots.
WIDE_SHARE = 16
# Addresses share this many rows of a limit: more addresses make no more rows.
SLOTS = 2**18
_IPV4_PREFIX, _IPV6_PREFIX, _WIDE_PREFIX = 24, 64, 48

_CONVERSION_FAILURE = 241
# Attempts while other calls insert the same rows first.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Limit:
    """The bound of a person's writes of a class: `burst` at once, then one each `every`.

    `of_person` True: the limit counts the person and the address; False: the address alone.
    """

    name: str
    burst: int
    every: timedelta
    of_person: bool = True


COMMENTS = Limit("comments", burst=20, every=timedelta(seconds=3))
# Comments on nodes, by address; each site limits a person's comments by its trust in the person.
NODE_COMMENTS = Limit("node_comments", burst=20, every=timedelta(seconds=3), of_person=False)
POSTS = Limit("posts", burst=20, every=timedelta(seconds=5))
# Actions of the activity feed, which applications may report for other people.
ACTIONS = Limit("actions", burst=60, every=timedelta(seconds=1))
# Writes of one click: reactions, follows, mutes, blocks, settings, states.
CLICKS = Limit("clicks", burst=120, every=timedelta(milliseconds=500))
# Votes on comments, and flags; a site may set other bounds.
VOTES = Limit("votes", burst=60, every=timedelta(seconds=1))
FLAGS = Limit("flags", burst=10, every=timedelta(minutes=6))
# Edits and deletions of one's own comments, posts and actions.
EDITS = Limit("edits", burst=60, every=timedelta(seconds=1))
# Pages of a person's export, which read much.
EXPORTS = Limit("exports", burst=60, every=timedelta(seconds=1))
# Previews of comments, which Plaza renders but does not store, and of pages' drafts.
PREVIEWS = Limit("previews", burst=60, every=timedelta(seconds=1))
# Saves of pages, as often as an editor's autosave, and publishing them.
CONTENT = Limit("content", burst=120, every=timedelta(seconds=1))
NODES = Limit("nodes", burst=200, every=timedelta(seconds=1))
# Nodes that a first comment makes on an open site.
OPENED = Limit("opened", burst=20, every=timedelta(minutes=1))
# Nodes that visits of pages make: 30 at once from a network, then 30 a day.
FIRST_VISITS = Limit("first_visits", burst=3, every=timedelta(hours=8), of_person=False)
# New guests, who need no token: ten at once from a network, then one a minute.
GUESTS = Limit("guests", burst=1, every=timedelta(minutes=10), of_person=False)
# Sign-ins by a provider: 30 at once from a network, then one a second.
SIGN_INS = Limit("sign_ins", burst=3, every=timedelta(seconds=10), of_person=False)
# Letters to an address that a person names: three at once from a person, then one each 20 minutes.
MAIL = Limit("mail", burst=3, every=timedelta(minutes=20))
# Letters to a mailbox, for all callers together.
LETTERS = Limit("letters", burst=3, every=timedelta(minutes=20), of_person=False)
# Letters of notifications to a mailbox, for all people together: as many as one person can have.
DIGESTS = Limit("digests", burst=12, every=timedelta(minutes=5), of_person=False)
# Letters that people ask for at a site, to any mailboxes.
SITE_LETTERS = Limit("site_letters", burst=200, every=timedelta(seconds=10), of_person=False)
# Campaigns and zones: changing them, and switching them on and off.
INVENTORY = Limit("inventory", burst=100, every=timedelta(seconds=1))
MONEY = Limit("money", burst=60, every=timedelta(seconds=1))
# Parts of assets, each up to 4 MiB, and editors' other writes of assets.
ASSETS = Limit("assets", burst=200, every=timedelta(milliseconds=500))
# Carts, which need no token: each is stored for months, and can reserve stock.
CARTS = Limit("carts", burst=20, every=timedelta(seconds=10))
# Checkouts, which begin a payment.
CHECKOUTS = Limit("checkouts", burst=10, every=timedelta(seconds=10))
# Queries to a provider for the payment of an ended order, for all callers together.
ORDER_LOOKS = Limit("order_looks", burst=5, every=timedelta(seconds=30), of_person=False)
# Removing a visitor's profile, which needs no token.
VISITORS = Limit("visitors", burst=20, every=timedelta(seconds=5))


class LimitRow(TypedDict):
    """A person's or a slot's use of a limit; `_id` names neither a person nor an address."""

    _id: str
    tat: datetime


LIMITS = Collection(
    "limit",
    LimitRow,
    indexes=(IndexModel([("tat", ASCENDING)], expireAfterSeconds=0),),
    shard_key={"_id": "hashed"},
)


class Allowance(NamedTuple):
    """A row of a limit, with its bound."""

    row_id: str
    burst: int
    every: timedelta

    def latest(self, now: datetime) -> datetime:
        """Return the latest `tat` that allows one more write."""
        return now + (self.burst - 1) * self.every

    def furthest(self, now: datetime) -> datetime:
        """Return the furthest `tat` of this setting; a further `tat` is of a stricter setting."""
        return now + self.burst * self.every

    def wait(self, tat: datetime, now: datetime) -> timedelta:
        """Return the time until one more write; zero or less: now."""
        return min(tat, self.furthest(now)) - self.latest(now)


class _Step(NamedTuple):
    allowance: Allowance
    update: UpdateOne


def take(runtime: Runtime, limit: Limit, caller: Principal | None, address: str | None) -> None:
    """Count a write against the caller's and the address's allowance, in one round trip.

    Admins have no limit; with PLAZA_LIMITS=off, no caller has. `address` is the result of
    `source`. Raises TooFast with the time to wait, and writes nothing then.
    """
    factor = runtime.settings.limits
    if factor is None or (caller is not None and caller.has("admin")):
        return
    allowances = _allowances(limit, caller, address, factor, runtime.settings.signing_keys)
    count(runtime, allowances)


def take_for(runtime: Runtime, limit: Limit, thing: str) -> None:
    """Count a write against the allowance of a thing, such as a site; raises TooFast as `take`.

    `thing` names neither a person nor an address.
    """
    factor = runtime.settings.limits
    if factor is not None:
        row_id = f"{limit.name}:={thing}"
        count(runtime, [scale(row_id, limit.burst, limit.every, factor)])


def count(runtime: Runtime, allowances: Sequence[Allowance]) -> None:
    """Count a write against allowances, in one round trip; raises TooFast as `take`."""
    # A count lost in an election does no harm; a wait for the majority at every write would.
    rows = LIMITS.of(runtime.database).with_options(write_concern=WriteConcern(1))
    now = runtime.now()
    steps = _steps(allowances, now)
    for _ in range(_ATTEMPTS):
        steps = _run(rows, steps)
        if not steps:
            return
        refuse(_wait(rows, [step.allowance for step in steps], now))
    raise TooFast(retry_after_seconds=1)


def check(runtime: Runtime, allowance: Allowance) -> None:
    """Raise TooFast if `count` would raise it now, and count nothing."""
    refuse(_wait(LIMITS.of(runtime.database), [allowance], runtime.now()))


def refuse(waiting: timedelta) -> None:
    """Raise TooFast, unless the time to wait is zero or less."""
    if waiting > timedelta(0):
        raise TooFast(retry_after_seconds=math.ceil(waiting.total_seconds()))


def _allowances(
    limit: Limit,
    caller: Principal | None,
    address: str | None,
    factor: float,
    keys: Sequence[SecretStr],
) -> list[Allowance]:
    """Return the allowances of the person, the address and an IPv6 address's wider network.

    An unknown person or address has none.
    """
    key, allowed = signing.signing_key(keys), []
    if caller is not None and limit.of_person:
        digest = signing.tag(b"limit person\0" + caller.id.encode(), key, 12)
        allowed.append((f"{limit.name}:{digest.hex()}", factor))
    if address is not None:
        share = factor * ADDRESS_SHARE
        allowed.append((f"{limit.name}:@{_slot_of(address, key)}", share))
        if ":" in address:
            wide = f"{_cut(IPv6Address(address), _WIDE_PREFIX)}/{_WIDE_PREFIX}"
            allowed.append((f"{limit.name}:@@{_slot_of(wide, key)}", share * WIDE_SHARE))
    return [scale(row_id, limit.burst, limit.every, times) for row_id, times in allowed]


def _slot_of(network: str, key: SecretStr) -> int:
    """Return the slot of a network, which it shares with others."""
    return int.from_bytes(signing.tag(b"limit address\0" + network.encode(), key, 8)) % SLOTS


def scale(row_id: str, burst: int, every: timedelta, factor: float) -> Allowance:
    """Return an allowance of a row: `factor` times as many writes."""
    return Allowance(row_id, max(1, round(burst * factor)), _whole(every / factor))


def _steps(allowances: Sequence[Allowance], now: datetime) -> list[_Step]:
    """Return the updates that count a write, in order; after a failure no later update runs.

    First come the checks of all allowances but the first, then the counts. The first count is its
    own check: it fails if the allowance is used up.
    """
    guards = [_Step(each, _refusal(each, now)) for each in allowances[1:]]
    return guards + [_Step(each, _count(each, now)) for each in allowances]


def _count(allowance: Allowance, now: datetime) -> UpdateOne:
    """Return the update that counts a write.

    If the row is too far ahead, the upsert fails with a duplicate key.
    """
    moved = {"$add": [{"$max": ["$tat", now]}, allowance.every // MILLISECOND]}
    allowed = {"_id": allowance.row_id, "tat": {"$lte": allowance.latest(now)}}
    return UpdateOne(allowed, [{"$set": {"tat": moved}}], upsert=True)


def _refusal(allowance: Allowance, now: datetime) -> UpdateOne:
    """Return an update that fails if the row is too far ahead, and otherwise changes nothing.

    It fails by converting the row's id, which is no date, to a date.
    """
    refused = {"_id": allowance.row_id, "tat": {"$gt": allowance.latest(now)}}
    return UpdateOne(refused, [{"$set": {"tat": {"$toDate": "$_id"}}}])


def _run(rows: MongoCollection[LimitRow], steps: Sequence[_Step]) -> list[_Step]:
    """Run the steps as one command; return the steps from the first failure on."""
    try:
        rows.bulk_write([step.update for step in steps], ordered=True)
    except BulkWriteError as error:
        details: Any = error.details
        faults = details["writeErrors"]
        if not faults or faults[0]["code"] not in {DUPLICATE_KEY, _CONVERSION_FAILURE}:
            raise
        return list(steps[faults[0]["index"] :])
    return []


def _wait(
    rows: MongoCollection[LimitRow], allowances: Sequence[Allowance], now: datetime
) -> timedelta:
    """Return the time until every allowance allows a write; zero: now.

    It can be zero although a step failed: two concurrent first writes insert the same row. If a
    former, stricter setting left a row too far ahead, move the row back to the present bound.
    """
    by_row = {each.row_id: each for each in allowances}
    waits = [timedelta(0)]
    for row in list(rows.find({"_id": {"$in": list(by_row)}})):
        allowance = by_row[row["_id"]]
        tat, furthest = row["tat"], allowance.furthest(now)
        if tat > furthest:
            as_read = {"_id": row["_id"], "tat": tat}
            rows.update_one(as_read, {"$set": {"tat": furthest}})
        waits.append(allowance.wait(tat, now))
    return max(waits)


def _whole(span: timedelta) -> timedelta:
    """Return a span in whole milliseconds, the precision of a row's dates."""
    return max(1, round(span / MILLISECOND)) * MILLISECOND


def source(context: Mapping[str, Any], headers: Mapping[str, str], trusted_hops: int) -> str | None:
    """Return the network of a request's source: a /24 of IPv4 or a /64 of IPv6.

    None: the gateway names no address.
    """
    found = address(context, headers, trusted_hops)
    return None if found is None else _network(found)


def address(
    context: Mapping[str, Any], headers: Mapping[str, str], trusted_hops: int
) -> IPv4Address | IPv6Address | None:
    """Return the address of a request's source; None: the gateway names no address.

    API Gateway names its caller's address, and appends it to X-Forwarded-For. Behind the
    deployment's own proxies, the source is `trusted_hops` entries before the last. Entries further
    left come from the source itself and prove nothing.
    """
    named = (context.get("identity") or {}).get("sourceIp")
    if trusted_hops:
        forwarded = headers.get("x-forwarded-for", "").split(",")
        if len(forwarded) > trusted_hops:
            return _parse_address(forwarded[-1 - trusted_hops].strip()) or _parse_address(named)
    return _parse_address(named)


def _parse_address(text: str | None) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text or "")
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def _network(found: IPv4Address | IPv6Address) -> str:
    return str(_cut(found, _IPV6_PREFIX if isinstance(found, IPv6Address) else _IPV4_PREFIX))


def _cut(found: IPv4Address | IPv6Address, prefix: int) -> IPv4Address | IPv6Address:
    """Return the first address of the network with this many leading bits."""
    spare_bits = found.max_prefixlen - prefix
    return type(found)(int(found) >> spare_bits << spare_bits)
