"""Hooks of a site: registration, changes, removal, and the state of their receivers."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pymongo import ASCENDING, ReturnDocument
from pymongo.errors import DuplicateKeyError

from chalicelib import outgoing
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.ids import new_id
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.webhooks import signatures
from chalicelib.webhooks.errors import AddressRefused, TooManyHooks, UnknownHook
from chalicelib.webhooks.kinds import Kind
from chalicelib.webhooks.rows import DELIVERIES, HOOKS, MAX_HOOKS, Hook

# The greatest age of the remembered hooks of a site.
REMEMBERED = timedelta(seconds=5)
_ATTEMPTS = 5
# A call of more than `_QUICK_SECONDS` is slow. Once the slow calls of a site add up to `MOST_BUSY`,
# the site gets about one worker.
_QUICK_SECONDS, MOST_BUSY = 1.0, timedelta(minutes=1)
# The fields in which a hook has the failures of its receiver.
_FAILURES = ("failing_since", "quiet_until")


class Listener(NamedTuple):
    """A hook that is on, with the kinds of events that it gets, and the end of their ids."""

    id: str
    kinds: Sequence[Kind]
    made: datetime
    epoch: str


@remember(seconds=REMEMBERED.seconds)
def listening(runtime: Runtime, site: str) -> list[Listener]:
    """Return the hooks of a site that are on, as of up to `REMEMBERED` ago."""
    fields = {"kinds": 1, "made": 1, "epoch": 1}
    rows = HOOKS.of(runtime.database).find({"site": site, "state": "on"}, fields)
    return [
        Listener(each["_id"], each["kinds"], each["made"], each.get("epoch", "")) for each in rows
    ]


def read(runtime: Runtime, site: str) -> list[Hook]:
    """Return the hooks of a site in their slots' order."""
    return list(HOOKS.of(runtime.database).find({"site": site}).sort("slot", ASCENDING))


def find(runtime: Runtime, site: str, hook_id: str) -> Hook:
    """Return a hook of a site; raises UnknownHook."""
    found = HOOKS.of(runtime.database).find_one({"site": site, "_id": hook_id})
    if found is None:
        raise UnknownHook
    return found


class HookTarget(NamedTuple):
    """The address of a hook, and the kinds of its events."""

    url: str
    kinds: list[Kind]


def register(
    runtime: Runtime, site: str, wanted: HookTarget, by: str, hook_id: str | None = None
) -> tuple[Hook, str]:
    """Store a new hook of a site; return it with its secret.

    `hook_id`: its id; None: a new one. Raises AddressRefused, TooManyHooks, Misconfigured without
    PLAZA_SIGNING_KEYS, and pymongo's DuplicateKeyError for a stored `hook_id`.
    """
    check_address(runtime, wanted.url)
    secret, now = signatures.new_secret(runtime), runtime.now()
    # Every hook of before a restore has its epoch.
    others = HOOKS.of(runtime.database).find_one({"epoch": {"$exists": True}}, {"epoch": 1})
    hook: Hook = {
        "_id": hook_id or new_id(now, runtime.random),
        "site": site,
        "slot": 0,
        "url": wanted.url,
        "kinds": wanted.kinds,
        "secrets": [signatures.seal(runtime, secret)],
        "state": "on",
        "made": now,
        "failing_since": None,
        "quiet_until": None,
        "by": by,
    }
    if others is not None:
        hook["epoch"] = others["epoch"]
    return _insert(runtime, hook), secret


def _insert(runtime: Runtime, hook: Hook) -> Hook:
    """Store a hook in a free slot of its site; raises as `register`."""
    rows, site = HOOKS.of(runtime.database), hook["site"]
    # Another call may take a slot first, at most once for each slot.
    for _ in range(MAX_HOOKS):
        taken = {each["slot"] for each in rows.find({"site": site}, {"slot": 1})}
        free = next((slot for slot in range(MAX_HOOKS) if slot not in taken), None)
        if free is None:
            break
        try:
            rows.insert_one({**hook, "slot": free})
        except DuplicateKeyError:
            if rows.find_one({"site": site, "_id": hook["_id"]}, {"_id": 1}):
                # Another attempt at the same call was faster.
                raise
            continue
        listening.forget(runtime, site)
        return {**hook, "slot": free}
    raise TooManyHooks


def check_address(runtime: Runtime, url: str) -> None:
    """Raise AddressRefused unless `outgoing.split_destination` accepts the URL; no DNS query."""
    try:
        outgoing.split_destination(url, is_near=runtime.settings.is_local)
    except ValueError:
        raise AddressRefused from None


def change(runtime: Runtime, site: str, hook_id: str, fields: Mapping[str, Any]) -> Hook:
    """Set fields of a hook and return it; a new address, or the state `on`, clears its failures.

    Raises UnknownHook, and AddressRefused.
    """
    if "url" in fields:
        check_address(runtime, fields["url"])
    said: Document = {name: {"$literal": value} for name, value in fields.items()}
    changed = HOOKS.of(runtime.database).find_one_and_update(
        {"site": site, "_id": hook_id},
        [{"$set": {**said, **_failures_after(fields)}}],
        return_document=ReturnDocument.AFTER,
    )
    listening.forget(runtime, site)
    if changed is None:
        raise UnknownHook
    return changed


