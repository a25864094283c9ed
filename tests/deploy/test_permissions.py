"""What a function may send: the tests refuse what IAM would."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.shapes import CommentFields
from chalicelib.comments.spam.checking import KEPT
from chalicelib.comments.stores import store_of
from chalicelib.comments.transfers import imports
from chalicelib.jobs.schedules import RunFailed
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.payments.fake import FAKE_PAYMENTS
from chalicelib.wiring import marks
from deploy import permissions
from local.schedules import declared_schedules, run_schedule
from tests.ads.support.events import Page
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.analytics.support.hits import site
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.comments.transfers.support.files import begin, lines_file
from tests.content.support.factories import SITE as PAGES
from tests.content.support.factories import node, published, publisher, set_up
from tests.notifications.support.mailbox import tell, turn_on
from tests.shop.support.buying import bought, stocked
from tests.shop.support.factories import SITE as SHOP
from tests.shop.support.factories import open_shop
from tests.social.activity.support.office import Office
from tests.social.support.drivers import comment, follow, publish
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.sending import function_at_work
from tests.support.workers import Workers

pytestmark = pytest.mark.processes

Schedule = Callable[[], Any]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Posts become actions, of which their author's team is told, and letters lead to the API."""
    others = {
        "action_scope": "team",
        "mail_folder": str(tmp_path),
        "social_notifications": True,
    }
    return settings.model_copy(update={"action_sites": ("default", PAGES), **others})


@pytest.fixture
def tend_comments(app: Chalice, runtime: Runtime, workers: Workers) -> Schedule:
    """The schedule, with a move to send again whose message was lost."""
    assert workers.drain() == 0
    nodes.insert(runtime.database, nodes.new_node("moon"))
    nodes.want_store(runtime.database, "moon", "buckets")
    return lambda: run_schedule(app, "tend_comments")


def test_a_function_may_send_what_its_policy_names(
    tend_comments: Schedule, workers: Workers
) -> None:
    tend_comments()

    assert workers.drain() == 1


def test_a_function_may_send_nothing_else(
    tend_comments: Schedule, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(permissions.SENDS, "comments_schedules", ())

    with pytest.raises(RunFailed, match="PermissionError"):
        tend_comments()

    assert re.search(r"comments_schedules may not send .* SENDS", caplog.text)


@pytest.fixture
def sent(sqs: Any) -> Iterator[set[tuple[str, str]]]:
    """Collect each function with the names of the queues it has sent to, or may not."""
    found: set[tuple[str, str]] = set()

    def note(params: dict[str, Any], **_: object) -> None:
        if function := function_at_work():
            found.add((function, params["QueueUrl"].rpartition("plaza-test-")[2]))

    event = "before-parameter-build.sqs.SendMessageBatch"
    # Before IAM's part refuses: consume takes a refused message for a failed message.
    sqs.meta.events.register_first(event, note)
    yield found
    sqs.meta.events.unregister(event, note)


@pytest.fixture
def office(client: Client, workers: Workers, runtime: Runtime, clock: Clock) -> Office:
    """A team, and a page with an ad and a discussion."""
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, "acme:spring", "blog/banner")
    activate(runtime, "acme:spring")
    nodes.insert(runtime.database, nodes.new_node("moon"))
    office = Office(client, workers, runtime, clock)
    office.place("ann", "bob", "cy", "dan", team="sales")
    return office


