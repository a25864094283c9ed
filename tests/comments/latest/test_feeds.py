"""Feeds of comments: by the rules of Atom, of what anybody sees."""

import xml.etree.ElementTree as ET
from typing import Any

import feedparser
import pytest

from chalicelib.comments import personal_data
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.entries.upkeep import compare_nodes
from chalicelib.comments.people.rows import taken_key_expression
from chalicelib.http import responses
from chalicelib.runtime import Runtime
from tests.comments.support.feeds import FEEDS, NODE, URL, Blog, contents
from tests.support.atom import ATOM, IN_REPLY_TO, check_atom
from tests.support.http_client import Client


@pytest.mark.parametrize("kind", FEEDS)
def test_a_feed_reader_reads_the_latest_comments(blog: Blog, kind: str) -> None:
    second = blog.post("bob", "*second* [on](https://a.example/?b=1&c=2)")

    reply = blog.feed(kind)
    check_atom(reply.body)
    read = feedparser.parse(reply.body)

    assert reply.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert reply.headers["Cache-Control"] == "public, max-age=60, s-maxage=300"
    assert not read.bozo
    has_root = kind != "thread" or blog.layout.threaded
    assert [each.link for each in read.entries] == [
        f"{URL}#plaza-{each}" for each in ((second, blog.root) if has_root else (blog.root,))
    ]
    if has_root:
        newest = read.entries[0]
        assert (newest.title, newest.author) == ("Bob: The Moon", "Bob")
        assert "<em>second</em>" in newest.content[0].value
        assert newest.published_parsed[:6] == blog.clock().timetuple()[:6]
    links = {link.rel: link.href for link in read.feed.links}
    assert links["self"].endswith(blog.path(kind))
    assert (
        links["alternate"]
        == {
            "site": links["self"].removesuffix(".atom"),
            "person": links["self"].removesuffix(".atom"),
            "node": URL,
            "thread": f"{URL}#plaza-{blog.root}",
        }[kind]
    )


def test_an_entry_names_what_it_replies_to(threaded: Blog) -> None:
    reply = threaded.post("ann", "reply")
    deep = threaded.post("cy", "deep", parent=reply)

    entries = check_atom(threaded.feed("node").body).findall(f"{ATOM}entry")
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    answered = [entry.find(IN_REPLY_TO) for entry in entries]

    assert [each.get("ref") for each in answered if each is not None] == [ids[1], ids[2], URL]
    assert [each.get("href") for each in answered if each is not None] == [
        f"{URL}#plaza-{reply}",
        f"{URL}#plaza-{threaded.root}",
        URL,
    ]
    assert deep


def test_a_thread_has_its_own_comments_alone(threaded: Blog) -> None:
    other = threaded.post("bob", "other", is_reply=False)
    reply = threaded.post("ann", "reply")
    threaded.post("ann", "elsewhere", parent=other)

    assert [each.strip() for each in contents(threaded.feed("thread"))] == [
        "<p>reply</p>",
        "<p>root</p>",
    ]
    unknown = f"{NODE}/comments/{reply}/thread.atom"
    assert threaded.client.get(unknown).code == "unknown_comment"


def test_a_feed_ends_after_fifty(threaded: Blog) -> None:
    for number in range(52):
        threaded.post("bob", str(number))

    for kind in FEEDS:
        found = contents(threaded.feed(kind))
        assert [each.strip() for each in found] == [f"<p>{n}</p>" for n in range(51, 1, -1)]


def test_an_entry_keeps_its_id_and_says_when_it_was_edited(blog: Blog) -> None:
    before = feedparser.parse(blog.feed("site").body)
    blog.staff.put(NODE, title="Another", url="https://other.example/moon")
    blog.clock.advance(hours=1)
    edited = blog.staff.patch(f"{NODE}/comments/{blog.root}", text="edited")
    assert edited.status == 200, edited.body

    after = feedparser.parse(blog.feed("site").body)

    (old,), (new,) = before.entries, after.entries
    assert (old.id, before.feed.id) == (new.id, after.feed.id)
    assert old.id.startswith("urn:uuid:")
    assert new.link == f"https://other.example/moon#plaza-{blog.root}"
    assert new.published == old.published
    assert new.updated_parsed[:6] == blog.clock().timetuple()[:6]
    assert after.feed.updated == new.updated


