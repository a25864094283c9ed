"""The most discussed pages of a site: by comments that anybody sees, counted every hour."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib import deadlines
from chalicelib.comments import jobs, nodes
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.latest import discussed
from chalicelib.comments.latest.discussed import FRESH, MOST_NODES
from chalicelib.runtime import Runtime
from tests.comments.support.feeds import react_to_page
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client

PATH = "/sites/blog/discussed"


@pytest.fixture
def root(client: Client) -> Client:
    return client.as_("root", roles=["admin"])


def node(root: Client, name: str, **settings: Any) -> None:
    given = {"title": name.title(), "url": f"https://blog.example/{name}", **settings}
    assert root.put(f"/nodes/blog:{name}", **given).status in {200, 201}


def comment(client: Client, name: str, number: int, who: str = "ann") -> list[str]:
    made = [
        client.as_(who).post(f"/nodes/blog:{name}/comments", text=f"{who} {name} {each} {number}")
        for each in range(number)
    ]
    assert {reply.status for reply in made} <= {201}
    return [reply.json["id"] for reply in made]


def listed(client: Client, query: str = "?days=1") -> list[tuple[str, int]]:
    found = client.get(PATH + query).json["nodes"]
    return [(each["title"], each["comments"]) for each in found]


@pytest.fixture
def three(client: Client, root: Client, runtime: Runtime) -> Client:
    """Discussions with three, two and one comments, counted."""
    for number, name in enumerate(("moon", "sun", "rain")):
        node(root, name)
        comment(client, name, 3 - number)
    node(root, "quiet")
    assert discussed.count_due(runtime) == 1
    return client


def test_the_most_discussed_come_first_with_title_and_address(three: Client) -> None:
    reply = three.get(f"{PATH}?days=1")

    assert reply.json["nodes"][0] == {
        "id": "blog:moon",
        "title": "Moon",
        "url": "https://blog.example/moon",
        "comments": 3,
    }
    assert listed(three) == [("Moon", 3), ("Sun", 2), ("Rain", 1)]
    assert listed(three, "?limit=2") == [("Moon", 3), ("Sun", 2)]
    assert "max-age" in reply.headers["Cache-Control"]


def test_a_site_that_cannot_be_counted_keeps_no_other_from_its_turn(
    three: Client, root: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for site in ("aaa", "zzz"):
        given = {"title": "Page", "url": f"https://{site}.example/"}
        assert root.put(f"/nodes/{site}:page", **given).status == 201
        three.as_("ann").post(f"/nodes/{site}:page/comments", text="Hello")
    clock.advance(hours=1)
    stages, asked = discussed._stages, []

    def too_long(site: str, now: Any) -> Any:
        asked.append(site)
        return [{"$match": {"site": site}}, {"$unknown": 1}] if site == "aaa" else stages(site, now)

    monkeypatch.setattr(discussed, "_stages", too_long)

    assert discussed.count_due(runtime) == 2
    assert asked == ["aaa", "zzz", "blog"]
    assert three.get("/sites/zzz/discussed?days=1").json["nodes"][0]["comments"] == 1
    # It waits behind the others from now on.
    clock.advance(minutes=59)
    assert discussed.count_due(runtime) == 0
    clock.advance(minutes=1)
    assert discussed.count_due(runtime) == 2


@pytest.mark.parametrize("query", ["?days=0", "?days=2", "?days=x", "?limit=0", "?limit=101"])
def test_other_days_and_limits_are_refused(three: Client, query: str) -> None:
    refused = three.get(PATH + query)
    assert (refused.status, refused.code) == (422, "invalid_request")


def test_a_site_that_nobody_counted_has_none(client: Client) -> None:
    assert listed(client, "?days=7") == []


def test_each_number_of_days_has_its_own_comments(
    client: Client, root: Client, runtime: Runtime, clock: Clock
) -> None:
    for name in ("moon", "sun", "rain"):
        node(root, name)
    comment(client, "rain", 4)
    clock.advance(days=10)
    comment(client, "sun", 3)
    clock.advance(days=4)
    comment(client, "moon", 2)
    discussed.count_due(runtime)

    assert listed(client, "?days=1") == [("Moon", 2)]
    assert listed(client, "?days=7") == [("Sun", 3), ("Moon", 2)]
    assert listed(client, "?days=30") == [("Rain", 4), ("Sun", 3), ("Moon", 2)]


@pytest.mark.parametrize("days", [1, 7, 30])
def test_a_comment_counts_until_its_days_are_over(
    client: Client, root: Client, runtime: Runtime, clock: Clock, days: int
) -> None:
    node(root, "moon")
    comment(client, "moon", 1)
    clock.advance(days=days, seconds=-1)
    discussed.count(runtime, "blog")
    assert listed(client, f"?days={days}") == [("Moon", 1)]

    clock.advance(seconds=1)
    discussed.count(runtime, "blog")
    assert listed(client, f"?days={days}") == []


def test_comments_that_nobody_sees_do_not_count(
    client: Client, root: Client, runtime: Runtime
) -> None:
    node(root, "moon")
    kept, hidden, deleted = comment(client, "moon", 3)
    comments = "/nodes/blog:moon/comments"
    assert root.post(f"{comments}/{hidden}/state", state="hidden").status == 200
    assert client.as_("ann").delete(f"{comments}/{deleted}").status == 204
    assert root.patch("/sites/blog/people/pat", status="shadowed").status == 200
    comment(client, "moon", 2, "pat")
    node(root, "sun", moderation="before")
    client.as_("ann").post("/nodes/blog:sun/comments", text="waits")
    discussed.count_due(runtime)

    assert kept
    assert listed(client) == [("Moon", 1)]
    assert listed(client.as_("pat")) == [("Moon", 1)]


def test_a_reaction_to_a_page_is_no_comment(three: Client, runtime: Runtime) -> None:
    react_to_page(three, "/nodes/blog:quiet")
    react_to_page(three, "/nodes/blog:rain")

    discussed.count(runtime, "blog")

    assert listed(three) == [("Moon", 3), ("Sun", 2), ("Rain", 1)]


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("change", ["locked", "closed", "private", "over", "deleted", "moved"])
def test_what_readers_cannot_discuss_is_left_out_at_once(
    three: Client, root: Client, runtime: Runtime, change: str, *, counted: bool
) -> None:
    now, moon = runtime.now(), {"_id": "blog:moon"}
    rows = nodes.NODES.of(runtime.database)
    match change:
        case "locked":
            node(root, "moon", locked=True)
        case "closed":
            rows.update_one(moon, {"$set": {"closes_at": now}})
        case "private":
            rows.update_one(moon, {"$set": {"public_from": now + timedelta(days=1)}})
        case "over":
            rows.update_one(moon, {"$set": {"public_until": now}})
        case "deleted":
            assert root.delete("/nodes/blog:moon").status == 204
        case _:
            assert root.post("/nodes/blog:moon/move", to="post:moon").status == 200
    if counted:
        discussed.count(runtime, "blog")

    assert listed(three) == [("Sun", 2), ("Rain", 1)]


def test_another_title_and_address_show_at_once(three: Client, root: Client) -> None:
    node(root, "moon", title="The moon")

    assert listed(three)[0] == ("The moon", 3)


def test_a_site_is_counted_every_hour_by_the_schedule(
    three: Client, runtime: Runtime, clock: Clock
) -> None:
    comment(three, "rain", 4, "bob")
    assert jobs.run_due(runtime)["sites_counted"] == 0
    clock.advance(seconds=int(FRESH.total_seconds()))

    assert jobs.run_due(runtime)["sites_counted"] == 1
    assert listed(three)[0] == ("Rain", 5)


def test_a_run_counts_all_sites_that_are_due(
    client: Client, root: Client, runtime: Runtime
) -> None:
    for site in ("blog", "post"):
        root.put(f"/nodes/{site}:moon", title="Moon", url=f"https://{site}.example/")
        client.as_("ann").post(f"/nodes/{site}:moon/comments", text="Hello")

    assert discussed.count_due(runtime) == 2
    for site in ("blog", "post"):
        assert len(client.get(f"/sites/{site}/discussed?days=1").json["nodes"]) == 1


def test_a_long_run_leaves_sites_to_the_next(
    client: Client, root: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for site in ("blog", "post"):
        root.put(f"/nodes/{site}:moon", title="Moon", url=f"https://{site}.example/")
        client.as_("ann").post(f"/nodes/{site}:moon/comments", text="Hello")
    count, left = discussed.count, [30.0]
    monkeypatch.setattr(deadlines, "remaining", lambda: left[0])

    def count_slowly(runtime: Runtime, site: str) -> None:
        count(runtime, site)
        left[0] -= 15

    def run() -> int:
        left[0] = 30
        return discussed.count_due(runtime)

    monkeypatch.setattr(discussed, "count", count_slowly)

    assert [run() for _ in range(3)] == [1, 1, 0]


def test_closed_nodes_take_no_place_of_open_ones(
    client: Client, root: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discussed, "MOST_NODES", 2)
    for name, number in (("moon", 4), ("sun", 3), ("rain", 2), ("snow", 1)):
        node(root, name)
        comment(client, name, number)
    node(root, "moon", locked=True)
    discussed.count_due(runtime)
    assert listed(client) == [("Sun", 3), ("Rain", 2)]

    node(root, "moon", locked=False)
    assert listed(client) == [("Sun", 3), ("Rain", 2)]
    discussed.count(runtime, "blog")
    assert listed(client) == [("Moon", 4), ("Sun", 3)]


def test_an_open_node_behind_hundreds_that_are_gone_is_listed(
    client: Client, root: Client, runtime: Runtime
) -> None:
    node(root, "zoo")
    comment(client, "zoo", 1)
    rows = ENTRIES.of(runtime.database)
    entry = rows.find_one()
    assert entry is not None
    gone = [f"blog:gone-{number}" for number in range(299)]
    rows.insert_many({**entry, "_id": f"{each}/{entry['id']}", "node_id": each} for each in gone)

    discussed.count(runtime, "blog")

    assert len(gone) > MOST_NODES
    assert listed(client) == [("Zoo", 1)]


@pytest.mark.usefixtures("three")
def test_a_reading_is_one_trip(listened: Runtime, commands: Commands) -> None:
    commands.names.clear()
    found = discussed.read(listened, "blog", 1, MOST_NODES)

    assert len(found["nodes"]) == 3
    assert commands.names == ["aggregate"]


def test_a_count_reads_an_index_of_the_site_alone(three: Client, runtime: Runtime) -> None:
    comment(three, "moon", 2, "bob")
    root = three.as_("root", roles=["admin"])
    root.put("/nodes/post:moon", title="Moon", url="https://post.example/")
    for number in range(5):
        three.as_("ann").post("/nodes/post:moon/comments", text=f"elsewhere {number}")

    stages = discussed._stages("blog", runtime.now())
    explained: Any = runtime.database.command(
        "explain",
        {"aggregate": ENTRIES.name, "pipeline": stages, "cursor": {}},
        verbosity="executionStats",
    )
    stats = explained.get("executionStats") or explained["stages"][0]["$cursor"]["executionStats"]
    assert stats["totalKeysExamined"] <= 9
    assert stats["totalDocsExamined"] <= 8
