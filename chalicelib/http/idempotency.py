"""`Idempotency-Key`: a call repeated after a lost answer makes nothing twice.

A row records a caller, a path, a key, a digest of the body and the time of the first attempt. Every
attempt runs at that time and draws random numbers from a generator seeded by the row, so all
attempts choose the same id. A repeated call answers with the thing of that id. If that thing is
missing and no attempt has finished, the call runs again once the earlier attempt must be over. A
key used again after its day has a new row with another seed. Calls without the header skip all of
this.
"""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, NotRequired, TypedDict, TypeVar

from pydantic import ConfigDict, SecretStr, StringConstraints, TypeAdapter, ValidationError
from pymongo import ASCENDING, IndexModel
from pymongo.errors import DuplicateKeyError
from pymongo.results import UpdateResult

from chalicelib import signing
from chalicelib.database import Collection, Document
from chalicelib.errors import (
    FieldError,
    IdempotencyKeyReused,
    InvalidRequest,
    Problem,
    RequestInProgress,
)
from chalicelib.http import Request
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

# The lifetime of a key.
KEPT = timedelta(hours=24)
# An unfinished attempt counts as running for this long: longer than a function can run.
HELD = timedelta(seconds=40)
_CLIENT_ERROR, _SERVER_ERROR = 400, 500
KEY_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
_KEY: TypeAdapter[str] = TypeAdapter(
    Annotated[str, StringConstraints(pattern=KEY_PATTERN)], config=ConfigDict(defer_build=True)
)
Made = TypeVar("Made")
Draw = Callable[[datetime, random.Random], str]


class KeyRow(TypedDict):
    """A used key; `_id` and `digest` reveal neither the caller nor the body.

    - `seed`: the seed of the attempts' random numbers; rows of release 0.3.0 use `_id` instead.
    - `made`: the thing's id, if `make` may draw several.
    - `held`: the end of the time that an unfinished attempt counts as running.
    """

    _id: str
    digest: str
    seed: NotRequired[str]
    made: NotRequired[str]
    at: datetime
    held: datetime
    done: bool
    expires: datetime


KEYS = Collection(
    "idempotency",
    KeyRow,
    indexes=(IndexModel([("expires", ASCENDING)], expireAfterSeconds=0),),
    shard_key={"_id": "hashed"},
)


def key_of(request: Request) -> str | None:
    """Return the call's Idempotency-Key, or None; raises InvalidRequest for an invalid key."""
    given = request.raw.headers.get("idempotency-key")
    return None if given is None else _valid(given)


def required_key_of(request: Request) -> str:
    """Return the call's Idempotency-Key; raises InvalidRequest if it is missing or invalid."""
    return _valid(request.raw.headers.get("idempotency-key"))


def _valid(given: Any) -> str:
    try:
        return _KEY.validate_python(given)
    except ValidationError as error:
        fault = error.errors()[0]
        named = FieldError("Idempotency-Key", fault["type"], fault["msg"])
        raise InvalidRequest(errors=[named]) from None


def once(
    request: Request,
    make: Callable[[Runtime], Made],
    find: Callable[[str, datetime], Made],
    draw: Draw = new_id,
    id_of: Callable[[Made], str] | None = None,
) -> Made:
    """Return `make(runtime)`, or `find(id, made_at)` if an earlier call with the key made a thing.

    The new thing's id is the first id that `draw` returns for the time and random numbers of
    `make`. If `make` may draw again for a taken id, `id_of` returns the final id. `find` raises a
    Problem of 4xx if the thing is missing, or if another call made it. Raises
    IdempotencyKeyReused for another body, RequestInProgress while another attempt may be running,
    and the errors of `make` and `find`.
    """
    key = key_of(request)
    if key is None:
        return make(request.runtime)
    attempt = _Attempt(request, key)
    if not attempt.begin():
        found = attempt.earlier(find, draw)
        if found is not None:
            return found
    return attempt.run(make, find, draw, id_of)


