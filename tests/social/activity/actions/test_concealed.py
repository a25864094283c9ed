"""Actions about the comments of shadowed people: for their authors as for anybody, for no other.

An ordinary and a shadowed person make the same calls on sites of their own, and all answers are
compared but for ids and times. Each operation of the activity feed is called, or a reason says why
it cannot tell of concealment.
"""

import json
import re
from typing import Any

import orjson
import pytest

from chalicelib.comments import happened
from chalicelib.comments.people import changing
from chalicelib.happenings import Happened
from chalicelib.settings import Settings
from chalicelib.social.activity.actions import actions, happenings
from chalicelib.social.activity.feed import cascade, refill
from chalicelib.wiring import happenings as wiring_happenings
from deploy.openapi.files import KEPT
from tests.social.activity.support.office import Office
from tests.social.support.drivers import settle
from tests.support.http_client import Client, Reply

SITES = ("one", "two")
STAFF = "only staff may call it"
UNDRIVEN = {
    "retryActionFanOut": STAFF,
    "listFailedActionFanOuts": STAFF,
    "renameRef": STAFF,
    "putUserOrg": STAFF,
    "getUserOrg": STAFF,
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"action_sites": SITES})


class Person:
    """A person with a page and a department of their own, and the answers to their calls."""

    def __init__(self, office: Office, site: str) -> None:
        self.office, self.site = office, site
        self.id, self.friend = f"pat-{site}", f"bob-{site}"
        settle(office.client, self.id, self.friend)
        office.place(self.id, self.friend, department=f"department-{site}", team=f"team-{site}")
        self.me = office.client.as_(self.id, name="Pat")
        self.node = f"{site}:page"
        made = root(office).put(f"/nodes/{self.node}", title="Page", url="https://blog.example/")
        assert made.status == 201, made.body
        self.answers: list[tuple[str, int, str]] = []
        self.called: set[str] = set()
        self._ids = {self.id: "ME", self.friend: "FRIEND", site: "SITE"}
        self._ids[self.id.title()] = "Pat"
        self._ids[self.friend.title()] = "Bob"

    def comment(self, text: str) -> str:
        posted = self.me.post(f"/nodes/{self.node}/comments", text=text)
        assert posted.status == 201, posted.body
        return self._know(posted.json["id"])

    def call(self, operation: str, method: str, path: str, **body: Any) -> Reply:
        headers = {"Content-Type": "application/json"} if body else {}
        data = orjson.dumps(body) if body else b""
        reply = self.me.request(method, path, body=data, headers=headers)
        self.office.workers.drain()
        if method == "POST" and reply.status == 201:
            self._know(reply.json["id"])
        self.called.add(operation)
        shown = self._plain(reply.body.decode())
        self.answers.append((self._plain(f"{method} {path}"), reply.status, shown))
        return reply

    def action_of(self, comment: str) -> str:
        thing = happened.name_of(self.node, comment)
        return self._know(happenings.id_of(happened.KIND, thing))

    def read(self, *known: str) -> None:
        """Read all slices of the activity."""
        for operation, path in {
            "readFeed": "/feed",
            "countUnreadActions": "/feed/unread",
            "listMyActions": "/users/me/actions",
            "listUserActions": f"/users/{self.id}/actions?type=comment_posted",
            "listRefActions": f"/refs/{self.node}/actions",
            "listTagActions": "/tags/skilled/actions",
            "listMutedUsers": "/users/me/muted",
            "getMyOrg": "/users/me/org",
            "exportMe": "/users/me/export",
        }.items():
            self.call(operation, "GET", path)
        for action in known:
            self.call("getAction", "GET", f"/actions/{action}")
            self.call("getActionFanOut", "GET", f"/actions/{action}/fan-out")
            self.call("listActionComments", "GET", f"/actions/{action}/comments")
            self.call("listActionReactions", "GET", f"/actions/{action}/reactions")

    def _know(self, id_: str) -> str:
        self._ids.setdefault(id_, f"ID{len(self._ids)}")
        return id_

    def _plain(self, text: str) -> str:
        for id_, name in self._ids.items():
            text = text.replace(id_, name)
        text = re.sub(r"(department|team)-(one|two)", r"\1", text.replace("SITE", "one"))
        text = re.sub(r'"(next|cursor|seen)":"[^"]*"', r'"\1":"CURSOR"', text)
        text = re.sub(r'"id":"[\w-]{20,}"', '"id":"ID"', text)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "TIME", text)


