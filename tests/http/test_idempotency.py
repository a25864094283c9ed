"""Calls that are repeated with the same Idempotency-Key."""

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from pymongo.errors import AutoReconnect

from chalicelib.comments.writing import draft
from chalicelib.database import Document
from chalicelib.http import idempotency
from chalicelib.http.idempotency import HELD, KEPT, KEYS
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

POST = {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"]}
APPLICANT = {
    "type": "new_applicant",
    "applicant_id": "mary",
    "applicant_name": "Mary",
    "position_id": "dev",
    "position_name": "Developer",
    "tags": [],
}
PAGE = {"type": "page", "slug": "moon", "title": "Moon", "detail": {"text": "Hello"}}
ACTION = {"scope": "restricted", "audience": ["bob"], "descriptor": APPLICANT}


class Call(NamedTuple):
    """A call that makes something: where to, what with, and how many there are of it."""

    path: str
    body: Document
    made: Callable[[Client, str], int]


def listed(name: str) -> Callable[[Client, str], int]:
    return lambda client, path: len(client.get(path).json[name])


CALLS = {
    "comment": Call("/nodes/page/comments", {"text": "Hello"}, listed("comments")),
    "post": Call("/posts", POST, lambda client, _: stored(client, "social.post", deleted=False)),
    "post's comment": Call("/posts/{post}/comments", {"text": "Hello"}, listed("comments")),
    "action": Call("/actions", ACTION, lambda client, _: stored(client, "feed.action")),
    "action's comment": Call("/actions/{action}/comments", {"text": "Hello"}, listed("comments")),
    "content": Call(
        "/content/default/nodes", PAGE, lambda client, _: stored(client, "content.node")
    ),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def stored(client: Client, name: str, **where: Any) -> int:
    runtime: Runtime = client.app.plaza_runtime  # type: ignore[attr-defined]
    return runtime.database[name].count_documents(where)


class Town:
    """Ann with a page, and what she comments on."""

    def __init__(self, ann: Client, paths: dict[str, str]) -> None:
        self.ann = ann
        self._paths = paths

    def path(self, call: Call) -> str:
        return call.path.format(**self._paths)

    def send(self, call: Call, key: str | None = "k1", **changes: Any) -> Reply:
        headers = {"Content-Type": "application/json"}
        headers |= {"Idempotency-Key": key} if key else {}
        body = json.dumps({**call.body, **changes}).encode()
        return self.ann.request("POST", self.path(call), body=body, headers=headers)

    def count(self, call: Call) -> int:
        return call.made(self.ann, self.path(call))


@pytest.fixture
def town(client: Client, runtime: Runtime, workers: Any) -> Town:
    client.app.plaza_runtime = runtime  # type: ignore[attr-defined]
    ann = client.as_("ann", roles=["publisher", "application"])
    client.as_("bob").put("/users/me")
    ann.put("/users/me")
    assert ann.put("/nodes/page", title="Page", url="https://site.example/").status == 201
    post = ann.post("/posts", **POST)
    action = ann.post("/actions", **ACTION)
    assert (post.status, action.status) == (201, 201), action.body
    workers.drain()
    return Town(ann, {"post": post.json["id"], "action": action.json["id"]})


def rows(runtime: Runtime) -> list[Document]:
    return list(runtime.database[KEYS.name].find())


@every_call
def test_a_repeated_call_makes_nothing_and_is_answered_alike(town: Town, call: Call) -> None:
    before = town.count(call)

    first, second = town.send(call), town.send(call)

    assert (first.status, second.status) == (201, 201)
    assert first.json["id"] == second.json["id"]
    assert first.headers.get("Location") == second.headers.get("Location")
    assert town.count(call) == before + 1


def test_a_repeated_comment_is_found_where_its_discussion_has_moved(
    town: Town, client: Client
) -> None:
    """A client that followed the move would post again, under a key of another place."""
    call = CALLS["comment"]
    first = town.send(call)
    admin = client.as_("root", roles=["admin"])
    assert admin.post("/nodes/page/move", to="moved").status == 200

    second = town.send(call)

    assert (second.status, second.json["id"]) == (201, first.json["id"])
    assert town.send(call, "k2").status == 308
    assert len(client.get("/nodes/moved/comments").json["comments"]) == 1


@every_call
def test_a_call_whose_end_nobody_saw_makes_nothing_a_second_time(
    town: Town, call: Call, runtime: Runtime, clock: Clock
) -> None:
    """The function was stopped after it wrote, and before it could say so."""
    before = town.count(call)
    first = town.send(call)
    runtime.database[KEYS.name].update_one({}, {"$set": {"done": False}})
    clock.advance(minutes=3)

    assert town.send(call).json["id"] == first.json["id"]
    assert town.count(call) == before + 1


@every_call
def test_a_call_that_failed_before_it_wrote_can_be_repeated(
    town: Town, call: Call, clock: Clock, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = town.count(call)
    with monkeypatch.context() as patched:
        patched.setattr(idempotency._Attempt, "run", fail)
        assert town.send(call).status == 503
    assert len(rows(runtime)) == 1

    early = town.send(call)
    assert (early.status, early.code) == (409, "request_in_progress")
    clock.advance(seconds=int(early.headers["Retry-After"]))

    assert town.send(call).status == 201
    assert town.send(call).status == 201
    assert town.count(call) == before + 1


def fail(*_: Any) -> Any:
    raise AutoReconnect("the primary is gone")


@every_call
@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "not yet deleted"])
def test_a_key_used_again_after_its_day_makes_another_thing(
    town: Town,
    call: Call,
    clock: Clock,
    runtime: Runtime,
    is_deleted: bool,  # noqa: FBT001 - a row of the table
) -> None:
    before = town.count(call)
    monday = town.send(call)
    clock.advance(hours=24)
    if is_deleted:
        runtime.database[KEYS.name].delete_many({"expires": {"$lte": clock()}})

    tuesday = town.send(call)

    assert tuesday.status == 201
    assert tuesday.json["id"] != monday.json["id"]
    assert town.send(call).json["id"] == tuesday.json["id"]
    assert town.count(call) == before + 2


@every_call
def test_a_row_of_the_last_release_finds_its_thing(
    town: Town, call: Call, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        as_before = lambda self: random.Random(self._id)  # noqa: E731
        patched.setattr(idempotency._Attempt, "_random", as_before)
        first = town.send(call)
    runtime.database[KEYS.name].update_one({}, {"$unset": {"seed": 1, "made": 1}})

    assert town.send(call).json["id"] == first.json["id"]


def draw_of_few(rng: random.Random) -> str:
    return "000000000" + rng.choice("0123456789abcdef")


@pytest.mark.parametrize("is_done", [True, False], ids=["done", "stopped before the end"])
def test_calls_whose_first_ids_were_taken_find_their_own_comments(
    town: Town,
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    is_done: bool,  # noqa: FBT001 - a row of the table
) -> None:
    monkeypatch.setattr(draft, "new_comment_id", draw_of_few)
    call, keys = CALLS["comment"], [f"k{number}" for number in range(10)]
    made = {}
    for key in keys:
        clock.advance(seconds=1)
        made[key] = town.send(call, key, text=f"Comment {key}").json["id"]
    redrawn = [
        row for row in rows(runtime) if row["made"] != draw_of_few(random.Random(row["seed"]))
    ]
    assert redrawn
    if not is_done:
        runtime.database[KEYS.name].update_many(
            {}, {"$set": {"done": False}, "$unset": {"made": 1}}
        )

    again = {key: town.send(call, key, text=f"Comment {key}") for key in keys}

    if is_done:
        assert {key: reply.json["id"] for key, reply in again.items()} == made
    for key, reply in again.items():
        assert reply.status == 409 or reply.json["text"] == f"Comment {key}"


@every_call
def test_a_key_stands_for_one_body(town: Town, call: Call) -> None:
    before = town.count(call)
    town.send(call)
    has_detail = call.body is POST or call.body is PAGE
    changes: Document = {"detail": {"text": "Else"}} if has_detail else {"text": "Else"}
    if call.body is ACTION:
        changes = {"audience": ["bob", "ann"]}

    reply = town.send(call, **changes)

    assert (reply.status, reply.code) == (409, "idempotency_key_reused")
    assert town.count(call) == before + 1


@every_call
def test_without_a_key_a_call_is_made_as_often_as_it_is_sent(
    town: Town, call: Call, runtime: Runtime
) -> None:
    before = town.count(call)

    ids = {town.send(call, key=None).json["id"] for _ in range(3)}

    assert len(ids) == 3
    assert town.count(call) == before + 3
    assert rows(runtime) == []


def test_calls_at_once_with_one_key_make_one_thing(town: Town) -> None:
    call = CALLS["post"]
    before = town.count(call)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: town.send(call), range(16)))

    made = {reply.json["id"] for reply in replies if reply.status == 201}
    assert len(made) == 1
    assert {reply.status for reply in replies} <= {201, 409}
    assert town.count(call) == before + 1


