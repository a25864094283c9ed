"""Whatever a few users do, every view shows what the rules grant, and nothing else."""

import dataclasses
import os
import random
from typing import Any

import pytest
from chalice.local import LocalChalice
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from app import create_app
from chalicelib import schema
from chalicelib.runtime import Runtime
from tests.conftest import Clock
from tests.http_client import Client, Reply
from tests.social.designs import DESIGNS, Design
from tests.social.people import Courier, settle
from tests.social.village import ModelPost, Village

# A long run: PLAZA_EXAMPLES=500 pytest tests/social/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_EXAMPLES", "6"))
NAMES = ["ann", "bob", "cy", "dan"]
USERS = st.sampled_from(NAMES)
CIRCLE_IDS = st.sampled_from(["name", "work"])
AUDIENCES = st.sampled_from([["*public*"], ["*circles*"], ["name"], ["work"], ["name", "work"]])
# What a life begins with, so that most of what follows concerns somebody.
TIES = [
    ("ann", "name", "bob"),
    ("ann", "work", "cy"),
    ("bob", "work", "ann"),
    ("bob", "name", "cy"),
    ("cy", "name", "ann"),
    ("cy", "work", "bob"),
    ("dan", "name", "ann"),
    ("dan", "work", "bob"),
]
POSTS: list[tuple[str, list[str], str | None]] = [
    ("ann", ["*public*"], None),
    ("ann", ["name"], "cy"),
    ("bob", ["work"], None),
    ("cy", ["*circles*"], None),
    ("bob", ["*public*"], "ann"),
]
SEEDS = st.integers(0, 1_000)


