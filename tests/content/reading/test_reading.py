"""What readers get: a page by its address, lists by type and tag, and previews."""

from datetime import timedelta

import pytest

from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    BASE,
    SITE,
    editor,
    listed,
    node,
    picture,
    publish,
    published,
    publisher,
    read,
    save,
    set_up,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

HTML = {"Accept": "text/html"}
HOSTILE = "]]> <script>alert(1)</script> \u200fabc\u200f & \"quoted\" 'single'"


def as_html(client: Client, target: str) -> Reply:
    return client.request("GET", target, headers=HTML)


def test_a_page_has_its_text_as_html_and_no_draft(site: Client) -> None:
    asset = picture(site)
    text = f'A [way](/moon "t") and ![m](asset:{asset} "The moon")\n\n<b>raw</b>'
    node_id = published(site, detail={"text": text, "section": "sky"}, tags=["a"])
    save(editor(site), node_id, 1, title="Hidden")

    reply = read(site, "moon")

    assert reply.json["title"] == "Moon"
    assert reply.json["detail"] == {"section": "sky"}
    assert f'<img src="/assets/{asset}"' in reply.json["html"]
    assert '<a href="/moon"' in reply.json["html"]
    assert "&lt;b&gt;" in reply.json["html"]
    assert "Hidden" not in reply.body.decode()
    assert reply.headers["Cache-Control"] == "public, max-age=30"
    assert reply.json["feeds"]["atom"].endswith(f"/content/{SITE}/feed.atom")


def test_a_page_that_a_reader_has_is_not_sent_again(site: Client) -> None:
    node_id = published(site)
    tag = read(site, "moon").headers["ETag"]
    held = {"If-None-Match": tag}
    path = f"/content/{SITE}/page?address=moon"

    assert site.request("GET", path, headers=held).status == 304
    save(editor(site), node_id, 1, title="The moon")
    assert site.request("GET", path, headers=held).status == 304
    publish(site, node_id, 2)
    assert site.request("GET", path, headers=held).status == 200


def test_a_page_is_sent_again_when_plaza_has_moved(site: Client, runtime: Runtime) -> None:
    """Its pictures and feeds are at Plaza's address."""
    published(site)
    held = {"If-None-Match": read(site, "moon").headers["ETag"]}
    object.__setattr__(runtime.settings, "public_url", "https://new.example")

    moved = site.request("GET", f"/content/{SITE}/page?address=moon", headers=held)

    assert moved.status == 200
    assert moved.json["feeds"]["atom"].startswith("https://new.example/")


def test_caches_keep_a_page_no_longer_than_it_stays_as_it_is(site: Client, clock: Clock) -> None:
    node_id = write(editor(site))
    publish(site, node_id, until=(clock() + timedelta(seconds=12)).isoformat())

    assert read(site, "moon").headers["Cache-Control"] == "public, max-age=12"


def test_a_page_names_those_before_and_after_it(site: Client, clock: Clock) -> None:
    for slug in ("a", "b", "c"):
        published(site, slug)
        published(site, f"{slug}-post", type="blog")
        clock.advance(seconds=1)

    middle = read(site, "b", "&include=neighbours,discussion").json["neighbours"]
    first = read(site, "a", "&include=neighbours").json["neighbours"]
    last = read(site, "c", "&include=neighbours").json["neighbours"]

    assert middle == {
        "previous": {"address": "a", "title": "A"},
        "next": {"address": "c", "title": "C"},
    }
    assert (first["previous"], last["next"]) == (None, None)
    assert read(site, "b").json["neighbours"] is None
    assert read(site, "b", "&include=everything").code == "invalid_request"


def test_lists_have_one_type_or_one_tag(site: Client, clock: Clock) -> None:
    for number in range(5):
        kind = "blog" if number % 2 else "page"
        published(site, f"p{number}", type=kind, tags=["all", f"t{number % 2}"])
        clock.advance(seconds=1)

    assert listed(site) == ["p4", "p3", "p2", "p1", "p0"]
    assert listed(site, "&type=blog") == ["p3", "p1"]
    assert listed(site, "&tag=T0%20") == ["p4", "p2", "p0"]
    assert listed(site, "&type=blog&tag=all") == ["p3", "p1"]
    assert listed(site, "&tag=none") == []
    counts = site.get(f"/content/{SITE}/tags").json["tags"]
    assert counts == [
        {"tag": "all", "count": 5},
        {"tag": "t0", "count": 3},
        {"tag": "t1", "count": 2},
    ]


