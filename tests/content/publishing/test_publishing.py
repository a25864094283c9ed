"""Publishing: what readers see before, at and after an instant, whether or not a schedule ran."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.content.jobs import run_due
from chalicelib.content.publishing import states
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import edition_at
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    listed,
    new,
    node,
    publish,
    published,
    publisher,
    read,
    save,
    with_version,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

MS = timedelta(milliseconds=1)


def titles(client: Client) -> dict[str, Any]:
    """Return the title that readers see of the page, in each way in which they may read it."""
    page = read(client, "moon")
    entries = client.get(f"/content/{SITE}").json["entries"]
    of_type = client.get(f"/content/{SITE}?type=page").json["entries"]
    return {
        "page": page.json["title"] if page.status == 200 else page.code,
        "list": [each["title"] for each in entries],
        "type": [each["title"] for each in of_type],
        **{
            tag: [
                each["title"] for each in client.get(f"/content/{SITE}?tag={tag}").json["entries"]
            ]
            for tag in ("old", "new")
        },
        "tags": [each["tag"] for each in client.get(f"/content/{SITE}/tags").json["tags"]],
    }


NOTHING = {
    "page": "unknown_content",
    **{name: [] for name in ("list", "type", "old", "new", "tags")},
}
OLD = {
    "page": "Moon",
    "list": ["Moon"],
    "type": ["Moon"],
    "old": ["Moon"],
    "new": [],
    "tags": ["old"],
}
NEW = {
    "page": "New moon",
    "list": ["New moon"],
    "type": ["New moon"],
    "old": [],
    "new": ["New moon"],
    "tags": ["new"],
}


@pytest.mark.parametrize("is_tended", [False, True])
def test_all_readers_see_the_same_at_each_instant(
    site: Client,
    runtime: Runtime,
    clock: Clock,
    is_tended: bool,  # noqa: FBT001 - the two cases
) -> None:
    start = clock()
    first, second, end = (start + timedelta(hours=n) for n in (1, 2, 3))
    edda = editor(site)
    node_id = write(edda, tags=["old"])
    assert publish(site, node_id, at=first.isoformat()).json["state"] == "scheduled"
    seen = [titles(site)]
    for instant in (first - MS, first):
        clock.time = instant
        if is_tended:
            run_due(runtime)
        seen.append(titles(site))
    save(edda, node_id, 1, title="New moon", tags=["new"])
    until = {"until": end.isoformat(), "at": second.isoformat()}
    assert publish(site, node_id, 2, **until).json["next"]["title"] == "New moon"
    seen.append(titles(site))
    for instant in (second - MS, second, end - MS, end):
        clock.time = instant
        if is_tended:
            run_due(runtime)
        seen.append(titles(site))

    assert seen == [NOTHING, NOTHING, OLD, OLD, OLD, NEW, NEW, NOTHING]
    assert edda.get(node(node_id)).json["state"] == "ended"


def test_a_saved_draft_hides_nothing_and_publishing_changes_no_version(site: Client) -> None:
    edda = editor(site)
    node_id = published(site)
    save(edda, node_id, 1, title="Later")

    assert read(site, "moon").json["title"] == "Moon"
    assert publish(site, node_id, 2).json["version"] == 2
    assert read(site, "moon").json["title"] == "Later"
    assert save(edda, node_id, 2, title="Later yet").status == 200


def test_only_the_version_that_was_read_is_published(site: Client) -> None:
    edda = editor(site)
    node_id = write(edda)
    save(edda, node_id, 1, title="Not looked at")

    refused = publish(site, node_id, 1)

    assert refused.code == "edit_conflict"
    assert refused.json["facts"]["present"]["title"] == "Not looked at"
    assert read(site, "moon").code == "unknown_content"


def test_an_instant_that_has_passed_is_now_and_the_date_of_a_new_page(
    site: Client, clock: Clock
) -> None:
    node_id, given = write(editor(site)), clock() - timedelta(days=1)

    reply = publish(site, node_id, at=given.isoformat())

    assert datetime.fromisoformat(reply.json["dated_at"]) == given
    assert datetime.fromisoformat(reply.json["live"]["shown_from"]) == clock()
    assert read(site, "moon").status == 200


def test_an_end_before_the_beginning_is_refused(site: Client, clock: Clock) -> None:
    node_id, at = write(editor(site)), (clock() + timedelta(hours=1)).isoformat()

    refused = publish(site, node_id, at=at, until=at)

    assert refused.json["errors"][0]["field"] == "until"
    assert publish(site, node_id, until=clock().isoformat()).code == "invalid_request"


def test_nothing_is_published_before_the_site_is_set_up(client: Client) -> None:
    node_id = write(editor(client))

    assert publish(client, node_id).code == "site_not_set_up"
    assert publisher(client).get(f"/content/{SITE}/settings").code == "unknown_content_site"


@pytest.mark.bounds(content={"html_bytes": 500})
def test_a_text_that_shows_nothing_or_too_much_is_not_published(site: Client) -> None:
    edda = editor(site)
    empty = write(edda, "empty", detail={"text": "[a]: https://a.example"})
    large = write(edda, "large", detail={"text": "x" * 500})

    assert publish(site, empty).json["errors"][0]["code"] == "invisible_text"
    assert publish(site, large).code == "page_too_large"


def test_a_page_that_returns_keeps_its_first_day(site: Client, clock: Clock) -> None:
    first = clock()
    node_id = published(site)
    clock.advance(hours=1)
    taken = publisher(site).post(f"{node(node_id)}/unpublish")
    assert taken.json["state"] == "draft"
    assert read(site, "moon").code == "unknown_content"
    assert listed(site) == []
    clock.advance(hours=1)

    reply = publish(site, node_id)

    assert datetime.fromisoformat(reply.json["published_at"]) == first
    assert read(site, "moon").status == 200


def test_what_was_only_planned_was_never_public(site: Client, clock: Clock) -> None:
    node_id = write(editor(site))
    publish(site, node_id, at=(clock() + timedelta(hours=1)).isoformat())
    publisher(site).post(f"{node(node_id)}/unpublish")
    clock.advance(hours=2)

    reply = publish(site, node_id)

    assert datetime.fromisoformat(reply.json["published_at"]) == clock()


def test_the_end_stays_unless_another_is_given(site: Client, clock: Clock) -> None:
    end = (clock() + timedelta(hours=2)).isoformat()
    node_id = write(editor(site))
    publish(site, node_id, until=end)

    assert publish(site, node_id, minor=True).json["until"] is not None
    assert publish(site, node_id, until=None).json["until"] is None


def test_an_end_before_the_next_edition_is_not_cancelled_silently(
    site: Client, clock: Clock
) -> None:
    friday, monday = (clock() + timedelta(days=days) for days in (1, 4))
    node_id = write(editor(site))
    publish(site, node_id, until=friday.isoformat())

    for at in (friday, monday):
        refused = publish(site, node_id, at=at.isoformat())
        assert (refused.status, refused.json["errors"][0]["field"]) == (422, "until")

    assert editor(site).get(node(node_id)).json["next"] is None
    assert publish(site, node_id, at=(friday - MS).isoformat()).json["until"] is not None
    # By saying so the page stays, over its former end.
    assert publish(site, node_id, at=monday.isoformat(), until=None).json["until"] is None
    clock.time = friday
    assert read(site, "moon").status == 200


def test_a_page_that_has_ended_or_is_planned_begins_without_its_former_end(
    site: Client, clock: Clock
) -> None:
    friday, monday = (clock() + timedelta(days=days) for days in (1, 4))
    node_id = write(editor(site))
    publish(site, node_id, at=(friday - MS).isoformat(), until=friday.isoformat())

    assert publish(site, node_id, at=monday.isoformat()).json["until"] is None


def test_an_ended_page_is_published_for_good(site: Client, clock: Clock) -> None:
    node_id = write(editor(site))
    publish(site, node_id, until=(clock() + timedelta(hours=2)).isoformat())
    clock.advance(hours=3)

    assert publish(site, node_id).json["until"] is None
    assert read(site, "moon").status == 200


def test_the_desk_knows_where_each_page_is(site: Client, runtime: Runtime, clock: Clock) -> None:
    later = (clock() + timedelta(hours=1)).isoformat()
    write(editor(site), "draft")
    published(site, "scheduled", at=later)
    published(site, "live")
    ended = write(editor(site), "ended")
    publish(site, ended, until=(clock() + timedelta(minutes=1)).isoformat())
    clock.advance(minutes=2)

    def desk(state: str) -> list[str]:
        nodes = editor(site).get(f"/content/{SITE}/desk?state={state}").json["nodes"]
        assert all(each["state"] == state for each in nodes)
        return [each["draft"]["slug"] for each in nodes]

    for _ in range(2):
        assert {each: desk(each) for each in ("draft", "scheduled", "live", "ended")} == {
            each: [each] for each in ("draft", "scheduled", "live", "ended")
        }
        run_due(runtime)


def test_a_page_that_was_published_is_its_publishers_to_delete(site: Client) -> None:
    edda, otto = editor(site), editor(site, "otto")
    own, published_one = write(edda, "own"), published(site, "public")

    assert otto.delete(node(own)).code == "forbidden"
    assert edda.delete(node(published_one)).code == "forbidden"
    assert edda.delete(node(own)).status == 204
    assert publisher(site).delete(node(published_one)).status == 204
    assert read(site, "public").code == "content_gone"
    assert read(site, "own").code == "unknown_content"
    for call in (
        edda.get(node(own)),
        save(edda, own, 1, title="x"),
        publish(site, own),
        publisher(site).post(f"{node(own)}/unpublish"),
        edda.delete(node(own)),
        edda.get(f"{node(own)}/revisions"),
        edda.get(f"{node(own)}/revisions/1"),
        edda.get(f"{node(own)}/revisions/1/diff/1"),
        restored(edda, own),
    ):
        assert call.code == "content_gone"


def test_a_page_that_is_not_there_is_unknown_to_every_call(site: Client) -> None:
    edda, none = editor(site), "none"
    for call in (
        edda.get(node(none)),
        save(edda, none, 1, title="x"),
        publish(site, none),
        publisher(site).post(f"{node(none)}/unpublish"),
        publisher(site).post(f"{node(none)}/preview"),
        edda.delete(node(none)),
        edda.get(f"{node(none)}/revisions"),
        edda.get(f"{node(none)}/revisions/1"),
        edda.get(f"{node(none)}/revisions/1/diff/1"),
        restored(edda, none),
    ):
        assert (call.status, call.code) == (404, "unknown_content")


def test_a_repeated_call_finds_no_page_that_was_deleted_since(site: Client) -> None:
    edda = editor(Client(site.app, site.token, {"Idempotency-Key": "k1"}))
    own = write(edda)
    assert edda.delete(node(own)).status == 204

    again = edda.post(f"/content/{SITE}/nodes", **new())

    assert (again.status, again.code) == (410, "content_gone")


def restored(client: Client, node_id: str) -> Reply:
    return with_version(client, "POST", f"{node(node_id)}/revisions/1/restore", '"1"', {})


def test_a_deleted_page_leaves_no_words(site: Client, runtime: Runtime) -> None:
    node_id = published(site, title="Secret", detail={"text": "Secret"}, tags=["secret"])
    publisher(site).delete(node(node_id))

    stored = [
        str(document)
        for name in ("content.node", "content.revision")
        for document in runtime.database[name].find()
    ]

    assert len(stored) == 1
    assert "ecret" not in stored[0]


def test_minor_changes_are_no_news(site: Client, clock: Clock) -> None:
    edda, node_id = editor(site), published(site)
    first = read(site, "moon").json["updated_at"]
    clock.advance(hours=1)
    save(edda, node_id, 1, title="Moom")
    publish(site, node_id, 2, minor=True)
    assert read(site, "moon").json["updated_at"] == first
    save(edda, node_id, 2, title="The moon")
    publish(site, node_id, 3)

    assert datetime.fromisoformat(read(site, "moon").json["updated_at"]) == clock()


START = datetime(2026, 3, 1, tzinfo=UTC)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["publish", "unpublish", "tidy", "end"]),
        st.integers(0, 3),
        st.none() | st.integers(1, 4),
        st.integers(0, 2),
    ),
    max_size=8,
)


def blank() -> ContentNode:
    return {  # type: ignore[typeddict-item]
        "live": None,
        "next": None,
        "published": None,
        "first_published": None,
        "until": None,
    }


def hour(number: int) -> datetime:
    return START + timedelta(hours=number)


@given(_STEPS)
def test_tidying_up_never_changes_what_readers_see(
    steps: list[tuple[str, int, int | None, int]],
) -> None:
    """A page is shown as the model says: the last edition whose instant has come, until the end."""
    page, at, shows = blank(), 0, list[tuple[int, int]]()
    until: int | None = None
    versions = itertools.count()
    for step, delay, lasts, passes in steps:
        at += passes
        now = hour(at)
        match step:
            case "publish":
                version, begins = next(versions), at + delay
                until = None if lasts is None else begins + lasts
                edition: Edition = {"version": version, "shown_from": hour(begins)}  # type: ignore[typeddict-item]
                is_shown = edition_at(page, now) is not None
                end = None if until is None else hour(until)
                page |= states.apply_edition(page, edition, end, now)  # type: ignore[typeddict-item]
                shows = [each for each in shows if each[0] <= at] if is_shown else []
                shows.append((begins, version))
            case "unpublish":
                page |= states.hide(page, now)  # type: ignore[typeddict-item]
                shows, until = [], None
            case "tidy":
                page |= states.make_next_live(page, now)  # type: ignore[typeddict-item]
            case _ if page["until"] is not None and page["until"] <= now:
                page |= states.hide(page, now)  # type: ignore[typeddict-item]
        for later in range(at, at + 9):
            come = [each for each in shows if each[0] <= later]
            expected = come[-1][1] if come and (until is None or later < until) else None
            seen = edition_at(page, hour(later))
            assert (seen["version"] if seen else None) == expected
