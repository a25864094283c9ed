"""Calls in the audit log after a restore point, to repeat in the restored database."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from pydantic import AwareDatetime, BaseModel

from chalicelib.assets.shapes import owner_of_person
from chalicelib.people.ids import GUEST_ID

ERASURE, BUYER_ERASURE = "/users/me", "/orders/{order}/erasure"
JOINING, CLAIM = "/sites/{site}/people/me/joined", "/carts/{cart}/claim"
STANDING = "/sites/{site}/people/{user}"
CHOICE, STOP = "/notifications/mail", "/notifications/mail/stop"
TRANSFER, CREDIT = "/accounts/{account}/transfers", "/accounts/{account}/credit"
DELETIONS = frozenset({"/content/{site}/assets/{asset}", "/users/me/assets/{asset}"})
REMOVALS = frozenset(f"{route}/versions/{{number}}" for route in DELETIONS)
ROUTES = frozenset(
    {ERASURE, BUYER_ERASURE, JOINING, CLAIM, STANDING, CHOICE, STOP, TRANSFER, CREDIT}
)
ROUTES |= DELETIONS | REMOVALS
# The clocks of containers, of the database and of a provider may differ.
OVERLAP = timedelta(minutes=10)
# The most events of an answer of Logs Insights: by default, and with the highest limit.
_CUTS = (10_000, 100_000)


class Deletion(NamedTuple):
    """A deleted asset of an owner."""

    owner: str
    asset: str


class Removal(NamedTuple):
    """A removed version of an owner's asset."""

    owner: str
    asset: str
    number: int

    def __str__(self) -> str:
        return f"{self.asset}/{self.number}"


class Standing(NamedTuple):
    """The status that a site's moderator gave a person last."""

    site: str
    user: str
    status: str


class MoneyMoved(NamedTuple):
    """A transfer between two accounts, and its key."""

    account: str
    key: str
    to: str
    amount_micros: int

    @property
    def id(self) -> str:
        """The id of the stored transfer."""
        return f"{self.account}/{self.key}"

    def __str__(self) -> str:
        amount = f"{self.amount_micros / 1_000_000:.2f}"
        return f"{self.account} to {self.to}: {amount}, key {self.key}"


class CreditSet(NamedTuple):
    """The credit line that an account was given last; None: none."""

    account: str
    credit_micros: int | None

    def __str__(self) -> str:
        credit = self.credit_micros
        return f"{self.account}: {'none' if credit is None else f'{credit / 1_000_000:.2f}'}"


@dataclass
class Replay:
    """The calls that a restore must not undo.

    `calls`: the number of the log's calls after the point. `unread`: the numbers of lines with a
    brace that are no JSON, or no call; the first line has the number 1. `imported`: people of
    imports whom an erased person had claimed by then. `stopped`: people whose letters ended.
    `earlier`: people who were erased up to `OVERLAP` before the point.
    """

    calls: int = 0
    unread: list[int] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    erasures: set[str] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)
    orders: set[str] = field(default_factory=set)
    deletions: set[Deletion] = field(default_factory=set)
    removals: set[Removal] = field(default_factory=set)
    standings: dict[tuple[str, str], Standing] = field(default_factory=dict)
    transfers: dict[str, MoneyMoved] = field(default_factory=dict)
    credit_lines: dict[str, CreditSet] = field(default_factory=dict)


class _Call(BaseModel):
    """An audit line."""

    time: AwareDatetime
    method: str
    route: str
    caller: str | None
    status: int
    things: dict[str, str]
    details: dict[str, Any] = {}

    @property
    def owner(self) -> str:
        """The owner of the asset that the call is about."""
        return self.things.get("site") or owner_of_person(self.caller or "")


def may_be_cut(lines: Iterable[str]) -> bool:
    """Return whether a file has as many events as an answer of CloudWatch has at most."""
    return sum("{" in line for line in lines) in _CUTS