def live(office: Office, author: str, store: str) -> None:
    """Let something happen in each part of Plaza; it changes nothing that happened before."""
    client = office.client
    for reader in ("bob", "cy"):
        follow(client, reader, author)
    post = publish(client, author)
    comment(client, "bob", post)
    publish(client, "bob", wall_owner_id=author)
    assert marks.choose(office.runtime, "post", post, "folded")["found"]
    assert client.as_("bob").put(f"/posts/{post}/reactions/like").status == 200
    office.act(author)
    client.as_(author).put("/users/me", name="Another")
    page = Page(client)
    page.see(page.ad())
    assert client.post("/hits", site="blog", hits=[{"path": "/a"}]).status == 202
    moved = client.as_("editor", roles=["admin"]).post("/nodes/moon/store", store=store)
    assert moved.status == 202, moved.body
    admin = client.as_("editor", roles=["admin"])
    begun = begin(admin, "blog", lines_file(1), dry_run=False)
    assert admin.post(f"/sites/blog/imports/{begun['id']}/start").status == 202
    library = Uploader(client.as_("editor", roles=["admin"]))
    library.upload(png(), "image/png")
    assert library.client.post("/content/blog/assets/store", store="gridfs").status == 200
    layout = {"embedded": "attributes", "documents": "details"}[store]
    assert open_shop(client).post(f"/shops/{SHOP}/layout", store=layout).status == 202
    set_up(client)
    taken = publisher(client).post(f"{node(published(client, author))}/unpublish")
    assert taken.status == 200
    # Its discussion ends with it, which readers' feeds hear of.
    ended = published(client, f"{author}-ended")
    office.workers.drain()
    assert publisher(client).delete(node(ended)).status == 204
    if author == "ann":
        stocked(client)
    bought(client)
    root = client.as_("root", roles=["admin"])
    assert root.post("/mail/trials", email="ann@plaza.example").status == 202
    hook = {"url": "https://unresolved.invalid/", "kinds": ["comment.created"]}
    hooked = root.post("/sites/default/webhooks", **hook)
    assert hooked.status == 201
    assert root.post(f"/sites/default/webhooks/{hooked.json['id']}/trials").status == 202
    of_steps = {**hook, "kinds": ["order.paid", "page.published"]}
    assert root.post(f"/sites/{SHOP}/webhooks", **of_steps).status == 201
    office.clock.advance(seconds=6)
    posted = client.as_("zed").post("/nodes/moon/comments", text=f"By {author}")
    assert posted.status == 201
    # The site has a webhook, so that the worker owes it the event.
    hidden = {"node_id": "moon", "comment_id": posted.json["id"]}
    hiding = {"site": "default", "state": "hidden", "comments": [hidden]}
    moderator = client.as_("mo", roles=["moderator"])
    assert moderator.post("/moderation/batches", **hiding).status == 202


def change_stored(office: Office, text: str, fields: CommentFields) -> str:
    """Post a comment, and change it as it is stored; return its id."""
    posted = office.client.as_("zed").post("/nodes/moon/comments", text=text)
    node = nodes.find(office.runtime.database, "moon")
    changed = store_of(office.runtime, node).change(node, posted.json["id"], fields, {})
    assert changed is not None
    return str(posted.json["id"])


def overdue_spam(office: Office) -> None:
    """Make a comment that has been spam until the schedule has to wipe it."""
    since = office.clock() - KEPT
    spam = change_stored(office, "Spam", {"state": "spam", "spam_since": since})
    noted = {"state": "spam", "queue": "spam", "queued_at": since}
    where = {"node_id": "moon", "id": spam}
    assert ENTRIES.of(office.runtime.database).update_one(where, {"$set": noted}).matched_count


def render_again(app: Chalice, office: Office) -> None:
    """Run the command on a comment that an earlier release has rendered."""
    change_stored(office, "*Old*", {"renderer": "old"})
    assert app.handler_map["command"]({"command": "rerender_comments"}, None)["rendered"] == 1


@pytest.mark.bounds(
    comments={
        "inline_move_comments": -1,
        "erasure_step_comments": 1,
        "batch_items_at_once": 1,
    },
    social={"chunk_readers": 1},
)
def test_no_policy_names_a_queue_that_its_function_has_no_use_for(
    app: Chalice, office: Office, sent: set[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told here makes each function send all that it may: extend it with `SENDS`."""
    # So that two readers are two chunks, no node is small enough to be moved at once, and one
    # comment is a step of an erasure and a message of a batch.
    site(office.runtime)
    # And each step of an import a message of its own.
    monkeypatch.setattr(imports, "RUN_SECONDS", 0.0)
    live(office, "ann", "embedded")
    office.workers.drain()
    for _ in range(2):
        office.client.as_("zoe").post("/nodes/moon/comments", text="Hello")
    office.client.as_("zoe").delete("/users/me")
    office.workers.drain()
    with monkeypatch.context() as lost:
        lost.setattr(Queues, "send", lambda *_: False)
        live(office, "dan", "documents")
    answered = office.client.get("/nodes/moon/comments").json["comments"][-1]["id"]
    turn_on(office.runtime, "bob")
    office.clock.advance(seconds=1)
    tell(office.runtime, answered, "bob")
    dispute = {"id": "dp_1", "amount_micros": 1, "state": "opened", "at": office.clock()}
    rows = FAKE_PAYMENTS.of(office.runtime.database)
    assert rows.update_many({}, {"$set": {"disputes": [dispute]}}).matched_count
    overdue_spam(office)
    render_again(app, office)
    # The sweep of entries waits until no call of their time can be running.
    office.clock.advance(minutes=20)
    for schedule in declared_schedules():
        run_schedule(app, schedule.name)
    office.workers.drain()

    assert sent == {
        (function, message.queue)
        for function, messages in permissions.SENDS.items()
        for message in messages
    }
