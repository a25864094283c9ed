"""Feeds of comments: by the rules of Atom, of what anybody sees, and nothing that tells of more."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import feedparser
import pytest

from app import create_app
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.entries.upkeep import compare_nodes
from chalicelib.comments.people import changing
from chalicelib.http import responses
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Layout
from tests.support.atom import ATOM, IN_REPLY_TO, check_atom
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client, Reply

NODE = "/nodes/blog:moon"
URL = "https://blog.example/moon"
FEEDS = ("site", "node", "thread", "person")


class Blog:
    """A discussion whose first comment, by bob, begins a thread, and the feeds that have it."""

    def __init__(self, client: Client, clock: Clock, layout: Layout) -> None:
        self.client, self.clock, self.layout = client, clock, layout
        self.staff = client.as_("paula", roles=["publisher"], sites=["blog"])
        made = self.staff.put(
            NODE, title="The Moon", url=URL, store=layout.store, threaded=layout.threaded
        )
        assert made.status == 201, made.body
        self.root = self.post("bob", "root", is_reply=False)

    def post(self, who: str, text: str, *, is_reply: bool = True, **body: Any) -> str:
        """Post a comment, below the root where there are threads."""
        self.clock.advance(seconds=1)
        if is_reply and self.layout.threaded:
            body = {"parent": self.root, **body}
        reply = self.client.as_(who).post(f"{NODE}/comments", text=text, **body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def path(self, kind: str) -> str:
        """Return the path of a feed that has the root."""
        return {
            "site": "/sites/blog/comments.atom",
            "node": f"{NODE}/comments.atom",
            "thread": f"{NODE}/comments/{self.root}/thread.atom",
            "person": "/sites/blog/people/bob/comments.atom",
        }[kind]

    def feed(self, kind: str, **headers: str) -> Reply:
        return self.client.request("GET", self.path(kind), headers=headers)

    def set_state(self, comment: str, state: str) -> None:
        path = f"{NODE}/comments/{comment}"
        told = (
            self.staff.delete(path)
            if state == "deleted"
            else self.staff.post(f"{path}/state", state=state)
        )
        assert told.status in {200, 204}, told.body


@pytest.fixture
def blog(client: Client, clock: Clock, layout: Layout) -> Blog:
    return Blog(client, clock, layout)


@pytest.fixture
def threaded(client: Client, clock: Clock) -> Blog:
    return Blog(client, clock, LAYOUTS[0])


def contents(reply: Reply) -> list[str]:
    root = check_atom(reply.body)
    return [entry.findtext(f"{ATOM}content") or "" for entry in root.findall(f"{ATOM}entry")]


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


def shadow(blog: Blog, runtime: Runtime) -> None:
    changing.store(runtime.database, "blog", "eve", {"status": "shadowed"})
    blog.post("eve", "unseen", is_reply=False)


def wait(blog: Blog, _runtime: Runtime) -> None:
    blog.staff.put(NODE, title="The Moon", url=URL, moderation="before")
    blog.post("bob", "unseen")


def fall_for_the_decoy(blog: Blog, _runtime: Runtime) -> None:
    blog.post("bob", "unseen", website="https://spam.example")


def change_to(state: str) -> Callable[[Blog, Runtime], None]:
    def change(blog: Blog, _runtime: Runtime) -> None:
        blog.set_state(blog.post("bob", "unseen"), state)

    change.__name__ = state
    return change


UNSEEN = (
    *(shadow, wait, fall_for_the_decoy),
    *(change_to(each) for each in ("hidden", "spam", "pending", "deleted")),
)


@pytest.mark.parametrize("act", UNSEEN, ids=lambda act: act.__name__)
def test_what_nobody_sees_changes_no_byte(
    blog: Blog, runtime: Runtime, act: Callable[[Blog, Runtime], None]
) -> None:
    before = {kind: blog.feed(kind) for kind in FEEDS}

    act(blog, runtime)

    for kind in FEEDS:
        told = blog.feed(kind)
        assert (told.body, told.headers["ETag"]) == (
            before[kind].body,
            before[kind].headers["ETag"],
        )
        held = {"If-None-Match": before[kind].headers["ETag"]}
        assert blog.feed(kind, **held).status == 304


def test_a_token_changes_nothing(blog: Blog, runtime: Runtime) -> None:
    shadow(blog, runtime)
    ann = blog.client.as_("ann")
    assert ann.put("/sites/blog/blocked/bob").status == 204

    for kind in FEEDS:
        public = blog.feed(kind).body
        for reader in (blog.client.as_("eve"), ann, blog.staff):
            assert reader.get(blog.path(kind)).body == public


@pytest.mark.parametrize("end", ["public_from", "public_until"])
def test_a_page_that_is_not_public_has_no_feed(blog: Blog, runtime: Runtime, end: str) -> None:
    later = timedelta(hours=1 if end == "public_from" else -1)
    change = {"$set": {end: blog.clock() + later}}
    runtime.database["comments.node"].update_one({"_id": "blog:moon"}, change)

    for kind in ("node", "thread"):
        assert blog.feed(kind).code == "unknown_node"
        assert blog.staff.get(blog.path(kind)).code == "unknown_node"
    for kind in ("site", "person"):
        assert contents(blog.feed(kind)) == []
        assert contents(blog.staff.get(blog.path(kind))) == []


@pytest.mark.parametrize("state", ["hidden", "pending", "spam", "deleted"])
def test_a_thread_whose_root_nobody_sees_is_unknown(blog: Blog, state: str) -> None:
    blog.set_state(blog.root, state)

    assert blog.feed("thread").code == "unknown_comment"


def test_a_thread_goes_on_below_a_deleted_root(threaded: Blog) -> None:
    threaded.post("ann", "reply")
    threaded.set_state(threaded.root, "deleted")

    assert [each.strip() for each in contents(threaded.feed("thread"))] == ["<p>reply</p>"]


@pytest.mark.parametrize("kind", FEEDS)
def test_a_poll_is_answered_again_after_a_change_that_readers_see(blog: Blog, kind: str) -> None:
    def changes() -> bool:
        reply = blog.feed(kind, **{"If-None-Match": tags[-1]})
        tags.append(reply.headers["ETag"])
        return reply.status == 200

    tags = [blog.feed(kind).headers["ETag"]]
    assert not changes()
    blog.staff.patch(f"{NODE}/comments/{blog.root}", text="edited")
    assert changes()
    blog.staff.put(NODE, title="Another", url=URL)
    assert changes()
    made = blog.post("bob", "one more")
    assert changes() or (kind == "thread" and not blog.layout.threaded)
    blog.set_state(made, "hidden")
    assert changes() or (kind == "thread" and not blog.layout.threaded)
    assert not changes()
    blog.clock.advance(days=1)
    assert changes()


@pytest.mark.parametrize(
    ("kind", "reads"), [("site", 2), ("person", 2), ("node", 2), ("thread", 3)]
)
def test_a_poll_without_news_reads_no_comments(
    listened: Runtime, client: Client, commands: Commands, kind: str, reads: int
) -> None:
    assert isinstance(listened.now, Clock)
    blog = Blog(Client(create_app(listened), client.token), listened.now, LAYOUTS[0])
    tag = blog.feed(kind).headers["ETag"]
    commands.names.clear()

    assert blog.feed(kind, **{"If-None-Match": tag}).status == 304

    assert len(commands.names) == reads


def test_a_copy_that_lacks_a_comment_is_not_current(threaded: Blog, runtime: Runtime) -> None:
    """An entry is written before its comment: a feed read in between shall not stay."""
    late = threaded.post("bob", "late")
    comments = runtime.database["comments.comment"]
    stored = comments.find_one_and_delete({"id": late})
    assert stored is not None
    early = threaded.feed("site")
    assert len(contents(early)) == 1
    comments.insert_one(stored)

    told = threaded.feed("site", **{"If-None-Match": early.headers["ETag"]})

    assert told.status == 200
    assert len(contents(told)) == 2


def test_a_comment_that_is_hidden_before_its_entry_is_in_no_feed(
    threaded: Blog, runtime: Runtime
) -> None:
    threaded.set_state(threaded.root, "hidden")
    ENTRIES.of(runtime.database).update_many({}, {"$set": {"state": "visible"}})

    for kind in ("site", "node", "person"):
        assert contents(threaded.feed(kind)) == []


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
