"""What a shadowed person writes is seen by themselves and by moderators; nobody else can tell."""

from typing import Any, get_args

import pytest

from chalicelib.comments import happened
from chalicelib.comments.people import changing
from chalicelib.comments.shapes import ListingOrder
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Layout
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
SETTINGS = {"votes": "up_down", "reactions": [{"key": "heart", "emoji": "\N{HEAVY BLACK HEART}"}]}
ORDERS = get_args(ListingOrder)


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    found: Layout = request.param
    return found


@pytest.fixture
def moderator(client: Client) -> Client:
    return client.as_("mo", roles=["moderator"], sites=["blog"])


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


@pytest.fixture
def troll(client: Client) -> Client:
    return client.as_("troll")


@pytest.fixture
def root(runtime: Runtime, moderator: Client, ann: Client, layout: Layout) -> str:
    """A comment of somebody else in a node where the troll is shadowed."""
    moderator.put(NODE, **PAGE, store=layout.store, threaded=layout.threaded)
    changing.store(runtime, "blog", "troll", {"status": "shadowed"})
    posted: str = ann.post(COMMENTS, text="hello").json["id"]
    return posted


def texts(client: Client, path: str = COMMENTS) -> list[tuple[str, str]]:
    reply = client.get(path)
    assert reply.status == 200, reply.body
    return [(each["text"], each["state"]) for each in reply.json["comments"]]


def posted(troll: Client, text: str = "buy", **body: Any) -> Any:
    reply = troll.post(COMMENTS, text=text, **body)
    assert reply.status == 201, reply.body
    return reply.json


def views(client: Client, comment: str) -> list[Any]:
    """Return all that somebody is told of the discussion, with the tags."""
    paths = [f"{COMMENTS}?order={order}" for order in ORDERS]
    paths += [NODE, "/comment-counts?nodes=blog:moon", f"{NODE}/marks?ids={comment}"]
    paths += [f"{COMMENTS}/{comment}", f"{COMMENTS}/{comment}/thread"]
    replies = [client.get(path) for path in paths]
    html = client.request("GET", COMMENTS, headers={"Accept": "text/html"})
    return [(each.status, each.headers.get("ETag"), each.body) for each in (*replies, html)]


def test_nobody_else_can_tell_that_anything_was_written(
    client: Client, ann: Client, troll: Client, root: str, layout: Layout
) -> None:
    readers = (client, ann, client.as_("bob"))
    before = [views(reader, root) for reader in readers]
    reply = {"parent": root} if layout.threaded else {}

    first = posted(troll)["id"]
    second = posted(troll, **reply)["id"]
    assert troll.patch(f"{COMMENTS}/{first}", text="buy more").status == 200

    assert [views(reader, root) for reader in readers] == before
    for reader in readers:
        for path in (first, second, f"{first}/thread"):
            assert reader.get(f"{COMMENTS}/{path}").code == "unknown_comment"
        assert reader.get(f"{NODE}/marks?ids={first}").json["comments"] == {}
    if layout.threaded:
        assert ann.post(COMMENTS, text="to whom?", parent=first).code == "unknown_comment"
    for comment in (first, second):
        assert troll.delete(f"{COMMENTS}/{comment}").status == 204
    assert [views(reader, root) for reader in readers] == before


def test_its_author_is_shown_it_as_any_other(
    troll: Client, client: Client, root: str, layout: Layout
) -> None:
    empty = troll.get(COMMENTS)
    reply = {"parent": root} if layout.threaded else {}

    made = posted(troll, **reply)

    assert made["state"] == "visible"
    shown = troll.get(COMMENTS)
    assert shown.headers["ETag"] != empty.headers["ETag"]
    assert texts(troll) == [("hello", "visible"), ("buy", "visible")]
    assert texts(troll, f"{COMMENTS}?order=newest&limit=1")[0][1] == "visible"
    assert shown.json["count"] == shown.json["node"]["counts"]["visible"] == 2
    assert shown.json["comments"][0]["replies"] == len(reply)
    assert troll.get(f"{COMMENTS}/{made['id']}").json["state"] == "visible"
    assert client.get(COMMENTS).json["count"] == 1


@pytest.mark.parametrize("order", ["best", "top", "controversial"])
@pytest.mark.usefixtures("root")
def test_its_author_finds_it_by_rank_too(troll: Client, order: str) -> None:
    posted(troll)

    page = troll.get(f"{COMMENTS}?order={order}").json

    found = [(each["text"], each["state"]) for each in (*page["comments"], *page["waiting"])]
    assert sorted(found) == [("buy", "visible"), ("hello", "visible")]


@pytest.mark.usefixtures("root")
def test_its_author_pages_through_many(troll: Client, ann: Client) -> None:
    for number in range(6):
        posted(troll, f"troll {number}")
        ann.post(COMMENTS, text=f"ann {number}")
    found, more = [], ""
    while True:
        page = troll.get(f"{COMMENTS}?limit=3{more}").json
        found += [each["text"] for each in page["comments"]]
        if page["next"] is None:
            break
        more = f"&cursor={page['next']}"

    both = [f"{who} {number}" for number in range(6) for who in ("troll", "ann")]
    assert found == ["hello", *both]


