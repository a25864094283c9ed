"""A graph of people's own circles, loaded from files: posts reach exactly their circles."""

import dataclasses
import io
import os
import random
from collections import defaultdict
from pathlib import Path

import pytest

from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.posts import posts
from chalicelib.social.posts.forms import new_post_model
from local.load_graph import load, read_circles, read_friends
from tests.social.support.drivers import Courier, ids
from tests.social.support.graphs import assert_directions_agree
from tests.support.http_client import Client

SAMPLE = Path(__file__).parents[1] / "graph_data"
REAL = os.environ.get("PLAZA_GRAPH_DATA", "")
TRIPLES = 500


@pytest.fixture(params=["sample", "real"])
def folder(request: pytest.FixtureRequest) -> Path:
    if request.param == "real" and not REAL:
        pytest.skip("PLAZA_GRAPH_DATA names no folder of ego networks")
    return Path(REAL) if request.param == "real" else SAMPLE


def test_each_circle_s_post_reaches_exactly_its_members(
    folder: Path, runtime: Runtime, client: Client
) -> None:
    courier = Courier()
    here = dataclasses.replace(runtime, queues=courier)
    members: dict[tuple[str, str], set[str]] = defaultdict(set)
    for tie in read_circles(folder):
        members[tie.owner, tie.circle].add(tie.member)

    counted = load(here, read_circles(folder), io.StringIO())

    assert counted["circles"] == len(members)
    assert counted["members"] == sum(map(len, members.values()))
    assert_directions_agree(runtime)
    status = new_post_model("status")
    made = {}
    for owner, circle in members:
        new = status.model_validate(
            {"type": "status", "detail": {"text": "Hi"}, "circles": [circle]}
        )
        caller = Principal(owner, f"Person {owner}")
        made[owner, circle] = posts.publish(here, caller, new)["id"]
    courier.deliver(here, random.Random(7))

    reached = defaultdict(set)
    for item in runtime.database["social.news_item"].find():
        reached[item["post_id"]].add(item["user_id"])
    assert reached == {made[key]: held for key, held in members.items()}
    people = sorted({owner for owner, _ in members} | set.union(*members.values()))
    rng = random.Random(7)
    incoming: dict[str, list[str]] = {}
    for _ in range(TRIPLES):
        owner, circle = rng.choice(sorted(members))
        reader = rng.choice(
            [*rng.sample(people, 1), *rng.sample(sorted(members[owner, circle]), 1)]
        )
        if reader not in incoming:
            incoming[reader] = ids(client.as_(reader).get("/users/me/incoming?limit=200"))
        granted = reader in members[owner, circle]
        assert (made[owner, circle] in incoming[reader]) == granted
        seen = client.as_(reader).get(f"/posts/{made[owner, circle]}").status == 200
        assert seen == (granted or reader == owner)


def test_friends_have_one_another_in_a_circle() -> None:
    ties = set(read_friends(SAMPLE))

    assert ties
    assert {(tie.member, tie.circle, tie.owner) for tie in ties} == ties
