"""The latest comments of a site, over all its discussions and stores."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.latest import listing, rows
from chalicelib.comments.latest.listing import LatestQuery
from chalicelib.comments.people import changing
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.comments.support.feeds import react_to_page
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client

LATEST = "/sites/blog/comments"


@pytest.fixture
def nodes(client: Client) -> list[str]:
    root = client.as_("root", roles=["admin"])
    for layout in LAYOUTS:
        page = {"title": str(layout), "url": f"https://blog.example/{layout}#top"}
        made = root.put(
            f"/nodes/blog:{layout}", **page, store=layout.store, threaded=layout.threaded
        )
        assert made.status == 201
    return [f"/nodes/blog:{layout}" for layout in LAYOUTS]


def post(client: Client, node: str, text: str, clock: Clock, **body: Any) -> str:
    clock.advance(seconds=1)
    reply = client.post(f"{node}/comments", text=text, **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def texts(reader: Client, limit: int = 20) -> list[str]:
    found, more = [], ""
    while True:
        page = reader.get(f"{LATEST}?limit={limit}{more}").json
        assert len(page["comments"]) <= limit
        found += [each["comment"]["text"] for each in page["comments"]]
        if page["next"] is None:
            return found
        more = f"&cursor={page['next']}"


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_a_list_has_visible_comments_of_every_store_newest_first(
    client: Client, nodes: list[str], clock: Clock, limit: int
) -> None:
    expected = [
        f"{node} {who} {number}" for number in range(2) for node in nodes for who in ("ann", "bob")
    ]
    for text in expected:
        post(client.as_(text.split()[1]), text.split()[0], text, clock)

    assert texts(client, limit) == expected[::-1]


def test_comments_of_one_instant_come_once(client: Client, nodes: list[str]) -> None:
    for node in nodes:
        for number in range(2):
            client.as_("ann").post(f"{node}/comments", text=f"{node} {number}")

    for limit in (1, 2, 3, 50):
        found = texts(client, limit)
        assert len(found) == len(set(found)) == 2 * len(nodes)


def test_a_comment_has_its_discussion_and_its_address(
    client: Client, nodes: list[str], clock: Clock
) -> None:
    made = post(client.as_("ann"), nodes[0], "hello", clock)

    (found,) = client.get(LATEST).json["comments"]

    title = nodes[0].removeprefix("/nodes/blog:")
    url = f"https://blog.example/{title}"
    assert found["node"] == {"id": f"blog:{title}", "title": title, "url": f"{url}#top"}
    assert found["permalink"] == f"{url}#plaza-{made}"
    assert found["comment"]["id"] == made


def test_sites_are_apart(client: Client, nodes: list[str], clock: Clock) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/shop:sun", title="Sun", url="https://shop.example/sun")
    post(client.as_("ann"), "/nodes/shop:sun", "elsewhere", clock)
    post(client.as_("ann"), nodes[0], "here", clock)
    cursor = client.get(f"{LATEST}?limit=1").json["next"]

    assert cursor is None
    assert texts(client) == ["here"]
    post(client.as_("ann"), nodes[0], "more", clock)
    cursor = client.get(f"{LATEST}?limit=1").json["next"]
    assert client.get(f"/sites/shop/comments?cursor={cursor}").code == "invalid_cursor"
    assert client.get("/sites/nowhere/comments").json == {"comments": [], "next": None}


@pytest.mark.parametrize("state", ["hidden", "pending", "spam", "deleted"])
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


def test_what_is_shadowed_is_read_by_its_author_alone(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    bob = client.as_("bob")
    changing.store(runtime, "blog", "bob", {"status": "shadowed"})
    for node in nodes:
        post(client.as_("ann"), node, f"ann {node}", clock)
        post(bob, node, f"bob {node}", clock)

    seen = [f"{who} {node}" for node in nodes[::-1] for who in ("bob", "ann")]
    assert texts(bob, 2) == texts(bob) == seen
    for reader in (client, client.as_("ann"), client.as_("mo", roles=["moderator"])):
        assert texts(reader) == [each for each in seen if each.startswith("ann")]


def test_a_reader_who_blocks_somebody_has_full_pages_without_them(
    client: Client, nodes: list[str], clock: Clock
) -> None:
    for number in range(4):
        post(client.as_("ann"), nodes[0], f"ann {number}", clock)
        post(client.as_("bob"), nodes[0], f"bob {number}", clock)
    cy = client.as_("cy")
    assert cy.put("/sites/blog/blocked/bob").status == 204

    page = cy.get(f"{LATEST}?limit=3").json

    assert [each["comment"]["text"] for each in page["comments"]] == ["ann 3", "ann 2", "ann 1"]
    assert texts(cy, 2) == [f"ann {number}" for number in (3, 2, 1, 0)]
    assert len(texts(client)) == 8
    moderator = client.as_("mo", roles=["moderator"])
    moderator.put("/sites/blog/blocked/bob")
    assert len(texts(moderator)) == 8


def close(runtime: Runtime, node: str, clock: Clock) -> None:
    """End the time in public of a node's page."""
    where = {"_id": node.removeprefix("/nodes/")}
    change = {"$set": {"public_until": clock() - timedelta(seconds=1)}}
    assert runtime.database["comments.node"].update_one(where, change).matched_count == 1


