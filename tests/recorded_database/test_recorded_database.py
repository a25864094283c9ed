"""A database that release 0.3.0 wrote, taken over by this release."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from chalice.app import Chalice
from pymongo import MongoClient

from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from deploy.declared import declared_queues
from local.schedules import declared_schedules, run_schedule
from tests.content.support.factories import editor, node, publisher, save
from tests.recorded_database import recording
from tests.recorded_database.recording import Caller, RecordedAnswer, Recording
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.people import remaining
from tests.support.workers import Workers

VERSION = "0.3.0"
DATABASE = "plaza-recorded"
# Answers that this release changed on purpose, by path and difference; the changelog says each.
CHANGED = (
    # A new release.
    (r"/", r"\.version: "),
    # The number of what is left of a person tells nothing of others' acts on them.
    (r"/users/me/erasure", r"\.remaining: "),
    # The desk lists pages without their texts.
    (r"/content/[^/]+/desk\?.*|/content/[^/]+/desk", r"\.nodes\[\d+\]\.\w+\.detail\.text is gone"),
    # Only orders reduce what a shop says is available; carts did, too.
    (r"/shops/harbour/stock\?.*", r"\.available\.[A-Z-]+: "),
    # News show posts whose delivery is owed.
    (r"/users/me/news", r"\.posts: new "),
    # The export has no rows of the moderation queue, which told of spam: later entries move up.
    (r"/users/me/export", r"\.(entries\[\d+\]|next)"),
    # Publishers do what moderators do, and moderators read settings.
    (r"/moderation/.*|/sites/[^/]+/comments/settings", r"\.detail: 'This needs one of the roles: "),
    # Bytes of indexes, as the server counts them.
    (r"/sites/[^/]+/analytics", r"\.size\.\w+\.index_bytes: "),
)


@dataclass(frozen=True)
class Takeover:
    """This release over the recorded database; `owed` are ids of things with work to do."""

    app: Chalice
    client: Client
    runtime: Runtime
    clock: Clock
    workers: Workers
    recorded: Recording

    def command(self, name: str, **arguments: Any) -> Any:
        return self.app.handler_map["command"]({"command": name, **arguments}, None)

    def as_(self, caller: Caller) -> Client:
        """Return a client with the claims of a recorded caller."""
        return self.client if caller is None else self.client.as_(**caller)

    def read(self, path: str, sub: str = "root", *roles: str) -> Any:
        reply = self.client.as_(sub, roles=[*roles]).get(path)
        assert reply.status == 200, reply.body
        return reply.json

    def deliver(self) -> None:
        """Have the workers handle the recorded messages, and all that follow."""
        names = {str(source.queue): source.name for source in declared_queues(self.app)}
        for queue, bodies in self.recorded.messages.items():
            handler = self.app.handler_map[names[self.runtime.queues.name_of(queue)]]
            records = [{"messageId": str(n), "body": body} for n, body in enumerate(bodies)]
            assert handler({"Records": records}, None) == {"batchItemFailures": []}, queue
        self.workers.drain()

    def recover(self) -> None:
        """Have the schedules find owed work, and the workers do it, for forty minutes."""
        for _ in range(4):
            self.clock.advance(minutes=10)
            for schedule in declared_schedules():
                run_schedule(self.app, schedule.name)
            self.workers.drain()

    def count(self, collection: str, **where: Any) -> int:
        return self.runtime.database[collection].count_documents(where)

    def readers(self, collection: str, **where: Any) -> list[str]:
        return sorted(each["user_id"] for each in self.runtime.database[collection].find(where))


@pytest.fixture(scope="module")
def recorded() -> Recording:
    return recording.read(VERSION)


@pytest.fixture(scope="module", autouse=True)
def _collections(mongo_client: MongoClient[Document], recorded: Recording) -> Iterator[None]:
    """The release's own collections, in a database beside that of other tests."""
    mongo_client.drop_database(DATABASE)
    recording.make_collections(open_database(mongo_client, DATABASE), recorded)
    yield
    mongo_client.drop_database(DATABASE)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"database": DATABASE})


@pytest.fixture
def clock(recorded: Recording) -> Clock:
    clock = Clock()
    clock.time = recorded.instant
    return clock


@pytest.fixture
def takeover(  # noqa: PLR0913, PLR0917 - all of Plaza's parts
    runtime: Runtime,
    app: Chalice,
    client: Client,
    clock: Clock,
    workers: Workers,
    recorded: Recording,
) -> Takeover:
    """The release's documents, after `init_db` has expanded and contracted."""
    recording.fill_collections(runtime.database, recorded)
    taken = Takeover(app, client, runtime, clock, workers, recorded)
    taken.command("init_db")
    taken.command("init_db", contract=True)
    return taken


