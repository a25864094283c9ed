"""Drafts: what may be written, by whom, and no save that overwrites another unseen."""

import threading
from typing import Any

import pytest

from chalicelib.content.editing.revisions import REVISIONS
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    new,
    node,
    picture,
    publish,
    published,
    publisher,
    save,
    set_up,
    with_version,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

WRITERS, SAVES = 8, 4


def test_a_page_is_written_read_and_changed(client: Client) -> None:
    edda = editor(client)
    made = edda.post(
        f"/content/{SITE}/nodes", **new(tags=["Harbour ", "harbour", "Boats"], summary="Round")
    )
    path = node(made.json["id"])

    assert made.status == 201
    assert made.headers["ETag"] == '"1"'
    assert made.headers["Location"].endswith(path)
    assert made.json["state"] == "draft"
    assert made.json["draft"]["tags"] == ["harbour", "boats"]
    assert edda.get(path).json == made.json

    saved = save(edda, made.json["id"], 1, title="The moon", summary=None)

    assert saved.headers["ETag"] == '"2"'
    assert saved.json["draft"]["title"] == "The moon"
    assert saved.json["draft"]["summary"] is None
    assert saved.json["draft"]["detail"] == {"text": "It is *full*."}


def test_a_page_of_a_type_that_there_is_no_more_is_read_and_deleted_alone(
    client: Client, runtime: Runtime
) -> None:
    set_up(client)
    edda, node_id = editor(client), published(client, "moon")
    where: Any = {"_id": node_id}
    runtime.database["content.node"].update_one(where, {"$set": {"type": "bygone"}})

    refused = [
        save(edda, node_id, 1, detail={"text": "Better"}),
        publish(client, node_id, 1),
        with_version(edda, "POST", f"{node(node_id)}/revisions/1/restore", '"1"', {}),
    ]

    faults = [(each.status, [at["code"] for at in each.json["errors"]]) for each in refused]
    assert faults == [(422, ["unknown_type"])] * 3
    assert edda.get(node(node_id)).json["type"] == "bygone"
    assert client.get(f"/content/{SITE}/page?address=moon").json["title"] == "Moon"
    assert publisher(client).delete(node(node_id)).status == 204


def test_a_repeated_call_with_a_key_writes_one_page(client: Client) -> None:
    keyed = Client(client.app, client.token, {"Idempotency-Key": "k1"})
    edda = editor(keyed)

    assert write(edda) == write(edda)
    again = edda.post(f"/content/{SITE}/nodes", **new(title="Another"))
    assert again.code == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"slug": slug}, "slug")
        for slug in ("..", "a/../b", "a//b", "/a", "a/", "A", "a%00", "a b", "", "ä", "a" * 257)
    ]
    + [
        ({"tags": ["a", " "]}, "tags.1"),
        ({"tags": ["\u00ad"]}, "tags.0"),
        ({"tags": ["x"] * 21}, "tags"),
        ({"title": ""}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"type": "film"}, "type"),
        ({"detail": {"text": "x", "sect": "y"}}, "detail.sect"),
        ({"detail": {"text": "x" * 200_001}}, "detail.text"),
        ({"detail": {"text": 5}}, "detail.text"),
        ({"detail": "x"}, "detail"),
        ({"type": "photo", "detail": {"asset": "../x", "caption": "y"}}, "detail.asset"),
    ],
)
def test_what_cannot_be_written_is_refused(
    client: Client, change: dict[str, Any], field: str
) -> None:
    reply = editor(client).post(f"/content/{SITE}/nodes", **new() | change)

    assert reply.code == "invalid_request"
    assert reply.json["errors"][0]["field"] == field


def test_each_type_has_its_own_detail(client: Client) -> None:
    edda = editor(client)
    photo = {"asset": picture(client), "caption": "Dawn", "taken": "2026-03-01"}

    made = edda.post(f"/content/{SITE}/nodes", **new(type="photo", detail=photo))

    assert made.json["draft"]["detail"] == photo
    refused = save(edda, made.json["id"], 1, detail={"text": "x"})
    assert refused.json["errors"][0]["field"] == "detail.asset"


