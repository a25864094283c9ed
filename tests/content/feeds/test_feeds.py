"""Feeds: by the rules of RFC 4287 and JSON Feed 1.1, read by a feed reader, hostile titles too."""

import xml.etree.ElementTree as ET
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import feedparser
import orjson
import pytest
from pydantic import SecretStr

from chalicelib.atom import Feed, atom_document
from chalicelib.content.feeds import reading
from chalicelib.content.jobs import run_due
from chalicelib.http import responses
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    BASE,
    SITE,
    editor,
    picture,
    publish,
    published,
    publisher,
    save,
    set_up,
    write,
)
from tests.support.atom import ATOM, check_atom
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

HOSTILE = (
    "]]> <![CDATA[ &amp; <b>bold</b>",
    "\u202eabc\u202c \u200fright\u200e",
    "\ufffe\uffff and \U0001f30a",
    "</title></entry> --> ?>",
    "A" * 200,
)


def feed(client: Client, form: str = "atom", query: str = "", **headers: str) -> Reply:
    return client.request("GET", f"/content/{SITE}/feed.{form}{query}", headers=headers)


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        (b"<published>2026-03-01T", b"<published>2026-03-01 "),
        (b"<id>tag:", b"<id>tag: "),
        (b' term="sky"', b' term=""'),
        (b"<name>Edda</name>", b""),
        (b"<title>Moon</title>", b"<title>Moon</title><title>Moon</title>"),
        (b'rel="first"', b'rel="alternate"'),
        (b'rel="self"', b'rel="related"'),
    ],
)
def test_a_feed_that_breaks_a_rule_is_noticed(site: Client, given: bytes, instead: bytes) -> None:
    published(site, "moon", tags=["sky"])
    text = feed(site).body
    check_atom(text)
    broken = (
        text.replace(b'type="application/atom+xml"', b'type="text/html"')
        if (b"first" in given)
        else text
    )
    assert given in broken

    with pytest.raises(AssertionError):
        check_atom(broken.replace(given, instead))


def check_json(text: bytes) -> Any:
    """Hold a document to JSON Feed 1.1: its fields and their types."""
    told = orjson.loads(text)
    assert told["version"] == "https://jsonfeed.org/version/1.1"
    for name in ("title", "home_page_url", "feed_url", "language"):
        assert isinstance(told[name], str)
    for item in told["items"]:
        assert isinstance(item["id"], str)
        assert isinstance(item["content_html"], str)
        assert urlsplit(item["url"]).scheme in {"http", "https"}
        assert all(isinstance(tag, str) for tag in item["tags"])
        assert all(author["name"] for author in item["authors"])
        for name in ("date_published", "date_modified"):
            assert datetime.fromisoformat(item[name]).tzinfo is not None
    return told


def test_a_feed_reader_reads_what_was_published(site: Client, clock: Clock) -> None:
    first = published(site, "moon", summary="Round", tags=["sky", "night"])
    clock.advance(seconds=1)
    asset = picture(site)
    text = f'[On](/moon) ![m](asset:{asset} "The moon")'
    published(site, "post", type="blog", detail={"text": text})

    reply = feed(site)
    check_atom(reply.body)
    read = feedparser.parse(reply.body)

    assert reply.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert not read.bozo
    assert read.version == "atom10"
    assert read.feed.title == "The Harbour"
    assert [each.title for each in read.entries] == ["Post", "Moon"]
    newest, oldest = read.entries
    assert oldest.id == f"tag:harbour.example,{clock().year}:{first}"
    assert oldest.link == f"{BASE}/moon"
    assert oldest.summary == "Round"
    assert [tag.term for tag in oldest.tags] == ["sky", "night"]
    assert oldest.author == "Edda"
    assert f'href="{BASE}/moon"' in newest.content[0].value
    assert newest.updated_parsed[:6] == clock().timetuple()[:6]


