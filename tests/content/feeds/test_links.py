"""Links and ids in feeds: each leads where a browser goes from the page itself, and is its own."""

import itertools
import re

import pytest

from chalicelib.content.feeds.formats import feed_id
from chalicelib.content.rendered import absolute
from tests.content.support.factories import SITE, published, set_up
from tests.support.http_client import Client

PAGE = "https://harbour.example/blog/news/moon"
TAGS = (
    *("new york", "new-york", "new%20york", "new+york", "new/york", "new?york", "new#york"),
    *("newyork", "n\u00e9w york", "\u65b0\u7ebd\u7ea6", "type", "tag"),
)


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("/moon", "https://harbour.example/moon"),
        ("/blog/moon", "https://harbour.example/blog/moon"),
        ("/blog/moon?a=1&b=2#c", "https://harbour.example/blog/moon?a=1&b=2#c"),
        ("#top", f"{PAGE}#top"),
        ("/", "https://harbour.example/"),
        ("/a/../b", "https://harbour.example/b"),
        ("https://elsewhere.example/moon#top", "https://elsewhere.example/moon#top"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ],
)
@pytest.mark.parametrize("base_path", ["", "/blog"])
def test_a_link_leads_where_a_browser_goes(
    client: Client, link: str, leads_to: str, base_path: str
) -> None:
    set_up(client, base_url=f"https://harbour.example{base_path}")
    text = f"[a]({link}) ![b]({link})" if "mailto" not in link else f"[a]({link})"
    published(client, "news/moon", detail={"text": text})
    wanted = (
        leads_to if base_path else leads_to.replace(f"{PAGE}#", f"{PAGE}#".replace("/blog", ""))
    )

    feed = client.get(f"/content/{SITE}/feed.json").json["items"][0]["content_html"]
    page = client.request(
        "GET", f"/content/{SITE}/page?address=news/moon", headers={"Accept": "text/html"}
    ).body.decode()

    for html in (feed, page):
        found = re.findall(r'<(?:a href|img src)="([^"]*)"', html.partition("<article>")[2] or html)
        assert {each.replace("&amp;", "&") for each in found} == {wanted}


def test_an_asset_leads_to_plaza() -> None:
    html = '<a href="/assets/aaneGAECAwQFBgcI">a</a> <img src="/assets/aaneGAECAwQFBgcI" alt="">'

    found = absolute(html, PAGE, "https://plaza.example/api")

    assert found == html.replace('"/assets', '"https://plaza.example/api/assets')


def test_a_quote_in_a_link_stays_inside_its_attribute() -> None:
    html = '<a href="/a&quot;b&amp;c&lt;d" rel="noopener">x</a>'

    assert absolute(html, PAGE, "") == html.replace('"/a', '"https://harbour.example/a')


def test_each_feed_has_an_id_of_its_own(site: Client) -> None:
    del site
    settings = {"_id": SITE, "feed_host": "harbour.example"}
    ids = [
        feed_id(settings, kind, tag)  # type: ignore[arg-type]
        for kind, tag in itertools.product((None, "blog", "tag"), (None, *TAGS))
    ]

    assert len(set(ids)) == len(ids)
    for each in ids:
        assert re.fullmatch(r"tag:harbour\.example,2026:[A-Za-z0-9._~%/-]+", each)


def test_feeds_of_like_tags_differ(site: Client) -> None:
    published(site, "moon", tags=["new york", "new-york"])

    first, second = (
        re.search(r"<id>([^<]*)", site.get(f"/content/{SITE}/feed.atom?tag={tag}").body.decode())
        for tag in ("new%20york", "new-york")
    )

    assert first is not None
    assert second is not None
    assert first[1] != second[1]
