"""The calls of the audit log after a restore point that a restored database must hear of again."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from pydantic import AwareDatetime, BaseModel

from chalicelib.assets.shapes import owner_of_person

DELETIONS = frozenset({"/content/{site}/assets/{asset}", "/users/me/assets/{asset}"})
REMOVALS = frozenset(f"{route}/versions/{{number}}" for route in DELETIONS)


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


@dataclass
class Replay:
    """The calls that a restore must not undo.

    `calls`: the number of the log's calls after the point. `unread`: the numbers of lines with a
    brace that are no JSON, or no call; the first line has the number 1.
    """

    calls: int = 0
    unread: list[int] = field(default_factory=list)
    erasures: set[str] = field(default_factory=set)
    orders: set[str] = field(default_factory=set)
    deletions: set[Deletion] = field(default_factory=set)
    removals: set[Removal] = field(default_factory=set)
    standings: dict[tuple[str, str], Standing] = field(default_factory=dict)


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


def read_audit(lines: Iterable[str], since: datetime) -> Replay:
    """Return the calls that the audit log has from a time on, in whatever order its lines are.

    Lines of other kinds are skipped, and so is the text before a line's JSON.
    """
    replay, calls = Replay(), list[_Call]()
    for number, line in enumerate(lines, 1):
        try:
            call = _parse(line)
        except ValueError:
            replay.unread.append(number)
            continue
        if call is not None and call.time >= since:
            calls.append(call)
    replay.calls = len(calls)
    # An export may have the newest line first, and the last decision on a person holds.
    for call in sorted(calls, key=lambda each: each.time):
        if call.status < HTTPStatus.MULTIPLE_CHOICES:
            _note(replay, call)
    return replay


def _parse(line: str) -> _Call | None:
    """Return the call of a line. None: it has none. Raises ValueError."""
    start = line.find("{")
    if start < 0:
        return None
    found = orjson.loads(line[start:])
    if not isinstance(found, dict) or found.get("message") != "audit":
        return None
    return _Call.model_validate(found)


def _note(replay: Replay, call: _Call) -> None:
    things = call.things
    match call.method, call.route:
        case "DELETE", "/users/me":
            user = call.caller or ""
            replay.erasures.add(user)
            # The erasure has deleted earlier decisions, too.
            kept = replay.standings.items()
            replay.standings = {key: each for key, each in kept if each.user != user}
        case "POST", "/orders/{order}/erasure":
            replay.orders.add(things["order"])
        case "DELETE", route if route in DELETIONS:
            replay.deletions.add(Deletion(call.owner, things["asset"]))
        case "DELETE", route if route in REMOVALS:
            replay.removals.add(Removal(call.owner, things["asset"], int(things["number"])))
        case "PATCH", "/sites/{site}/people/{user}" if "status" in call.details:
            site, user = things["site"], things["user"]
            replay.standings[site, user] = Standing(site, user, call.details["status"])
