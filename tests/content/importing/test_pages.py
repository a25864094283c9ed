"""Posts and pages of WordPress as pages of a site: their words, addresses, dates and states."""

import dataclasses
import io
from datetime import UTC, datetime

import pytest

from chalicelib.content.errors import SiteNotSetUp
from chalicelib.content.importing import pages, wordpress
from chalicelib.foreign.broken import BrokenFile
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.runtime import Runtime
from chalicelib.wiring.pages import DISCUSSIONS
from tests.comments.support.importing import everything
from tests.content.support.factories import (
    BASE,
    SITE,
    editor,
    listed,
    node,
    published,
    publisher,
    read,
    save,
    set_up,
)
from tests.content.support.wordpress import bring, item, nodes, numbers, wxr
from tests.support.clock import Clock
from tests.support.http_client import Client

POSTED = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_a_post_is_published_at_its_address_with_its_date(
    site: Client, runtime: Runtime, version: str
) -> None:
    labels = (
        '<category domain="category" nicename="news"><![CDATA[News &amp; Views]]></category>'
        '<category domain="post_tag" nicename="moon"><![CDATA[Moon\uff0c Tide]]></category>'
        '<category domain="category" nicename="uncategorized"><![CDATA[None]]></category>'
        "<excerpt:encoded><![CDATA[In <b>short</b>.]]></excerpt:encoded>"
    )

    done = bring(runtime, item(more=labels, title="A &amp; <em>B</em>"), version=version)

    assert numbers(done) == {"pages": 1, "imported": 1, "published": 1}
    page = read(site, "2024/05/post-1").json
    assert page["type"] == "blog"
    assert page["title"] == "A & B"
    assert page["summary"] == "In short."
    assert page["html"] == "<p>It is <em>full</em>.</p>\n"
    assert page["tags"] == ["news & views", "moon tide"]
    assert page["published_at"] == "2024-05-06T07:08:09Z"
    (made,) = nodes(runtime)
    assert made["published"] == made["first_published"] == POSTED
    assert made["author"] is not None
    assert made["author"]["name"] == "Mara Lindqvist"
    assert IMPORTED_ID.fullmatch(made["author"]["id"])


def test_pages_drafts_and_later_posts_keep_their_state(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    done = bring(
        runtime,
        item(1, link=f"{BASE}/about/", wp__post_type="page"),
        item(2, link=f"{BASE}/?p=2", wp__status="draft", wp__post_date_gmt="0000-00-00 00:00:00"),
        item(3, link=f"{BASE}/?p=3", wp__status="pending", wp__post_name=""),
        item(4, wp__status="future", wp__post_date_gmt="2026-03-02 12:00:00"),
        item(5, wp__status="private"),
        item(6, wp__status="trash"),
        item(7, "<p>secret</p>", wp__post_password="x"),
        item(8, wp__post_type="attachment", wp__status="inherit"),
        item(9, wp__post_type="nav_menu_item"),
    )

    assert numbers(done) == {
        "pages": 7,
        "imported": 4,
        "published": 2,
        "drafts": 2,
        "left": 3,
        "private": 1,
        "trash": 1,
        "password": 1,
        "attachments": 1,
        "others": 1,
    }
    assert read(site, "about").json["type"] == "page"
    assert [each["draft"]["slug"] for each in nodes(runtime) if each["draft"]] == [
        "2024/05/post-4",
        "about",
        "post-2",
        "post-3",
    ]
    assert read(site, "post-2").status == 404
    assert read(site, "2024/05/post-4").status == 404
    clock.advance(days=1)
    assert read(site, "2024/05/post-4").json["published_at"] == "2026-03-02T12:00:00Z"


def test_a_time_comes_from_either_field_in_utc_or_is_the_imports(
    site: Client, runtime: Runtime
) -> None:
    zero = "0000-00-00 00:00:00"
    done = bring(
        runtime,
        item(1, wp__post_date_gmt=zero, pubDate="Mon, 06 May 2024 09:08:09 +0200"),
        item(2, wp__post_date_gmt=zero, pubDate="Wed, 30 Nov -0001 00:00:00 +0000"),
        item(3, wp__post_date_gmt="1969-05-06 07:08:09"),
        item(4, wp__post_date_gmt="2150-05-06 07:08:09"),
        item(5, wp__post_date_gmt=zero, wp__status="future"),
    )

    assert numbers(done) == {
        "pages": 5,
        "imported": 5,
        "published": 3,
        "drafts": 2,
        "no_time": 4,
    }
    assert read(site, "2024/05/post-1").json["published_at"] == "2024-05-06T07:08:09Z"
    assert read(site, "2024/05/post-2").json["published_at"] == "2026-03-01T12:00:00Z"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("One\ntwo\n\nthree <b>four</b>", "One\\\ntwo\n\nthree **four**"),
        ("<!-- wp:heading -->\n<h2>Moon</h2>\n<!-- /wp:heading -->", "## Moon"),
        ('<a href="/tides/">Tides</a>', f"[Tides]({BASE}/tides/)"),
        (
            '[caption id="a" width="5"]<img src="/wp-content/a.png" alt="A" /> Boats[/caption]',
            f"![A]({BASE}/wp-content/a.png) Boats",
        ),
        ('x<script>alert(1)</script><a href="javascript:alert(1)">y</a>', "xy"),
        ("[gallery ids=1,2]", "\\[gallery ids=1,2\\]"),
    ],
)
def test_html_becomes_markdown_that_pages_show_alike(
    site: Client, runtime: Runtime, html: str, text: str
) -> None:
    del site
    bring(runtime, item(1, html))

    (made,) = nodes(runtime)
    assert made["draft"] is not None
    assert made["draft"]["detail"] == {"text": text}


