"""Each page's discussion: begun with it, named as it, closed and deleted with it."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from chalicelib.content.jobs import run_due
from chalicelib.content.publishing import discussions
from chalicelib.content.publishing.discussions import TellDiscussion
from chalicelib.errors import Unavailable
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.wiring.pages import DISCUSSIONS
from tests.content.support.factories import (
    BASE,
    SITE,
    editor,
    node,
    publish,
    published,
    publisher,
    read,
    save,
    set_up,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


def discussion(client: Client, node_id: str) -> dict[str, object]:
    """Return the discussion as the site's publisher reads it."""
    client = publisher(client)
    found = client.get(f"/nodes/{SITE}:{node_id}")
    assert found.status == 200, found.body
    return {name: found.json[name] for name in ("title", "url", "locked")}


def test_the_first_publication_begins_a_discussion(site: Client) -> None:
    node_id = published(site)

    assert discussion(site, node_id) == {"title": "Moon", "url": f"{BASE}/moon", "locked": False}
    page = read(site, "moon", "&include=discussion").json
    assert page["discussion"] == {"id": f"{SITE}:{node_id}", "comments": 0}
    site.as_("ann").post(f"/nodes/{page['discussion_id']}/comments", text="Indeed")
    page = read(site, "moon", "&include=discussion").json
    assert page["discussion"]["comments"] == 1


def test_a_discussion_follows_its_page(site: Client, workers: Workers, clock: Clock) -> None:
    node_id = published(site)
    save(editor(site), node_id, 1, title="The moon", slug="the-moon")
    publish(site, node_id, 2)
    workers.drain()
    told = {"title": "The moon", "url": f"{BASE}/the-moon", "locked": False}
    assert discussion(site, node_id) == told

    publisher(site).post(f"{node(node_id)}/unpublish")
    workers.drain()
    assert discussion(site, node_id)["locked"] is True
    publish(site, node_id, 2, until=(clock() + timedelta(hours=1)).isoformat())
    workers.drain()
    assert discussion(site, node_id)["locked"] is False

    publisher(site).post(f"/content/{SITE}/move", **{"from": "none/", "to": "some/"})
    publisher(site).delete(node(node_id))
    workers.drain()
    assert site.get(f"/nodes/{SITE}:{node_id}").code == "unknown_node"


@pytest.mark.parametrize(
    "plan",
    [
        (0, None, ""),
        (10, None, ""),
        (10, 20, ""),
        (10, 5, ""),
        (10, 0, ""),
        (10, 20, "unpublish"),
        (10, 0, "unpublish"),
        (10, 20, "other days"),
    ],
)
def test_a_discussion_closes_as_many_days_after_its_page_appears_as_the_site_says(
    site: Client, workers: Workers, clock: Clock, plan: tuple[int, int | None, str]
) -> None:
    """In how many days the page is to appear, and in how many after a step in between."""
    days, moved_by, between = plan
    rules = f"/sites/{SITE}/comments/settings"
    assert publisher(site).put(rules, close_after_days=7).status == 200
    node_id = write(editor(site))
    now = clock()
    at = now + timedelta(days=days)
    publish(site, node_id, 1, **({"at": at.isoformat()} if days else {}))
    workers.drain()
    if between == "unpublish":
        assert publisher(site).post(f"{node(node_id)}/unpublish").status == 200
        workers.drain()
    elif between:
        assert publisher(site).put(rules, close_after_days=14).status == 200
        clock.advance(seconds=6)
    if moved_by is not None:
        at = now + timedelta(days=moved_by) if moved_by else clock()
        given = {"at": at.isoformat()} if moved_by else {}
        assert publish(site, node_id, 1, **given).status == 200
        workers.drain()
    clock.advance(days=max(days, moved_by or 0))

    found = publisher(site).get(f"/nodes/{SITE}:{node_id}")

    closes = datetime.fromisoformat(found.json["closes_at"])
    assert closes == at + timedelta(days=7)