@pytest.mark.parametrize("change", [{}, {"title": None}, {"detail": None}, {"type": "blog"}])
def test_a_change_of_nothing_is_refused(client: Client, change: dict[str, Any]) -> None:
    edda = editor(client)

    assert save(edda, write(edda), 1, **change).code == "invalid_request"


@pytest.mark.parametrize("tag", ["*", 'W/"1"', '"1", "2"', '"one"', "1", '"-1"', ""])
def test_only_one_version_is_named(client: Client, tag: str) -> None:
    edda = editor(client)
    path = node(write(edda))

    refused = with_version(edda, "PATCH", path, tag or " ", {"title": "The moon"})

    assert refused.code == "invalid_request"
    assert refused.json["errors"][0]["field"] == "If-Match"
    assert edda.get(path).json["version"] == 1


def test_a_save_names_the_version_that_was_read(client: Client) -> None:
    edda = editor(client)
    path = node(write(edda))

    assert with_version(edda, "PATCH", path, None, {"title": "x"}).code == "version_needed"


def test_a_save_of_an_older_version_is_answered_with_the_present_draft(client: Client) -> None:
    edda, otto = editor(client), editor(client, "otto")
    node_id = write(edda)
    save(otto, node_id, 1, title="The moon", tags=["sky"])

    refused = save(edda, node_id, 1, title="A moon", summary="Round", detail={"text": "New"})

    assert refused.code == "edit_conflict"
    facts = refused.json["facts"]
    assert facts["fields"] == ["title", "summary", "detail.text"]
    assert facts["present"]["version"] == 2
    assert facts["present"]["title"] == "The moon"
    assert facts["present"]["saved_by"] == {"id": "otto", "name": "Otto"}
    assert save(edda, node_id, 2, title="A moon").status == 200


def test_of_many_writers_at_once_nobody_overwrites_another(
    client: Client, runtime: Runtime
) -> None:
    """Each saves four times, reading the present version whenever somebody else was first."""
    node_id = write(editor(client))
    kept: list[tuple[int, str]] = []
    refusals: list[tuple[int, int]] = []

    def work(number: int) -> None:
        me, version = editor(client, f"writer-{number}"), 1
        for turn in range(SAVES):
            title = f"{number}.{turn}"
            while True:
                reply = save(me, node_id, version, title=title)
                if reply.status == 200:
                    break
                if reply.status == 409:
                    present = reply.json["facts"]["present"]
                    refusals.append((version, present["version"]))
                    version = present["version"]
            version = reply.json["version"]
            kept.append((version, title))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(version for version, _ in kept) == list(range(2, WRITERS * SAVES + 2))
    assert refusals
    assert all(present > read for read, present in refusals)
    stored = {each["_id"]["version"]: each for each in REVISIONS.of(runtime.database).find()}
    last_of_a_run = [
        (version, title)
        for version, title in kept
        if not any(v == version + 1 and t[0] == title[0] for v, t in kept)
    ]
    assert all(stored[version]["title"] == title for version, title in last_of_a_run)
    assert editor(client).get(node(node_id)).json["draft"]["title"] == max(kept)[1]


def test_the_desk_lists_what_was_changed_last(client: Client, clock: Clock) -> None:
    edda = editor(client)
    ids = []
    for slug in ("a", "b", "c"):
        ids.append(write(edda, slug))
        clock.advance(seconds=1)
    save(edda, ids[0], 1, title="Again")

    first = edda.get(f"/content/{SITE}/desk?limit=2").json
    second = edda.get(f"/content/{SITE}/desk?limit=2&cursor={first['next']}").json

    assert [each["id"] for each in first["nodes"]] == [ids[0], ids[2]]
    assert [each["id"] for each in second["nodes"]] == [ids[1]]
    assert second["next"] is None
    assert edda.get(f"/content/{SITE}/desk?state=live&cursor={first['next']}").code == (
        "invalid_cursor"
    )