@pytest.mark.parametrize(
    ("link", "slug", "changed"),
    [
        (f"{BASE}/a/b/", "a/b", False),
        (f"{BASE}/About_Us.html", "about-us-html", True),
        (f"{BASE}/%d0%bb%d1%83%d0%bd%d0%b0/", "post-name", True),
        (f"{BASE}/2024/%d0%bb%d1%83%d0%bd%d0%b0/", "post-1", True),
        (f"{BASE}/?p=1", "post-name", True),
        (f"{BASE}/", "post-name", True),
        ("http://[", "post-name", True),
        (f"{BASE}/{'a' * 300}/", "a" * 256, True),
        ("", "post-name", True),
    ],
)
def test_the_path_of_an_address_stays_if_it_can(
    site: Client, runtime: Runtime, link: str, slug: str, *, changed: bool
) -> None:
    done = bring(runtime, item(1, link=link, wp__post_name="post-name"))

    assert numbers(done).get("address_changed", 0) == changed
    assert listed(site) == [slug]


def test_addresses_are_below_the_path_of_the_site(client: Client, runtime: Runtime) -> None:
    set_up(client, base_url=f"{BASE}/blog")

    bring(runtime, item(1, link=f"{BASE}/blog/moon/"))

    assert listed(client) == ["moon"]


def test_a_second_import_changes_nothing(site: Client, runtime: Runtime) -> None:
    items = [
        item(1),
        item(2, wp__status="draft"),
        item(3, link=f"{BASE}/2024/05/post-1/"),
        item(4, wp__status="future", wp__post_date_gmt="2027-03-02 12:00:00"),
    ]

    dry = bring(runtime, *items, dry=True)
    assert nodes(runtime) == []
    first = bring(runtime, *items)
    before = everything(runtime)
    second = bring(runtime, *items)

    assert numbers(dry) == numbers(first)
    assert numbers(first) == {
        "pages": 4,
        "imported": 4,
        "published": 2,
        "drafts": 2,
        "address_taken": 1,
    }
    assert everything(runtime) == before
    assert numbers(second) == {"pages": 4, "present": 4, "address_taken": 1}
    assert listed(site) == ["2024/05/post-1"]


def test_a_page_that_comes_twice_in_a_file_comes_over_once(site: Client, runtime: Runtime) -> None:
    items = [item(1), item(1), item(1, "<p>Other words.</p>")]

    dry = bring(runtime, *items, dry=True)
    done = bring(runtime, *items)

    assert numbers(dry) == numbers(done)
    assert numbers(done) == {
        "pages": 3,
        "imported": 1,
        "published": 1,
        "present": 1,
        "changed": 1,
    }
    assert read(site, "2024/05/post-1").json["html"] == "<p>It is <em>full</em>.</p>\n"


def test_a_page_that_was_edited_or_deleted_here_stays_so(site: Client, runtime: Runtime) -> None:
    items = [item(number) for number in (1, 2, 3, 4)]
    bring(runtime, *items)
    first, second, third, _ = (each["_id"] for each in nodes(runtime))
    assert save(editor(site), first, 1, title="Ours").status == 200
    assert publisher(site).delete(node(second)).status == 204
    assert publisher(site).post(f"{node(third)}/unpublish").status == 200
    before = everything(runtime)

    dry = bring(runtime, *items, dry=True)
    done = bring(runtime, *items[:3], item(4, "<p>Other words.</p>"))

    assert numbers(dry) == {"pages": 4, "changed": 1, "deleted": 1, "left": 1, "present": 2}
    assert numbers(done) == {"pages": 4, "changed": 2, "deleted": 1, "left": 1, "present": 1}
    assert everything(runtime) == before


