"""Whatever a few users do, each inbox has the acts that concern its person, and nothing else."""

import os
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.social.support.drivers import Town
from tests.social.support.interleaving import Meantime
from tests.social.support.random_life import PEOPLE, SEEDS, USERS, Life
from tests.social.support.reference_model import ModelPost

# A long run: PLAZA_TEST_EXAMPLES=500 script/test tests/social/notifications/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "2"))
# A kind, its object, and the person who acted.
Act = tuple[str, str, str]


class Notified(Life):
    """A life with reactions and watches, and that inboxes show what the rules say at any time.

    A block is for ever: what was told under it and may come back depends on when workers came.
    """

    def unblock_everyone(self) -> None:
        """Do nothing, and be no rule."""

    def __init__(self) -> None:
        self.reactions: set[tuple[str, str]] = set()
        self.comments_ever: Counter[tuple[str, str]] = Counter()
        self.posts_ever: Counter[str] = Counter()
        self.watching: set[tuple[str, str]] = set()
        self.watched_ever: set[tuple[str, str]] = set()
        # Readers and posts that they watched, followed and saw at every moment so far.
        self.surely_told: set[tuple[str, str]] = set()
        # What a reader had read: an act that is done again is no news.
        self.met: dict[str, set[object]] = {each: set() for each in PEOPLE}
        super().__init__()

    @invariant()
    def who_parts_may_hear_nothing(self) -> None:
        follows = self.village.follows
        self.watching = {(who, author) for who, author in self.watching if follows(who, author)}
        self.surely_told = {
            (who, id_)
            for who, id_ in self.surely_told
            if (post := self.village.posts.get(id_)) is not None
            and (who, post.by) in self.watching
            and self.village.may_see(who, post)
        }

    @rule(days=st.sampled_from([0, 1]))
    def let_time_pass(self, days: int) -> None:
        self.clock.advance(days=days, seconds=1)

    @rule(
        by=USERS,
        circles=st.sampled_from([["*public*"], ["*circles*"], ["name"], ["work"]]),
        wall=st.none() | USERS,
        at_post=st.booleans(),
    )
    def post(self, by: str, circles: list[str], wall: str | None, *, at_post: bool) -> None:
        before = set(self.village.posts)
        super().post(by, circles, wall, at_post=at_post)
        (made,) = (post for id_, post in self.village.posts.items() if id_ not in before)
        self.posts_ever[by] += 1
        if made.wall == by:
            self.surely_told |= {(who, made.id) for who, author in self.watching if author == by}

    def comment_on(self, post: ModelPost, by: str) -> None:
        before = len(post.comments)
        super().comment_on(post, by)
        self.comments_ever[post.id, by] += len(post.comments) - before

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data(), by=USERS, withdraws=st.booleans())
    def react(self, data: st.DataObject, by: str, *, withdraws: bool) -> None:
        post = self._any_post(data)
        call = self.client.as_(by).delete if withdraws else self.client.as_(by).put
        reply = call(f"/posts/{post.id}/reactions/like")
        if withdraws:
            self.reactions.discard((post.id, by))
        elif self.village.may_see(by, post):
            assert reply.status == 200, reply.body
            self.reactions.add((post.id, by))

    @rule(reader=USERS, author=USERS, ends=st.booleans())
    def watch(self, reader: str, author: str, *, ends: bool) -> None:
        if ends:
            assert self.client.as_(reader).delete(f"/users/{author}/watch").status == 204
            self.watching.discard((reader, author))
            return
        reply = self.client.as_(reader).put(f"/users/{author}/watch", level="watching")
        assert (reply.status == 200) == self.village.follows(reader, author), reply.body
        if reply.status == 200:
            self.watching.add((reader, author))
            self.watched_ever.add((reader, author))

    @rule(seed=SEEDS, limit=st.sampled_from([1, 2, 50]))
    def every_inbox_is_what_its_definition_says(self, seed: int, limit: int) -> None:
        self.let_all_end(seed)
        for reader in PEOPLE:
            shown = self._read(reader, limit)
            assert acts_of(shown) == self._acts(reader)
            assert self._days_surely_told(reader) <= days_of(shown)
            self._check(reader, shown)
            assert numbers(self._page(reader))[0] == sum(not each["read"] for each in shown)

    @rule(reader=USERS)
    def nothing_forbidden_is_shown_even_before_the_workers_come(self, reader: str) -> None:
        shown = self._read(reader, 50)
        assert acts_of(shown) <= self._acts(reader)
        self._check(reader, shown)

    @rule(reader=USERS, seed=SEEDS)
    def read_all(self, reader: str, seed: int) -> None:
        """Mark an inbox as seen and read, and once more as it was before: no mark moves back."""
        self.let_all_end(seed)
        shown, person = self._read(reader, 50), self.client.as_(reader)
        for until in (self.clock(), self.clock() - timedelta(days=1)):
            for mark in ("read", "seen"):
                body = {"until": until.isoformat().replace("+00:00", "Z")}
                assert person.put(f"/notifications/{mark}", **body).status == 204
            assert numbers(self._page(reader)) == (0, 0)
        self.met[reader] |= {news for each in shown for news in self._news_of(each)}

    def let_all_end(self, seed: int) -> None:
        self.work(seed)
        while self.runtime.database["social.errand"].find_one({}):
            self.clock.time += outbox.OUTLIVES_ALL
            outbox.sweep(self.runtime, JOB)
            self.work(seed)

    def teardown(self) -> None:
        """Look at everything once more, and at what may not show in a life of few steps."""
        self.every_inbox_is_what_its_definition_says(0, 1)
        self.read_all("cy", 0)
        self._begin_anew("ann", "bob", "cy", "dan")
        self.every_inbox_is_what_its_definition_says(1, 2)
        *_, seen, on_wall = self.village.posts.values()
        self.uncircle("ann", "name", "dan")
        self.who_parts_may_hear_nothing()
        assert not self.village.may_see("dan", seen)
        assert self.client.as_("cy").delete(f"/users/me/wall/{on_wall.id}").status == 204
        on_wall.wall = on_wall.by
        self.nothing_forbidden_is_shown_even_before_the_workers_come("dan")
        self.block("ann", "bob", wall=True)
        self.who_parts_may_hear_nothing()
        self.nothing_forbidden_is_shown_even_before_the_workers_come("ann")
        self.every_inbox_is_what_its_definition_says(1, 2)

    def _begin_anew(self, author: str, *others: str) -> None:
        """Without blocks, have others act on an author's post, minutes of one day apart."""
        for owner, other in sorted(self.village.blocks):
            self.client.as_(owner).delete(f"/users/me/blocked/{other}")
        for old in list(self.village.posts.values()):
            self._delete(old)
        self.village.blocks.clear()
        self.reactions.clear()
        self.let_all_end(0)
        self.clock.time = self.clock.time.replace(hour=12) + timedelta(days=1)
        self.post(author, ["*public*"], None, at_post=False)
        (post,) = self.village.posts.values()
        for each in others:
            self.comment_on(post, each)
            assert self.client.as_(each).put(f"/posts/{post.id}/reactions/like").status == 200
            self.reactions.add((post.id, each))
            self.let_all_end(0)
        self.circle("dan", "name", author)
        self.circle(author, "name", "dan")
        self.watch("dan", author, ends=False)
        self.post(author, ["name"], None, at_post=False)
        self.post("bob", ["*public*"], "cy", at_post=False)

    def _acts(self, reader: str) -> set[Act]:
        """Return the acts that concern a reader, but for new posts."""
        found: set[Act] = {
            ("follow", "", each) for each in PEOPLE if self.village.follows(each, reader)
        }
        for post in self.village.posts.values():
            if post.wall == reader:
                found.add(("post.wall", post.id, post.by))
            if post.by == reader:
                found |= {("post.comment", post.id, each.by) for each in post.comments}
                found |= {
                    ("post.reaction", id_, by) for id_, by in self.reactions if id_ == post.id
                }
        apart = {each for each in PEOPLE if self.village.blocked(reader, each)}
        return {act for act in found if act[2] not in {reader, *apart}}

    def _days_surely_told(self, reader: str) -> set[tuple[str, str]]:
        told = [self.village.posts[id_] for who, id_ in self.surely_told if who == reader]
        return {(post.by, day_of(post.ts)) for post in told}

    def _check(self, reader: str, shown: list[Any]) -> None:
        """Check that each notification names its people, is no repeat, and one a day."""
        for each in shown:
            names = [(by["id"], by["name"]) for by in each["actors"]]
            assert names == [(id_, self.village.names[id_]) for id_, _ in names]
            assert len(set(names)) == each["count"]
            if each["kind"] == "post.new":
                post = self.village.posts[each["page"]["id"]]
                assert (reader, post.by) in self.watched_ever
                assert self.village.may_see(reader, post)
            assert each["read"] or set(self._news_of(each)) - self.met[reader]
        groups = Counter(
            (each["kind"], object_of(each), each["at"][:10])
            for each in shown
            if each["kind"] != "post.wall"
        )
        assert set(groups.values()) <= {1}

    def _news_of(self, notification: Any) -> list[object]:
        """Return what would be news in a notification for a reader who has not met it."""
        kind, page = notification["kind"], object_of(notification)
        ever: dict[str, Any] = {"post.comment": self.comments_ever, "post.new": self.posts_ever}
        return [
            (kind, page, by["id"], ever[kind][(page, by["id"]) if kind == "post.comment" else page])
            if kind in ever
            else (kind, page, by["id"])
            for by in notification["actors"]
        ]

    def _read(self, reader: str, limit: int) -> list[Any]:
        """Read an inbox to its end."""
        found, cursor = [], ""
        while cursor is not None:
            page = self._page(reader, f"?limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
            found += page["notifications"]
            cursor = page["next"]
        return found

    def _page(self, reader: str, query: str = "") -> Any:
        reply = self.client.as_(reader).get(f"/notifications{query}")
        assert reply.status == 200, reply.body
        return reply.json


def acts_of(shown: list[Any]) -> set[Act]:
    return {
        (each["kind"], object_of(each), by["id"])
        for each in shown
        for by in each["actors"]
        if each["kind"] != "post.new"
    }


def days_of(shown: list[Any]) -> set[tuple[str, str]]:
    """Return the authors and days of notifications of new posts."""
    return {(object_of(each), each["at"][:10]) for each in shown if each["kind"] == "post.new"}


def object_of(notification: Any) -> str:
    """Return what a notification is of: followers have none, and new posts their author."""
    match notification["kind"]:
        case "follow":
            return ""
        case "post.new":
            return str(notification["by"]["id"])
        case _:
            return str(notification["page"]["id"])


def numbers(page: Any) -> tuple[int, int]:
    return page["unread"], page["unseen"]


def day_of(time: datetime) -> str:
    return time.date().isoformat()


@pytest.mark.bounds(social={"watchers_at_once": 1, "watcher_steps": 2})
def test_every_inbox_has_what_concerns_its_person(watched: Town, meantime: Meantime) -> None:
    meantime_ = meantime

    class Machine(Notified):
        town, meantime = watched, meantime_

    run_state_machine_as_test(
        Machine,
        settings=profile(
            max_examples=EXAMPLES,
            # A failure is printed as its steps; making them fewer takes minutes.
            phases=[Phase.generate],
            stateful_step_count=20,
            deadline=None,
            derandomize="PLAZA_TEST_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
