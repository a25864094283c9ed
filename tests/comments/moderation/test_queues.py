"""The queues of moderators: what waits where, in which order, and who reads it now."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.comments.entries import upkeep
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.runtime import Runtime
from tests.comments.stores.test_indexes import Explained
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

NODE = "/nodes/blog:moon"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}


def of_blog(client: Client, who: str = "mo") -> Client:
    return client.as_(who, roles=["moderator"], sites=["blog"])


@pytest.fixture
def moderator(client: Client) -> Client:
    return of_blog(client)


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"], sites=["blog", "sea"])


@pytest.fixture
def waiting(client: Client, publisher: Client) -> str:
    """The path of a comment of Ann's that waits."""
    assert publisher.put(NODE, **PAGE, moderation="before").status == 201
    return posted(client)


def posted(client: Client, node: str = NODE) -> str:
    made = client.as_("ann").post(f"{node}/comments", text="Full tonight")
    assert made.status == 201, made.body
    return f"{node}/comments/{made.json['id']}"


def listed(moderator: Client, query: str = "") -> list[dict[str, Any]]:
    reply = moderator.get(f"/moderation/comments?{query}")
    assert reply.status == 200, reply.body
    rows: list[dict[str, Any]] = reply.json["comments"]
    return rows


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [f"/nodes/{row['node_id']}/comments/{row['id']}" for row in rows]


def test_what_is_flagged_waits_in_a_queue_of_its_own_since_it_was(
    client: Client, moderator: Client, publisher: Client, waiting: str, clock: Clock
) -> None:
    publisher.put(NODE, **PAGE, moderation="after")
    shown = posted(client)
    clock.advance(hours=2)
    moderator.put(f"{shown}/flag", reason="abuse")

    assert ids(listed(moderator, "queue=pending")) == [waiting]
    (row,) = listed(moderator, "queue=flagged")
    assert ids([row]) == [shown]
    assert (row["queue"], row["flags"], row["reasons"]) == ("flagged", 10, ["flagged"])
    assert row["state"] in {"visible", "pending"}
    waited = datetime.fromisoformat(row["waits_since"]) - datetime.fromisoformat(row["posted_at"])
    assert waited == timedelta(hours=2)
    assert ids(listed(moderator)) == [waiting, shown]


def test_a_queue_is_read_page_by_page_and_of_one_site(
    client: Client, publisher: Client, waiting: str, clock: Clock
) -> None:
    publisher.put("/nodes/sea:tide", **PAGE, moderation="before")
    clock.advance(seconds=61)
    others = [posted(client, "/nodes/sea:tide"), posted(client)]
    mo = client.as_("mo", roles=["moderator"], sites=["blog", "sea"])

    assert set(ids(listed(mo, "queue=pending"))) == {waiting, *others}
    assert ids(listed(mo, "queue=pending&site=sea")) == others[:1]
    first = mo.get("/moderation/comments?queue=pending&site=blog&limit=1").json
    rest = f"queue=pending&site=blog&limit=1&cursor={first['next']}"
    assert ids(first["comments"]) + ids(listed(mo, rest)) == [waiting, others[1]]
    other_queue = f"/moderation/comments?queue=flagged&site=blog&cursor={first['next']}"
    assert mo.get(other_queue).code == "invalid_cursor"


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("site", ["", "site=blog&"])
def test_a_queue_of_one_person_is_read_page_by_page_and_by_its_index(
    client: Client, moderator: Client, runtime: Runtime, clock: Clock, site: str
) -> None:
    author = client.as_("bob")
    for number in range(3):
        clock.advance(minutes=1)
        assert author.post(f"{NODE}/comments", text=f"By Bob {number}").status == 201
    rows = ENTRIES.of(runtime.database)
    copied: Any = rows.find_one({"author_id": "ann"})
    others: Any = [{**copied, "_id": f"blog:moon/{n}", "id": str(n)} for n in range(300)]
    rows.insert_many(others)

    read: list[dict[str, Any]] = []
    query, cursor = f"{site}author=bob&limit=2", ""
    with Explained(runtime.database) as explained:
        for _ in range(2):
            page = moderator.get(f"/moderation/comments?{query}{cursor}").json
            read, cursor = [*read, *page["comments"]], f"&cursor={page['next']}"

    assert [each["excerpt"] for each in read] == ["By Bob 0", "By Bob 1", "By Bob 2"]
    finds = [each for each in explained.queries if each["ns"].endswith(ENTRIES.name)]
    assert finds
    assert all(each["keysExamined"] <= 10 for each in finds)
    assert moderator.get(f"/moderation/comments?author=ann{cursor}").code == "invalid_cursor"
    assert listed(moderator, f"{site}author=cleo") == []
    assert moderator.get("/moderation/comments?author=$gt").status == 422


