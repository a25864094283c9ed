"""Hostile requests: the calls of the access matrix with parts of them replaced."""

import copy
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from tests.security.support.callers import CALLERS
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row
from tests.security.support.world import World
from tests.support.http_client import Client, Reply

ROWS = [row for rows in FEATURES.values() for row in rows]
TEXTS = (
    "",
    " ",
    "$where",
    "$ne",
    "a.b",
    "a.$[]",
    "__proto__",
    "..",
    ".",
    "%00",
    "\x00",
    "\ud800",
    "\u202e",
    "\u200b",
    "\u0301" * 50,
    "'\"<script>",
    "{{7*7}}",
    "../../etc/passwd",
    "a" * 300,
    "a" * 20_000,
    "🏴‍☠️",
    "NaN",
    "null",
    "true",
    "-1",
    "1e400",
    "9" * 40,
    "2026-13-45",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "*public*",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**31,
    2**63,
    2**70,
    [],
    {},
    [[]],
    {"$gt": ""},
    {"$where": "sleep(1000)"},
    {"a.b": 1},
    {"": ""},
    [None],
    ["a"] * 1_001,
    *TEXTS,
)
QUERIES = (
    "limit",
    "cursor",
    "order",
    "nodes",
    "state",
    "visitor",
    "keywords",
    "count",
    "from",
    "by",
)
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"text": "\\ud800"}',
    b'{"text": "a", "text": "b"}',
    b'{"text": NaN}',
    b"[" * 5_000,
    b'{"a":' * 5_000,
    b'{"text": "' + b"a" * 1_100_000 + b'"}',
    b"\x1f\x8b\x08\x00" + bytes(40),
)
HEADERS: tuple[Mapping[str, str], ...] = (
    {},
    {"Content-Type": "text/plain"},
    {"Content-Type": "application/json; charset=utf-16"},
    {"Content-Encoding": "gzip"},
    {"Authorization": "Bearer"},
    {"Authorization": "Basic YTpi"},
    {"Authorization": "Bearer a.b.c"},
    {"Cookie": "plaza_visitor=" + "x" * 5_000},
    {"Idempotency-Key": "$ne"},
    {"Origin": "null"},
    {"X-Forwarded-For": "127.0.0.1, '"},
)


@dataclass(frozen=True)
class HostileRequest:
    """A request that is ready to be sent."""

    client: Client
    caller: str
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    def __str__(self) -> str:
        shown = self.body[:200] if len(self.body) < 2_000 else f"{len(self.body)} bytes"
        return f"{self.caller}: {self.method} {self.target[:300]} {dict(self.headers)} {shown!r}"

    def send(self) -> Reply:
        """Send it, and return the answer."""
        return self.client.request(
            self.method, self.target, body=self.body, headers=dict(self.headers)
        )


class Hostile:
    """Makes one hostile request after another; the same ones for the same seed."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng

    def request(self) -> HostileRequest:
        """Return a call of the matrix, one or more of whose parts are replaced."""
        row = self._rng.choice(ROWS)
        caller = self._rng.choice(list(CALLERS))
        method, template = row.call.split(" ", 1)
        names = {**self._world.names, **row.path}
        if self._rng.random() < 0.3:
            names[self._rng.choice(list(names))] = self._text()
        path = template.format(**{name: quote(_sendable(value)) for name, value in names.items()})
        headers = {"Content-Type": "application/json", "Idempotency-Key": self._world.fresh()}
        headers |= self._rng.choice(HEADERS) if self._rng.random() < 0.3 else {}
        return HostileRequest(
            self._world.as_(caller),
            caller,
            method,
            path + self._query(row),
            headers,
            b"" if method in {"GET", "DELETE"} else self._body(row),
        )

    def _query(self, row: Row) -> str:
        if self._rng.random() < 0.5:
            return row.query
        given = [f"{self._rng.choice(QUERIES)}={quote(_sendable(self._text()))}" for _ in range(2)]
        return "?" + "&".join(given)

    def _body(self, row: Row) -> bytes:
        if self._rng.random() < 0.2:
            return self._rng.choice(BODIES)
        body = copy.deepcopy(row.body or {})
        for _ in range(self._rng.randint(1, 2)):
            self._spoil(body)
        return orjson.dumps(body, default=str, option=orjson.OPT_NON_STR_KEYS)

    def _spoil(self, body: Any) -> None:
        """Replace, remove or add a member somewhere in a body."""
        while True:
            if isinstance(body, list):
                body.append(_dumpable(self._rng.choice(VALUES)))
                return
            inside = [value for value in body.values() if isinstance(value, dict | list)]
            if not inside or self._rng.random() < 0.5:
                break
            body = self._rng.choice(inside)
        names = [*body, _dumpable(self._text())]
        name = self._rng.choice(names)
        if self._rng.random() < 0.2:
            body.pop(name, None)
        else:
            body[name] = _dumpable(copy.deepcopy(self._rng.choice(VALUES)))

    def _text(self) -> str:
        return self._rng.choice(TEXTS)


def _sendable(text: str) -> str:
    """Return a text without what no address can carry."""
    return text.encode("utf-8", "replace").decode()


def _dumpable(value: Any) -> Any:
    """Return a value that JSON can hold: lone surrogates are in `BODIES`, as they are sent."""
    if isinstance(value, str):
        return _sendable(value)
    if isinstance(value, int) and abs(value) >= 2**63:
        return float(value)
    return value
