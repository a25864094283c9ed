"""The newspaper's articles: read from the API as any site's content, and made into HTML."""

import json
from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from local.demo_articles import ARTICLES, FOLDER, PREFIX

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

# What the newspaper knows of its own articles beside their content, by address.
_KNOWN = {f"{PREFIX}{each['name']}": each for each in ARTICLES}
_MOVED = HTTPStatus.PERMANENT_REDIRECT

# Returns the status of an API's answer, and its JSON.
Read = Callable[[str], tuple[int, Any]]


class Article(NamedTuple):
    """A page's title, its HTML, and the element of its discussion; "" without a discussion."""

    title: str
    main: str
    discussion: str


class Moved(NamedTuple):
    """A page's new address."""

    address: str


def reader(api: "WSGIApplication", environ: Mapping[str, Any]) -> Read:
    """Return a function that reads from the API with a request's headers, as a page's server."""

    def read(path: str) -> tuple[int, Any]:
        told: list[str] = []
        target, _, query = path.partition("?")
        asked = {
            **environ,
            "REQUEST_METHOD": "GET",
            "PATH_INFO": target,
            "QUERY_STRING": query,
            "REQUEST_URI": path,
            "HTTP_ACCEPT": "application/json",
        }
        asked.pop("CONTENT_LENGTH", None)
        parts = api(asked, lambda status, *_: told.append(status))  # type: ignore[arg-type]
        body = b"".join(parts)
        status = int(told[0][:3])
        return status, json.loads(body) if status in {HTTPStatus.OK, _MOVED} else None

    return read


def filled(template: str, texts: Mapping[str, str], **html: str) -> str:
    """Fill a template with texts, which are escaped, and with HTML."""
    escaped = {name: escape(text) for name, text in texts.items()}
    return Template((FOLDER / template).read_text()).substitute(escaped, **html)


def listed(read: Read, site: str) -> list[Any]:
    """Return at most 20 published pages, newest first, with views; none if the API fails."""
    status, found = read(f"/content/{site}?include=views&limit=20")
    return list(found["entries"]) if status == HTTPStatus.OK else []


def teasers(entries: list[Any]) -> str:
    """Return the front page's teasers."""
    return "".join(_teaser(each) for each in entries)


def is_there(read: Read, site: str, path: str) -> bool:
    """Return whether the content has a page at a path, or had it there."""
    status, _ = read(f"/content/{site}/page?address={quote(path.removeprefix('/'))}")
    return status in {HTTPStatus.OK, _MOVED}


def find(read: Read, site: str, address: str) -> Article | Moved | None:
    """Return the page at an address; None without one."""
    status, page = read(f"/content/{site}/page?address={quote(address)}&include=views")
    if status == _MOVED:
        return Moved(page["facts"]["address"])
    if status != HTTPStatus.OK:
        return None
    known = _KNOWN.get(address, {})
    node = known.get("node") or page["discussion_id"]
    discussion = f'<plaza-comments node="{escape(node)}"></plaza-comments>' if node else ""
    others = [each for each in listed(read, site) if each["address"] != address]
    main = filled(
        "article.html",
        {**_texts(page), "site": site, "views": _views(page, " · ")},
        picture=_picture(page, "lead", known.get("alt", "")),
        body=page["html"],
        discussion=_place(node) if node else "",
        others="".join(_other(each) for each in others),
    )
    return Article(page["title"], main, discussion)


def place_of(address: str) -> str:
    """Return a page's path in the newspaper."""
    return f"/{quote(address)}"


def navigation() -> list[tuple[str, str]]:
    """Return the addresses of the newspaper's own articles, and the sections they are in."""
    return [(f"/{address}", each["section"]) for address, each in _KNOWN.items()]


def count_of_first() -> str:
    """Return the element that counts the comments of the newspaper's first article."""
    return f'<plaza-count node="{ARTICLES[0]["node"]}">Comments</plaza-count>'


def _teaser(entry: Any) -> str:
    known, address = _KNOWN.get(entry["address"], {}), escape(place_of(entry["address"]))
    shown = _picture(entry, "", "")
    picture = (
        f'<a class="picture" href="{address}" tabindex="-1" aria-hidden="true">{shown}</a>'
        if shown
        else ""
    )
    count = (
        f'<a href="{address}#discussion"><plaza-count node="{escape(known["node"])}">Comments'
        "</plaza-count></a>"
        if known
        else ""
    )
    views = _views(entry, " · " if count else "")
    texts = {**_texts(entry), "address": place_of(entry["address"]), "views": views}
    return filled("teaser.html", texts, picture=picture, count=count)


def _texts(page: Any) -> dict[str, str]:
    known, author = _KNOWN.get(page["address"], {}), page["author"]
    return {
        "section": known.get("section") or (page["tags"] or ["news"])[0],
        "title": page["title"],
        "summary": page["summary"] or "",
        "byline": known.get("byline") or (author["name"] if author else ""),
        "keywords": ",".join(page["tags"][:20]),
    }


def _views(page: Any, before: str) -> str:
    count = page["views"]
    if count is None:
        return ""
    return f"{before}{count} {'view' if count == 1 else 'views'}"


def _picture(page: Any, name: str, alt: str) -> str:
    asset = page["detail"].get("cover") or page["detail"].get("asset")
    if asset is None:
        return ""
    styled = f' class="{name}"' if name else ""
    return (
        f'<img{styled} src="/assets/{escape(asset)}" alt="{escape(alt)}" width="640" height="360">'
    )


def _place(node: str) -> str:
    told = escape(node)
    return (
        f'<div id="discussion"><plaza-watch node="{told}"></plaza-watch>'
        f'<plaza-comments node="{told}">'
        f'<a href="/nodes/{told}/comments">Read the discussion</a></plaza-comments></div>'
    )


def _other(entry: Any) -> str:
    return f'<li><a href="{escape(place_of(entry["address"]))}">{escape(entry["title"])}</a></li>'
