# ruff: noqa: RUF001 - letters that look like others are of their own scripts
"""Search in the comments of a site, over all its discussions and stores."""

import pytest

from chalicelib.comments.people import changing
from chalicelib.runtime import Runtime
from tests.comments.support.searching import SEARCH, SETTINGS, found, post, rows
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

# A line of each of several scripts, and the queries of readers that find it.
LINES = [
    ("The last Ferry to Łódź leaves", ["ferry", "LODZ", "leaves ferry", "lódź"]),
    ("Паром уходит в шесть, ёлки", ["паром", "елки ПАРОМ"]),
    ("Το καράβι φεύγει στις έξι", ["καραβι", "ΦΕΎΓΕΙ"]),
    ("המעבורת הָאַחֲרוֹנָה", ["האחרונה"]),
    ("العبّارة الأخيرة", ["العبارة"]),
    ("नमस्ते दुनिया", ["दुनिया", "नमस्ते दुनिया"]),
    ("最后一班渡轮六点开", ["渡轮", "最后一班", "六"]),
    ("最終のフェリーは六時です", ["フェリー", "ﾌｪﾘｰ", "最終"]),
    ("마지막 페리가 떠나요", ["페리", "떠나요"]),
    ("เรือเฟอร์รี่เที่ยวสุดท้าย", ["เฟอร์รี่", "สุดท้าย"]),
    ("Վերջին լաստանավը", ["վերջին", "ՎԵՐՋԻՆ"]),
    ("ბოლო ბორანი", ["ბორანი"]),
]


@pytest.mark.parametrize(("line", "queries"), LINES, ids=lambda each: str(each)[:12])
def test_a_line_of_any_script_is_found_as_readers_type_it(
    client: Client, nodes: list[str], line: str, queries: list[str]
) -> None:
    ann = client.as_("ann")
    for other, _ in LINES:
        post(ann, nodes[0], other)

    for query in queries:
        assert line in found(client, query)
        assert len(found(client, query)) < len(LINES)


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_visible_comments_of_every_store_are_found_newest_first(
    client: Client, nodes: list[str], clock: Clock, limit: int
) -> None:
    ann, expected = client.as_("ann"), []
    for number in range(3):
        for node in nodes:
            clock.advance(seconds=1)
            post(ann, node, f"other words {number}")
            text = f"ferry {number} in {node.rpartition(':')[2]}"
            post(ann, node, text)
            expected.append(text)

    assert found(client, "ferry", limit) == expected[::-1]
    assert found(client, "in ferry", limit) == expected[::-1]
    assert found(client, "ferry 1", limit) == [each for each in expected[::-1] if "y 1 " in each]


@pytest.mark.parametrize("words", ["ferry", "ferry boat"])
@pytest.mark.parametrize("number", [0, 1, 4, 5])
def test_a_page_ends_where_the_comments_do(
    client: Client, nodes: list[str], number: int, words: str
) -> None:
    for _ in range(number):
        post(client.as_("ann"), nodes[0], "A ferry is a boat")

    page = client.get(f"{SEARCH}?q={words.replace(' ', '+')}&limit=4").json

    assert len(page["comments"]) == min(number, 4)
    assert (page["next"] is not None) == (number > 4)


def test_a_result_says_where_the_comment_is_and_who_wrote_it(
    client: Client, nodes: list[str], publisher: Client
) -> None:
    moderator = client.as_("mo", roles=["moderator"])
    path = post(
        moderator, nodes[0], "**Bold** [ferry](https://ferry.example/?a=secret) & <b>co</b>"
    )

    (result,) = client.get(f"{SEARCH}?q=ferry").json["comments"]

    comment = client.get(path).json
    id_, name = comment["id"], nodes[0].rpartition(":")[2]
    assert result == {
        "id": id_,
        "node": {"id": f"blog:{name}", "title": name, "url": f"https://blog.example/{name}"},
        "permalink": f"https://blog.example/{name}#plaza-{id_}",
        "posted_at": comment["posted_at"],
        "edited_at": None,
        "author": {"id": "mo", "name": "Mo", "role": "moderator"},
        "excerpt": "Bold ferry & <b>co</b>",
    }
    # What nobody reads is not found.
    assert found(client, "secret") == []
    assert publisher.get(f"{SEARCH}?q=ferry").json == client.get(f"{SEARCH}?q=ferry").json


