"""Feeds of comments tell nothing of what nobody sees, and polls read little."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from app import create_app
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people import changing
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS
from tests.comments.support.feeds import FEEDS, NODE, URL, Blog, contents
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client


def shadow(blog: Blog, runtime: Runtime) -> None:
    changing.store(runtime, "blog", "eve", {"status": "shadowed"})
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
