"""Whatever a few colleagues do, every feed is in the order that the table gives."""

import dataclasses
import os
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from chalice.local import LocalChalice
from hypothesis import HealthCheck, Phase
from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from app import create_app
from chalicelib.runtime import Runtime
from chalicelib.social import jobs
from chalicelib.social.activity.feed.reading import RISING
from tests.social.activity.support.office import APPLIED
from tests.social.activity.support.reading import feed, page
from tests.social.activity.support.reference_model import Deed, Desk, Rules
from tests.social.support.drivers import Courier
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.isolation import empty_collections

# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/social/activity/feed/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "8"))
NAMES = ["ann", "bob", "cy", "dan", "eve"]
# What a life begins with, so that most of what follows concerns somebody.
DESKS = {
    "ann": Desk("red", "people", manager="cy"),
    "bob": Desk("red", "people", assigned=frozenset({"mary"})),
    "cy": Desk("blue", "people"),
    "dan": Desk("green", "product"),
}
USERS = st.sampled_from(NAMES)
SCOPES = st.sampled_from(["team", "team", "department", "department", "restricted"])
REFS = st.lists(st.sampled_from(["mary", "paul", "ann", "bob"]), max_size=2, unique=True)
PLACES = st.builds(
    Desk,
    team=st.sampled_from(["red", "blue", None]),
    department=st.sampled_from(["people", "people", "product", None]),
    manager=st.sampled_from([*NAMES, None]),
    assigned=st.frozensets(st.sampled_from(["mary", "paul"]), max_size=2),
)
LATER = st.sampled_from(
    [timedelta(milliseconds=1), timedelta(minutes=7), timedelta(hours=2), timedelta(days=2)]
)
SEEDS = st.integers(0, 1_000)


