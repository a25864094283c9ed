"""Whatever a few users do, every view shows what the rules grant, and nothing else."""

import os
import random
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from chalicelib.settings import Settings
from chalicelib.social import jobs
from chalicelib.social.timelines import news, repair, walls
from chalicelib.social.timelines.copies import MonthCopies
from tests.social.support.designs import Design
from tests.social.support.drivers import Town
from tests.social.support.interleaving import Meantime
from tests.social.support.random_life import PEOPLE, SEEDS, USERS, Life
from tests.support.http_client import Reply

VIEWS = ["news", "incoming", *PEOPLE]
# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/social/timelines/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "2"))


class LookedAt(Life):
    """A life, and that what its people see is what the rules say at any time."""

    @rule(seed=SEEDS, limit=st.sampled_from([1, 2, 200]))
    def every_view_is_what_its_definition_says(self, seed: int, limit: int) -> None:
        self.let_all_end(seed)
        for reader in PEOPLE:
            followers = self.client.as_(reader).get("/users/me/followers").json["followers"]
            assert [(each["id"], each["name"]) for each in followers] == self.village.followers(
                reader
            )
            for view in VIEWS:
                assert self._read(reader, view, limit) == self._expected(reader, view)
            assert jobs.verify_news(self.runtime, reader)["missing"] == []

    @rule(reader=USERS)
    def nothing_forbidden_is_shown_even_before_the_workers_come(self, reader: str) -> None:
        for view in VIEWS:
            for post_id, *_ in self._read(reader, view, 200):
                post = self.village.posts.get(post_id)
                assert post is None or self.village.may_see(reader, post)

    @rule(reader=USERS, view=st.sampled_from(VIEWS), seed=SEEDS)
    def a_scrolling_reader_meets_each_post_in_its_place(
        self, reader: str, view: str, seed: int
    ) -> None:
        """Go through a view, two posts a page, while things happen to what is before and behind."""
        rng = random.Random(seed)
        cursor: str | None = ""
        below: tuple[datetime, str] | None = None
        while cursor is not None:
            self.let_all_end(seed)
            rest = self._expected(reader, view, below)
            page = self._get(reader, view, 2, cursor)
            assert shown(page) == rest[:2]
            cursor = page.json["next"]
            assert (cursor is None) == (len(rest) <= 2)
            if cursor:
                below = self.village.posts[page.json["posts"][-1]["id"]].position
                self.let_something_happen(rng)

    @rule(by=USERS, seed=SEEDS)
    def copies_that_show_too_much_are_cut(self, by: str, seed: int) -> None:
        """Have copies show five comments, as a version with another bound would have written."""
        for post in [post for post in self.village.posts.values() if post.by == by][-2:]:
            for _ in range(4):
                self.comment_on(post, by)
        self.let_all_end(seed)
        self._check("news", by)
        database = self.runtime.database
        said = {post["_id"]: post["comments"][-5:] for post in database["social.post"].find()}
        for name in ("social.wall", "social.news"):
            for document in database[name].find():
                for copy in document["posts"]:
                    comments = said[copy["id"]]
                    copy.update(comments=comments, comments_shown=len(comments))
                database[name].replace_one({"_id": document["_id"]}, document)
        for collection in (walls.WALLS, news.NEWS):
            MonthCopies(database, collection).truncate_comments()
        self._check("news", by)

    @rule(by=USERS, to=USERS, number=st.integers(1, 8), pause=st.sampled_from([0, 1]))
    def post_many(self, by: str, to: str, number: int, pause: int) -> None:
        """Write more than a back-fill brings, perhaps at one instant, and be followed by `to`."""
        for _ in range(number):
            self.post(by, ["*public*"], None, at_post=False)
            self.clock.advance(seconds=pause)
        self.circle(to, "name", by)

    @rule(reader=USERS)
    def trim(self, reader: str) -> None:
        repair.trim(self.runtime, reader)

    @rule(reader=USERS)
    def rebuild(self, reader: str) -> None:
        repair.rebuild(self.runtime, reader)

    @rule()
    def mark_away(self) -> None:
        news.mark_away(self.runtime.database, self.clock())

    def _check(self, *views: str) -> None:
        for reader in PEOPLE:
            for view in views:
                assert self._read(reader, view, 200) == self._expected(reader, view)

    def teardown(self) -> None:
        """Look at everything once more, in each life, and at what was posted a month before."""
        self.every_view_is_what_its_definition_says(0, 2)
        self.block("ann", "bob", wall=True)
        self.unblock_everyone()
        # No other repairs the last of them.
        for at in ("rename", "comment", "post"):
            self.rename_in_the_midst("cy", f"Cy, renamed at a {at}", at, 0)
        self.let_time_pass(40)
        self.every_view_is_what_its_definition_says(0, 200)
        self.copies_that_show_too_much_are_cut("ann", 0)
        for seed, reader in enumerate(PEOPLE):
            view = "news" if seed % 2 else "ann"
            self.a_scrolling_reader_meets_each_post_in_its_place(reader, view, seed)

    def _expected(
        self, reader: str, view: str, below: tuple[datetime, str] | None = None
    ) -> list[Any]:
        """Return what a view has to show, below a position."""
        posts = self.village.view(view, reader)
        rest = [post for post in posts if below is None or post.position < below]
        return [self.village.shown(reader, post) for post in rest]

    def _read(self, reader: str, view: str, limit: int) -> list[Any]:
        """Read a view to its end."""
        found, cursor = [], ""
        while cursor is not None:
            page = self._get(reader, view, limit, cursor)
            found += shown(page)
            cursor = page.json["next"]
        return found

    def _get(self, reader: str, view: str, limit: int, cursor: str) -> Reply:
        path = f"/users/{view}/wall" if view in PEOPLE else f"/users/me/{view}"
        after = f"&cursor={cursor}" if cursor else ""
        return self.client.as_(reader).get(f"{path}?limit={limit}{after}")


def shown(page: Reply) -> list[Any]:
    assert page.status == 200, page.body
    return [
        (
            post["id"],
            post["author"]["name"],
            post["detail"]["text"],
            [(comment["author"]["name"], comment["text"]) for comment in post["comments"]],
            post["comment_count"],
        )
        for post in page.json["posts"]
    ]


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


@pytest.mark.bounds(social={"news_kept": 4, "back_fill_posts": 2})
def test_every_view_grants_what_the_rules_grant(
    watched: Town, meantime: Meantime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "COMPLETE", 4)
    monkeypatch.setattr(repair, "_PAGE", 2)
    meantime_ = meantime

    class Machine(LookedAt):
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