def test_the_words_stand_in_the_excerpt_of_a_long_comment(client: Client, nodes: list[str]) -> None:
    before, after = "\n\n".join(["few words here"] * 12), " ".join(["after it"] * 200)
    post(client.as_("ann"), nodes[0], f"{before}\n\na ferry {after}")

    (excerpt,) = found(client, "ferry")

    assert len(excerpt) <= 280
    assert "a ferry after it" in excerpt
    assert (excerpt[0], excerpt[-1]) == ("…", "…")


def test_a_long_comment_is_found_by_its_beginning(client: Client, nodes: list[str]) -> None:
    post(client.as_("ann"), nodes[0], " ".join(f"w{number}" for number in range(201)))

    assert len(found(client, "w199")) == 1
    assert found(client, "w200") == []


@pytest.mark.parametrize("state", ["hidden", "pending", "spam"])
def test_what_is_concealed_is_not_found_until_it_is_shown_again(
    client: Client, nodes: list[str], state: str, runtime: Runtime
) -> None:
    ann, moderator = client.as_("ann"), client.as_("mo", roles=["moderator"])
    paths = [post(ann, node, f"ferry {node}") for node in nodes]

    for path in paths:
        assert moderator.post(f"{path}/state", state=state).status == 200

    for reader in (client, ann, moderator):
        assert found(reader, "ferry") == []
    assert rows(runtime) == {}
    for path in paths:
        moderator.post(f"{path}/state", state="visible")
    assert len(found(client, "ferry")) == len(nodes)


def test_an_act_that_is_undone_is_undone_for_searches(client: Client, nodes: list[str]) -> None:
    moderator = client.as_("mo", roles=["moderator"])
    path = post(client.as_("ann"), nodes[0], "ferry")
    moderator.post(f"{path}/state", state="hidden")
    (act,) = moderator.get("/moderation/log?site=blog").json["acts"][:1]

    undone = moderator.post(f"/moderation/log/{act['id']}/undo")

    assert undone.status in {200, 201, 204}, undone.body
    assert found(client, "ferry") == ["ferry"]


def test_an_edit_is_found_by_its_new_words_alone(client: Client, nodes: list[str]) -> None:
    ann = client.as_("ann")
    for node in nodes:
        path = post(ann, node, "the old harbour")
        assert ann.patch(path, text="the new ferry").status == 200

    assert found(client, "harbour") == []
    assert found(client, "the ferry") == ["the new ferry"] * len(nodes)


def test_what_is_deleted_is_gone(client: Client, nodes: list[str], runtime: Runtime) -> None:
    ann = client.as_("ann")
    for node in nodes:
        path = post(ann, node, "ferry")
        if "threaded" in node:
            post(ann, node, "reply", parent=path.rpartition("/")[2])
        assert ann.delete(path).status == 204

    assert found(client, "ferry") == []
    assert {term for terms in rows(runtime).values() for term in terms} <= {"reply"}


def test_a_deleted_discussion_is_gone(
    client: Client, nodes: list[str], publisher: Client, runtime: Runtime
) -> None:
    for node in nodes:
        post(client.as_("ann"), node, "ferry")
        assert publisher.delete(node).status == 204

    assert found(client, "ferry") == []
    assert rows(runtime) == {}


