"""Posts and pages of WordPress: WXR 1.0 to 1.2, item by item."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, NamedTuple

from chalicelib.foreign.moments import moment_of
from chalicelib.foreign.xml_elements import Element, elements

SYSTEM = "wordpress"
_NAMESPACES = {
    "http://wordpress.org/export/": "wp:",
    "https://wordpress.org/export/": "wp:",
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://purl.org/dc/elements/1.1/": "dc:",
}
_ITEM = "rss/channel/item"
_AUTHOR = "rss/channel/wp:author"
_CONTENT = "content:encoded"
# The namespace of excerpts begins with WordPress's, in every version of WXR.
_EXCERPT = "wp:encoded"
_FIELDS = (
    "title",
    "link",
    "pubDate",
    _CONTENT,
    _EXCERPT,
    "dc:creator",
    "wp:post_id",
    "wp:post_date_gmt",
    "wp:post_name",
    "wp:post_password",
    "wp:post_type",
    "wp:status",
    "wp:comment_status",
)
_CATEGORY = f"{_ITEM}/category"
_PATHS = frozenset({_AUTHOR, _CATEGORY, *(f"{_ITEM}/{name}" for name in _FIELDS)})
_LABELS = frozenset({"", "category", "post_tag", "tag"})
# WordPress puts a post without a category into this one.
_NO_CATEGORY = "uncategorized"
# More than any site has: a file with a billion authors must not fill the memory.
_MOST_AUTHORS = 10_000
_MOST_LABELS = 200
# Bounds each part of an item except its text: the memory holds all parts together.
MAX_VALUE_CHARACTERS = 10_000
_MAX_NAME_CHARACTERS = 1_000


class WordPressAuthor(NamedTuple):
    """An author: the number of their account, which older files lack, and their name."""

    account: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPressItem:
    """An item of the channel, as the file has it.

    kind: `post`, `page`, `attachment` and others. html: None: it is too large.
    posted: in UTC; None: the file has no time.
    """

    line: int
    id: str
    kind: str
    status: str
    has_password: bool
    link: str
    name: str
    title: str
    html: str | None
    excerpt: str
    posted: datetime | None
    labels: tuple[str, ...]
    login: str
    author: WordPressAuthor | None
    is_closed: bool


@dataclass(slots=True)
class _Fields:
    """The parts of an item that the parser has read so far."""

    texts: dict[str, str] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    is_too_large: bool = False

    def add(self, element: Element) -> None:
        if element.path == _CATEGORY:
            self._add_label(element)
        elif element.is_too_large and element.name == _CONTENT:
            self.is_too_large = True
        elif element.name == _CONTENT:
            self.texts.setdefault(_CONTENT, element.text)
        else:
            self.texts.setdefault(element.name, element.text[:MAX_VALUE_CHARACTERS])

    def _add_label(self, element: Element) -> None:
        is_label = element.attributes.get("domain", "") in _LABELS
        is_none = element.attributes.get("nicename", element.text).lower() == _NO_CATEGORY
        if is_label and not is_none and len(self.labels) < _MOST_LABELS:
            self.labels.append(_short(element.text))

    def get(self, name: str) -> str:
        return self.texts.get(name, "").strip()

    def item(self, line: int, authors: Mapping[str, WordPressAuthor]) -> WordPressItem:
        login = _short(self.get("dc:creator"))
        return WordPressItem(
            line=line,
            id=self.get("wp:post_id"),
            kind=self.get("wp:post_type").lower(),
            status=self.get("wp:status").lower(),
            has_password=bool(self.texts.get("wp:post_password")),
            link=self.get("link"),
            name=self.get("wp:post_name"),
            title=self.get("title"),
            html=None if self.is_too_large else self.texts.get(_CONTENT, ""),
            excerpt=self.get(_EXCERPT),
            posted=moment_of(self.get("wp:post_date_gmt")) or moment_of(self.get("pubDate")),
            labels=tuple(self.labels),
            login=login,
            author=authors.get(login),
            is_closed=self.get("wp:comment_status").lower() == "closed",
        )


def parse(stream: BinaryIO) -> Iterator[WordPressItem]:
    """Yield each item of the file; raises BrokenFile."""
    authors: dict[str, WordPressAuthor] = {}
    fields = _Fields()
    for element in elements(stream, _NAMESPACES, _PATHS, {_ITEM}):
        if element.path == _ITEM:
            yield fields.item(element.line, authors)
            fields = _Fields()
        elif element.path != _AUTHOR:
            fields.add(element)
        elif len(authors) < _MOST_AUTHORS:
            account = _short(element.text_of("wp:author_id"))
            name = _short(element.text_of("wp:author_display_name"))
            login = _short(element.text_of("wp:author_login"))
            authors.setdefault(login, WordPressAuthor(account, name or login))


def _short(text: str) -> str:
    """Return a name cut to its bound: the memory holds thousands of names at once."""
    return text.strip()[:_MAX_NAME_CHARACTERS]