# Eighteen of the longest texts are more than one answer can hold, twice: as draft and live.
@pytest.mark.parametrize(
    "text", ["a" * 196_000, "é" * 196_000, "\N{DUCK}" * 98_000], ids=["plain", "accented", "astral"]
)
def test_the_desk_lists_the_longest_texts_and_loses_none(client: Client, text: str) -> None:
    set_up(client)
    ids = [published(client, f"page-{number}", detail={"text": text}) for number in range(18)]

    page = editor(client).get(f"/content/{SITE}/desk?state=live")

    assert page.status == 200
    assert sorted(each["id"] for each in page.json["nodes"]) == sorted(ids)
    assert page.json["next"] is None
    assert page.json["nodes"][0]["live"]["detail"] == {}


def test_a_text_is_as_long_as_a_browser_says(client: Client) -> None:
    edda, duck = editor(client), "\N{DUCK}"
    longest = write(edda, "ducks", detail={"text": duck * 100_000})
    longer = edda.post(f"/content/{SITE}/nodes", **new(detail={"text": duck * 100_000 + "a"}))

    assert edda.get(node(longest)).json["draft"]["detail"]["text"] == duck * 100_000
    assert longer.json["errors"][0]["field"] == "detail.text"
    assert longer.json["errors"][0]["code"] == "string_too_long"


# Of the heaviest characters by their length: an answer has each text three times.
@pytest.mark.parametrize("text", ["é" * 200_000, "\N{DUCK}" * 100_000, 'a"' * 100_000, "\n" * 9])
def test_a_page_with_the_longest_draft_live_and_next_is_read(client: Client, text: str) -> None:
    set_up(client)
    detail = {"text": f"a{text[2:-2]}b"}
    page = published(client, detail=detail, summary="\N{DUCK}" * 1_000)
    later = publish(client, page, at="2027-01-01T00:00:00Z")
    assert later.status == 200, later.body

    answer = editor(client).get(node(page))

    assert answer.status == 200
    texts = [answer.json[words]["detail"]["text"] for words in ("draft", "live", "next")]
    assert texts == [detail["text"]] * 3


def test_the_desk_shows_the_details_beside_texts(client: Client) -> None:
    asset = picture(client)
    edda = editor(client)
    write(edda, "boat", type="photo", detail={"asset": asset, "caption": "A boat"})
    write(edda, "moon", detail={"text": "It is full.", "section": "Guides"})

    rows = edda.get(f"/content/{SITE}/desk").json["nodes"]

    assert {each["draft"]["slug"]: each["draft"]["detail"] for each in rows} == {
        "boat": {"asset": asset, "caption": "A boat"},
        "moon": {"section": "Guides"},
    }


def test_a_desk_of_the_longest_captions_and_summaries_is_cut(client: Client, clock: Clock) -> None:
    asset, edda = picture(client), editor(client)
    words = {"title": "\N{DUCK}" * 200, "summary": "\N{DUCK}" * 1_000}
    detail = {"asset": asset, "caption": "\N{DUCK}" * 2_000, "place": "\N{DUCK}" * 200}
    ids = []
    for number in range(150):
        given = {"type": "photo", **words, "detail": detail}
        ids.append(write(edda, f"photo-{number}", **given))
        clock.advance(seconds=1)

    pages = [edda.get(f"/content/{SITE}/desk?limit=200")]
    while cursor := pages[-1].json["next"]:
        pages.append(edda.get(f"/content/{SITE}/desk?limit=200&cursor={cursor}"))

    assert [each["id"] for page in pages for each in page.json["nodes"]] == ids[::-1]
    assert 1 < len(pages) < 5


def test_nobody_writes_for_another_site(client: Client) -> None:
    node_id = write(publisher(client))
    stranger = client.as_("eve", roles=["editor"], sites=["elsewhere"])

    assert stranger.get(node(node_id)).code == "forbidden"
    assert stranger.get(f"/content/elsewhere/nodes/{node_id}").code == "unknown_content"
    assert client.as_("ed", roles=["editor"]).get(node(node_id)).code == "forbidden"
    assert client.as_("ed", roles=["editor"]).get("/content/default/desk").status == 200