@pytest.mark.parametrize("query", ["", "&tag=all", "&type=page"])
def test_lists_are_read_page_by_page(site: Client, query: str) -> None:
    """Pages of one instant keep their order by their ids."""
    ids = [published(site, f"p{number}", tags=["all"]) for number in range(5)]
    found, cursor = list[str](), ""
    for _ in range(3):
        page = site.get(f"/content/{SITE}?limit=2{query}{cursor}").json
        found += [each["id"] for each in page["entries"]]
        cursor = f"&cursor={page['next']}"

    assert found == sorted(ids, reverse=True)
    assert page["next"] is None
    other = site.get(f"/content/{SITE}?limit=2&type=blog{cursor}")
    assert other.code == "invalid_cursor"


def test_a_list_has_no_texts(site: Client) -> None:
    published(site, detail={"text": "Long text", "section": "sky"})

    entry = site.get(f"/content/{SITE}").json["entries"][0]

    assert entry["detail"] == {"section": "sky"}
    assert "html" not in entry


def test_a_browser_gets_the_article_alone(site: Client) -> None:
    published(site, title=HOSTILE, summary=HOSTILE, detail={"text": "See [more](/more)"})

    page = as_html(site, f"/content/{SITE}/page?address=moon")

    text = page.body.decode()
    assert page.headers["Content-Type"].startswith("text/html")
    assert "sandbox" in page.headers["Content-Security-Policy"]
    assert "<script>" not in text
    assert f'<link rel="canonical" href="{BASE}/moon">' in text
    assert f'<a href="{BASE}/more"' in text
    assert 'type="application/atom+xml"' in text
    assert 'property="og:title"' in text


def preview(client: Client, node_id: str, **given: bool) -> str:
    made = publisher(client).post(f"{node(node_id)}/preview", **given)
    assert made.status == 200, made.body
    return str(made.json["url"])


def test_a_draft_is_previewed_at_a_signed_address(site: Client, clock: Clock) -> None:
    node_id = published(site)
    save(editor(site), node_id, 1, title="Not yet")
    address = preview(site, node_id)

    shown = site.get(address)
    assert shown.json["title"] == "Not yet"
    assert shown.headers["Cache-Control"] == "no-store"
    assert "Not yet" in as_html(site, address).body.decode()
    assert site.get(address[:-1] + ("A" if address[-1] != "A" else "B")).code == "unknown_preview"
    clock.advance(days=7)
    assert site.get(address).code == "unknown_preview"


def test_a_new_key_ends_the_previews_that_were_made(site: Client) -> None:
    node_id = write(editor(site))
    first = preview(site, node_id)
    assert site.get(preview(site, node_id)).status == 200
    second = preview(site, node_id, end_others=True)

    assert site.get(first).code == "unknown_preview"
    assert site.get(second).status == 200
    publisher(site).delete(node(node_id))
    assert site.get(second).code == "unknown_preview"
    assert publisher(site).post(f"{node(node_id)}/preview").code == "content_gone"


@pytest.mark.bounds(content={"html_bytes": 500})
def test_a_preview_of_too_much_is_refused(site: Client) -> None:
    node_id = write(editor(site), detail={"text": "x" * 500})

    assert site.get(preview(site, node_id)).code == "page_too_large"


def test_the_settings_bound_what_a_site_says(client: Client) -> None:
    set_up(client, language="de-DE", feed_items=100)
    path = f"/content/{SITE}/settings"
    for wrong in (
        {"base_url": "https://a.example?x"},
        {"base_url": "ftp://a.example"},
        {"base_url": "https://"},
        {"base_url": 'https://a.example/"'},
        # With the address of a page it would be too long for the page's discussion.
        {"base_url": f"https://a.example/{'x' * (1_744 - 18)}"},
        {"language": "<b>"},
        {"feed_items": 101},
        {"comments": "some"},
    ):
        given = {"title": "T", "base_url": BASE, **wrong}
        assert publisher(client).put(path, **given).code == "invalid_request", wrong
    moved = publisher(client).put(path, title="T", base_url="https://elsewhere.example/sub/")

    assert moved.json["base_url"] == "https://elsewhere.example/sub"
    assert moved.json["feed_host"] == "harbour.example"
    assert publisher(client).get(path).json == moved.json
