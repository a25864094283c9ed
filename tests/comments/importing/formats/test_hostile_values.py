"""Values of any kind in the place of any field: a part may be left out, and the rest is read."""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import bson
import pytest
from pydantic import SecretStr

from chalicelib.comments.importing.conversion import FileConversion, UnusablePart
from chalicelib.comments.importing.formats.detection import PARSERS
from chalicelib.comments.importing.identities import PageAddresses, Source
from chalicelib.comments.importing.shapes import ImportedComment, ImportedThread, Item
from chalicelib.foreign.broken import BrokenFile
from tests.comments.importing.support.reading import written
from tests.support.clock import START

# More digits than Python makes a number of.
REFERENCE = f"&#{'1' * 5_000};"
HUGE = 10**400
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, HUGE, -HUGE, 1e300, 2**63, "", "x", "\ud800", "1e999", "9" * 5_000),
    *([], [[]], ["x"], [HUGE], [{}], {}, {"x": {}}, {"x": []}),
    *({"$date": []}, {"$numberLong": HUGE}, {"$oid": {}}, {"totalCount": HUGE}, {"nodes": [[]]}),
    *("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-23:00", "-0001-11-30 00:00:00"),
    *(REFERENCE, f"<p>{REFERENCE}", f'<img src="{REFERENCE}" alt="{REFERENCE}">'),
    *(
        "http://[",
        "//",
        "/[",
        "https://blog.example:x/",
        "%00",
        f"https://blog.example/{'a' * 999}",
    ),
    *([[HUGE, 1]], [["x", HUGE]], [["x", [HUGE]]], [{"id": HUGE, "name": []}]),
    *([{"content": []}], {"nodes": [{"content": {}}, {"content": "THUMBS_UP", "user": []}]}),
)
_PEOPLE = {"totalCount": 1}
# Names of fields that an object has which is a comment, a thread or a user.
_MARKS = frozenset(
    (
        "posted",
        "title",
        "created",
        "createdAt",
        "created_at",
        "creationDate",
        "insertedAt",
        "time",
        "blocked",
    )
)
# Fields of a format that the written discussion has not.
MORE: Mapping[str, Mapping[str, Any]] = {
    "artalk": {},
    "commento": {"url": "/x"},
    "github": {
        "databaseId": 1,
        "lastEditedAt": "2020-01-01T00:00:00Z",
        "deletedAt": None,
        "minimizedReason": "spam",
        "upvoteCount": 1,
        "author": {"login": "ann", "name": "Ann", "databaseId": 1, "id": "1", "email": "a@b.c"},
        "reactionGroups": [{"content": "THUMBS_UP", "users": _PEOPLE, "reactors": _PEOPLE}],
        "reactions": {"nodes": [{"content": "THUMBS_UP", "user": {"id": "1", "login": "ann"}}]},
        "replies": {"totalCount": 1, "nodes": [{"id": "r", "createdAt": 1, "body": "x"}]},
    },
    "isso": {"modified": 1.5, "mode": 1, "likes": 1, "dislikes": 1},
    "plaza": {
        "seq": 1,
        "reply_to": "c1",
        "slug": "x",
        "shadow": "visible",
        "reasons": ["links"],
        "spam_since": None,
        "featured": "2020-01-01T00:00:00Z",
        "reactions": [["x", ["heart"]]],
        "mentions": [{"id": "x", "name": "Bob"}],
        "votes": [["x", 1]],
        "author": {"id": "x", "name": "Bob", "badges": ["Local"], "role": "moderator"},
        "store": "documents",
        "threaded": True,
        "max_depth": 3,
        "moderation": "after",
        "order": "newest",
        "slow_seconds": 1,
        "opens_at": None,
        "closes_at": None,
        "public_from": None,
        "public_until": None,
        "pinned": ["c1"],
    },
    "remark42": {
        "delete": False,
        "votes": {"ann": True},
        "edit": {"time": "2020-01-01T00:00:00Z"},
        "details": {"email": "a@b.c"},
    },
    "twikoo": {
        "id": "1",
        "updated": 1,
        "ups": ["x"],
        "like": 1,
        "downs": ["x"],
        "uid": "x",
    },
    "waline": {
        "id": 1,
        "_id": "1",
        "createdAt": 1,
        "created_at": 1,
        "user_id": 1,
        "like": 1,
    },
}


@pytest.mark.parametrize("name", list(MORE))
def test_a_value_of_any_kind_leaves_the_other_parts(name: str) -> None:
    values = _values(written(name, 1).decode())
    for value in values:
        _add(value, MORE[name])

    assert len(list(_items(name, values))) > 1
    paths = [(number, *path) for number, value in enumerate(values) for path in _paths(value)]
    for path in paths:
        for hostile in VALUES:
            _check(name, values, path, hostile)


def _check(name: str, values: list[Any], path: tuple[Any, ...], hostile: Any) -> None:
    """Read a file with a value at a path, and make rows of what it gives."""
    *above, last = path
    holder: Any = values
    for each in above:
        holder = holder[each]
    whole, holder[last] = holder[last], hostile
    try:
        for item in _items(name, values):
            _stage(name, item)
    except BrokenFile:
        pass
    except Exception as fault:
        fault.add_note(f"{name}: {path} = {str(hostile)[:80]}")
        raise
    finally:
        holder[last] = whole


def _stage(name: str, item: Item) -> None:
    try:
        match item:
            case ImportedThread():
                bson.encode(_conversion(name).thread(item, 1))
            case ImportedComment():
                row, _ = _conversion(name).comment(item)
                bson.encode(row)
    except UnusablePart:
        pass


def _conversion(name: str) -> FileConversion:
    source = Source("blog", name, SecretStr("secret"))
    addresses = PageAddresses("https://blog.example")
    return FileConversion(source, "run", addresses, (), START, (SecretStr("key"),))


def _items(name: str, values: list[Any]) -> Iterator[Item]:
    text = "\n".join(map(json.dumps, values))
    return PARSERS[name](io.BytesIO(text.encode()))


def _values(text: str) -> list[Any]:
    decoder, found, at = json.JSONDecoder(), list[Any](), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def _add(value: Any, fields: Mapping[str, Any]) -> None:
    """Add fields to the comments, threads and users within a value; one of each list stays."""
    if isinstance(value, list):
        del value[1:]
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            _add(each, fields)
    if isinstance(value, dict) and value.keys() & _MARKS:
        value |= {**fields, **value}


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, member in members:
        yield (name,)
        if isinstance(member, dict | list):
            yield from ((name, *path) for path in _paths(member))