HOSTILE = (
    "]]> <![CDATA[ &amp; <b>bold</b>",
    "\u202eabc\u202c \u200fright\u200e",
    "\ufffe\uffff and \U0001f30a",
    "</content></entry> --> ?>",
    "<script>alert(1)</script>",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_survive(threaded: Blog, text: str) -> None:
    threaded.staff.put(NODE, title=text, url=URL)
    comment = threaded.post("bob", text)
    html = threaded.client.get(f"{NODE}/comments/{comment}").json["html"]

    root = check_atom(threaded.feed("site").body)
    entry = root.findall(f"{ATOM}entry")[0]

    kept = str.maketrans("", "", "\ufffe\uffff")
    assert entry.findtext(f"{ATOM}content") == html.translate(kept)
    assert entry.findtext(f"{ATOM}title") == f"Bob: {text}".translate(kept)
    assert "<script" not in html
    assert not feedparser.parse(threaded.feed("site").body).bozo


def test_characters_that_xml_forbids_are_left_out(threaded: Blog, runtime: Runtime) -> None:
    """No text that is stored has one; what an older release stored might."""
    change = {"$set": {"html": "<p>a\x00\x1b\x0bb</p>", "author.name": "B\x08ob"}}
    runtime.database["comments.comment"].update_one({"id": threaded.root}, change)

    entry = check_atom(threaded.feed("site").body).find(f"{ATOM}entry")

    assert entry is not None
    assert entry.findtext(f"{ATOM}content") == "<p>ab</p>"
    assert entry.findtext(f"{ATOM}author/{ATOM}name") == "Bob"


def test_a_feed_with_more_than_an_answer_holds_has_fewer_entries(
    threaded: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        threaded.post("bob", f"{number} " + "<b> " * 2_400)
    whole = threaded.feed("site")
    monkeypatch.setattr(responses, "MAX_BYTES", 100_000)

    cut = threaded.feed("site")

    assert 1 <= len(contents(cut)) < len(contents(whole)) == 7
    assert contents(cut) == contents(whole)[: len(contents(cut))]
    held = {"If-None-Match": cut.headers["ETag"]}
    assert threaded.feed("site", **held).status == 304


def test_threads_of_the_last_release_have_a_feed_after_a_comparison(
    threaded: Blog, runtime: Runtime
) -> None:
    threaded.post("ann", "reply")
    entries = ENTRIES.of(runtime.database)
    entries.update_many({}, {"$unset": {"root": ""}})
    assert contents(threaded.feed("thread")) == []

    same = {"missing": 0, "wrong": 0, "extra": 0, "next": None}
    assert compare_nodes(runtime) == same
    assert entries.count_documents({"root": threaded.root}) == 2
    assert len(contents(threaded.feed("thread"))) == 2


def test_a_feed_of_nothing_is_a_feed(client: Client) -> None:
    for path in ("/sites/nowhere/comments.atom", "/sites/nowhere/people/bob/comments.atom"):
        reply = client.get(path)
        assert check_atom(reply.body).findall(f"{ATOM}entry") == []
    assert client.get("/nodes/nowhere/comments.atom").code == "unknown_node"
    assert client.get("/sites/NO/comments.atom").code == "invalid_request"


def test_the_feed_of_a_moved_discussion_leads_on(threaded: Blog) -> None:
    root = threaded.client.as_("root", roles=["admin"])
    assert root.post(f"{NODE}/move", to="blog:sun").status == 200

    for kind in ("node", "thread"):
        moved = threaded.feed(kind)
        assert (moved.status, moved.code) == (308, "node_moved")
        place = threaded.path(kind).replace("blog:moon", "blog:sun")
        assert moved.headers["Location"].endswith(place)
        assert contents(threaded.client.get(place)) == contents(threaded.feed("site"))


def test_a_thread_is_read_by_an_index_of_its_own(threaded: Blog, runtime: Runtime) -> None:
    other = threaded.post("bob", "other", is_reply=False)
    for number in range(10):
        threaded.post("ann", f"{number}")
    for number in range(30):
        threaded.post("ann", f"{number} there", parent=other)
    limit = 4
    where = {"site": "blog", "node_id": "blog:moon", "root": threaded.root, "state": "visible"}

    found: Any = ENTRIES.of(runtime.database).find({"$or": [where]})
    told = found.sort([("posted", -1), ("_id", 1)]).limit(limit).explain()

    assert told["executionStats"]["totalKeysExamined"] <= 4 * limit + 5
    assert "'SORT'" not in str(told["queryPlanner"]["winningPlan"])


def test_a_document_of_a_feed_is_xml(threaded: Blog) -> None:
    assert threaded.feed("site").body.startswith(b'<?xml version="1.0" encoding="utf-8"?>\n')
    assert ET.fromstring(threaded.feed("site").body).tag == f"{ATOM}feed"  # noqa: S314 - our own


def test_a_poll_during_a_rename_keeps_no_former_name(
    blog: Blog, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags: dict[str, str] = {}

    def express_after_a_poll(user_id: str, name: str) -> Any:
        tags.update({kind: blog.feed(kind).headers["ETag"] for kind in FEEDS})
        return taken_key_expression(user_id, name)

    monkeypatch.setattr(personal_data, "taken_key_expression", express_after_a_poll)
    personal_data.rename(runtime, "bob", "Roberta")

    for kind in FEEDS:
        if kind != "thread" or blog.layout.threaded:
            again = blog.feed(kind, **{"If-None-Match": tags[kind]})
            assert (again.status, b"Roberta" in again.body) == (200, True), kind