def test_an_attempt_that_was_taken_for_dead_and_wrote_after_all_is_found(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = CALLS["post"]
    before = town.count(call)
    first = town.send(call)
    monkeypatch.setattr(
        idempotency._Attempt, "earlier", lambda attempt, *_: take_time_of(attempt, runtime)
    )

    assert town.send(call).json["id"] == first.json["id"]
    assert town.count(call) == before + 1


def take_time_of(attempt: Any, runtime: Runtime) -> None:
    """Find nothing yet, as one who looked just before the other wrote."""
    attempt._row = rows(runtime)[0]


@pytest.mark.parametrize("key", ["", "a b", "x" * 65, "é", "$where"])
def test_a_key_that_cannot_be_is_named(town: Town, key: str) -> None:
    call = CALLS["comment"]
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}

    reply = town.ann.request("POST", town.path(call), body=b'{"text": "Hi"}', headers=headers)

    assert reply.status == 422
    assert [each["field"] for each in reply.json["errors"]] == ["Idempotency-Key"]


def test_people_and_places_have_keys_of_their_own(town: Town, client: Client) -> None:
    call = CALLS["comment"]
    town.ann.put("/nodes/other", title="Other", url="https://site.example/o")
    bob = Town(client.as_("bob"), {})
    other = call._replace(path="/nodes/other/comments")

    ids = [town.send(call), bob.send(call), town.send(other), town.send(call, key="k2")]

    assert [reply.status for reply in ids] == [201] * 4
    assert len({reply.json["id"] for reply in ids}) == 4


def test_a_refused_call_leaves_its_key_free(town: Town, runtime: Runtime) -> None:
    call = CALLS["comment"]

    assert town.send(call, parent="0123456789").status == 404
    assert rows(runtime) == []
    assert town.send(call).status == 201


def test_what_was_deleted_since_is_not_made_again(town: Town) -> None:
    call = CALLS["post"]
    made = town.send(call).json["id"]
    before = town.count(call)
    assert town.ann.delete(f"/posts/{made}").status == 204

    assert town.send(call).status == 404
    assert town.count(call) == before - 1


def test_a_row_says_nothing_of_who_sent_what_and_is_deleted_after_a_day(
    town: Town, runtime: Runtime, clock: Clock
) -> None:
    town.send(CALLS["comment"], key="a-rare-key")

    (row,) = rows(runtime)
    assert row["expires"] == clock() + KEPT
    assert row["held"] == clock() + HELD
    assert not any(word in repr(row) for word in ("ann", "Hello", "rare", "page"))
    (index,) = (each.document for each in KEYS.indexes)
    assert index["expireAfterSeconds"] == 0
