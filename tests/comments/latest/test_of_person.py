"""A person's comments at a site, over all its discussions and stores."""

from typing import Any

import pytest

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people import changing
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS
from tests.support.clock import Clock
from tests.support.http_client import Client

PROFILE = "/sites/blog/people/bob/comments"


@pytest.fixture
def nodes(client: Client) -> list[str]:
    root, found = client.as_("root", roles=["admin"]), []
    for layout in LAYOUTS:
        node = f"/nodes/blog:{layout}"
        page = {"title": str(layout), "url": f"https://blog.example/{layout}"}
        made = root.put(node, **page, store=layout.store, threaded=layout.threaded)
        assert made.status == 201
        found.append(node)
    return found


def texts(reader: Client, limit: int = 20) -> list[str]:
    found, more = [], ""
    while True:
        page = reader.get(f"{PROFILE}?limit={limit}{more}").json
        assert len(page["comments"]) <= limit
        found += [each["comment"]["text"] for each in page["comments"]]
        if page["next"] is None:
            return found
        more = f"&cursor={page['next']}"


def post(client: Client, node: str, text: str, clock: Clock) -> str:
    clock.advance(seconds=1)
    reply = client.post(f"{node}/comments", text=text)
    assert reply.status == 201, reply.body
    made: str = reply.json["id"]
    return made


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_a_profile_has_visible_comments_of_every_store_newest_first(
    client: Client, nodes: list[str], clock: Clock, limit: int
) -> None:
    bob, expected = client.as_("bob"), []
    for number in range(3):
        for node in nodes:
            post(client.as_("ann"), node, "not by bob", clock)
            post(bob, node, f"{node} {number}", clock)
            expected.append(f"{node} {number}")

    assert texts(client, limit) == expected[::-1]


def test_it_says_what_a_comment_was_written_on(
    client: Client, nodes: list[str], clock: Clock
) -> None:
    made = post(client.as_("bob"), nodes[0], "hello", clock)

    (found,) = client.get(PROFILE).json["comments"]

    name = nodes[0].removeprefix("/nodes/")
    title = name.removeprefix("blog:")
    assert found["node"] == {"id": name, "title": title, "url": f"https://blog.example/{title}"}
    assert (found["comment"]["id"], found["comment"]["can"]) == (made, [])


@pytest.mark.parametrize("state", ["hidden", "pending", "deleted"])
def test_what_is_not_visible_is_not_there(
    client: Client, nodes: list[str], clock: Clock, state: str
) -> None:
    bob, moderator = client.as_("bob"), client.as_("mo", roles=["moderator"])
    for node in nodes:
        made = f"{node}/comments/{post(bob, node, 'hello', clock)}"
        changed = moderator.delete(made) if state == "deleted" else None
        changed = changed or moderator.post(f"{made}/state", state=state)
        assert changed.status in {200, 204}

    for reader in (client, bob, moderator):
        assert texts(reader) == []


def test_what_is_shadowed_is_in_ones_own_profile_alone(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    bob = client.as_("bob")
    post(bob, nodes[0], "before", clock)
    changing.store(runtime, "blog", "bob", {"status": "shadowed"})
    for node in nodes:
        post(bob, node, node, clock)

    assert texts(bob, 2) == [*nodes[::-1], "before"]
    for reader in (client, client.as_("ann")):
        assert texts(reader) == ["before"]


def test_sites_are_apart(client: Client, nodes: list[str], clock: Clock) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/shop:sun", title="Sun", url="https://shop.example/sun")
    post(client.as_("bob"), "/nodes/shop:sun", "elsewhere", clock)
    post(client.as_("bob"), nodes[0], "here", clock)

    assert texts(client) == ["here"]


def test_a_profile_is_read_by_its_index(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    for number in range(12):
        for who in ("ann", "bob"):
            post(client.as_(who), nodes[number % 3], "hello", clock)
    where = {"site": "blog", "author_id": "bob", "state": "visible"}

    found: Any = ENTRIES.of(runtime.database).find(where).sort([("posted", -1), ("_id", 1)])
    told = found.limit(4).explain()

    assert told["executionStats"]["totalKeysExamined"] <= 5
    assert "'SORT'" not in str(told["queryPlanner"]["winningPlan"])


def test_a_comment_keeps_the_badges_and_the_role_that_its_author_had(
    client: Client, nodes: list[str], clock: Clock
) -> None:
    moderator = client.as_("mo", roles=["moderator"])
    moderator.patch("/sites/blog/people/bob", badges=["Captain"])
    for node in nodes:
        post(client.as_("bob"), node, "bob", clock)
        post(moderator, node, "mo", clock)
        post(client.as_("paula", roles=["publisher"], sites=["blog"]), node, "paula", clock)
    moderator.patch("/sites/blog/people/bob", badges=[])
    post(client.as_("bob"), nodes[0], "later", clock)

    for node in nodes:
        comments = client.get(f"{node}/comments").json["comments"]
        assert [each["author"] for each in comments[:3]] == [
            {"id": "bob", "name": "Bob", "badges": ["Captain"]},
            {"id": "mo", "name": "Mo", "role": "moderator"},
            {"id": "paula", "name": "Paula", "role": "publisher"},
        ]
    first = client.get(f"{nodes[0]}/comments").json["comments"]
    assert first[3]["author"] == {"id": "bob", "name": "Bob"}