def test_what_waits_is_found_once_it_is_approved(
    client: Client, nodes: list[str], publisher: Client
) -> None:
    publisher.patch(SETTINGS, moderation="before")
    ann, moderator = client.as_("ann"), client.as_("mo", roles=["moderator"])
    path = post(ann, nodes[0], "ferry")
    assert [found(each, "ferry") for each in (client, ann, moderator)] == [[], [], []]

    moderator.post(f"{path}/state", state="visible")

    assert found(client, "ferry") == ["ferry"]


def test_a_shadowed_person_finds_their_own_and_nobody_else_does(
    client: Client, nodes: list[str], clock: Clock, runtime: Runtime
) -> None:
    bob, ann = client.as_("bob"), client.as_("ann")
    post(bob, nodes[0], "a ferry before")
    changing.store(runtime, "blog", "bob", {"status": "shadowed"})
    for node in nodes:
        clock.advance(seconds=1)
        post(bob, node, f"a ferry in {node.rpartition(':')[2]}")
    own = [f"a ferry in {node.rpartition(':')[2]}" for node in nodes[::-1]]

    for words in ("ferry", "ferry a"):
        for limit in (1, 2, 50):
            assert found(bob, words, limit) == [*own, "a ferry before"]
        for reader in (client, ann, client.as_("mo", roles=["moderator"])):
            # A short page with a `next` would tell of them.
            page = reader.get(f"{SEARCH}?q={words.replace(' ', '+')}&limit=1").json
            assert [each["excerpt"] for each in page["comments"]] == ["a ferry before"]
            assert page["next"] is None
    # Nobody finds them by the form of their words either.
    assert found(ann, "\x00bob\x00ferry") == []


def test_a_comment_is_shown_to_all_once_its_shadow_ends(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    changing.store(runtime, "blog", "bob", {"status": "shadowed"})
    path = post(client.as_("bob"), nodes[0], "ferry")

    client.as_("mo", roles=["moderator"]).post(f"{path}/state", state="visible")

    assert found(client, "ferry") == ["ferry"]


def test_comments_of_blocked_people_are_left_out_and_the_next_page_begins_behind_them(
    client: Client, nodes: list[str], clock: Clock
) -> None:
    ann, bob = client.as_("ann"), client.as_("bob")
    for number in range(6):
        clock.advance(seconds=1)
        post(bob if number % 2 else ann, nodes[number % 5], f"ferry {number}")
    assert ann.put("/sites/blog/blocked/bob").status in {200, 204}

    assert found(ann, "ferry", 2) == ["ferry 4", "ferry 2", "ferry 0"]
    assert len(found(client, "ferry", 2)) == 6


def test_a_discussion_whose_page_is_not_public_is_found_by_staff_alone(
    client: Client, nodes: list[str], publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    post(client.as_("ann"), nodes[0], "ferry")
    until = clock()
    runtime.database["comments.node"].update_many({}, {"$set": {"public_until": until}})

    assert found(client, "ferry") == []
    assert found(client.as_("ann"), "ferry") == []
    assert found(publisher, "ferry") == ["ferry"]


def test_an_erased_person_leaves_no_word(
    client: Client, nodes: list[str], runtime: Runtime, workers: Workers
) -> None:
    bob = client.as_("bob")
    for node in nodes:
        post(bob, node, "ferry")
        post(client.as_("ann"), node, "ferry, too")

    assert bob.delete("/users/me").status in {200, 202}
    workers.drain()

    assert found(client, "ferry") == ["ferry, too"] * len(nodes)
    assert runtime.database["comments.term"].count_documents({"author_id": "bob"}) == 0


def test_sites_are_apart(client: Client, nodes: list[str]) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/shop:sun", title="Sun", url="https://shop.example/sun")
    root.put("/sites/shop/comments/settings", search=True)
    post(client.as_("bob"), "/nodes/shop:sun", "ferry elsewhere")
    post(client.as_("bob"), nodes[0], "ferry here")

    assert found(client, "ferry") == ["ferry here"]
