"""A discussion as a page that needs no script: whole, safe, and for crawlers."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from chalice.local import LocalChalice
from selectolax.lexbor import LexborHTMLParser, LexborNode

from app import create_app
from chalicelib.runtime import Runtime
from tests.security.support.vectors import MARKUP
from tests.support.http_client import Client, Reply

NODE = "/nodes/harbour:moon"
HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


@pytest.fixture(autouse=True)
def node(client: Client) -> None:
    put(client, title="Moon")


def put(client: Client, **settings: Any) -> None:
    admin = client.as_("admin", roles=["admin"])
    body = {"title": "Moon", "url": "https://harbour.example/moon", **settings}
    assert admin.put(NODE, **body).status in {200, 201}


def opened(client: Client, query: str = "") -> Reply:
    reply = client.request("GET", f"{NODE}/comments{query}", headers=HTML)
    assert reply.status == 200
    return reply


def page(client: Client, query: str = "") -> LexborHTMLParser:
    return LexborHTMLParser(opened(client, query).body.decode())


def first_of(found: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    node = found.css_first(selector)
    assert node is not None
    return node


def linked_data(found: LexborHTMLParser) -> Any:
    script = first_of(found, "script")
    assert script.attributes["type"] == "application/ld+json"
    return json.loads(script.text())


def test_a_browser_gets_a_page_and_a_program_json(client: Client) -> None:
    html, plain = opened(client), client.get(f"{NODE}/comments")

    assert html.headers["Content-Type"] == "text/html; charset=utf-8"
    assert plain.headers["Content-Type"] == "application/json"
    for each in (html, plain):
        assert "Accept" in each.headers["Vary"].split(", ")
    assert "script-src" not in html.headers["Content-Security-Policy"]
    assert "default-src 'none'" in html.headers["Content-Security-Policy"]


def test_it_names_its_feed(client: Client, runtime: Runtime) -> None:
    public = dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"public_url": "https://a.example"})
    )
    found = page(Client(create_app(public), client.token))

    (link,) = found.css("link[rel=alternate]")
    assert link.attributes["type"] == "application/atom+xml"
    address = str(link.attributes["href"])
    assert address == f"https://a.example{NODE}/comments.atom"
    assert client.get(address.removeprefix("https://a.example")).status == 200


def test_it_shows_who_said_what_to_whom(client: Client) -> None:
    ann, ben = client.as_("ann", name="Ann"), client.as_("ben", name="Ben")
    first = ann.post(f"{NODE}/comments", text="The *moon* is up.").json["id"]
    reply = ben.post(f"{NODE}/comments", text="So it is.", parent=first).json["id"]

    found = page(client)

    items = found.css("main > ol > li")
    assert [each.attributes["id"] for each in items] == [f"plaza-{first}", f"plaza-{reply}"]
    assert first_of(items[0], "em").text() == "moon"
    assert items[1].attributes["class"] == "depth-1"
    assert "in reply to Ann" in first_of(items[1], "header").text()
    assert first_of(found, "title").text() == "2 comments: Moon"


def test_crawlers_read_it_as_linked_data(client: Client) -> None:
    client.as_("ann", name="Ann").post(f"{NODE}/comments", text="The *moon* is up.")

    told = linked_data(page(client))

    assert (told["@type"], told["commentCount"]) == ("DiscussionForumPosting", 1)
    assert told["url"] == "https://harbour.example/moon"
    assert told["comment"][0]["author"] == {"@type": "Person", "name": "Ann"}


def test_the_next_page_is_linked_until_the_last(client: Client) -> None:
    for number in range(3):
        client.as_("ann").post(f"{NODE}/comments", text=f"{number}")

    first = page(client, "?limit=2&order=newest")
    following = first_of(first, 'link[rel="next"]').attributes["href"]
    assert following == first_of(first, 'a[rel="next"]').attributes["href"]
    last = page(client, following or "")

    texts = [each.text() for found in (first, last) for each in found.css("li div p")]
    assert texts == ["2", "1", "0"]
    assert last.css('[rel="next"]') == []


def test_the_previous_page_is_linked_from_the_second_on(client: Client) -> None:
    for number in range(5):
        client.as_("ann").post(f"{NODE}/comments", text=f"{number}")
    pages = [page(client, "?limit=2&order=newest")]
    for relation in ("next", "next", "prev", "prev"):
        link = first_of(pages[-1], f'link[rel="{relation}"]').attributes["href"]
        assert link == first_of(pages[-1], f'a[rel="{relation}"]').attributes["href"]
        pages.append(page(client, link or ""))

    shown = [[each.text() for each in found.css("li div p")] for found in pages]
    assert shown == [["4", "3"], ["2", "1"], ["0"], ["2", "1"], ["4", "3"]]
    assert [len(found.css('link[rel="prev"]')) for found in pages] == [0, 1, 1, 1, 0]


def test_a_page_around_a_comment_links_both_ways(client: Client) -> None:
    ids = [
        client.as_("ann").post(f"{NODE}/comments", text=f"{number}").json["id"]
        for number in range(5)
    ]

    found = page(client, f"?limit=3&around={ids[2]}")

    for relation, texts in (("prev", ["0"]), ("next", ["4"])):
        link = first_of(found, f'a[rel="{relation}"]').attributes["href"] or ""
        assert "around" not in link
        assert [each.text() for each in page(client, link).css("li div p")] == texts


def test_a_page_that_begins_with_a_reply_has_the_comment_above_it(client: Client) -> None:
    first = client.as_("ann").post(f"{NODE}/comments", text="First").json["id"]
    client.as_("ben").post(f"{NODE}/comments", text="Second", parent=first)
    alone = page(client, page_link(page(client, "?limit=1")))

    assert alone.css(f"#plaza-{first}")
    assert first_of(alone, "header a:last-child").attributes["href"] == f"#plaza-{first}"
    assert page(client, f"?around={first}").css(f"#plaza-{first}")


def test_comments_above_a_reply_are_shown_or_hold_their_place(client: Client) -> None:
    moderator = client.as_("mo", roles=["moderator"])
    ids: list[str] = []
    for number in range(5):
        above = {"parent": ids[-1]} if ids else {}
        reply = client.as_("ann", name="Ann").post(f"{NODE}/comments", text=f"{number}", **above)
        ids.append(reply.json["id"])
    for comment, state in ((ids[1], "pending"), (ids[2], "hidden")):
        assert moderator.post(f"{NODE}/comments/{comment}/state", state=state).status == 200
    moderator.delete(f"{NODE}/comments/{ids[0]}")

    for query in (f"?around={ids[4]}&limit=1", ""):
        items = page(client, query).css("main > ol > li")
        assert [each.attributes["id"] for each in items] == [f"plaza-{each}" for each in ids]
        assert [each.text(strip=True) for each in items[:3]] == [
            "This comment was deleted.",
            "This comment waits for a moderator.",
            "This comment is hidden.",
        ]
        assert "in reply to Ann" in first_of(items[4], "header").text()
        assert first_of(items[3], "header a[href*=plaza]:last-child").text() == "another comment"


def page_link(found: LexborHTMLParser) -> str:
    return first_of(found, 'a[rel="next"]').attributes["href"] or ""


def again(client: Client, held: str, headers: dict[str, str] = HTML) -> Reply:
    return client.request("GET", f"{NODE}/comments", headers={**headers, "If-None-Match": held})


def test_a_page_that_is_held_is_not_sent_again_until_somebody_writes(client: Client) -> None:
    first = opened(client)
    held = again(client, first.headers["ETag"])
    client.as_("ann").post(f"{NODE}/comments", text="New.")
    changed = again(client, first.headers["ETag"])

    assert (held.status, held.body) == (304, b"")
    for name in ("ETag", "Cache-Control", "Content-Security-Policy", "Vary"):
        assert held.headers[name] == first.headers[name]
    assert (changed.status, "New." in changed.body.decode()) == (200, True)
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_json_and_html_have_tags_of_their_own(client: Client) -> None:
    """A cache that holds one form may ask with its tag for the other."""
    html, plain = opened(client), client.get(f"{NODE}/comments")

    assert html.headers["ETag"] != plain.headers["ETag"]
    assert again(client, plain.headers["ETag"]).status == 200
    assert again(client, html.headers["ETag"], {}).status == 200


def test_a_readers_own_page_has_a_tag_of_its_own(client: Client) -> None:
    ann = client.as_("ann")

    assert again(ann, opened(client).headers["ETag"]).status == 200
    assert again(ann, opened(ann).headers["ETag"]).status == 304


def test_a_page_whose_style_sheet_has_moved_is_sent_again(
    client: Client, runtime: Runtime, token: Callable[..., str]
) -> None:
    settings = runtime.settings.model_copy(update={"public_url": "https://plaza.example"})
    moved = Client(create_app(dataclasses.replace(runtime, settings=settings), LocalChalice), token)

    assert again(moved, opened(client).headers["ETag"]).status == 200


@pytest.mark.parametrize("text", MARKUP)
def test_no_title_or_name_becomes_markup(client: Client, text: str) -> None:
    plain = "".join(each for each in text if each.isprintable())[:80]
    put(client, title=f"T {plain} </script></title>")
    client.as_("ann", name=f"N {plain} </b>"[:100]).post(f"{NODE}/comments", text="x")

    found = page(client)

    assert len(found.css("script")) == 1
    assert found.css("[onerror], [onload], iframe, svg, style, img, object, form, base") == []
    assert linked_data(found)["headline"].startswith("T ")


def test_what_is_not_for_everybody_is_not_kept_by_caches(client: Client) -> None:
    put(client, moderation="before")
    client.as_("ann").post(f"{NODE}/comments", text="May I?")

    own = client.as_("ann").request("GET", f"{NODE}/comments", headers=HTML)

    assert own.headers["Cache-Control"].startswith("private")
    assert "waits for a moderator" in own.body.decode()
    assert "May I?" not in opened(client).body.decode()