def test_an_address_of_another_page_is_not_taken(site: Client, runtime: Runtime) -> None:
    mine = published(site, "2024/05/post-1")

    dry = bring(runtime, item(1), dry=True)
    done = bring(runtime, item(1))

    assert numbers(done) == {"pages": 1, "imported": 1, "drafts": 1, "address_taken": 1}
    assert numbers(dry) == numbers(done)
    assert read(site, "2024/05/post-1").json["id"] == mine


@pytest.mark.parametrize("excerpt", ["&#8203;", "\u202e\u200b"])
def test_a_page_whose_excerpt_cannot_be_shown_comes_without_it(
    site: Client, runtime: Runtime, excerpt: str
) -> None:
    done = bring(runtime, item(excerpt__encoded=excerpt))

    assert numbers(done) == {"pages": 1, "imported": 1, "published": 1, "summary": 1}
    assert read(site, "2024/05/post-1").json["summary"] is None


@pytest.mark.parametrize(
    ("text", "stored"),
    [("\u202e reversed", " reversed"), ("x" * 998 + "\u2067x\u2069", "x" * 998 + "x")],
)
def test_stray_controls_of_the_direction_stay_behind_alone(
    site: Client, runtime: Runtime, text: str, stored: str
) -> None:
    bring(runtime, item(title=f"{text[0]}A page", excerpt__encoded=text))

    page = read(site, "2024/05/post-1").json
    assert page["summary"] == stored.strip()
    assert page["title"].endswith("A page")


def test_accounts_of_two_blogs_are_two_people(site: Client, runtime: Runtime) -> None:
    del site
    bring(runtime, item(1), item(2, link="https://other.example/2024/05/post-2/"))
    bring(runtime, item(3, link="https://www.other.example/2024/05/post-3/"))

    one, other, again = (each["author"] for each in nodes(runtime))

    assert one is not None and other is not None and other == again  # noqa: PT018
    assert one["id"] != other["id"]


def test_a_page_that_cannot_be_shown_is_left(site: Client, runtime: Runtime) -> None:
    del site
    items = [
        item(1, ""),
        item(2, "x" * 200_001),
        item(3, "<p>a" + "\u0301" * 40 + "</p>"),
        item(4, "<p>" + "x" * (4 << 20) + "</p>"),
        item(5, wp__post_id=""),
        item(6, dc__creator="Admin"),
        item(7, title="\u200b"),
    ]

    dry = bring(runtime, *items, dry=True)
    done = bring(runtime, *items)

    assert numbers(dry) == numbers(done)
    assert numbers(done) == {
        "pages": 7,
        "imported": 1,
        "published": 1,
        "left": 6,
        "empty": 1,
        "too_large": 2,
        "malformed": 1,
        "no_id": 1,
        "author": 1,
        "bad_title": 1,
    }
    (made,) = nodes(runtime)
    assert made["author"] is None
    assert all("x" * 50 not in each.where for each in done.places)


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE rss [<!ENTITY a "b">]><rss><channel/></rss>',
        b'<!DOCTYPE rss SYSTEM "file:///etc/passwd"><rss/>',
        b"<rss><channel><item><title>&xxe;</title></item></channel></rss>",
        wxr(item(1))[:-20],
        b"\x1f\x8b broken",
    ],
)
def test_a_hostile_or_broken_file_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenFile):
        list(wordpress.parse(io.BytesIO(content)))


def test_of_what_a_file_repeats_little_is_held() -> None:
    long = "x" * 100_000
    labels = f"<category><![CDATA[{long}]]></category>" * 300
    people = wxr(item(1, more=labels, title=long, dc__creator=long)).replace(
        b"<![CDATA[mara]]>", long.encode()
    )

    (found,) = wordpress.parse(io.BytesIO(people))

    assert {len(each) for each in found.labels} == {1_000}
    assert len(found.labels) == 200
    assert len(found.title) == 10_000
    assert found.login == "x" * 1_000
    assert found.author == wordpress.WordPressAuthor("7", "Mara Lindqvist")


def test_a_site_needs_its_address_first(runtime: Runtime) -> None:
    with pytest.raises(SiteNotSetUp):
        pages.run(runtime, DISCUSSIONS, SITE, [], lambda _: None)


def test_an_import_is_no_news(site: Client, runtime: Runtime) -> None:
    del site
    told = runtime.settings.model_copy(update={"action_sites": (SITE,)})

    bring(dataclasses.replace(runtime, settings=told), item(1))

    assert runtime.database["social.errand"].count_documents({}) == 0