def root(office: Office) -> Client:
    return office.client.as_("root", roles=["admin"])


def live(person: Person) -> None:
    """Make every call of the activity, with a comment that is told of."""
    first = person.comment("So it is")
    person.office.workers.drain()
    action = person.action_of(first)
    person.read(action)
    person.call("markFeedSeen", "PUT", "/feed/seen")
    person.call("reactToAction", "PUT", f"/actions/{action}/reaction", kind="like")
    said = person.call("commentOnAction", "POST", f"/actions/{action}/comments", text="Indeed")
    person.read(action)
    path = f"/actions/{action}/comments/{said.json['id']}"
    person.call("deleteActionComment", "DELETE", path)
    person.call("withdrawReaction", "DELETE", f"/actions/{action}/reaction")
    for hidden in (True, False):
        person.call("setActionHidden", "PUT", f"/actions/{action}/hidden", is_hidden=hidden)
        person.read(action)
    person.call("muteUser", "PUT", f"/users/me/muted/{person.friend}")
    person.call("unmuteUser", "DELETE", f"/users/me/muted/{person.friend}")
    person.me.request("PATCH", f"/nodes/{person.node}/comments/{first}", body=b'{"text":"No"}')
    person.call("conductAction", "POST", "/actions", scope="team")
    second = person.comment("And so it was")
    person.office.workers.drain()
    person.read(action, person.action_of(second))
    person.me.delete(f"/nodes/{person.node}/comments/{second}")
    person.call("deleteAction", "DELETE", f"/actions/{action}")
    person.read(action, person.action_of(second))


def people(office: Office) -> tuple[Person, Person]:
    """Return an ordinary person and a shadowed person."""
    ordinary, shadowed = (Person(office, site) for site in SITES)
    shadow(shadowed)
    return ordinary, shadowed


def shadow(person: Person, status: str = "shadowed") -> None:
    changing.store(person.office.runtime, person.site, person.id, {"status": status})


def feed(person: Person, reader: str) -> list[str]:
    found = person.office.client.as_(reader).get("/feed").json["actions"]
    return [each["id"] for each in found]


def test_a_shadowed_person_reads_the_activity_that_an_ordinary_person_reads(office: Office) -> None:
    ordinary, shadowed = people(office)
    for each in (ordinary, shadowed):
        live(each)

    for mine, its in zip(shadowed.answers, ordinary.answers, strict=True):
        assert mine == its
    own = [answer for call, _, answer in ordinary.answers if call == "GET /feed"]
    assert "comment_posted" in own[0]


def test_every_operation_of_the_activity_is_compared_or_cannot_tell(office: Office) -> None:
    person, _ = people(office)
    live(person)

    document = json.loads(KEPT.read_text())
    declared = {
        operation["operationId"]
        for path in document["paths"].values()
        for operation in path.values()
        if operation["tags"][0] == "Feed"
    }
    assert declared - UNDRIVEN.keys() == person.called - {"exportMe"}
    assert UNDRIVEN.keys() <= declared


def test_no_other_person_finds_the_action_of_a_concealed_comment(office: Office) -> None:
    ordinary, shadowed = people(office)
    for person, found in ((ordinary, True), (shadowed, False)):
        action = person.action_of(person.comment("So it is"))
        office.workers.drain()
        assert feed(person, person.id) == [action]
        friend = office.client.as_(person.friend)
        assert feed(person, person.friend) == ([action] if found else [])
        for path in (
            f"/users/{person.id}/actions?type=comment_posted",
            f"/refs/{person.node}/actions",
        ):
            listed = friend.get(path).json["actions"]
            assert [each["id"] for each in listed] == ([action] if found else [])
        assert friend.get(f"/actions/{action}").status == (200 if found else 404)
        assert friend.get("/feed/unread").json["unread"] == (1 if found else 0)
        assert friend.post(f"/actions/{action}/comments", text="x").status == (
            201 if found else 404
        )
        office.place("late", department=f"department-{person.site}", team="x")
        refill.refill(office.runtime, "late")
        assert feed(person, "late") == ([action] if found else [])