def test_json_feed_says_the_same(site: Client, clock: Clock) -> None:
    published(site, "moon", summary="Round", tags=["sky"])
    clock.advance(seconds=1)
    published(site, "post", type="blog")

    reply = feed(site, "json")
    told = check_json(reply.body)
    entries = feedparser.parse(feed(site).body).entries

    assert reply.headers["Content-Type"] == "application/feed+json"
    assert [each["id"] for each in told["items"]] == [each.id for each in entries]
    assert [each["content_html"] for each in told["items"]] == [
        each.content[0].value + "\n" for each in entries
    ]
    assert told["items"][1]["summary"] == "Round"


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_titles_survive(site: Client, title: str) -> None:
    published(site, title=title, summary=title, tags=["<b>&\"'"], detail={"text": title})

    read = ET.fromstring(feed(site).body)  # noqa: S314 - our own
    check_atom(feed(site).body)
    item = check_json(feed(site, "json").body)["items"][0]

    kept = title.replace("\ufffe\uffff", "").strip()
    assert (read.findtext(f"{ATOM}entry/{ATOM}title") or "").strip() == kept
    assert (read.findtext(f"{ATOM}entry/{ATOM}summary") or "").strip() == kept
    assert item["title"] == title
    assert "<b>" not in item["content_html"]
    assert not feedparser.parse(feed(site).body).bozo


def test_control_characters_are_left_out_of_xml(clock: Clock) -> None:
    """No text that is stored has one; what an older release stored might."""
    now = clock()
    made = Feed("tag:a,2026:x", "a\x00\x1bb", "h", "u", "f", None, "en", "A", now, ())

    root = ET.fromstring(atom_document(made))  # noqa: S314 - our own

    assert root.findtext(f"{ATOM}title") == "ab"


def test_a_feed_is_of_one_type_or_one_tag(site: Client) -> None:
    published(site, "a", tags=["night sky"])
    published(site, "b", type="blog")

    def titles(query: str) -> list[str]:
        return [each.title for each in feedparser.parse(feed(site, query=query).body).entries]

    assert titles("?type=blog") == ["B"]
    assert titles("?tag=Night%20Sky") == ["A"]
    assert titles("?type=blog&tag=night%20sky") == []
    root = check_atom(feed(site, query="?tag=night%20sky").body)
    assert root.findtext(f"{ATOM}id") == f"tag:harbour.example,2026:{SITE}/tag/night%20sky"


@pytest.mark.parametrize("form", ["atom", "json"])
def test_the_pages_of_a_feed_have_every_entry_once(client: Client, form: str) -> None:
    set_up(client, feed_items=2)
    ids = {published(client, f"p{number}") for number in range(5)}
    url: str | None = f"/content/{SITE}/feed.{form}"
    found: list[str] = []
    while url:
        reply = client.get(url)
        if form == "atom":
            read = feedparser.parse(reply.body)
            found += [each.id for each in read.entries]
            links = {link.rel: link.href for link in read.feed.links}
            assert links["first"].endswith(f"/content/{SITE}/feed.atom")
            url = links.get("next")
        else:
            found += [each["id"] for each in reply.json["items"]]
            url = reply.json.get("next_url")

    assert len(found) == 5
    assert {each.rpartition(":")[2] for each in found} == ids
    assert feed(client, form, "?cursor=nonsense").code == "invalid_cursor"


@pytest.mark.parametrize("setting", ["public_url", "signing_keys"])
def test_a_feed_is_sent_again_when_plaza_has_moved_or_has_another_key(
    site: Client, runtime: Runtime, setting: str
) -> None:
    """It leads to Plaza's address, and on by a signed cursor."""
    published(site)
    held = {"If-None-Match": feed(site, "json").headers["ETag"]}
    changed = {
        "public_url": "https://new.example",
        "signing_keys": [SecretStr("another key of 32 characters!!!!")],
    }
    object.__setattr__(runtime.settings, setting, changed[setting])

    assert feed(site, "json", **held).status == 200


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_poll_that_finds_nothing_new_is_not_answered_again(
    site: Client, runtime: Runtime, clock: Clock, form: str
) -> None:
    edda, node_id = editor(site), published(site)
    tags = [feed(site, form).headers["ETag"]]

    def changes() -> bool:
        reply = feed(site, form, **{"If-None-Match": tags[-1]})
        tags.append(reply.headers["ETag"])
        return reply.status == 200

    assert not changes()
    save(edda, node_id, 1, title="Draft")
    assert not changes()
    publish(site, node_id, 2, minor=True)
    assert changes()
    later = clock() + timedelta(hours=1)
    save(edda, node_id, 2, title="Later")
    publish(site, node_id, 3, at=later.isoformat(), until=(later + timedelta(hours=1)).isoformat())
    changes()
    clock.time = later
    assert changes()
    run_due(runtime)
    assert not changes()
    move = {"from": "none/", "to": "some/"}
    publisher(site).post(f"/content/{SITE}/move", **move)
    assert not changes()
    clock.advance(hours=1)
    assert changes()
    set_up(site, title="Another")
    clock.advance(seconds=10)
    assert changes()


