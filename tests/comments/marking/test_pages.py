"""Counts and one's own marks in pages of comments, and the tags of such pages."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.comments.discussion import reading
from chalicelib.comments.discussion.tags import Held
from chalicelib.comments.entries.marked import PAGE
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.marking import votes
from chalicelib.comments.marking.vote_forms import CommentVote
from chalicelib.comments.shapes import CommentPlace, ListingOrder
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, PEOPLE, Discussion, Layout
from tests.support.clock import Clock
from tests.support.commands import Commands

HEART = {"key": "heart", "emoji": "+"}
ORDERS: tuple[ListingOrder, ...] = ("oldest", "newest", "best", "top", "controversial")
UNSAID: Document = {"votes": None, "reactions": {}, "mine": None}
NOTHING: Document = {"votes": {"up": 0, "down": 0}, "reactions": {}, "mine": None}


@pytest.fixture
def voted(layout: Layout, runtime: Runtime) -> Discussion:
    """A discussion in each store, of a site whose readers vote and react."""
    decide(runtime)
    return Discussion.make(runtime, layout)


@pytest.fixture
def plain(runtime: Runtime) -> Discussion:
    """A discussion in one store."""
    decide(runtime)
    return Discussion.make(runtime, LAYOUTS[0])


def decide(runtime: Runtime, **given: Any) -> None:
    wanted = {"votes": "up_down", "reactions": [HEART], **given}
    settings.put(runtime, "default", CommentSettings.model_validate(wanted))


def vote(discussion: Discussion, comment_id: str, by: str = "bob", value: int = 1) -> None:
    body = CommentVote(value=value)
    votes.vote(discussion.runtime, discussion.node_id, comment_id, _person(by), body)


def react(discussion: Discussion, comment_id: str, by: str = "bob") -> None:
    votes.react(discussion.runtime, discussion.node_id, comment_id, _person(by), "heart")


def _person(name: str) -> Principal:
    return PEOPLE.get(name) or Principal(name, name)


def said(comment: Any) -> Document:
    return {name: comment[name] for name in ("votes", "reactions", "mine")}


def test_every_way_to_read_a_comment_has_its_marks(voted: Discussion) -> None:
    first, second = (voted.post(text)["id"] for text in ("one", "two"))
    vote(voted, first)
    vote(voted, first, by="cy", value=-1)
    react(voted, first)
    react(voted, PAGE)
    counts = {"votes": {"up": 1, "down": 1}, "reactions": {"heart": 1}}

    for by, mine, other in (
        (None, None, None),
        ("bob", {"vote": 1, "reactions": ["heart"]}, {"vote": 0, "reactions": []}),
        ("mo", {"vote": 0, "reactions": []}, {"vote": 0, "reactions": []}),
    ):
        pages = [voted.page(order, by=by) for order in ORDERS]
        pages += [voted.page(by=by, around=first), voted.thread(first, by=by)]
        for page in pages:
            found = {each["id"]: said(each) for each in page["comments"]}
            assert found[first] == {**counts, "mine": mine}
            assert found.get(second, {**NOTHING, "mine": other}) == {**NOTHING, "mine": other}
        of_page = {"vote": 0, "reactions": ["heart"]} if by == "bob" else other
        assert pages[0]["page"] == {"votes": None, "reactions": {"heart": 1}, "mine": of_page}
        placed = reading.get_comment(voted.runtime, voted.node_id, first, PEOPLE[by])
        answer = reading.placed_comment(voted.runtime, placed, PEOPLE[by])
        assert said(answer) == {**counts, "mine": mine}


def test_nothing_is_said_where_nobody_votes_or_reacts(plain: Discussion, clock: Clock) -> None:
    comment = plain.post("one")["id"]
    vote(plain, comment)
    decide(plain.runtime, votes="off", reactions=[])
    clock.advance(seconds=6)

    page = plain.page(by="bob")

    assert said(page["comments"][0]) == UNSAID
    assert page["page"] == UNSAID


def test_what_is_not_visible_has_no_marks(plain: Discussion) -> None:
    root = plain.post("one")["id"]
    plain.post("reply", root)
    vote(plain, root)
    plain.set_state(root, "hidden")
    assert said(plain.page(by="mo")["comments"][0]) == UNSAID

    plain.delete(root)
    assert said(plain.page()["comments"][0]) == UNSAID


def test_counts_are_told_after_a_vote(plain: Discussion, clock: Clock) -> None:
    comment = plain.post("one")["id"]
    vote(plain, comment)
    decide(plain.runtime, votes_shown="after_vote")
    clock.advance(seconds=6)

    told = {by: plain.page(by=by)["comments"][0]["votes"] for by in (None, "bob", "ann", "mo")}
    told["cy"] = read(plain, "cy").body["comments"][0]["votes"]

    counts = {"up": 1, "down": 0}
    assert told == {None: None, "bob": counts, "ann": counts, "mo": counts, "cy": None}


def test_counts_are_told_after_some_minutes(plain: Discussion, clock: Clock) -> None:
    decide(plain.runtime, votes_shown="after_minutes", votes_shown_after_minutes=10)
    clock.advance(seconds=6)
    comment = plain.post("one")["id"]
    vote(plain, comment)
    early = read(plain)

    clock.advance(minutes=10)

    assert early.body is not None
    assert early.body["comments"][0]["votes"] is None
    late = read(plain, held=early.tag)
    assert late.body is not None
    assert late.body["comments"][0]["votes"] == {"up": 1, "down": 0}


def read(discussion: Discussion, by: str | None = None, held: str = "", order: Any = None) -> Any:
    query = CommentsQuery(order=order)
    caller = _person(by) if by else None
    tags = Held([held] if held else [])
    return reading.list_comments(discussion.runtime, discussion.node_id, query, caller, tags)


@pytest.mark.parametrize("order", ORDERS)
def test_what_changes_a_count_changes_the_tag(voted: Discussion, order: str) -> None:
    comment = voted.post("one")["id"]
    voted.post("two")
    acts: dict[str, Callable[[], None]] = {
        "vote": lambda: vote(voted, comment),
        "another's vote": lambda: vote(voted, comment, by="cy"),
        "change": lambda: vote(voted, comment, value=-1),
        "withdraw": lambda: vote(voted, comment, value=0),
        "react": lambda: react(voted, comment),
        "react to the page": lambda: react(voted, PAGE),
    }
    for name, act in acts.items():
        tags = {by: read(voted, by, order=order).tag for by in (None, "bob")}
        for by, tag in tags.items():
            assert read(voted, by, tag, order).body is None, name
        act()
        for by, tag in tags.items():
            assert read(voted, by, tag, order).body is not None, name


def test_ones_own_vote_changes_ones_own_tag_alone(plain: Discussion, clock: Clock) -> None:
    decide(plain.runtime, votes_shown="after_vote")
    clock.advance(seconds=6)
    comment = plain.post("one")["id"]
    tags = {by: read(plain, by).tag for by in (None, "bob", "cy")}

    vote(plain, comment)

    assert read(plain, "bob", tags["bob"]).body is not None
    # They are not told of it, and so have the page that they would get.
    assert read(plain, None, tags[None]).body is None
    assert read(plain, "cy", tags["cy"]).body is None


def test_a_thread_that_is_held_is_read_for_its_counts(plain: Discussion) -> None:
    comment = plain.post("one")["id"]
    place, query = CommentPlace(plain.node_id, comment), PageQuery()
    tag = reading.list_thread(plain.runtime, place, query, None).tag
    assert reading.list_thread(plain.runtime, place, query, None, [tag]).body is None

    vote(plain, comment)

    assert reading.list_thread(plain.runtime, place, query, None, [tag]).body is not None


def test_marks_take_one_round_trip_for_a_page_of_200(
    listened: Runtime, layout: Layout, commands: Commands
) -> None:
    decide(listened)
    discussion = Discussion.make(listened, layout)
    for number in range(201):
        discussion.post(str(number))
    # Whom a reader blocks is remembered for some seconds.
    discussion.page(by="bob")
    for by, last in ((None, "find"), ("bob", "aggregate")):
        commands.names.clear()
        assert len(discussion.page(by=by)["comments"]) == 200
        assert commands.names == ["find", "find", last]


def test_a_page_without_votes_and_reactions_takes_none(
    listened: Runtime, layout: Layout, commands: Commands
) -> None:
    decide(listened, votes="off", reactions=[])
    discussion = Discussion.make(listened, layout)
    discussion.post("one")
    # Whom a reader blocks is remembered for some seconds.
    discussion.page(by="bob")
    commands.names.clear()

    discussion.page(by="bob")

    assert len(commands.names) == 2