def unexpected(path: str, old: Any, new: Any) -> list[str]:
    """Return the differences between two answers that no entry of CHANGED covers."""
    allowed = [difference for where, difference in CHANGED if re.fullmatch(where, path)]
    return [
        f"{path} {each}"
        for each in recording.differences(old, new)
        if not any(re.search(difference, each) for difference in allowed)
    ]


def is_cart_of_another(recorded: Recording, read: RecordedAnswer) -> bool:
    """Return whether a call reads a cart that another user has claimed: it is theirs alone now."""
    carts = recorded.collections["shop.cart"].documents
    users = {f"/carts/{cart['_id']}": cart["user"] for cart in carts}
    user = users.get(read.path)
    return user is not None and user != (read.caller or {}).get("sub")


def is_read_by_role(read: RecordedAnswer) -> bool:
    """Return whether social moderators read comments on an action that is not for them by now."""
    roles = (read.caller or {}).get("roles", ())
    is_moderator = not {"admin", "social_moderator"}.isdisjoint(roles)
    return is_moderator and bool(re.fullmatch("/actions/[^/]+/comments", read.path))


def faults(taken: Takeover) -> list[str]:
    """Return each fault that a verifying command reports, and did not report to the release."""
    return [
        f"{each.command} {each.event} {difference}"
        for each in taken.recorded.audits
        for difference in recording.differences(
            each.answer, taken.command(each.command, **each.event)
        )
    ]


def test_every_collection_of_the_release_was_recorded_with_documents(recorded: Recording) -> None:
    empty = [name for name, each in recorded.collections.items() if not each.documents]

    assert len(recorded.collections) > 90
    assert not empty


def test_a_deployment_is_done_at_once(takeover: Takeover) -> None:
    again = takeover.command("init_db", contract=True)

    assert again == {"done": [], "left": []}


def test_documents_of_the_release_fit_the_validators(takeover: Takeover) -> None:
    database, refused = takeover.runtime.database, {}
    for each in database.list_collections():
        if validator := each["options"].get("validator"):
            refused[each["name"]] = database[each["name"]].count_documents({"$nor": [validator]})

    assert {name: count for name, count in refused.items() if count} == {}


def test_answers_stay_the_same(takeover: Takeover) -> None:
    found = []
    for each in takeover.recorded.reads:
        reply = takeover.as_(each.caller).get(each.path)
        if is_cart_of_another(takeover.recorded, each):
            assert reply.status == 404, (each.path, each.caller, reply.body)
            continue
        if each.status == 404 and is_read_by_role(each):
            assert reply.json["read_as"] == "moderator", (each.path, each.caller, reply.body)
            continue
        if reply.status != each.status:
            found.append(f"{each.path}: {each.status} -> {reply.status} {reply.body!r:.200}")
        elif isinstance(each.body, dict | list):
            found += unexpected(each.path, each.body, reply.json)

    assert not found


def test_cursors_of_the_release_continue_at_their_places(takeover: Takeover) -> None:
    found = []
    for each in takeover.recorded.listings.values():
        path = f"{each.path}limit=1&cursor={each.cursor}"
        reply = takeover.as_(each.caller).get(path)
        assert reply.status == 200, (path, reply.body)
        found += unexpected(path, each.second, reply.json)

    assert not found


def test_reports_of_the_release_are_found_under_addresses_of_today(takeover: Takeover) -> None:
    """The release stored paths decoded: `/100%` for `/100%25`."""
    counts = takeover.read("/page-counts?site=alpha&paths=/100%2525,/a%253Fb", "root", "admin")

    assert counts == {"/100%25": 1, "/a%3Fb": 1}


def test_documents_of_the_release_can_be_changed(takeover: Takeover) -> None:
    owed, client = takeover.recorded.owed, takeover.client
    ann, bob, admin = client.as_("ann"), client.as_("bob"), client.as_("root", roles=["admin"])
    comments = takeover.read("/nodes/gamma:page/comments", "bob")["comments"]
    (said,) = (each["id"] for each in comments if each["author"]["id"] == "ann")
    order = takeover.read("/users/me/orders", "bob")["orders"][0]["id"]
    comment, page = f"/nodes/gamma:page/comments/{said}", node(owed["page"])

    replies = {
        "edit": ann.patch(comment, text="A text that was edited by a later release"),
        "vote": bob.put(f"{comment}/vote", value=0),
        "flag": bob.put(f"{comment}/flag", reason="other"),
        "decide": admin.post(f"{comment}/state", state="hidden"),
        "comment": bob.post("/nodes/flat/comments", text="One more"),
        "choose": client.as_("cy").put(f"/posts/{owed['poll']}/vote", option="No"),
        "talk": bob.post(f"/posts/{owed['busy']}/comments", text="One more"),
        "react": bob.put(f"/posts/{owed['busy']}/reactions/like"),
        "follow": bob.put("/users/me/circles/read/members/vera"),
        "applaud": bob.put(f"/actions/{owed['old_action']}/reaction", kind="like"),
        "fill": client.put(f"/carts/{owed['held']}/lines/PEQUOD", qty=2),
        "refund": admin.post(f"/orders/{order}/refund", restock=True, key="back"),
        "save": save(editor(client), owed["page"], 1, title="Changed"),
        "publish": publisher(client).post(f"{page}/publish", version=2),
        "activate": admin.post("/campaigns/acme:draft/activate"),
        "hit": client.post("/hits", site="alpha", hits=[{"path": "/page"}]),
    }

    assert {name: each.body for name, each in replies.items() if each.status >= 300} == {}
    takeover.recover()
    assert faults(takeover) == []