def _failures_after(fields: Mapping[str, Any]) -> Document:
    """Return the fields of an update's pipeline that set a hook's failures after a change."""
    if fields.get("state") == "on":
        return dict.fromkeys(_FAILURES)
    if "url" not in fields:
        return {}
    # The failures are those of a receiver: another begins without them.
    is_same = {"$eq": ["$url", {"$literal": fields["url"]}]}
    return {name: {"$cond": [is_same, f"${name}", None]} for name in _FAILURES}


def rotate(runtime: Runtime, site: str, hook_id: str) -> tuple[Hook, str]:
    """Store a new secret; return the hook and the secret. The former secret also signs for a day.

    Raises UnknownHook, Misconfigured, and Unavailable if other calls replace it at each attempt.
    """
    secret = signatures.new_secret(runtime)
    sealed, now = signatures.seal(runtime, secret), runtime.now()
    for _ in range(_ATTEMPTS):
        before = find(runtime, site, hook_id)["secrets"]
        # The condition puts concurrent rotations in an order: the last two secrets sign.
        changed = HOOKS.of(runtime.database).find_one_and_update(
            {"site": site, "_id": hook_id, "secrets": before},
            {"$set": {"secrets": signatures.rotate(before, sealed, now)}},
            return_document=ReturnDocument.AFTER,
        )
        if changed is not None:
            return changed, secret
    raise Unavailable("Others replace the secret; try again")


def remove(runtime: Runtime, site: str, hook_id: str) -> None:
    """Remove a hook with its deliveries; without such a hook, nothing changes."""
    if HOOKS.of(runtime.database).delete_one({"site": site, "_id": hook_id}).deleted_count:
        # A worker deletes the deliveries that a concurrent event still makes.
        DELIVERIES.of(runtime.database).delete_many({"hook": hook_id})
    listening.forget(runtime, site)


def has_hooks(runtime: Runtime, site: str) -> bool:
    """Return whether a site has hooks, in whatever state."""
    return HOOKS.of(runtime.database).find_one({"site": site}, {"_id": 1}) is not None


def may_try(runtime: Runtime, hook: Hook, quiet: timedelta) -> bool:
    """Return whether this worker may call a hook's receiver now.

    A silent receiver gets one call after each pause `quiet`. The worker that gets True begins the
    next pause.
    """
    until, now = hook["quiet_until"], runtime.now()
    if until is None:
        return True
    as_read = {"site": hook["site"], "_id": hook["_id"], "quiet_until": until}
    later = {"$set": {"quiet_until": now + quiet}}
    return until <= now and HOOKS.of(runtime.database).update_one(as_read, later).matched_count > 0


def busy_until(hook: Hook, now: datetime) -> datetime | None:
    """Return the end of the slow calls of a hook's site; None: a worker may call now.

    A worker may call if at most MOST_BUSY is left of the slow calls.
    """
    until = hook.get("busy_until")
    return until if until is not None and until > now + MOST_BUSY else None


def note_call(runtime: Runtime, hook: Hook, seconds: float) -> None:
    """Add the seconds of a slow call to `busy_until` of all hooks of its site.

    A worker waits for each answer: without this bound, the slow receivers of one site, up to 20,
    could occupy all workers.
    """
    if seconds <= _QUICK_SECONDS:
        return
    sum_of_both: list[Any] = [{"$max": ["$busy_until", runtime.now()]}, round(seconds * 1_000)]
    stages: list[Document] = [{"$set": {"busy_until": {"$add": sum_of_both}}}]
    HOOKS.of(runtime.database).update_many({"site": hook["site"]}, stages)


def note_success(runtime: Runtime, hook: Hook) -> None:
    """Clear the failures of a hook, unless it is off or has another address by now."""
    if hook["failing_since"] is not None or hook["quiet_until"] is not None:
        well = {"$set": dict.fromkeys(_FAILURES)}
        HOOKS.of(runtime.database).update_one(_match_attempt(hook), well)


def note_failure(runtime: Runtime, hook: Hook, fields: Mapping[str, Any]) -> None:
    """Store a failed try, with further fields, in a hook that is on and has the tried address.

    A success or first failure of another try since the read of `hook` makes this failure void,
    unless the receiver is gone.
    """
    where, since = _match_attempt(hook), hook["failing_since"] or runtime.now()
    if fields.get("state") != "gone":
        where["failing_since"] = hook["failing_since"]
    failed = {"failing_since": since, **fields}
    if "state" in fields:
        failed["stopped"] = runtime.now()
    HOOKS.of(runtime.database).update_one(where, {"$set": failed})
    if "state" in fields:
        listening.forget(runtime, hook["site"])


def _match_attempt(hook: Hook) -> Document:
    """Return the filter of a hook that is on and still has the address that a worker tried."""
    return {"site": hook["site"], "_id": hook["_id"], "url": hook["url"], "state": "on"}
