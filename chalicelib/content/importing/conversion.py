"""Items of WordPress as pages of Plaza: their addresses, Markdown, dates and writers.

A file is hostile input: it can name no account of the deployment, and no asset.
"""

import contextlib
import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from pydantic import SecretStr, ValidationError

from chalicelib import signing
from chalicelib.content.editing.forms import NewContent
from chalicelib.content.importing.wordpress import SYSTEM, WordPressItem
from chalicelib.content.publishing.forms import Publication
from chalicelib.content.shapes import MAX_SLUG_CHARACTERS, MAX_SUMMARY_CHARACTERS, MAX_TAGS, Writer
from chalicelib.content.types import MAX_TEXT_CHARACTERS
from chalicelib.foreign import people
from chalicelib.foreign.entities import plain_line
from chalicelib.foreign.html_markdown import HARD_BREAK, MAX_HTML_CHARACTERS, markdown_of
from chalicelib.keywords import MAX_KEYWORD_CHARACTERS, normalise_keyword
from chalicelib.people.names import acceptable
from chalicelib.texts import balance_directions, is_visible

KINDS = {"post": "blog", "page": "page"}
# An item in neither set of states becomes a draft.
_PUBLIC = frozenset({"publish", "future"})
_LEFT = frozenset({"private", "trash", "auto-draft"})
_ID_CHARACTERS = 22
# Clocks differ: a post at most a minute ahead counts as posted now.
_SOON = timedelta(minutes=1)
_MAX_LINE_CHARACTERS = 200
_SLUG = re.compile(r"[a-z0-9-]+(?:/[a-z0-9-]+)*")
_NOT_OF_SLUG = re.compile(r"[^a-z0-9]+")
_CONTROLS_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Marks HTML of the block editor, which has paragraphs; in other HTML, newlines make paragraphs.
_BLOCK = "<!-- wp:"
# Shortcodes around a picture or an address: the import removes them, and their content stays.
_WRAPPERS = re.compile(r"\[/?(?:caption|wp_caption|embed)\b[^\]]{0,1000}\]")
_SHORTCODE = re.compile(r"\[(?:gallery|audio|video|playlist|contact-form)[\s\]-]")


class UnusablePage(Exception):
    """The import leaves an item out; `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class PageRules(NamedTuple):
    """The rules of an import: a site, its address, and the deployment's secret and reserved names.

    at: the start of the import, which schedules posts with a date more than a minute later.
    """

    site: str
    base_url: str
    secret: SecretStr
    reserved: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class ConvertedPage:
    """A page to import. losses: codes for its lost or changed parts.

    publication None: the page stays a draft. address: its former URL, to find its imported
    discussion. is_closed: its discussion begins closed.
    """

    id: str
    new: NewContent
    writer: Writer | None
    publication: Publication | None
    address: str
    is_closed: bool
    losses: list[str] = field(default_factory=list)


def convert(rules: PageRules, item: WordPressItem) -> ConvertedPage:
    """Return an item as a page; `item.kind` is a key of KINDS. Raises UnusablePage."""
    if item.status in _LEFT:
        raise UnusablePage(item.status.replace("-", "_"))
    if item.has_password:
        raise UnusablePage("password")
    if not item.id:
        raise UnusablePage("no_id")
    losses: list[str] = []
    is_public = item.status in _PUBLIC
    text = _text(item, losses)
    slug = _slug(rules, item, losses if is_public else [])
    new = _parse_new(
        {
            "type": KINDS[item.kind],
            "slug": slug,
            "title": plain_line(item.title, _MAX_LINE_CHARACTERS) or slug[:_MAX_LINE_CHARACTERS],
            "summary": _summary(item, losses),
            "tags": _tags(item, losses),
            "detail": {"text": text},
        }
    )
    return ConvertedPage(
        page_id(rules.site, item),
        new,
        _writer(rules, item, losses),
        _publication(rules, item, losses) if is_public else None,
        _address(rules, item.link, slug),
        item.is_closed,
        losses,
    )


def page_id(site: str, item: WordPressItem) -> str:
    """Return a page's id: a digest of its site, its former host and its number there."""
    parts = [site, SYSTEM, people.host_of(item.link), item.id]
    digest = hashlib.sha256(json.dumps(parts).encode(errors="replace")).digest()
    return signing.encode(digest)[:_ID_CHARACTERS]


def _address(rules: PageRules, link: str, slug: str) -> str:
    """Return a page's former URL, or its new URL if the file has none."""
    is_address = link.startswith(("https://", "http://")) and bool(people.host_of(link))
    return link if is_address else f"{rules.base_url}/{slug}"


