"""Notifications of moderators' decisions: an author hears of the states that they see, alone."""

from typing import Any

import pytest

from chalicelib.comments import notifications
from chalicelib.comments.log import decisions
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.events import Notify
from chalicelib.notifications.rows import ITEMS, NotificationItem
from chalicelib.runtime import Runtime
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

SITE = "harbour"
NODE = f"{SITE}:moon"
COMMENTS = f"/nodes/{NODE}/comments"


class Desk:
    """A discussion whose comments wait for a moderator."""

    def __init__(self, client: Client, runtime: Runtime, clock: Clock, workers: Workers) -> None:
        self.client, self.runtime, self.clock, self.workers = client, runtime, clock, workers
        self.admin = client.as_("admin", roles=["admin"])
        self.mo = client.as_("mo", roles=["moderator"], sites=[SITE])
        page = {"title": "Moon", "url": "https://a.example/moon"}
        assert self.admin.put(f"/nodes/{NODE}", **page).status == 201
        self.choose(moderation="before")

    def choose(self, **given: Any) -> None:
        path = f"/sites/{SITE}/comments/settings"
        assert self.admin.put(path, **{"notifications": True, **given}).status == 200

    def post(self, text: str = "The moon is up.", by: str = "ann", **body: Any) -> str:
        self.clock.advance(seconds=20)
        reply = self.client.as_(by, name=by.title()).post(COMMENTS, text=text, **body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def decide(self, comment: str, *states: str, by: Client | None = None) -> None:
        for state in states:
            self.clock.advance(seconds=1)
            path = f"{COMMENTS}/{comment}/state"
            assert (by or self.mo).post(path, state=state).status == 200
            self.workers.drain()

    def told(self, who: str = "ann") -> list[dict[str, Any]]:
        self.workers.drain()
        found = self.client.as_(who).get("/notifications").json["notifications"]
        return [each for each in found if each["kind"] in decisions.DECIDED]

    def kinds(self, who: str = "ann") -> list[str]:
        return [each["kind"] for each in self.told(who)]

    def items(self) -> list[NotificationItem]:
        return list(ITEMS.of(self.runtime.database).find({"kind": {"$in": [*decisions.DECIDED]}}))


@pytest.fixture
def desk(client: Client, runtime: Runtime, clock: Clock, workers: Workers) -> Desk:
    return Desk(client, runtime, clock, workers)


def test_an_author_hears_that_their_comment_is_online(desk: Desk) -> None:
    comment = desk.post()
    assert desk.told() == []
    desk.decide(comment, "visible")

    (shown,) = desk.told()

    assert (shown["kind"], shown["by"], shown["count"]) == ("comment.approved", None, 0)
    assert (shown["excerpt"], shown["page"]["id"]) == ("The moon is up.", NODE)
    assert shown["permalink"].startswith("https://a.example/moon#")
    # Nothing names the moderator.
    assert "mo" not in {shown["by"], *(each["by"] for each in desk.items())}


def test_an_author_hears_that_their_comment_was_rejected(desk: Desk) -> None:
    desk.decide(desk.post(), "hidden")

    assert desk.kinds() == ["comment.rejected"]


def test_an_author_hears_that_a_moderator_deleted_their_comment_and_nobody_else_does(
    desk: Desk,
) -> None:
    comment = desk.post()
    desk.decide(comment, "visible")
    assert desk.mo.delete(f"{COMMENTS}/{comment}").status == 204

    (shown,) = desk.told()

    assert (shown["kind"], shown["excerpt"]) == ("comment.rejected", "")
    assert desk.told("bob") == []
    assert "mo" not in {each["by"] for each in desk.items()}


def test_of_a_hidden_comment_that_is_deleted_its_author_hears_once(desk: Desk) -> None:
    comment = desk.post()
    desk.decide(comment, "hidden")
    assert desk.mo.delete(f"{COMMENTS}/{comment}").status == 204

    assert desk.kinds() == ["comment.rejected"]
    assert len(desk.items()) == 1


def test_who_deletes_their_own_comment_hears_nothing_of_it(desk: Desk) -> None:
    comment = desk.post()
    desk.decide(comment, "visible")
    assert desk.client.as_("ann").delete(f"{COMMENTS}/{comment}").status == 204

    assert desk.kinds() == []


def test_a_page_shows_the_decision_of_now_alone(desk: Desk) -> None:
    comment = desk.post()
    desk.decide(comment, "visible", "hidden")
    assert desk.kinds() == ["comment.rejected"]

    desk.decide(comment, "visible")

    assert set(desk.kinds()) == {"comment.approved"}
    desk.client.as_("ann").delete(f"{COMMENTS}/{comment}")
    assert desk.told() == []


@pytest.mark.parametrize("states", [("spam",), ("pending",), ("spam", "pending")])
def test_of_spam_and_of_waiting_an_author_hears_nothing(desk: Desk, states: Any) -> None:
    desk.decide(desk.post(), *states)

    assert desk.items() == []


def test_the_same_decision_twice_is_told_once(desk: Desk, runtime: Runtime) -> None:
    comment = desk.post()
    desk.decide(comment, "visible", "visible")
    message = Notify(comment=f"{NODE}/{comment}")
    in_threads(lambda _: notifications.run(runtime, message), 8)

    assert desk.kinds() == ["comment.approved"]
    assert len(desk.items()) == 1


def test_an_approved_comment_that_was_visible_is_no_news(desk: Desk) -> None:
    desk.choose()
    desk.decide(desk.post(), "visible")

    assert desk.items() == []


def test_a_moderator_who_decides_on_their_own_comment_hears_nothing(desk: Desk) -> None:
    desk.decide(desk.post(by="mo"), "hidden", "visible")

    assert desk.items() == []


def test_a_site_without_notifications_tells_no_decision(desk: Desk) -> None:
    desk.choose(moderation="before", notifications=False)
    desk.decide(desk.post(), "visible")

    assert desk.items() == []


@pytest.mark.parametrize("states", [("visible",), ("hidden",), ("spam",), ("hidden", "visible")])
@pytest.mark.parametrize("moderation", ["before", "after"])
def test_a_shadowed_author_hears_what_an_ordinary_author_hears(
    desk: Desk, moderation: str, states: tuple[str, ...]
) -> None:
    desk.choose(moderation=moderation)
    person = f"/sites/{SITE}/people/ann"
    desk.post("Hello.", by="ann")
    assert desk.mo.patch(person, status="shadowed", note="Again").status == 200
    heard = []
    for who in ("ann", "ben"):
        comment = desk.post(by=who)
        assert desk.told(who) == []
        # A decision before the first one that its author sees changes nothing that they see.
        desk.decide(comment, *states)
        heard.append(desk.kinds(who))

    assert heard[0] == heard[1]


def test_a_shadow_alone_tells_nothing(desk: Desk) -> None:
    desk.choose()
    assert desk.post("Hello.", by="ann")
    assert desk.mo.patch(f"/sites/{SITE}/people/ann", status="shadowed").status == 200
    desk.post(by="ann")

    assert desk.told() == []
    assert desk.items() == []


def test_a_decision_is_shown_to_the_author_alone(desk: Desk) -> None:
    desk.decide(desk.post(), "visible")
    desk.workers.drain()

    for who, role in (("ben", "editor"), ("mo", "moderator"), ("admin", "admin")):
        reader = Principal(who, "", frozenset({role}))
        assert notifications.show(desk.runtime, reader, desk.items()) == {}


def test_a_worker_that_dies_before_the_item_tells_later(
    desk: Desk, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment = desk.post()
    with monkeypatch.context() as patch:
        patch.setattr(events, "agree", lambda *_: None)
        desk.decide(comment, "visible")
    assert desk.items() == []

    notifications.run(runtime, Notify(comment=f"{NODE}/{comment}"))

    assert desk.kinds() == ["comment.approved"]