def test_a_time_that_a_publisher_chooses_moves_with_no_plan(
    site: Client, workers: Workers, clock: Clock
) -> None:
    rules = f"/sites/{SITE}/comments/settings"
    assert publisher(site).put(rules, close_after_days=7).status == 200
    node_id = write(editor(site))
    publish(site, node_id, 1, at=(clock() + timedelta(days=10)).isoformat())
    workers.drain()
    path, chosen = f"/nodes/{SITE}:{node_id}", "2026-06-01T00:00:00Z"
    page = {"title": "Moon", "url": f"{BASE}/moon"}
    assert publisher(site).put(path, **page, closes_at=chosen).status == 200

    publish(site, node_id, 1, at=(clock() + timedelta(days=20)).isoformat())
    workers.drain()

    assert publisher(site).get(path).json["closes_at"] == chosen


def test_a_discussion_is_found_by_the_address_of_its_page(site: Client, workers: Workers) -> None:
    node_id = published(site)
    found = site.get(f"/nodes?site={SITE}&url={BASE}/moon")
    assert found.json["id"] == f"{SITE}:{node_id}"

    save(editor(site), node_id, 1, title="The moon", slug="the-moon")
    publish(site, node_id, 2)
    workers.drain()

    assert site.get(f"/nodes?site={SITE}&url={BASE}/the-moon").json["id"] == found.json["id"]
    assert site.get(f"/nodes?site={SITE}&url={BASE}/moon").code == "unknown_node"


def calls(client: Client, node_id: str, comment: str) -> list[tuple[int, str]]:
    """Return the answers to all that a person may do in a page's discussion."""
    ann, path = client.as_("ann"), f"/nodes/{SITE}:{node_id}"
    one, url = f"{path}/comments/{comment}", "https://a.example"
    replies = [
        *(client.get(each) for each in (path, f"{path}/comments", f"{path}/marks?ids={comment}")),
        *(client.get(each) for each in (one, f"{one}/thread", f"{path}/comments?order=best")),
        *(client.get(f"{each}.atom") for each in (f"{path}/comments", f"{one}/thread")),
        client.get(f"/nodes?site={SITE}&url={BASE}/moon"),
        client.request("GET", f"{path}/comments", headers={"Accept": "text/html"}),
        client.post(f"{path}/visit", url=url, title="Moon"),
        ann.get(f"{path}/people?q=mo"),
        ann.post(f"{path}/comments", text="First!"),
        ann.post(f"{path}/comments", text="First!", parent=comment),
        ann.patch(one, text="no"),
        ann.put(f"{one}/vote", value=1),
        ann.put(f"{one}/flag", reason="spam"),
        ann.put(f"{one}/reactions/heart"),
        ann.get(f"{one}/reactions/heart"),
        ann.put(f"{path}/reactions/heart"),
    ]
    html = [each for each in replies if "html" in each.headers["Content-Type"]]
    assert all(b"Moon" not in each.body for each in html)
    return [(each.status, "unknown_node" if each in html else each.code) for each in replies]


@pytest.mark.parametrize("end", ["its hour", "its end", "unpublished"])
def test_readers_know_a_discussion_while_its_page_is_public(
    site: Client, clock: Clock, workers: Workers, end: str
) -> None:
    node_id = write(editor(site), "moon")
    begin = clock() + timedelta(hours=1)
    publish(site, node_id, at=begin.isoformat(), until=(begin + timedelta(hours=1)).isoformat())
    moderator = site.as_("mo", roles=["moderator"], sites=[SITE])
    path = f"/nodes/{SITE}:{node_id}"
    said = moderator.post(f"{path}/comments", text="Welcome")
    assert said.status == 201, said.body
    comment = said.json["id"]
    workers.drain()
    counted = f"/comment-counts?nodes={SITE}:{node_id}"
    of_person = f"/sites/{SITE}/people/mo/comments"
    latest = f"/sites/{SITE}/comments"

    if end != "its hour":
        clock.advance(hours=1)
        assert site.get(f"{path}/comments").json["count"] == 1
        assert all(b"<entry>" in site.get(f"{each}.atom").body for each in (of_person, latest))
        assert [each["comment"]["text"] for each in site.get(of_person).json["comments"]] == [
            "Welcome"
        ]
        assert site.as_("ann").post(f"{path}/comments", text="Hello").status == 201
    if end == "its end":
        clock.advance(hours=1)
    if end == "unpublished":
        publisher(site).post(f"{node(node_id)}/unpublish")
        workers.drain()

    assert set(calls(site, node_id, comment)) == {(404, "unknown_node")}
    assert site.get(counted).json == {f"{SITE}:{node_id}": 0}
    assert site.get(of_person).json["comments"] == site.get(latest).json["comments"] == []
    assert all(b"<entry>" not in site.get(f"{each}.atom").body for each in (of_person, latest))
    for staff in (moderator, publisher(site)):
        assert staff.get(f"{path}/comments").status == 200
        assert staff.get(counted).json[f"{SITE}:{node_id}"] >= 1