def _text(item: WordPressItem, losses: list[str]) -> str:
    """Return the Markdown of a page; raises UnusablePage."""
    html = item.html
    if html is None or len(html) > MAX_HTML_CHARACTERS:
        raise UnusablePage("too_large")
    if _SHORTCODE.search(html):
        losses.append("shortcode")
    html = _CONTROLS_BUT_LINES.sub("", _WRAPPERS.sub("", html.replace("\r\n", "\n")))
    join = partial(_absolute, item.link)
    text = markdown_of(
        html.strip(), breaks=_BLOCK not in html, link=join, picture=join, line_end=HARD_BREAK
    )
    if not text.strip():
        raise UnusablePage("empty")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise UnusablePage("too_large")
    return balance_directions(text)


def _absolute(page_url: str, url: str) -> str:
    """Return a link or picture address of a page, resolved against the page's URL.

    Empty: there is none, or it is malformed.
    """
    try:
        return urljoin(page_url, url) if url else ""
    except ValueError:
        return ""


def _slug(rules: PageRules, item: WordPressItem, losses: list[str]) -> str:
    """Return the path of a page's address as its slug.

    If the path cannot be a slug, return a similar slug, or else the item's kind and number.
    """
    path = _path(rules, item.link)
    if _SLUG.fullmatch(path) and len(path) <= MAX_SLUG_CHARACTERS:
        return path
    losses.append("address_changed")
    wanted = path if path and _SLUG.search(path) else unquote(item.name)
    segments = (_NOT_OF_SLUG.sub("-", each.lower()).strip("-") for each in wanted.split("/"))
    similar = "/".join(filter(None, segments))[:MAX_SLUG_CHARACTERS].rstrip("/-")
    if similar and wanted.isascii():
        return similar
    # An address in another script leaves nothing that a reader could recognise.
    return f"{item.kind}-{_NOT_OF_SLUG.sub('-', item.id.lower()).strip('-')[:64] or 'page'}"


def _path(rules: PageRules, link: str) -> str:
    """Return an address's path below the site's own, without outer slashes.

    Empty: there is none, or the address is malformed.
    """
    try:
        path = unquote(urlsplit(link).path)
        base = urlsplit(rules.base_url).path.strip("/")
    except ValueError:
        return ""
    inner = path.strip("/")
    return inner.removeprefix(f"{base}/") if base else inner


def _summary(item: WordPressItem, losses: list[str]) -> str | None:
    """Return the excerpt of a page. None: there is none, or Plaza cannot show it."""
    text = plain_line(item.excerpt, MAX_SUMMARY_CHARACTERS)
    if text and not is_visible(text):
        losses.append("summary")
        return None
    return text or None


def _tags(item: WordPressItem, losses: list[str]) -> list[str]:
    """Return the categories and tags of an item as a page's tags, at most MAX_TAGS."""
    found: dict[str, None] = {}
    for each in item.labels:
        # Normalising turns a comma of another script into `,`: a tag must not have a comma.
        tag = normalise_keyword(
            normalise_keyword(plain_line(each, _MAX_LINE_CHARACTERS)).replace(",", " ")
        )
        if 1 <= len(tag) <= MAX_KEYWORD_CHARACTERS and tag.replace(" ", "").isprintable():
            found[tag] = None
        else:
            losses.append("tag")
    if len(found) > MAX_TAGS:
        losses.append("tags_cut")
    return list(found)[:MAX_TAGS]


def _writer(rules: PageRules, item: WordPressItem, losses: list[str]) -> Writer | None:
    """Return the writer of a page, a person without an account.

    None: the file has no acceptable name, and the site is the author.
    """
    name = item.author.name if item.author else item.login
    if not name:
        return None
    shown = acceptable(plain_line(name, 100), rules.reserved, is_staff=False)
    if shown is None:
        losses.append("author")
        return None
    account = item.author.account if item.author else ""
    # The same id as in an import of comments: a person's pages and comments belong together.
    kind, name_there = ("account", account) if account else ("login", item.login)
    named = [kind, people.account_of(item.link, name_there)]
    return {"id": people.imported_id(rules.secret, SYSTEM, named), "name": shown}


def _publication(rules: PageRules, item: WordPressItem, losses: list[str]) -> Publication | None:
    """Return the publication of a page: now with its former date, if any, or at a future instant.

    None: the item is for a future time, but has no usable time, so the page stays a draft.
    """
    posted = item.posted
    is_later = item.status == "future" if posted is None else posted > rules.at + _SOON
    if posted is not None:
        given = {"at": posted} if is_later else {"dated": min(posted, rules.at)}
        with contextlib.suppress(ValidationError):
            return Publication.model_validate({"version": 1, **given})
    losses.append("no_time")
    return None if is_later else Publication(version=1)


def _parse_new(given: dict[str, Any]) -> NewContent:
    try:
        return NewContent.model_validate(given)
    except ValidationError as error:
        raise UnusablePage(f"bad_{error.errors()[0]['loc'][0]}") from None