def test_pages_are_full_while_the_newest_are_of_a_page_that_is_not_public(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    for number in range(3):
        post(client.as_("ann"), nodes[0], f"public {number}", clock)
    for number in range(7):
        post(client.as_("ann"), nodes[1], f"private {number}", clock)
    close(runtime, nodes[1], clock)

    page = client.get(f"{LATEST}?limit=2").json

    assert [each["comment"]["text"] for each in page["comments"]] == ["public 2", "public 1"]
    assert texts(client, 2) == ["public 2", "public 1", "public 0"]
    staff = client.as_("paula", roles=["publisher"], sites=["blog"])
    assert len(texts(staff)) == 10


def test_a_reaction_to_a_page_takes_no_place_of_a_comment(
    client: Client, nodes: list[str], clock: Clock
) -> None:
    post(client.as_("ann"), nodes[0], "hello", clock)
    clock.advance(seconds=1)
    react_to_page(client, nodes[1])

    page = client.get(f"{LATEST}?limit=1").json

    assert [each["comment"]["text"] for each in page["comments"]] == ["hello"]
    assert page["next"] is None


def test_many_comments_of_one_page_that_is_not_public_hide_no_other(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    post(client.as_("ann"), nodes[0], "public", clock)
    for number in range(7):
        post(client.as_("ann"), nodes[1], f"private {number}", clock)
    close(runtime, nodes[1], clock)

    page = client.get(f"{LATEST}?limit=1").json

    assert [each["comment"]["text"] for each in page["comments"]] == ["public"]
    assert page["next"] is None


@pytest.mark.parametrize("windows", [(4, 4), (4, 4, 4)], ids=len)
def test_a_page_looks_at_a_bounded_number_of_entries_and_goes_on(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime, windows: tuple[int, ...]
) -> None:
    """The first query finds a page that is not public, the others look at four entries each."""
    post(client.as_("ann"), nodes[0], "older", clock)
    post(client.as_("ann"), nodes[0], "public", clock)
    for number in range(7):
        post(client.as_("ann"), nodes[1], f"private {number}", clock)
    close(runtime, nodes[1], clock)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_WINDOWS", windows)
        page = client.get(f"{LATEST}?limit=1").json
        assert texts(client, 1) == ["public", "older"]

    found = [each["comment"]["text"] for each in page["comments"]]
    assert found == (["public"] if len(windows) == 3 else [])
    assert page["next"] is not None


@pytest.mark.parametrize("behind", [0, 1])
def test_a_window_that_ends_with_a_page_knows_whether_more_follows(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime, behind: int
) -> None:
    for number in range(1 + behind):
        post(client.as_("ann"), nodes[0], f"public {number}", clock)
    for number in range(4):
        post(client.as_("ann"), nodes[1], f"private {number}", clock)
    close(runtime, nodes[1], clock)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_WINDOWS", (4, 4, 4))
        found = texts(client, 1)

    assert found == [f"public {number}" for number in reversed(range(1 + behind))]


def test_a_page_that_reads_its_most_entries_goes_on(
    client: Client,
    nodes: list[str],
    clock: Clock,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post(client.as_("ann"), nodes[0], "public", clock)
    for number in range(7):
        post(client.as_("ann"), nodes[1], f"private {number}", clock)
    close(runtime, nodes[1], clock)
    monkeypatch.setattr(rows, "_WINDOWS", (1_000,))

    first = client.get(f"{LATEST}?limit=2").json

    assert (first["comments"], first["next"] is None) == ([], False)
    assert texts(client, 2) == ["public"]


def test_an_entry_ahead_of_its_comment_shows_nothing(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    made = post(client.as_("ann"), nodes[0], "hello", clock)
    hidden = post(client.as_("ann"), nodes[1], "hidden", clock)
    moderator = client.as_("mo", roles=["moderator"])
    moderator.post(f"{nodes[1]}/comments/{hidden}/state", state="hidden")
    entries = ENTRIES.of(runtime.database)
    entries.update_one({"id": hidden}, {"$set": {"state": "visible"}})
    runtime.database["comments.comment"].delete_one({"id": made})

    assert texts(client) == []


def test_a_page_takes_a_query_for_entries_nodes_and_each_store(
    listened: Runtime, clock: Clock, commands: Commands
) -> None:
    for layout in LAYOUTS:
        discussion = Discussion.make(listened, layout, str(layout))
        for number in range(3):
            clock.advance(seconds=1)
            discussion.post(f"{layout} {number}")
    stores = len({layout.store for layout in LAYOUTS})
    query = LatestQuery(limit=15)
    listing.list_of_site(listened, "default", query, None)
    commands.names.clear()

    page = listing.list_of_site(listened, "default", query, None)

    assert len(page["comments"]) == 15
    assert commands.names == ["find"] * (2 + stores)


@pytest.mark.parametrize(
    "where", [{}, {"node_id": "blog:documents-threaded"}, {"author_id": "bob"}]
)
def test_a_list_is_read_by_an_index_of_its_own(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime, where: dict[str, str]
) -> None:
    limit = 4
    for number in range(20):
        for who in ("ann", "bob"):
            post(client.as_(who), nodes[number % 3], f"hello {number}", clock)
    after = runtime.database["comments.entry"].find().sort("posted", -1).skip(10).next()
    database, unseen = runtime.database, [nodes[1].removeprefix("/nodes/")]
    database.command("profile", 2)

    for place, some in ((None, []), ((after["posted"], after["_id"]), unseen)):
        branches = rows._branches({"site": "blog", **where}, None, place)
        rows._read_entries(runtime, branches, some, limit, limit)

    database.command("profile", 0)
    read = list(database["system.profile"].find({"ns": {"$regex": r"comments\.entry$"}}))
    database["system.profile"].drop()
    assert len(read) == 2
    for each in read:
        assert each["keysExamined"] <= 4 * limit + 5
        assert not each.get("hasSortStage")