class _Attempt:
    """An attempt at a call with a key, with the key's row."""

    def __init__(self, request: Request, key: str) -> None:
        caller, runtime = request.principal(), request.runtime
        secret = signing.signing_key(runtime.settings.signing_keys)
        place = [caller.id, request.raw.path, *(request.raw.uri_params or {}).values(), key]
        text: Any = request.raw.raw_body
        self._id = _digest(secret, b"\0".join(part.encode() for part in place))
        self._digest = _digest(secret, text)
        self._runtime = runtime
        self._rows = KEYS.of(runtime.database)
        self._row = self._new_row()

    def _new_row(self) -> KeyRow:
        now = self._runtime.now()
        return KeyRow(
            _id=self._id,
            digest=self._digest,
            seed=f"{self._id} {now.isoformat()}",
            at=now,
            held=now + HELD,
            done=False,
            expires=now + KEPT,
        )

    def begin(self) -> bool:
        """Insert the row; return False if it exists."""
        try:
            self._rows.insert_one({**self._row})
        except DuplicateKeyError:
            return False
        return True

    def earlier(self, find: Callable[[str, datetime], Made], draw: Draw) -> Made | None:
        """Return the thing of an earlier call. None: it made nothing, and this call has the row.

        Raises IdempotencyKeyReused and RequestInProgress, and a problem of `find` if it is a 5xx
        or the earlier call has finished.
        """
        row = self._rows.find_one({"_id": self._id})
        if row is None:
            raise RequestInProgress(retry_after_seconds=1)
        now = self._runtime.now()
        if row["expires"] <= now:
            # MongoDB deletes expired rows once a minute, or later.
            _check_taken(self._rows.replace_one(_as_seen(row), self._row))
            return None
        if row["digest"] != self._digest:
            raise IdempotencyKeyReused
        self._row = row
        try:
            return self._find_made(find, draw)
        except Problem as problem:
            if row["done"] or problem.status >= _SERVER_ERROR:
                raise
        if row["held"] > now:
            seconds = math.ceil((row["held"] - now).total_seconds())
            raise RequestInProgress(retry_after_seconds=seconds)
        _check_taken(self._rows.update_one(_as_seen(row), {"$set": {"held": now + HELD}}))
        return None

    def run(
        self,
        make: Callable[[Runtime], Made],
        find: Callable[[str, datetime], Made],
        draw: Draw,
        id_of: Callable[[Made], str] | None,
    ) -> Made:
        """Return the thing that `make` makes; of all failures, only a 4xx frees the key."""
        at = self._row["at"]
        clock = self._runtime.now
        runtime = replace(self._runtime, now=lambda: at, clock=clock, random=self._random())
        try:
            made = make(runtime)
        except DuplicateKeyError:
            # An attempt that seemed dead has written after all.
            made = self._find_made(find, draw)
        except Problem as problem:
            if _CLIENT_ERROR <= problem.status < _SERVER_ERROR:
                self._rows.delete_one({"_id": self._id})
            raise
        changes = {"done": True, **({"made": id_of(made)} if id_of else {})}
        self._rows.update_one({"_id": self._id}, {"$set": changes})
        return made

    def _find_made(self, find: Callable[[str, datetime], Made], draw: Draw) -> Made:
        at = self._row["at"]
        return find(self._row.get("made") or draw(at, self._random()), at)

    def _random(self) -> random.Random:
        """Return a generator of the same numbers for every attempt.

        No number is secret, since the row has the seed: a secret needs another generator.
        """
        return random.Random(self._row.get("seed", self._id))  # noqa: S311 - ids, which others see


def _as_seen(row: KeyRow) -> Document:
    """Return the filter that matches a row until another attempt changes it."""
    return {"_id": row["_id"], "at": row["at"], "held": row["held"], "done": row["done"]}


def _check_taken(result: UpdateResult) -> None:
    """Raise RequestInProgress if another attempt has the row."""
    if not result.matched_count:
        raise RequestInProgress(retry_after_seconds=1)


def _digest(key: SecretStr, message: bytes) -> str:
    return signing.tag(b"idempotency\0" + message, key, 18).hex()