def finished(taken: Takeover) -> dict[str, Any]:
    """Read the effects of all work that the recorded documents owe."""
    owed = taken.recorded.owed
    batch = taken.read(f"/moderation/batches/{owed['batch']}", "root", "admin")
    copies = {"posts": {"$elemMatch": {"id": owed["post"], "comment_count": 1}}}
    (comment,) = taken.read(f"/posts/{owed['poll']}/comments", "bob")["comments"]
    return {
        "readers of a post": taken.readers("social.news_item", post_id=owed["post"]),
        "walls with a comment": taken.count("social.wall", **copies),
        "a renamed person": comment["author"]["name"],
        "rows of an erased person": remaining(taken.runtime, "fan3"),
        "readers of an action": taken.readers("feed.item", action_id=owed["action"]),
        "things under an old name": taken.count("feed.action", **{"refs.name": "One"}),
        "a batch": batch["status"],
        "products in a category": taken.read("/shops/harbour/categories/poems")["products"],
        "shops between layouts": taken.count("shop.site", is_rewriting=True),
        "orders paid and done": taken.count("shop.order", _id=owed["order"], state="done"),
        "locked discussions": taken.count(
            "comments.node", _id=f"harbour:{owed['unpublished']}", locked=True
        ),
        "assets to move": taken.count("content.library", due={"$ne": None}),
        "jobs": taken.count("social.errand") + taken.count("shop.errand"),
        "holds of carts": taken.count("shop.hold"),
    }


FINISHED = {
    "readers of a post": ["dee", "fan1", "fan2", "fan4", "fan5"],
    "walls with a comment": 1,
    "a renamed person": "Fanny",
    "rows of an erased person": 0,
    "readers of an action": ["ann", "bob"],
    "things under an old name": 0,
    "a batch": "done",
    "products in a category": 1,
    "shops between layouts": 0,
    "orders paid and done": 1,
    "locked discussions": 1,
    "assets to move": 0,
    "jobs": 0,
    "holds of carts": 0,
}


def test_nothing_that_is_owed_was_finished_before(takeover: Takeover) -> None:
    before = finished(takeover)

    assert [name for name, value in before.items() if value == FINISHED[name]] == []


def test_messages_of_the_release_finish_owed_work_also_if_they_come_twice(
    takeover: Takeover,
) -> None:
    events, hits = takeover.count("ad.event"), takeover.count("hit.event")
    takeover.deliver()
    takeover.deliver()
    assert takeover.count("ad.event") == events + 1
    assert takeover.count("hit.event") == hits + 1
    takeover.recover()

    assert finished(takeover) == FINISHED


def test_schedules_finish_owed_work_whose_messages_are_lost(takeover: Takeover) -> None:
    takeover.recover()

    assert finished(takeover) == FINISHED


def test_audits_report_no_fault_that_the_release_did_not_report(takeover: Takeover) -> None:
    takeover.deliver()
    takeover.recover()

    assert faults(takeover) == []


def test_discussions_of_pages_that_are_not_public_are_out_of_sight(takeover: Takeover) -> None:
    """The release only closed them: their nodes say nothing of the page's time."""
    pages = takeover.runtime.database["content.node"]
    takeover.recover()
    now = takeover.clock()
    owned = list(pages.find({"discussion": {"$gt": ""}, "removed": None}))
    hidden = [
        each["discussion"] for each in owned if each["published"] is None or each["published"] > now
    ]

    assert len(hidden) >= 2
    statuses = {each: takeover.client.get(f"/nodes/{each}").status for each in hidden}
    assert statuses == dict.fromkeys(hidden, 404)
    shown = [each["discussion"] for each in owned if each["discussion"] not in hidden]
    assert {takeover.client.get(f"/nodes/{each}").status for each in shown} == {200}
    assert pages.count_documents({"discussion": {"$gt": ""}, "told": None}) == 0