def test_a_discussion_of_a_scheduled_edition_has_the_words_of_the_present_one(
    site: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    node_id = published(site)
    save(editor(site), node_id, 1, title="The secret", slug="secret")
    publish(site, node_id, 2, at=(clock() + timedelta(hours=1)).isoformat())
    workers.drain()
    assert discussion(site, node_id) == {"title": "Moon", "url": f"{BASE}/moon", "locked": False}

    clock.advance(hours=1)
    run_due(runtime)
    clock.advance(minutes=2)
    run_due(runtime)
    workers.drain()

    assert discussion(site, node_id)["title"] == "The secret"


def test_an_unpublished_page_names_its_draft_to_nobody(site: Client, workers: Workers) -> None:
    node_id = published(site)
    publisher(site).post(f"{node(node_id)}/unpublish")
    save(editor(site), node_id, 1, title="The secret")
    publisher(site).post(f"{node(node_id)}/unpublish")
    workers.drain()

    assert discussion(site, node_id)["title"] == "Moon"


def test_a_discussion_that_a_moderator_closed_stays_closed(site: Client, workers: Workers) -> None:
    node_id = published(site)
    settings = {"title": "Moon", "url": f"{BASE}/moon", "locked": True}
    publisher(site).put(f"/nodes/{SITE}:{node_id}", **settings)
    save(editor(site), node_id, 1, title="The moon")
    publish(site, node_id, 2)
    workers.drain()

    assert discussion(site, node_id) == {**settings, "title": "The moon"}


def test_a_discussion_closes_when_its_page_ends(
    site: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    node_id = write(editor(site))
    publish(site, node_id, until=(clock() + timedelta(hours=1)).isoformat())
    clock.advance(hours=2)

    done = run_due(runtime)
    assert (done["made_live"], done["ended"]) == (0, 1)
    clock.advance(minutes=2)
    run_due(runtime)
    workers.drain()

    assert discussion(site, node_id)["locked"] is True


def test_what_no_queue_took_is_told_by_the_schedule(
    site: Client, runtime: Runtime, workers: Workers, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_id = published(site)
    save(editor(site), node_id, 1, title="The moon")
    with monkeypatch.context() as patched:
        patched.setattr(Queues, "send", lambda *_: False)
        publish(site, node_id, 2)
    workers.drain()
    assert discussion(site, node_id)["title"] == "Moon"

    clock.advance(minutes=2)
    run_due(runtime)
    workers.drain()

    assert discussion(site, node_id)["title"] == "The moon"
    stored = runtime.database["content.node"].find_one()
    assert stored is not None
    assert "telling" not in stored


def test_a_message_that_comes_late_tells_what_is(site: Client, workers: Workers) -> None:
    """A change while a worker tells of the last one leaves a note of its own."""
    node_id = published(site)
    save(editor(site), node_id, 1, title="Two")
    publish(site, node_id, 2)
    save(editor(site), node_id, 2, title="Three")
    publish(site, node_id, 3)
    workers.drain()

    assert discussion(site, node_id)["title"] == "Three"


def test_a_note_that_was_written_while_its_page_was_told_is_kept(
    site: Client, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_id = published(site)
    save(editor(site), node_id, 1, title="Two")
    publish(site, node_id, 2)
    tell, begun = type(DISCUSSIONS).tell, list[int]()

    def slowly(*arguments: object, **named: object) -> None:
        if not begun:
            begun.append(1)
            save(editor(site), node_id, 2, title="Three")
            publish(site, node_id, 3)
        tell(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(type(DISCUSSIONS), "tell", slowly)
    workers.drain()

    assert discussion(site, node_id)["title"] == "Three"


def overtake(
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
    node_id: str,
    change: Callable[[], object],
    *,
    dies: bool = False,
) -> None:
    """Have the next worker wait before it writes, for a change and the worker of that change.

    dies: it then raises Unavailable right after its write.
    """
    tell, begun = type(DISCUSSIONS).tell, list[int]()

    def slowly(*arguments: object, **named: object) -> None:
        if begun:
            tell(*arguments, **named)  # type: ignore[arg-type]
            return
        begun.append(1)
        change()
        following = TellDiscussion(site=SITE, node_id=node_id)
        discussions.tell(runtime, DISCUSSIONS, following)
        tell(*arguments, **named)  # type: ignore[arg-type]
        if dies:
            raise Unavailable

    monkeypatch.setattr(type(DISCUSSIONS), "tell", slowly)


def test_a_slow_worker_leaves_no_older_words(
    site: Client, runtime: Runtime, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_id = published(site)
    save(editor(site), node_id, 1, title="Two")
    publish(site, node_id, 2)

    def change() -> None:
        save(editor(site), node_id, 2, title="Three")
        publish(site, node_id, 3)

    overtake(runtime, monkeypatch, node_id, change)
    workers.drain()

    assert discussion(site, node_id)["title"] == "Three"


def test_a_worker_that_dies_leaves_the_discussion_of_an_unpublished_page_hidden(
    site: Client, runtime: Runtime, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No second update is due: the worker of the unpublication has ended the note of both."""
    node_id = published(site)
    save(editor(site), node_id, 1, title="Two")
    publish(site, node_id, 2)
    hide = f"{node(node_id)}/unpublish"
    overtake(runtime, monkeypatch, node_id, lambda: publisher(site).post(hide), dies=True)
    with pytest.raises(Unavailable):
        discussions.tell(runtime, DISCUSSIONS, TellDiscussion(site=SITE, node_id=node_id))
    workers.drain()

    assert site.get(f"/nodes/{SITE}:{node_id}").status == 404
    assert discussion(site, node_id)["locked"] is True


def test_a_slow_worker_leaves_the_discussion_of_a_page_that_has_returned_open(
    site: Client, runtime: Runtime, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_id = published(site)
    publisher(site).post(f"{node(node_id)}/unpublish")

    overtake(runtime, monkeypatch, node_id, lambda: publish(site, node_id))
    workers.drain()

    assert discussion(site, node_id)["locked"] is False


def test_a_site_without_comments_begins_none(client: Client) -> None:
    set_up(client, comments="off")
    node_id = published(client)

    assert client.get(f"/nodes/{SITE}:{node_id}").code == "unknown_node"
    assert read(client, "moon", "&include=discussion").json["discussion"] is None


def test_a_page_has_no_discussion_if_it_is_published_without_one(site: Client) -> None:
    """An imprint has none, at whatever later publication, until it chooses one."""
    page = write(editor(site), "imprint")
    paula = publisher(site)

    answers = [
        paula.post(f"{node(page)}/publish", version=1, **chosen).json
        for chosen in ({"comments": "off"}, {}, {"comments": "open"})
    ]

    assert [each["comments"] for each in answers] == ["off", "off", "open"]
    assert [bool(each["discussion_id"]) for each in answers] == [False, False, True]


def test_a_page_has_a_discussion_on_a_site_without_comments_if_it_chooses_one(
    client: Client,
) -> None:
    set_up(client, comments="off")
    page = write(editor(client), "letters")

    answer = publisher(client).post(f"{node(page)}/publish", version=1, comments="open").json

    assert (answer["comments"], bool(answer["discussion_id"])) == ("open", True)


def test_a_refused_publication_begins_no_discussion(site: Client) -> None:
    published(site, "moon")
    second = write(editor(site), "moon")

    assert publish(site, second).status == 409
    assert site.get(f"/nodes/{SITE}:{second}").code == "unknown_node"


def test_a_discussion_that_is_there_is_taken(site: Client, workers: Workers) -> None:
    """One of a page that was made before by hand, or was deleted and is vacant."""
    node_id, gone = write(editor(site), "there"), write(editor(site), "gone")
    for each in (node_id, gone):
        publisher(site).put(f"/nodes/{SITE}:{each}", title="By hand", url="https://a.example")
    site.as_("ann").post(f"/nodes/{SITE}:{node_id}/comments", text="Before")
    publisher(site).delete(f"/nodes/{SITE}:{gone}")

    assert publish(site, node_id).status == 200
    assert publish(site, gone).status == 200
    workers.drain()

    assert discussion(site, node_id)["title"] == "There"
    assert len(site.get(f"/nodes/{SITE}:{node_id}/comments").json["comments"]) == 1
    assert discussion(site, gone)["title"] == "Gone"