def test_a_correction_before_the_schedule_ran_is_another_answer(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    edda, node_id = editor(site), published(site)
    due = clock() + timedelta(minutes=10)
    save(edda, node_id, 1, title="A slip")
    publish(site, node_id, 2, at=due.isoformat())
    clock.time = due + timedelta(seconds=10)
    page = f"/content/{SITE}/page?address=moon"
    slip, listed = site.get(page), feed(site)
    assert slip.json["title"] == "A slip"

    save(edda, node_id, 2, title="Corrected")
    publish(site, node_id, 3)

    known = {"If-None-Match": slip.headers["ETag"]}
    corrected = site.request("GET", page, headers=known)
    assert corrected.json["title"] == "Corrected"
    assert feed(site, **{"If-None-Match": listed.headers["ETag"]}).status == 200
    run_due(runtime)
    assert site.get(page).headers["ETag"] == corrected.headers["ETag"]


def test_an_entry_keeps_its_id_where_its_address_changes(site: Client, clock: Clock) -> None:
    node_id = published(site, "one")
    before = feedparser.parse(feed(site).body).entries[0]
    clock.advance(hours=1)
    save(editor(site), node_id, 1, slug="two")
    publish(site, node_id, 2, minor=True)

    after = feedparser.parse(feed(site).body).entries[0]

    assert after.id == before.id
    assert (before.link, after.link) == (f"{BASE}/one", f"{BASE}/two")
    assert after.updated == before.updated
    set_up(site, base_url="https://elsewhere.example")
    clock.advance(seconds=10)
    assert feedparser.parse(feed(site).body).entries[0].id == before.id


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_feed_with_more_than_an_answer_holds_ends_early(
    site: Client, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(responses, "MAX_BYTES", 25_000)
    for number in range(4):
        published(site, f"p{number}", detail={"text": "<b> " * 1_000})
    url, sizes, found = f"/content/{SITE}/feed.{form}", list[int](), list[str]()
    while url:
        reply = site.get(url)
        sizes.append(len(reply.body))
        read = feedparser.parse(reply.body) if form == "atom" else reply.json
        found += [each["id"] for each in read["entries" if form == "atom" else "items"]]
        links = {each.rel: each.href for each in read.feed.links} if form == "atom" else {}
        url = links.get("next", "") if form == "atom" else reply.json.get("next_url", "")

    assert (len(found), len(set(found))) == (4, 4)
    assert len(sizes) > 1
    assert max(sizes) < 27_000


def test_a_feed_of_nothing_is_a_feed(site: Client) -> None:
    assert check_atom(feed(site).body).findall(f"{ATOM}entry") == []
    assert check_json(feed(site, "json").body)["items"] == []


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_site_without_settings_has_no_feed(client: Client, form: str) -> None:
    write(editor(client))

    assert feed(client, form).code == "unknown_content_site"
    assert feed(client, form, "?type=%00").code == "invalid_request"


def test_whose_name_was_erased_the_site_speaks_for(site: Client, runtime: Runtime) -> None:
    published(site)
    runtime.database["content.node"].update_many({}, {"$set": {"author": None}})

    assert feedparser.parse(feed(site).body).entries[0].author == "The Harbour"


def test_a_feed_ends_where_an_answer_has_no_more_room_and_goes_on_with_the_next_page(
    site: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred pages of a megabyte each would end the function before its answer is cut."""
    for name in ("one", "two", "three"):
        published(site, name)
        clock.advance(seconds=1)
    monkeypatch.setattr(reading, "MAX_BYTES", 1)
    url, found = f"/content/{SITE}/feed.json", list[str]()
    while url:
        parts = urlsplit(url)
        feed = site.get(f"{parts.path}?{parts.query}").json
        (item,) = feed["items"]
        found.append(item["url"].rpartition("/")[2])
        url = feed.get("next_url", "")

    assert found == ["three", "two", "one"]