@pytest.mark.usefixtures("root")
def test_moderators_see_it_hidden_and_can_show_it(
    moderator: Client, troll: Client, client: Client
) -> None:
    held = moderator.get(COMMENTS).headers["ETag"]
    made = posted(troll)["id"]

    again = moderator.request("GET", COMMENTS, headers={"If-None-Match": held})
    assert again.status == 200
    assert texts(moderator) == [("hello", "visible"), ("buy", "hidden")]
    assert moderator.get("/moderation/comments").json["comments"] == []
    tag = client.get(COMMENTS).headers["ETag"]
    assert moderator.post(f"{COMMENTS}/{made}/state", state="visible").status == 200

    assert texts(client) == [("hello", "visible"), ("buy", "visible")]
    assert client.get(COMMENTS).headers["ETag"] != tag


@pytest.mark.usefixtures("root")
def test_what_a_moderator_hides_then_is_hidden_from_its_author_too(
    moderator: Client, troll: Client
) -> None:
    made = posted(troll)["id"]

    moderator.post(f"{COMMENTS}/{made}/state", state="hidden")

    assert texts(troll) == [("hello", "visible")]
    assert troll.get(f"{COMMENTS}/{made}").code == "unknown_comment"


@pytest.mark.usefixtures("root")
def test_what_the_judge_would_hold_is_shown_to_its_author_as_waiting(
    client: Client, moderator: Client, troll: Client
) -> None:
    publisher = client.as_("paula", roles=["publisher"], sites=["blog"])
    publisher.put("/sites/blog/comments/settings", phrases=[{"phrase": "casino"}])

    assert posted(troll, "casino")["state"] == "pending"
    made = posted(troll, "hello")["id"]
    edited = troll.patch(f"{COMMENTS}/{made}", text="a casino").json

    assert edited["state"] == "pending"
    assert moderator.get("/moderation/comments").json["comments"] == []
    assert [state for text, state in texts(moderator) if "casino" in text] == ["hidden"] * 2
    assert client.get(COMMENTS).json["count"] == 1


def test_an_edit_of_what_was_written_before_is_hidden(
    runtime: Runtime, client: Client, root: str
) -> None:
    ann = client.as_("ann")
    changing.store(runtime, "blog", "ann", {"status": "shadowed"})

    edited = ann.patch(f"{COMMENTS}/{root}", text="buy").json

    assert edited["state"] == "visible"
    assert texts(ann) == [("buy", "visible")]
    assert texts(client) == []


@pytest.mark.usefixtures("root")
def test_its_author_votes_and_reacts_as_with_any_other(
    client: Client, troll: Client, ann: Client
) -> None:
    publisher = client.as_("paula", roles=["publisher"], sites=["blog"])
    publisher.put("/sites/blog/comments/settings", **SETTINGS)
    made = f"{COMMENTS}/{posted(troll)['id']}"

    assert troll.put(f"{made}/vote", value=1).code == "own_comment"
    assert troll.put(f"{made}/reactions/heart").json["reactions"] == {"heart": 1}
    marks = troll.get(f"{NODE}/marks?ids={made.rpartition('/')[2]}").json["comments"]
    assert [each["reactions"] for each in marks.values()] == [{"heart": 1}]
    assert ann.put(f"{made}/reactions/heart").code == "unknown_comment"


@pytest.mark.usefixtures("root")
def test_a_move_keeps_it_between_its_author_and_moderators(
    client: Client, moderator: Client, troll: Client, layout: Layout
) -> None:
    posted(troll)
    publisher = client.as_("paula", roles=["publisher"], sites=["blog"])
    store = "documents" if layout.store == "embedded" else "embedded"

    assert publisher.post(f"{NODE}/store", store=store).status == 200

    assert texts(client) == [("hello", "visible")]
    assert texts(troll) == [("hello", "visible"), ("buy", "visible")]
    assert texts(moderator) == [("hello", "visible"), ("buy", "hidden")]


def test_what_nobody_saw_leaves_no_place(
    troll: Client, client: Client, moderator: Client, root: str, layout: Layout
) -> None:
    first = posted(troll)["id"]
    if layout.threaded:
        posted(troll, "reply", parent=first)

    assert troll.delete(f"{COMMENTS}/{first}").status == 204

    assert root
    assert texts(client) == [("hello", "visible")]
    assert ("hello", "visible") in texts(moderator)
    # Moderators see the reply, and so its place.
    assert ("deleted" in [state for _, state in texts(moderator)]) == layout.threaded


@pytest.mark.usefixtures("root")
def test_a_feed_tells_its_author_alone(runtime: Runtime, troll: Client) -> None:
    made = posted(troll)["id"]

    found = happened.find(runtime, happened.name_of("blog:moon", made))

    assert found is not None
    assert found.is_concealed
