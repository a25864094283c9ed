"""Who takes part in a discussion, found by the beginning of a name."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.comments import personal_data
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people import members
from chalicelib.runtime import Runtime
from tests.comments.stores.test_indexes import Explained
from tests.comments.support.discussion import LAYOUTS, Layout
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
pytestmark = pytest.mark.usefixtures("root")
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}


@pytest.fixture
def root(client: Client) -> Client:
    root = client.as_("root", roles=["admin"])
    root.put(NODE, **PAGE)
    return root


def write(client: Client, names: Mapping[str, str], node: str = NODE) -> dict[str, str]:
    """Have people write a comment each; return the ids of these."""
    made = {}
    for who, name in names.items():
        reply = client.as_(who, name=name).post(f"{node}/comments", text=f"{who} was here")
        assert reply.status == 201, reply.body
        made[who] = reply.json["id"]
    return made


def found(client: Client, q: str, node: str = NODE) -> list[str]:
    """Return the ids of the people whom a reader finds."""
    reply = client.as_("reader").get(f"{node}/people?q={quote(q)}")
    assert reply.status == 200, reply.body
    return [each["id"] for each in reply.json["people"]]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_they_are_found_in_every_store_by_name(
    client: Client, root: Client, layout: Layout
) -> None:
    node = f"/nodes/blog:{layout}"
    root.put(node, **PAGE, store=layout.store, threaded=layout.threaded)
    write(client, {"1": "Annika", "2": "Ann Lee", "3": "Bert", "4": "Joanna"}, node)
    write(client, {"5": "Anna of another page"})

    reply = client.as_("reader").get(f"{node}/people?q=an")

    assert reply.json == {"people": [{"id": "2", "name": "Ann Lee"}, {"id": "1", "name": "Annika"}]}


@pytest.mark.parametrize(
    "q", ["zo", "ZO", "Zoë", "zoe\u0308", "\uff5a\uff4f", " zo ", "Zo\u00eb  Stra\u00dfe"]
)
def test_neither_case_nor_accents_matter(client: Client, q: str) -> None:
    write(client, {"zoe": "Zo\u00eb STRASSE", "bo": "Bo"})

    assert found(client, q) == ["zoe"]


@pytest.mark.parametrize("name", ["Жанна", "李小龙", "İlkay", "محمد"])
def test_names_of_every_script_are_found(client: Client, name: str) -> None:
    write(client, {"one": name, "bo": "Bo"})

    assert found(client, name[:2]) == found(client, name.upper()) == ["one"]


@pytest.mark.parametrize(
    "q", [".*", "^A", "A.n", "(", "[a-z]", "\\", "$gt", "%", "\u0301", "\u200b", "'"]
)
def test_a_hostile_beginning_finds_nobody(client: Client, q: str) -> None:
    write(client, {"ann": "Ann", "bo": "Bo"})

    assert found(client, q) == []


def test_a_name_with_signs_is_found_by_them(client: Client) -> None:
    write(client, {"one": "(.*) $gt", "bo": "Bo"})

    assert found(client, "(.*) $") == ["one"]


@pytest.mark.parametrize("state", ["hidden", "pending", "deleted"])
def test_who_has_no_visible_comment_is_not_offered(
    client: Client, root: Client, state: str
) -> None:
    made = write(client, {"ann": "Ann", "anna": "Anna"})
    there = f"{COMMENTS}/{made['ann']}"
    if state == "deleted":
        assert root.delete(there).status == 204
    else:
        assert root.post(f"{there}/state", state=state).status == 200
    assert found(client, "an") == ["anna"]

    write(client, {"ann": "Ann"})

    assert found(client, "an") == ["ann", "anna"]


def test_who_is_shadowed_from_the_first_comment_on_is_not_offered(
    client: Client, root: Client
) -> None:
    assert root.patch("/sites/blog/people/ann", status="shadowed").status == 200
    write(client, {"ann": "Ann"})

    assert found(client, "ann") == []


def test_who_is_banned_or_blocked_by_the_reader_is_not_offered(
    client: Client, root: Client
) -> None:
    write(client, {"ann": "Ann", "anna": "Anna", "anne": "Anne"})
    root.patch("/sites/blog/people/ann", status="banned")
    client.as_("reader").put("/sites/blog/blocked/anna")

    assert found(client, "an") == ["anne"]


def test_a_new_name_is_found_and_the_old_one_is_not(client: Client, runtime: Runtime) -> None:
    write(client, {"ann": "Ann"})

    personal_data.rename(runtime, "ann", "Zo\u00eb")

    assert (found(client, "ann"), found(client, "zoe")) == ([], ["ann"])


def test_who_has_posted_elsewhere_by_another_name_is_found_by_no_old_one(
    client: Client, root: Client
) -> None:
    root.put("/nodes/blog:sun", **PAGE)
    write(client, {"ann": "Ann"})
    write(client, {"ann": "Zoe"}, "/nodes/blog:sun")

    assert (found(client, "ann"), found(client, "zoe", "/nodes/blog:sun")) == ([], ["ann"])


def test_nobody_is_found_who_was_erased(client: Client, runtime: Runtime) -> None:
    write(client, {"ann": "Ann", "anna": "Anna"})

    personal_data.erase(runtime, "ann")

    assert found(client, "a") == ["anna"]


def test_at_most_ten_are_found_in_the_order_of_their_names(client: Client) -> None:
    write(client, {f"p{number:02}": f"Ann {15 - number:02}" for number in range(15)})

    assert found(client, "ann") == [f"p{number:02}" for number in range(14, 4, -1)]


def test_who_writes_much_stands_in_nobodys_way(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "_AT_ONCE", 3)
    for _ in range(4):
        write(client, {"ann": "Ann", "bob": "Bob"})
    write(client, {"anne": "Anne", "ann2": "Ann"})

    assert found(client, "a") == ["ann", "ann2", "anne"]


def test_a_read_takes_two_hundred_keys_and_no_comment(client: Client, runtime: Runtime) -> None:
    made = write(client, {"ann": "Ann"})
    rows = ENTRIES.of(runtime.database)
    copied = rows.find_one({"_id": f"blog:moon/{made['ann']}"})
    assert copied is not None
    rows.insert_many([{**copied, "_id": f"blog:moon/{n}", "id": str(n)} for n in range(500)])
    write(client, {"anne": "Anne"})

    with Explained(runtime.database) as explained:
        assert found(client, "an") == ["ann", "anne"]

    reads = [each for each in explained.queries if each["ns"].endswith("comments.entry")]
    assert len(reads) == 2
    for read in reads:
        assert "COLLSCAN" not in read["planSummary"]
        assert not read.get("hasSortStage")
        assert (read["keysExamined"] <= 202, read["docsExamined"]) == (True, 0)


def test_they_follow_a_node_to_its_new_id(client: Client, root: Client) -> None:
    write(client, {"ann": "Ann"})
    assert root.post(f"{NODE}/move", to="blog:sun").status == 200

    reply = client.as_("reader").get(f"{NODE}/people?q=ann")

    assert (reply.status, reply.code) == (308, "node_moved")
    assert reply.headers["Location"].endswith("/nodes/blog:sun/people?q=ann")
    assert found(client, "ann", "/nodes/blog:sun") == ["ann"]


def told(reply: Any) -> tuple[int, str]:
    return reply.status, reply.code


def test_a_call_without_a_token_or_a_beginning_is_refused(client: Client) -> None:
    reader = client.as_("reader")

    assert told(client.get(f"{NODE}/people?q=a")) == (401, "unauthenticated")
    for query in ("", "?q=", f"?q={'a' * 101}"):
        assert told(reader.get(f"{NODE}/people{query}")) == (422, "invalid_request")
    assert told(reader.get("/nodes/blog:none/people?q=a")) == (404, "unknown_node")
