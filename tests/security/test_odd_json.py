"""Numbers and texts of JSON that no document can hold, in every place of every body."""

import copy
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from chalicelib.runtime import Runtime
from contract.compatibility import parameters_of, resolve
from deploy.openapi.files import KEPT
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row, expected_of
from tests.security.support.world import World, build
from tests.security.test_access_matrix import target_of
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

NO_JSON = (b"NaN", b"Infinity", b"-Infinity", b'"\\ud800"', b"01", b"[" * 10_000 + b"]" * 10_000)
OUT_OF_RANGE = (
    b"18446744073709551616",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"1e400",
    b"-1e400",
    b"1E+0309",
    b"9" * 400,
)
# Any of these may be right somewhere.
RARE = (b"9223372036854775807", b"1e-400", b"-0", b"-0.0", b"1e308", b"2.5", b'"\\u0000"', b"1e3")
# Mends what senders spoil (tests/analytics/counting/test_faults.py).
LENIENT = {"POST /hits"}
HOLE = "a hole in a body"
DOCUMENT = orjson.loads(KEPT.read_bytes())
# Levels of a body: deeper ones are those of schemas that contain themselves.
DEEPEST = 6


def bodies_of(body: Any) -> Iterator[Any]:
    """Yield the body with a hole in place of each of its values, and with one beside them."""
    yield HOLE
    if isinstance(body, dict):
        yield {**body, "unknown": HOLE}
    for name, value in body.items() if isinstance(body, dict) else enumerate(body):
        inner = bodies_of(value) if isinstance(value, dict | list) else [HOLE]
        for each in inner:
            spoilt = copy.copy(body)
            spoilt[name] = each
            yield spoilt


def operations_with_bodies() -> dict[str, Any]:
    """Return each body of JSON in the document, by its call with the names in its path left out."""
    return {
        like(f"{method.upper()} {path}"): operation["requestBody"]["content"]["application/json"]
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }


def declared(schema: Any, depth: int = 0) -> Iterator[Any]:
    """Yield a hole in place of each value that a schema declares, within what it is in."""
    yield HOLE
    found = resolve(DOCUMENT, schema)
    if depth == DEEPEST:
        return
    for name in ("allOf", "anyOf", "oneOf"):
        for each in found.get(name, ()):
            yield from itertools.islice(declared(each, depth), 1, None)
    for name, each in found.get("properties", {}).items():
        yield from ({name: inner} for inner in declared(each, depth + 1))
    if "items" in found:
        yield from ([inner] for inner in declared(found["items"], depth + 1))


def spoilt(row: Row) -> list[Any]:
    """Return bodies of a call, each with one hole: in each of its values, and in each declared."""
    body, schema = row.body or {}, operations_with_bodies()[like(row.call)]["schema"]
    bodies = list(bodies_of(body))
    bodies += [{**body, **each} for each in declared(schema) if isinstance(each, dict)]
    return [each for number, each in enumerate(bodies) if each not in bodies[:number]]


def like(call: str) -> str:
    return re.sub("{[^}]+}", "{}", call)


def rows_with_bodies() -> dict[str, Row]:
    """Return a row of each operation that takes JSON, with a body if any of its rows has one."""
    taken = operations_with_bodies()
    rows = [row for feature in FEATURES.values() for row in reversed(feature)]
    return {
        row.call: row
        for row in sorted(rows, key=lambda row: bool(row.body))
        if like(row.call) in taken
    }


def sent(
    world: World, row: Row, target: str, body: bytes, version: int | str | None = None
) -> Reply:
    """Send a body as the first caller whom the matrix lets do it."""
    expected = expected_of(row)
    caller = min(expected, key=lambda each: (expected[each] == 401, expected[each]))
    headers = {"Idempotency-Key": world.fresh(), "Content-Type": "application/json"}
    if row.version is not None:
        headers["If-Match"] = f'"{version or row.version}"'
    method = row.call.split(" ", 1)[0]
    return world.as_(caller).request(method, target, body=body, headers=headers)


