"""What pages say that the caller may do: what the calls themselves let through, and no more."""

from typing import Any

import pytest

from tests.comments.support.calls import post
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
LISTING = "/nodes/a-page/comments"
CALLERS = {
    "ann": {},
    "bob": {},
    "mo": {"roles": ["moderator"]},
    "mia": {"roles": ["moderator"], "sites": ["shop"]},
    "paula": {"roles": ["publisher"]},
    "root": {"roles": ["admin"]},
}


def test_a_page_says_what_it_is_about_and_who_reads(
    publisher: Client, ann: Client, client: Client
) -> None:
    publisher.put("/nodes/a-page", **PAGE, max_depth=3)
    root = post(ann, "first")
    about = {"id": "a-page", **PAGE, "locked": False, "threaded": True, "max_depth": 3}
    about |= {"votes": "off", "reactions": [], "order": "oldest", "slow_seconds": 0}
    about |= {"open": True, "opens_at": None, "closes_at": None, "guests": "off", "providers": []}

    for target in (LISTING, f"{LISTING}/{root['id']}/thread"):
        anonymous, own = client.get(target).json, ann.get(target).json
        assert anonymous["node"] == own["node"] == {**about, "counts": {"visible": 1}}
        assert anonymous["viewer"] is None
        assert own["viewer"] == {"id": "ann", "name": "Ann", "can": ["post"]}
        of_staff = publisher.get(target).json["node"]
        assert of_staff["counts"] == {"visible": 1, "pending": 0}


@pytest.mark.parametrize("locked", [False, True])
def test_a_locked_node_takes_no_posts_and_no_replies(
    publisher: Client, ann: Client, client: Client, *, locked: bool
) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    post(ann, "first")
    publisher.put("/nodes/a-page", **PAGE, locked=locked)

    page = ann.get(LISTING).json
    of_moderator = client.as_("mo", roles=["moderator"]).get(LISTING).json["viewer"]

    assert page["viewer"]["can"] == ([] if locked else ["post"])
    assert of_moderator["can"] == (["moderate"] if locked else ["post", "moderate"])
    assert ("reply" in page["comments"][0]["can"]) is not locked


def test_a_flat_node_takes_no_replies(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, threaded=False)
    post(ann, "first")

    assert ann.get(LISTING).json["comments"][0]["can"] == ["edit", "delete"]


def test_the_author_is_told_of_the_window_while_it_lasts(
    publisher: Client, ann: Client, client: Client, clock: Clock
) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    post(ann, "first")

    def shown(reader: Client) -> Any:
        return reader.get(LISTING).json["comments"][0]

    clock.advance(minutes=15)
    assert shown(ann)["editable_until"] == "2026-03-01T12:15:00Z"
    for other in (client, client.as_("bob"), client.as_("mo", roles=["moderator"])):
        assert shown(other)["editable_until"] is None
    assert ann.patch(f"{LISTING}/{shown(ann)['id']}", text="On time").status == 200

    clock.advance(seconds=1)
    assert shown(ann)["editable_until"] is None
    assert shown(ann)["can"] == ["reply", "delete"]
    assert ann.patch(f"{LISTING}/{shown(ann)['id']}", text="Late").code == "edit_window_over"


def test_an_anonymous_caller_can_do_nothing(publisher: Client, ann: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    post(ann, "first")

    assert client.get(LISTING).json["comments"][0]["can"] == []


def test_a_tombstone_lets_nobody_do_anything(
    publisher: Client, ann: Client, client: Client
) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    root = post(ann, "first")
    post(ann, "reply", root["id"])
    ann.delete(f"{LISTING}/{root['id']}")

    tombstone = client.as_("mo", roles=["moderator"]).get(LISTING).json["comments"][0]

    assert (tombstone["state"], tombstone["can"]) == ("deleted", [])


@pytest.mark.parametrize("state", ["visible", "pending", "hidden", "spam"])
@pytest.mark.parametrize("age_minutes", [0, 20])
def test_what_can_be_done_is_let_through_and_all_else_refused(
    ann: Client, client: Client, clock: Clock, *, state: str, age_minutes: int
) -> None:
    client.as_("paula", roles=["publisher"]).put("/nodes/a-page", **PAGE)
    moderator = client.as_("mo", roles=["moderator"])

    def made() -> str:
        comment = post(ann, "first")["id"]
        clock.advance(minutes=age_minutes)
        moderator.post(f"{LISTING}/{comment}/state", state=state)
        return f"{LISTING}/{comment}"

    for name, claims in CALLERS.items():
        caller, target = client.as_(name, **claims), made()
        found = caller.get(target)
        if found.status == 404:
            continue
        did = {
            "reply": caller.post(LISTING, text="So?", parent=found.json["id"]).status,
            "edit": caller.patch(target, text="Else").status,
            "moderate": caller.post(f"{target}/state", state=state).status,
            "delete": caller.delete(target).status,
        }
        done = [act for act, status in did.items() if status < 400]
        assert sorted(done) == sorted(found.json["can"]), name