class Life(RuleBasedStateMachine):
    """Colleagues who act, comment, hide and move; messages that are lost, shuffled, doubled."""

    client: Client
    courier: Courier
    runtime: Runtime
    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        self.expected = Rules()
        self.courier.take()
        empty_collections(self.runtime.database)
        for who, desk in DESKS.items():
            self.place(who, desk)
        for actor, scope in [("ann", "team"), ("bob", "department"), ("cy", "department")]:
            self.act(actor, scope, ["mary"], ["dan"], timedelta(minutes=7))
        self.work(0)

    @rule(actor=USERS, scope=SCOPES, refs=REFS, audience=st.sets(USERS, min_size=1), later=LATER)
    def act(self, actor: str, scope: str, refs: list[str], audience: Any, later: timedelta) -> None:
        self.clock.time += later
        audience = sorted(audience) if scope == "restricted" else []
        about = [{"id": ref, "type": "about", "name": ref.title()} for ref in refs]
        reply = self.client.as_(actor).post(
            "/actions", scope=scope, audience=audience, refs=about, descriptor=APPLIED
        )
        desk = self.expected.desk(actor)
        if scope != "restricted" and getattr(desk, scope) is None:
            assert reply.code == "no_org_unit"
            return
        told = self.expected.told(actor, audience)
        if audience and not told:
            assert reply.code == "nobody_to_tell"
            return
        assert reply.status == 201, reply.body
        id_ = reply.json["id"]
        conducting = [(actor, self.clock())]
        self.expected.deeds[id_] = Deed(id_, actor, scope, told, desk, refs, conducting)

    @precondition(lambda self: self.expected.deeds)
    @rule(data=st.data(), by=st.lists(USERS, min_size=1, max_size=4), later=LATER)
    def discuss(self, data: st.DataObject, by: list[str], later: timedelta) -> None:
        deed = self._any(data)
        for each in by:
            self.comment(deed, each, later)

    def comment(self, deed: Deed, by: str, later: timedelta) -> None:
        self.clock.time += later
        reply = self.client.as_(by).post(f"/actions/{deed.id}/comments", text="So")
        if self.expected.may_see(by, deed):
            assert reply.status == 201, reply.body
            deed.events.append((by, self.clock()))
        else:
            assert reply.code == "unknown_action"

    @precondition(lambda self: self.expected.deeds)
    @rule(data=st.data(), by=USERS, kind=st.sampled_from(["like", "support"]), later=LATER)
    def react(self, data: st.DataObject, by: str, kind: str, later: timedelta) -> None:
        self.clock.time += later
        deed = self._any(data)
        reply = self.client.as_(by).put(f"/actions/{deed.id}/reaction", kind=kind)
        if not self.expected.may_see(by, deed):
            assert reply.code == "unknown_action"
            return
        assert reply.status == 204, reply.body
        if by not in deed.reacted:
            deed.reacted.add(by)
            deed.events.append((by, self.clock()))

    @precondition(lambda self: self.expected.deeds)
    @rule(data=st.data())
    def hide_or_show(self, data: st.DataObject) -> None:
        deed = self._any(data)
        deed.hidden = not deed.hidden
        path = f"/actions/{deed.id}/hidden"
        assert self.client.as_(deed.actor).put(path, is_hidden=deed.hidden).status == 204

    @precondition(lambda self: self.expected.deeds)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        deed = self._any(data)
        assert self.client.as_(deed.actor).delete(f"/actions/{deed.id}").status == 204
        del self.expected.deeds[deed.id]

    @rule(reader=st.sampled_from(["bob", "dan"]), actor=st.sampled_from(["ann", "cy"]))
    def mute_or_unmute(self, reader: str, actor: str) -> None:
        muted = (reader, actor) in self.expected.mutes
        method = "DELETE" if muted else "PUT"
        reply = self.client.as_(reader).request(method, f"/users/me/muted/{actor}")
        assert reply.status == 204, reply.body
        self.expected.mutes ^= {(reader, actor)}

    @rule(who=USERS, desk=PLACES)
    def place(self, who: str, desk: Desk) -> None:
        # Of a place and an event of one millisecond nobody can say which was first.
        self.clock.advance(milliseconds=1)
        manager = None if desk.manager == who else desk.manager
        org = {
            "team": desk.team,
            "department": desk.department,
            "manager_id": manager,
            "assigned_ref_ids": sorted(desk.assigned),
        }
        reply = self.client.as_("root", roles=["admin"]).put(f"/users/{who}/org", **org)
        assert reply.status == 200, reply.body
        sits = dataclasses.replace(desk, manager=manager)
        self.expected.desks.setdefault(who, []).append((self.clock(), sits))
        self.clock.advance(milliseconds=1)

    @rule()
    def lose_messages(self) -> None:
        self.courier.take()

    @rule(seed=SEEDS)
    def work(self, seed: int) -> None:
        self.courier.deliver(self.runtime, random.Random(seed), twice=True)

    @rule(seed=SEEDS, limit=st.sampled_from([1, 2, 200]))
    def every_feed_is_in_the_order_of_the_table(self, seed: int, limit: int) -> None:
        self.work(seed)
        self.clock.advance(milliseconds=self.runtime.settings.lease_ms)
        jobs.resend_overdue(self.runtime)
        self.work(seed)
        for reader in NAMES:
            assert self._feed(reader, limit) == self.expected.feed(reader), reader

    @rule()
    def nothing_forbidden_is_shown_even_before_the_workers_come(self) -> None:
        for reader in NAMES:
            allowed = {id_ for id_, _ in self.expected.feed(reader)}
            assert {id_ for id_, _ in self._feed(reader, 200)} <= allowed

    @rule(reader=USERS, by=USERS, data=st.data(), seed=SEEDS)
    def what_happens_while_somebody_scrolls_moves_nothing_else(
        self, reader: str, by: str, data: st.DataObject, seed: int
    ) -> None:
        self.every_feed_is_in_the_order_of_the_table(seed, 200)
        before = self.expected.feed(reader)
        # What has just risen counts as newer.
        self.clock.advance(seconds=RISING.total_seconds())
        first = page(self.client, reader, 1)
        if first["next"] is None or not self.expected.deeds:
            return
        self.comment(self._any(data), by, timedelta(minutes=7))
        self.work(seed)
        rest = page(self.client, reader, 200, first["next"])
        risen = {id_ for id_, _ in set(self.expected.feed(reader)) - set(before)}
        assert [each["id"] for each in first["actions"] + rest["actions"]] == [
            id_ for number, (id_, _) in enumerate(before) if number == 0 or id_ not in risen
        ]
        assert rest["newer"] == len(risen)

    def teardown(self) -> None:
        self.every_feed_is_in_the_order_of_the_table(0, 2)

    def _any(self, data: st.DataObject) -> Deed:
        """Return one of the last few actions, so that much happens to each."""
        last = sorted(self.expected.deeds)[-4:]
        return self.expected.deeds[data.draw(st.sampled_from(last))]

    def _feed(self, reader: str, limit: int) -> list[tuple[str, datetime]]:
        read = feed(self.client, reader, limit)
        return [(id_, datetime.fromisoformat(relevancy)) for id_, relevancy in read]


@pytest.mark.timeout(900)
def test_every_feed_is_what_the_table_gives(
    runtime: Runtime, clock: Clock, token: Callable[..., str]
) -> None:
    quiet = Courier()
    here = dataclasses.replace(runtime, queues=quiet)
    client_, clock_ = Client(create_app(here, LocalChalice), token), clock

    class Machine(Life):
        client, courier, runtime, clock = client_, quiet, here, clock_

    run_state_machine_as_test(
        Machine,
        settings=profile(
            max_examples=EXAMPLES,
            # A failure is printed as its steps; making them fewer takes minutes.
            phases=[Phase.generate],
            stateful_step_count=30,
            deadline=None,
            derandomize="PLAZA_TEST_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