class Life(RuleBasedStateMachine):
    """Users who circle, block, post and comment; messages that come twice and shuffled."""

    client: Client
    courier: Courier
    runtime: Runtime
    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        self.village = Village()
        self.courier.take()
        for collection in schema.COLLECTIONS:
            self.runtime.database[collection.name].delete_many({})
        settle(self.client, *NAMES)
        for owner, circle, member in TIES:
            self.circle(owner, circle, member)
        for by, circles, wall in POSTS:
            self.post(by, circles, wall, at_post=False)
            self.clock.advance(seconds=1)

    @rule(owner=USERS, circle=CIRCLE_IDS, name=st.sampled_from(["v1.0", "a..b", "*public*"]))
    def put_or_rename_circle(self, owner: str, circle: str, name: str) -> None:
        self.client.as_(owner).put(f"/users/me/circles/{circle}", name=name)
        self.village.circles.setdefault((owner, circle), set())

    @rule(owner=USERS, circle=CIRCLE_IDS)
    def delete_circle(self, owner: str, circle: str) -> None:
        self.client.as_(owner).delete(f"/users/me/circles/{circle}")
        self.village.circles.pop((owner, circle), None)

    @rule(owner=USERS, circle=CIRCLE_IDS, member=USERS)
    def circle(self, owner: str, circle: str, member: str) -> None:
        if owner == member:
            return
        if (owner, circle) not in self.village.circles:
            self.put_or_rename_circle(owner, circle, "Made")
        reply = self.client.as_(owner).put(f"/users/me/circles/{circle}/members/{member}")
        if self.village.blocked(owner, member):
            assert reply.code == "cannot_circle"
        else:
            assert reply.status == 204, reply.body
            self.village.circles[owner, circle].add(member)

    @rule(owner=USERS, circle=CIRCLE_IDS, member=USERS)
    def uncircle(self, owner: str, circle: str, member: str) -> None:
        self.client.as_(owner).delete(f"/users/me/circles/{circle}/members/{member}")
        self.village.circles.get((owner, circle), set()).discard(member)

    @rule(owner=USERS, other=USERS)
    def block(self, owner: str, other: str) -> None:
        if owner != other:
            assert self.client.as_(owner).put(f"/users/me/blocked/{other}").status == 204
            self.village.block(owner, other)

    @rule()
    def unblock_everyone(self) -> None:
        for owner, other in sorted(self.village.blocks):
            self.client.as_(owner).delete(f"/users/me/blocked/{other}")
        self.village.blocks.clear()

    @rule(by=USERS, circles=AUDIENCES, wall=st.none() | USERS, at_post=st.booleans())
    def post(self, by: str, circles: list[str], wall: str | None, *, at_post: bool) -> None:
        for each in circles:
            if not each.startswith("*") and (by, each) not in self.village.circles:
                self.put_or_rename_circle(by, each, "Made")
        at_post = at_post and circles != ["*public*"]
        reply = self.client.as_(by).post(
            "/posts",
            type="status",
            detail={"text": "First"},
            circles=circles,
            wall=wall,
            audience="at_post" if at_post else "at_view",
        )
        assert reply.status == 201, reply.body
        kept = frozenset(self.village.members(by, circles)) if at_post else None
        made = ModelPost(
            reply.json["id"], by, wall or by, circles, kept, self.runtime.now(), "First"
        )
        self.village.posts[made.id] = made

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data(), by=USERS)
    def comment(self, data: st.DataObject, by: str) -> None:
        post = self._any_post(data)
        # Comments of one moment stand in the order of their ids, which is no order of writing.
        self.clock.advance(milliseconds=1)
        text = f"Comment {len(post.comments)}"
        reply = self.client.as_(by).post(f"/posts/{post.id}/comments", text=text)
        if self.village.may_see(by, post):
            assert reply.status == 201, reply.body
            post.comments.append((by, text))
        else:
            assert reply.code == "unknown_post"

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data(), text=st.sampled_from(["Second", "Third"]))
    def edit(self, data: st.DataObject, text: str) -> None:
        post = self._any_post(data)
        reply = self.client.as_(post.by).patch(f"/posts/{post.id}", detail={"text": text})
        assert reply.status == 200, reply.body
        post.text = text

    @precondition(lambda self: self.village.posts)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        post = self._any_post(data)
        assert self.client.as_(post.by).delete(f"/posts/{post.id}").status == 204
        del self.village.posts[post.id]

    @rule(days=st.sampled_from([0, 1, 20, 40]))
    def let_time_pass(self, days: int) -> None:
        self.clock.advance(days=days, seconds=1)

    @rule(seed=SEEDS)
    def work(self, seed: int) -> None:
        self.courier.deliver(self.runtime, random.Random(seed), twice=True)

    @rule(seed=SEEDS, limit=st.sampled_from([1, 2, 200]))
    def every_view_is_what_its_definition_says(self, seed: int, limit: int) -> None:
        self.work(seed)
        for reader in NAMES:
            assert self._read(reader, "/users/me/news", limit) == self.village.news(reader)
            incoming = self._read(reader, "/users/me/incoming", limit)
            assert incoming == self.village.incoming(reader)
            for owner in NAMES:
                wall = self._read(reader, f"/users/{owner}/wall", limit)
                assert wall == self.village.wall(owner, reader)

    @rule()
    def nothing_forbidden_is_shown_even_before_the_workers_come(self) -> None:
        for reader in NAMES:
            for path in ("/users/me/news", "/users/me/incoming", "/users/ann/wall"):
                for post_id, *_ in self._read(reader, path, 200):
                    post = self.village.posts.get(post_id)
                    assert post is None or self.village.may_see(reader, post)

    @rule(reader=USERS, author=USERS, seed=SEEDS)
    def a_post_while_somebody_scrolls_moves_nothing(
        self, reader: str, author: str, seed: int
    ) -> None:
        self.work(seed)
        expected = self.village.news(reader)
        first = self.client.as_(reader).get("/users/me/news?limit=1")
        self.clock.advance(seconds=1)
        self.post(author, ["*public*"], None, at_post=False)
        self.work(seed)
        cursor = first.json["next"]
        if cursor:
            rest = self._read(reader, "/users/me/news", 200, cursor)
            assert shown(first) + rest == expected

    def teardown(self) -> None:
        self.every_view_is_what_its_definition_says(0, 2)

    def _any_post(self, data: st.DataObject) -> ModelPost:
        return self.village.posts[data.draw(st.sampled_from(sorted(self.village.posts)))]

    def _read(self, reader: str, path: str, limit: int, cursor: str | None = None) -> list[Any]:
        """Read a view to its end."""
        found = []
        while True:
            query = f"?limit={limit}" + (f"&cursor={cursor}" if cursor else "")
            page = self.client.as_(reader).get(path + query)
            found += shown(page)
            cursor = page.json["next"]
            if cursor is None:
                return found


def shown(page: Reply) -> list[Any]:
    assert page.status == 200, page.body
    return [
        (
            post["id"],
            post["detail"]["text"],
            [comment["text"] for comment in post["comments"]],
            post["comment_count"],
        )
        for post in page.json["posts"]
    ]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_every_view_grants_what_the_rules_grant(
    design: Design, runtime: Runtime, clock: Clock, token: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    design.apply(monkeypatch)
    quiet = Courier()
    here = dataclasses.replace(runtime, queues=quiet, settings=design.of(runtime.settings))
    client_ = Client(create_app(here, LocalChalice), token)
    clock_, courier_ = clock, quiet

    class Machine(Life):
        client, courier, runtime, clock = client_, courier_, here, clock_

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES,
            # A failure is printed as its steps; making them fewer takes minutes.
            phases=[Phase.generate],
            stateful_step_count=30,
            deadline=None,
            derandomize="PLAZA_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
