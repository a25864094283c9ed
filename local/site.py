"""The Harbour Post: a newspaper's pages with Plaza's widgets, on the API's own address."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from chalicelib.settings import Settings
from local import articles, demo, mailbox, shop_pages, talk
from local.articles import Read
from local.demo_articles import FOLDER, NAME
from local.tokens import mint

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication

TOKEN_LIFETIME = timedelta(minutes=15)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: https:; frame-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
READERS: dict[str, Mapping[str, Any]] = {
    each["sub"]: {"name": demo.DATA["people"].get(each["sub"]), "claims": {}, **each}
    for each in demo.DATA["readers"]
}
# The roles that may use the console.
_ROLES_OF_CONSOLE = {"moderator", "publisher", "admin"}
# The page of feeds: the title and the feed's attributes, by the path below the page.
TOWN = "/in-town"
_FEEDS = {
    "": ("News", 'view="news"'),
    "/me": ("Your wall", 'view="wall"'),
    "/for-you": ("For you", 'view="incoming"'),
    "/office": ("At the office", 'view="activity"'),
}
_PEOPLE = "/people/"
# Where notifications of the feed lead: to a person's posts, and to the news with a post.
PERSON_PAGE, POST_PAGE = f"{TOWN}{_PEOPLE}{{user}}", f"{TOWN}?post={{post}}"
# A service worker answers for the pages below its own address: for all of them here.
_WORKER = "/plaza-worker.js"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILE_NAME = re.compile(r"[a-z-]{1,40}\.(?:css|js|svg)", re.ASCII)
_OWN_HOST = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?", re.ASCII)
_LONGEST_BODY_BYTES = 1_000
_NAME = NAME
_SITE: str = demo.DATA["site"]


# A page's title, its main part, and the elements that it shows; None without one.
_Found = tuple[str, str, list[str]] | articles.Moved | None


class _Answer(NamedTuple):
    kind: str
    body: str
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = {}


_NO_PAGE = (
    '<div class="story"><h1>There is no such page</h1><p><a href="/">Today\'s paper</a></p></div>'
)
_OF_FRAMES = {
    "Content-Security-Policy": mailbox.FRAME_POLICY,
    # The address of a letter is no secret, but its links are.
    "Referrer-Policy": "no-referrer",
}
_UNKNOWN = _Answer("text/plain", "There is no such page.\n", HTTPStatus.NOT_FOUND)
_REFUSED = _Answer("text/plain", "Not from here.\n", HTTPStatus.FORBIDDEN)


class Site:
    """The newspaper's pages, files and sign-in; `answer` returns None for calls of the API."""

    def __init__(self, settings: Settings, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._now = now

    def answer(self, environ: Mapping[str, Any], read: Read) -> _Answer | None:
        """Answer a WSGI request; `read` asks the API."""
        path: str = environ["PATH_INFO"]
        if path == "/demo/token":
            return self._token(environ)
        if mailbox.is_address(path) and not _is_own(environ):
            return _REFUSED
        accepts_html = "text/html" in environ.get("HTTP_ACCEPT", "")
        is_page = path.startswith(("/articles/", TOWN)) or path == talk.SEARCH
        is_page = is_page or shop_pages.is_of_shop(path)
        is_file = path.startswith("/site/") or path == _WORKER
        is_own = is_file or path.startswith("/demo/") or is_page or (path == "/" and accepts_html)
        # A browser may ask for any page of the content, at the address that feeds and maps name.
        if not is_own and not (accepts_html and articles.is_there(read, _SITE, path)):
            return None
        if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            return _not_allowed("GET, HEAD")
        if is_file:
            return _file(path.rpartition("/")[2])
        return self._page(path, environ, read)

    def _page(self, path: str, environ: Mapping[str, Any], read: Read) -> _Answer:
        if letter := mailbox.frame(self._settings.mail_folder, path):
            return _Answer("text/html", letter, headers=_OF_FRAMES)
        if mailbox.is_address(path):
            found: _Found = self._mailbox(path)
        elif path == talk.SEARCH:
            found = _search(read, environ.get("QUERY_STRING", ""))
        else:
            found = _shown(path, read)
        shown = found or (f"No such page · {_NAME}", _NO_PAGE, [])
        if isinstance(shown, articles.Moved):
            location = {"Location": articles.place_of(shown.address)}
            return _Answer("text/plain", "Moved.\n", HTTPStatus.PERMANENT_REDIRECT, location)
        title, main, lines = shown
        page = articles.filled(
            "layout.html",
            {"title": title, "date": f"{self._now().astimezone():%A, %d %B %Y}", "site": _SITE},
            main=main,
            navigation=_links(path),
            readers=_readers(),
            snippet=escape(_snippet(f"http://{_host(environ)}", lines), quote=False),
        )
        headers = {"Content-Security-Policy": POLICY, "Vary": "Accept"}
        status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
        return _Answer("text/html", page, status, headers)

    def _mailbox(self, path: str) -> tuple[str, str, list[str]] | None:
        found = mailbox.page(self._settings.mail_folder, path)
        return found and (f"{found[0]} · {_NAME}", found[1], [])

    def _token(self, environ: Mapping[str, Any]) -> _Answer:
        """Answer with a token of one of the town's people, only to a page of this machine."""
        if environ["REQUEST_METHOD"] != "POST":
            return _not_allowed("POST")
        if not _is_local(environ):
            return _REFUSED
        reader = READERS.get(_sub(environ))
        if reader is None:
            return _UNKNOWN
        token = mint(
            self._settings,
            self._now(),
            reader["sub"],
            TOKEN_LIFETIME,
            name=reader["name"],
            **reader["claims"],
        )
        return _Answer("application/json", json.dumps({"token": token}))


def with_site(site: Site, api: "WSGIApplication") -> "WSGIApplication":
    """Return an application that answers the site's requests and leaves all others to the API."""

    def application(environ: dict[str, Any], start_response: "StartResponse") -> Any:
        answer = site.answer(environ, articles.reader(api, environ))
        if answer is None:
            return api(environ, start_response)
        body = answer.body.encode()
        headers = {
            "Content-Type": f"{answer.kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            # The next load shows an edited file.
            "Cache-Control": "no-store" if answer.kind == "application/json" else "no-cache",
            "X-Content-Type-Options": "nosniff",
            **answer.headers,
        }
        start_response(f"{answer.status.value} {answer.status.phrase}", list(headers.items()))
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

    return application


def _not_allowed(methods: str) -> _Answer:
    status = HTTPStatus.METHOD_NOT_ALLOWED
    return _Answer("text/plain", "Not this way.\n", status, {"Allow": methods})


def _host(environ: Mapping[str, Any]) -> str:
    """Return the address that the browser used, if it is one of this machine."""
    host: str = environ.get("HTTP_HOST", "")
    return host if _OWN_HOST.fullmatch(host) else f"127.0.0.1:{environ['SERVER_PORT']}"


def _is_own(environ: Mapping[str, Any]) -> bool:
    """Return whether a browser of this machine sent the request, to a name of this machine.

    The check of Host refuses foreign names that lead here (DNS rebinding). A request with a
    proxy's headers may come from another machine.
    """
    return (
        environ.get("REMOTE_ADDR") == "127.0.0.1"
        and _OWN_HOST.fullmatch(environ.get("HTTP_HOST", "")) is not None
        and not {"HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR"} & environ.keys()
    )


def _is_local(environ: Mapping[str, Any]) -> bool:
    """Return whether a page of this machine sent the request.

    A page of another site may send JSON only after a preflight.
    """
    return _is_own(environ) and environ.get("CONTENT_TYPE") == "application/json"


def _sub(environ: Mapping[str, Any]) -> str:
    length = int(environ.get("CONTENT_LENGTH") or 0)
    try:
        body = json.loads(environ["wsgi.input"].read(min(length, _LONGEST_BODY_BYTES)))
    except ValueError:
        return ""
    sub = body.get("sub") if isinstance(body, dict) else None
    return sub if isinstance(sub, str) else ""


def _readers() -> str:
    """Return the town's people as options, with a mark for people who may use the console."""
    return "".join(
        f'<option value="{escape(sub)}"{" data-console" if _has_console(reader) else ""}>'
        f"{escape(reader['name'])}, {escape(reader['rights'])}</option>"
        for sub, reader in READERS.items()
    )


def _has_console(reader: Mapping[str, Any]) -> bool:
    return not _ROLES_OF_CONSOLE.isdisjoint(reader["claims"].get("roles", ()))


def _file(name: str) -> _Answer:
    path = FOLDER / name
    if not _FILE_NAME.fullmatch(name) or not path.is_file():
        return _UNKNOWN
    return _Answer(_KINDS[path.suffix], path.read_text())


def _search(read: Read, query: str) -> tuple[str, str, list[str]]:
    return f"{talk.TITLE} · {_NAME}", talk.page(read, _SITE, query), []


def _shown(path: str, read: Read) -> _Found:
    """Return a page's title, its main part, and the elements that it shows; None without one."""
    ad = f'<plaza-ad site="{_SITE}" zone="sidebar" width="300" height="250"></plaza-ad>'
    hit = f'<plaza-hit site="{_SITE}"></plaza-hit>'
    if path == "/":
        feed = '<plaza-feed user="ines" limit="3"></plaza-feed>'
        return _NAME, _front(read), [articles.count_of_first(), feed, ad, hit]
    if shop_pages.is_of_shop(path):
        page = shop_pages.page(path, _SITE)
        return page and (f"{page.title} · {_NAME}", page.main, [*page.elements, hit])
    view = path.removeprefix(TOWN)
    named = (_FEEDS.get(view) or _feed_of(view)) if path.startswith(TOWN) else None
    if named is None:
        found = articles.find(read, _SITE, path.removeprefix("/"))
        if not isinstance(found, articles.Article):
            return found
        lines = [found.discussion] if found.discussion else []
        return f"{found.title} · {_NAME}", found.main, [*lines, ad, hit]
    title, attributes = named
    main = articles.filled(
        "town.html", {"site": _SITE, "title": title}, feed=attributes, views=_feed_links(view)
    )
    feeds = [f"<plaza-feed {attributes}></plaza-feed>", '<plaza-feed user="ines"></plaza-feed>']
    return f"{title} · {_NAME}", main, [*feeds, ad, hit]


def _feed_of(view: str) -> tuple[str, str] | None:
    """Return a person's name and feed attributes; None if the town has no such person."""
    user = view.removeprefix(_PEOPLE)
    name = demo.DATA["people"].get(user) if view.startswith(_PEOPLE) else None
    return name and (name, f'user="{user}"')


def _feed_links(shown: str) -> str:
    links = ((f"{TOWN}{view}", title, view == shown) for view, (title, _) in _FEEDS.items())
    return " ".join(_link(*each) for each in links)


def _front(read: Read) -> str:
    teasers = articles.teasers(articles.listed(read, _SITE))
    boxes = {"discussed": talk.most_discussed(read, _SITE), "search": talk.box()}
    return articles.filled("front.html", {"site": _SITE}, teasers=teasers, **boxes)


def _links(path: str) -> str:
    links = ((address, name, path == address) for address, name in articles.navigation())
    town = (TOWN, "In town", path.startswith(TOWN))
    shop = (shop_pages.ADDRESS, shop_pages.NAME, shop_pages.is_of_shop(path))
    return " ".join(_link(*each) for each in (*links, town, shop))


def _link(address: str, name: str, is_current: bool) -> str:  # noqa: FBT001 - unpacked from rows
    current = " aria-current=page" if is_current else ""
    return f'<a href="{address}"{current}>{escape(name)}</a>'


def _snippet(address: str, elements: list[str]) -> str:
    """Return the HTML that embeds the page's elements in another page."""
    script = f'<script type="module" async src="{address}/web/v1/plaza.js"></script>'
    return "\n".join([script, *elements])