def read_audit(lines: Iterable[str], since: datetime) -> Replay:
    """Return the audit log's calls since `OVERLAP` before a time; its lines may be in any order.

    A call of before the time is in the database, or not: to repeat it does no harm, but for the
    erasure of a person, who may have come again. Lines of other kinds are skipped, and so is the
    text before a line's JSON.
    """
    replay, calls = Replay(), list[_Call]()
    for number, line in enumerate(lines, 1):
        try:
            call = _parse(line)
        except ValueError:
            replay.unread.append(number)
            continue
        if call is not None and call.time >= since - OVERLAP:
            calls.append(call)
    replay.calls = sum(call.time >= since for call in calls)
    taken = _Taken()
    # An export may have the newest line first, and the last decision on a person holds.
    for call in sorted(calls, key=lambda each: each.time):
        if call.status >= HTTPStatus.MULTIPLE_CHOICES and not _is_begun(call):
            continue
        if (call.method, call.route) == ("DELETE", ERASURE) and call.time < since:
            replay.earlier.add(call.caller or "")
        else:
            _note(replay, call, taken)
    return replay


class _Taken:
    """Guests, imported people and orders that accounts claimed since the point, by account."""

    def __init__(self) -> None:
        self.people: defaultdict[str, set[str]] = defaultdict(set)
        self.orders: defaultdict[str, set[str]] = defaultdict(set)


def _is_begun(call: _Call) -> bool:
    """Return whether an erasure answered a failure: its job may be stored by then."""
    is_erasure = call.route in {ERASURE, BUYER_ERASURE} and call.method != "GET"
    is_erasure |= (call.method, call.route) == ("DELETE", STANDING)
    return is_erasure and call.status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _parse(line: str) -> _Call | None:
    """Return the call of a line. None: it has none. Raises ValueError."""
    start = line.find("{")
    if start < 0:
        return None
    found = orjson.loads(line[start:])
    if not isinstance(found, dict) or found.get("message") != "audit":
        return None
    return _Call.model_validate(found)


def _note_letters(replay: Replay, call: _Call) -> None:
    """Note whether a person's letters end: by the link of a letter, or by their own choice."""
    match call.details:
        case {"person": str(person)}:
            replay.stopped.add(person)
        case {"every": "off"}:
            replay.stopped.add(call.caller or "")
        case {"every": _}:
            replay.stopped.discard(call.caller or "")


def _note_money(replay: Replay, account: str, details: dict[str, Any]) -> None:
    """Note a transfer, once for its key, or a credit line."""
    match details:
        case {"credit_micros": int() | None as credit}:
            replay.credit_lines[account] = CreditSet(account, credit)
        case {"key": str(key), "to": str(to), "amount_micros": int(amount)}:
            moved = MoneyMoved(account, key, to, amount)
            replay.transfers.setdefault(moved.id, moved)


def _note_standing(replay: Replay, call: _Call) -> None:
    """Note the erasure of a guest or an imported person, who cannot come again, or a decision."""
    site, user = call.things["site"], call.things["user"]
    if call.method == "DELETE":
        replay.erasures.add(user)
    elif "status" in call.details:
        replay.standings[site, user] = Standing(site, user, call.details["status"])


def _note(replay: Replay, call: _Call, taken: _Taken) -> None:
    things, user = call.things, call.caller or ""
    match call.method, call.route:
        case "DELETE", route if route == ERASURE:
            replay.erasures.add(user)
            # The restored database lacks the person's claims since the point.
            guests = {each for each in taken.people[user] if GUEST_ID.fullmatch(each)}
            replay.erasures |= guests
            replay.imported |= taken.people[user] - guests
            replay.orders |= taken.orders[user]
            # The erasure has deleted earlier decisions, too.
            kept = replay.standings.items()
            replay.standings = {key: each for key, each in kept if each.user != user}
        case "POST", route if route == BUYER_ERASURE:
            replay.orders.add(things["order"])
        case "POST", route if route == JOINING:
            taken.people[user].update(call.details.get("joined", []))
        case "POST", route if route == CLAIM:
            taken.orders[user].update(call.details.get("orders", []))
        case _, route if route in {CHOICE, STOP}:
            _note_letters(replay, call)
        case "DELETE", route if route in DELETIONS:
            replay.deletions.add(Deletion(call.owner, things["asset"]))
        case "DELETE", route if route in REMOVALS:
            replay.removals.add(Removal(call.owner, things["asset"], int(things["number"])))
        case _, route if route in {TRANSFER, CREDIT}:
            _note_money(replay, things["account"], call.details)
        case _, route if route == STANDING:
            _note_standing(replay, call)