def test_an_action_follows_the_concealment_of_its_comment(office: Office) -> None:
    _, person = people(office)
    shadow(person, "ok")
    comment = person.comment("So it is")
    office.workers.drain()
    action = person.action_of(comment)
    assert feed(person, person.friend) == [action]

    shadow(person)
    path = f"/nodes/{person.node}/comments/{comment}"
    assert person.me.patch(path, text="So it was").status == 200
    office.workers.drain()
    assert (feed(person, person.id), feed(person, person.friend)) == ([action], [])
    assert office.readers(action) == [person.id]

    assert root(office).post(f"{path}/state", state="visible").status == 200
    office.workers.drain()
    assert (feed(person, person.id), feed(person, person.friend)) == ([action], [action])
    assert "shown_scope" not in office.stored(action)

    assert root(office).post(f"{path}/state", state="hidden").status == 200
    office.workers.drain()
    assert (feed(person, person.id), feed(person, person.friend)) == ([], [])


def test_an_action_follows_its_comment_after_its_author_has_left_the_department(
    office: Office,
) -> None:
    _, person = people(office)
    shadow(person, "ok")
    comment = person.comment("So it is")
    office.workers.drain()
    action = person.action_of(comment)
    office.place(person.id)
    path = f"/nodes/{person.node}/comments/{comment}"

    shadow(person)
    assert person.me.patch(path, text="So it was").status == 200
    office.workers.drain()
    assert (feed(person, person.id), feed(person, person.friend)) == ([action], [])

    assert root(office).post(f"{path}/state", state="visible").status == 200
    office.workers.drain()
    assert (feed(person, person.id), feed(person, person.friend)) == ([action], [action])


def test_only_staff_see_to_whom_a_concealed_action_went(office: Office) -> None:
    _, person = people(office)
    hidden = person.action_of(person.comment("So it is"))
    office.workers.drain()
    shadow(person, "ok")
    later = person.action_of(person.comment("So it was"))
    office.workers.drain()
    actions.conceal(office.runtime, later)
    office.place("newcomer", department=f"department-{person.site}", team="x")
    office.workers.drain()
    staff = office.client.as_("mod", roles=["social_moderator"])

    numbers = {
        (reader, action): client.get(f"/actions/{action}/fan-out").json["total"]
        for reader, client in (("actor", person.me), ("staff", staff))
        for action in (hidden, later)
    }

    assert numbers == {
        ("actor", hidden): 3,
        ("actor", later): 2,
        ("staff", hidden): 1,
        ("staff", later): 2,
    }


def test_a_worker_that_dies_before_it_takes_the_items_shows_them_to_no_reader(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, person = people(office)
    shadow(person, "ok")
    action = person.action_of(person.comment("So it is"))
    office.workers.drain()
    monkeypatch.setattr(cascade, "cascade", lambda *_given: None)

    actions.conceal(office.runtime, action)
    office.workers.drain()

    assert office.readers(action) == [person.friend, person.id]
    assert (feed(person, person.id), feed(person, person.friend)) == ([action], [])


def test_a_job_that_runs_twice_changes_nothing(office: Office) -> None:
    _, person = people(office)
    comment = person.comment("So it is")
    office.workers.drain()
    action = person.action_of(comment)
    before = office.stored(action)

    job = Happened(kind=happened.KIND, thing=happened.name_of(person.node, comment))
    wiring_happenings.run(office.runtime, job)
    office.workers.drain()

    assert office.stored(action) == before
    assert before["scope"] == "restricted"