def test_a_moderator_reads_the_queues_of_their_own_sites(
    client: Client, moderator: Client, waiting: str
) -> None:
    other = client.as_("ody", roles=["moderator"], sites=["sea"])
    assert listed(other) == []
    assert other.get("/moderation/comments?site=blog").code == "forbidden"
    for verb in (other.post, other.delete):
        assert verb(f"{waiting}/claim").code == "forbidden"
    assert moderator.get("/moderation/comments?queue=dull").status == 422


def test_a_claim_is_seen_by_others_and_ends_by_itself(
    client: Client, moderator: Client, waiting: str, clock: Clock
) -> None:
    claimed = moderator.post(f"{waiting}/claim")
    assert (claimed.status, claimed.json["by"], claimed.json["name"]) == (200, "mo", "Mo")
    (row,) = listed(of_blog(client, "mia"))
    assert row["claimed"] == claimed.json
    assert of_blog(client, "mia").post(f"{waiting}/claim").code == "comment_claimed"

    clock.advance(minutes=5)
    assert moderator.post(f"{waiting}/claim").json["until"] > claimed.json["until"]
    clock.advance(minutes=10)
    assert listed(moderator)[0]["claimed"] is None
    assert of_blog(client, "mia").post(f"{waiting}/claim").json["by"] == "mia"


def test_a_claim_is_given_up_by_who_has_it(client: Client, moderator: Client, waiting: str) -> None:
    moderator.post(f"{waiting}/claim")
    assert of_blog(client, "mia").delete(f"{waiting}/claim").status == 204
    assert listed(moderator)[0]["claimed"]["by"] == "mo"
    assert moderator.delete(f"{waiting}/claim").status == 204
    assert listed(moderator)[0]["claimed"] is None


def test_of_many_who_claim_at_once_one_does(client: Client, waiting: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        people = [of_blog(client, f"m{number}") for number in range(8)]
        replies = list(pool.map(lambda who: who.post(f"{waiting}/claim").status, people))
    assert sorted(replies) == [200] + [409] * 7


def test_a_claim_ends_with_the_decision_and_not_with_an_edit(
    client: Client, moderator: Client, waiting: str, runtime: Runtime
) -> None:
    moderator.post(f"{waiting}/claim")
    client.as_("ann").patch(waiting, text="Full tonight, again")
    (row,) = listed(moderator)
    assert (row["claimed"]["by"], row["excerpt"]) == ("mo", "Full tonight, again")

    assert moderator.post(f"{waiting}/state", state="visible").status == 200
    assert ENTRIES.of(runtime.database).count_documents({"claimed": {"$exists": True}}) == 0
    assert moderator.post(f"{waiting}/claim").code == "unknown_comment"
    differing = upkeep.compare_nodes(runtime, is_repairing=False)
    assert (differing["missing"], differing["wrong"], differing["extra"]) == (0, 0, 0)


def test_who_is_erased_claims_nothing(
    client: Client, moderator: Client, waiting: str, workers: Workers
) -> None:
    moderator.post(f"{waiting}/claim")
    moderator.delete("/users/me")
    workers.drain()
    assert listed(of_blog(client, "mia"))[0]["claimed"] is None


@pytest.mark.parametrize("page", ["unknown", "moved"])
def test_claims_are_of_pages_that_are_there(
    client: Client, moderator: Client, waiting: str, page: str
) -> None:
    here = NODE
    if page == "moved":
        admin = client.as_("adam", roles=["admin"])
        assert admin.post(f"{NODE}/move", to="blog:sun").status == 200
    else:
        here = "/nodes/blog:none"
    there = waiting.replace(NODE, here)
    told = {"moved": (308, "node_moved"), "unknown": (404, "unknown_node")}[page]

    for verb in (moderator.post, moderator.delete):
        reply = verb(f"{there}/claim")
        assert (reply.status, reply.code) == told
