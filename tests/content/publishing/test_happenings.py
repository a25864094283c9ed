"""Pages that are published as actions of the activity feed, where a site has it switched on."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.content.jobs import run_due
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social import jobs
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.forms import OrgSettings
from tests.content.support.factories import (
    BASE,
    SITE,
    editor,
    node,
    publish,
    published,
    publisher,
    save,
    write,
)
from tests.social.support.drivers import settle
from tests.support.clock import START, Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"action_sites": (SITE,)})


@pytest.fixture
def office(site: Client, runtime: Runtime, workers: Workers) -> Client:
    """The editor and a colleague of hers."""
    for user_id in ("edda", "bob"):
        people.put(runtime, user_id, OrgSettings(team="desk", department="paper"))
    settle(site, "edda", "bob")
    workers.drain()
    return site


def feed(client: Client) -> list[Any]:
    return list(client.as_("bob").get("/feed").json["actions"])


def look_again(runtime: Runtime, workers: Workers) -> None:
    """Have the jobs run that are due by now."""
    workers.drain()
    jobs.resend_overdue(runtime)
    workers.drain()


def test_a_published_page_is_an_action_once(
    office: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    node_id = published(office)
    workers.drain()

    (action,) = feed(office)
    assert action["actor"]["id"] == "edda"
    assert action["descriptor"] == {
        "type": "page_published",
        "tags": [],
        "content_id": node_id,
        "page_id": f"{SITE}:{node_id}",
        "page_name": "Moon",
        "url": f"{BASE}/moon",
    }
    save(editor(office), node_id, 1, title="The moon")
    publish(office, node_id, 2)
    clock.time += outbox.OUTLIVES_ALL
    look_again(runtime, workers)
    assert len(feed(office)) == 1
    assert runtime.database["social.errand"].count_documents({"errand.type": "happened"}) == 0


def test_a_page_to_come_is_told_of_at_its_instant(
    office: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    node_id = write(editor(office))
    publish(office, node_id, at=(START + timedelta(days=2)).isoformat())
    clock.advance(days=1)
    look_again(runtime, workers)
    assert feed(office) == []

    clock.advance(days=1, minutes=1)
    look_again(runtime, workers)

    assert [each["descriptor"]["content_id"] for each in feed(office)] == [node_id]


@pytest.mark.parametrize("ends", ["taken back", "deleted", "over"])
def test_an_action_goes_with_its_page(
    office: Client, runtime: Runtime, workers: Workers, clock: Clock, ends: str
) -> None:
    node_id = published(office)
    if ends == "over":
        publish(office, node_id, until=(START + timedelta(hours=2)).isoformat())
    workers.drain()
    assert len(feed(office)) == 1

    if ends == "taken back":
        assert publisher(office).post(f"{node(node_id)}/unpublish").status == 200
    elif ends == "deleted":
        assert publisher(office).delete(node(node_id)).status == 204
    else:
        clock.advance(hours=3)
        run_due(runtime)
        clock.advance(minutes=5)
    look_again(runtime, workers)

    assert feed(office) == []


@pytest.mark.parametrize("ends", ["taken back", "over"])
def test_actions_of_comments_go_with_their_page(
    office: Client, runtime: Runtime, workers: Workers, clock: Clock, ends: str
) -> None:
    node_id = published(office)
    if ends == "over":
        publish(office, node_id, until=(START + timedelta(hours=2)).isoformat())
    workers.drain()
    said = office.as_("edda", name="Edda").post(f"/nodes/{SITE}:{node_id}/comments", text="Up.")
    assert said.status == 201, said.body
    workers.drain()
    types = {each["descriptor"]["type"] for each in feed(office)}
    assert types == {"page_published", "comment_posted"}

    if ends == "taken back":
        assert publisher(office).post(f"{node(node_id)}/unpublish").status == 200
    else:
        clock.advance(hours=3)
        run_due(runtime)
        clock.advance(minutes=5)
    look_again(runtime, workers)

    assert feed(office) == []


def test_a_message_that_is_lost_is_made_up_for(
    office: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chalicelib.happenings.send", lambda *_: None)
        published(office)
    workers.drain()
    assert feed(office) == []

    clock.advance(minutes=10)
    look_again(runtime, workers)

    assert len(feed(office)) == 1