def stored(world: World) -> Any:
    """Return the digest of all documents."""
    return world.runtime.database.command("dbHash")["md5"]


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def test_what_nothing_can_hold_is_refused_in_each_place_of_each_body(world: World) -> None:
    wrong = []
    tokens = [(itertools.cycle(NO_JSON), 400), (itertools.cycle(OUT_OF_RANGE), 422)]
    for call, row in rows_with_bodies().items():
        if call in LENIENT:
            continue
        target, text = target_of(world, row), orjson.dumps(row.body or {})
        before = stored(world)
        texts = [(each, 400) for each in (b"\xef\xbb\xbf" + text, text + b" x", text + text)]
        for body, (token, status) in itertools.product(spoilt(row), tokens):
            texts.append((filled(body, next(token)), status))
        for each, status in texts:
            reply = sent(world, row, target, each)
            if reply.status != status:
                wrong.append((call, each[:200], reply.status, reply.body[:200]))
        if stored(world) != before:
            wrong.append((call, b"", 0, b"something was written"))

    assert wrong == []


def test_rare_json_is_no_failure_of_ours(world: World) -> None:
    wrong = []
    rare = itertools.cycle(RARE)
    for call, row in rows_with_bodies().items():
        bodies, text = spoilt(row), orjson.dumps(row.body or {})
        # Its members twice, in another encoding, and cut.
        texts = [text[:-1] + b"," + text[1:], text.decode().encode("utf-16"), text[:-1]]
        texts += [filled(body, next(rare)) for body in bodies]
        if call in LENIENT:
            tokens = (*NO_JSON, *OUT_OF_RANGE, *RARE)
            texts += [filled(body, token) for body, token in itertools.product(bodies, tokens)]
        for each in texts:
            reply = sent(world, row, target_of(world, row), each)
            if reply.status >= 500:
                wrong.append((call, each[:200], reply.status, reply.body[:200]))

    assert wrong == []


ODD_PARAMETERS = (
    *("18446744073709551616", "-9223372036854775809", "9" * 400, "1e400", "NaN", "Infinity"),
    *("%00", "%ED%A0%80", "%FF", "1_000", "%D9%A1", "+1", "0x10", ""),
)


def test_odd_numbers_in_an_address_or_a_header_are_no_failure_of_ours(world: World) -> None:
    wrong = []
    odd = itertools.cycle(ODD_PARAMETERS)
    document = json.loads(KEPT.read_bytes())
    shapes = {
        like(f"{method.upper()} {path}"): parameters_of(document, operation)
        for path, of_path in document["paths"].items()
        for method, operation in of_path.items()
    }
    rows = {row.call: row for feature in FEATURES.values() for row in feature}
    for call, row in rows.items():
        names = [name for place, name in shapes[like(call)] if place == "query"]
        target = target_of(world, row).partition("?")[0]
        targets = [f"{target}?{name}={next(odd)}" for name in names for _ in range(3)]
        start, _, end = target.rpartition("/")
        targets += [
            f"{start}/{next(odd)}" for _ in range(3) if end and "{" in call.rpartition("/")[2]
        ]
        for each in targets:
            reply = sent(world, row, each, orjson.dumps(row.body or {}), version=next(odd))
            if reply.status >= 500:
                wrong.append((call, each, reply.status, reply.body[:200]))

    assert wrong == []


def filled(body: Any, token: bytes) -> bytes:
    """Return the text of a body with a token in its hole."""
    return orjson.dumps(body).replace(orjson.dumps(HOLE), token)


def test_each_operation_with_a_body_is_tried() -> None:
    assert operations_with_bodies().keys() == {like(call) for call in rows_with_bodies()}


def test_each_field_that_the_document_declares_is_tried() -> None:
    untried = {
        (call, name)
        for call, row in rows_with_bodies().items()
        for name in fields_of(operations_with_bodies()[like(call)]["schema"])
        if not any(isinstance(each, dict) and each.get(name) == HOLE for each in spoilt(row))
    }

    assert untried == set()
    assert sum(len(spoilt(row)) for row in rows_with_bodies().values()) > 500


def fields_of(schema: Any) -> set[str]:
    """Return the names of the fields at the top of a schema."""
    found = resolve(DOCUMENT, schema)
    parts = [part for name in ("allOf", "anyOf", "oneOf") for part in found.get(name, ())]
    return set(found.get("properties", {})).union(*(fields_of(part) for part in parts))
