"""Pages, lists and previews in the API, for readers."""

from chalicelib.content import nodes, settings, tag_counts
from chalicelib.content.errors import (
    ContentGone,
    PageMoved,
    PageTooLarge,
    UnknownContent,
    UnknownPreview,
)
from chalicelib.content.publishing import publishing
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.reading import article, lists, pages, previews, search
from chalicelib.content.reading.article import Article, link, meta
from chalicelib.content.reading.forms import (
    AddressQuery,
    DraftShownAnswer,
    EntriesAnswer,
    FoundEntriesAnswer,
    ListQuery,
    PreviewAddressAnswer,
    PreviewRequest,
    PreviewToken,
    ShownAnswer,
    TagCountsAnswer,
    feeds_of,
)
from chalicelib.content.reading.pages import ShownPage
from chalicelib.content.reading.views import Viewed, Views
from chalicelib.content.rendered import absolute
from chalicelib.content.slugs import ContentId
from chalicelib.content.visibility import date_of
from chalicelib.http import NotModified, Ok, Request, Route, conditional
from chalicelib.http.callers import Publisher
from chalicelib.limits import CONTENT, PREVIEWS
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.terms.queries import WordsQuery
from chalicelib.web.files import PAGE_STYLES, HtmlPage

_SHORTLY = "public, max-age=30"


def declare(route: Route, discussions: Discussions, views: Views) -> None:
    """Declare the routes."""
    viewed = Viewed(views)
    _declare_pages(route, discussions, viewed)
    _declare_lists(route, viewed)
    _declare_previews(route)


def _declare_pages(route: Route, discussions: Discussions, views: Viewed) -> None:
    @route("GET", "/content/{site}/page", raises=(UnknownContent, ContentGone, PageMoved))
    def get_page(
        request: Request, site: SiteId, query: AddressQuery
    ) -> Ok[ShownAnswer] | HtmlPage | NotModified:
        """Read the page at an address.

        A former address answers 308 with the current address, and a deleted page 410. A browser
        asks for `text/html` and receives the article alone.
        """
        found = pages.find(request, site, query.address)
        headers = {"Cache-Control": found.cache_control, "Vary": "Accept"}
        if request.accepts_html:
            return HtmlPage(_document(request, found), {**article.HEADERS, **headers})
        if not query.include:
            headers["ETag"] = tag = found.tag(request.runtime.settings.public_url)
            if tag in conditional.held_tags(request):
                return NotModified(headers=headers)
        return Ok(pages.answer(request.runtime, discussions, views, found, query), headers)


def _declare_lists(route: Route, views: Viewed) -> None:
    @route("GET", "/content/{site}")
    def list_content(request: Request, site: SiteId, query: ListQuery) -> Ok[EntriesAnswer]:
        """List the visible pages of a site, newest first, without the texts."""
        found = lists.entries(request.runtime, views, site, query)
        return Ok(found, {"Cache-Control": _SHORTLY})

    @route("GET", "/content/{site}/search")
    def search_content(request: Request, site: SiteId, query: WordsQuery) -> Ok[FoundEntriesAnswer]:
        """Search the visible pages of a site by words, newest first, without the texts."""
        return Ok(search.search(request.runtime, site, query), {"Cache-Control": _SHORTLY})

    @route("GET", "/content/{site}/tags")
    def list_content_tags(request: Request, site: SiteId) -> Ok[TagCountsAnswer]:
        """List the tags of a site's visible pages, the most used first; at most 500."""
        found = tag_counts.most_used(request.runtime, site)
        counted: TagCountsAnswer = {"tags": [{"tag": tag, "count": n} for tag, n in found]}
        return Ok(counted, {"Cache-Control": _SHORTLY})


def _declare_previews(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/nodes/{content}/preview",
        limit=CONTENT,
        raises=(UnknownContent, ContentGone),
    )
    def make_preview(
        request: Request,
        site: SiteId,
        content: ContentId,
        publisher: Publisher,
        body: PreviewRequest,
    ) -> Ok[PreviewAddressAnswer]:
        """Create an address that shows the draft for seven days, without a sign-in."""
        check_publisher(publisher, site)
        runtime = request.runtime
        node = nodes.find(runtime.database, site, content)
        if body.end_others:
            node = publishing.new_preview_key(runtime, node)
        ends_at = (runtime.now() + previews.LASTS).replace(microsecond=0)
        token = previews.token_of(node, ends_at, runtime.settings.signing_keys)
        url = f"{runtime.settings.public_url}/previews/{token}"
        return Ok({"url": url, "ends_at": ends_at})

    @route("GET", "/previews/{token}", limit=PREVIEWS, raises=(UnknownPreview, PageTooLarge))
    def read_preview(request: Request, token: PreviewToken) -> Ok[DraftShownAnswer] | HtmlPage:
        """Read a draft as readers would see it, as JSON or, for a browser, as a page."""
        node = previews.find(request.runtime, token)
        answer = previews.answer(request.runtime, node)
        # Drafts belong neither in caches nor in search engines.
        headers = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Vary": "Accept"}
        if not request.accepts_html:
            return Ok(answer, headers)
        shown = Article(answer["title"], answer["summary"], answer["html"], "")
        html = article.document(shown, _styles(request))
        return HtmlPage(html, {**article.HEADERS, **headers})


def _document(request: Request, found: ShownPage) -> str:
    """Return a page as an HTML document with links to its site."""
    runtime, node, edition = request.runtime, found.node, found.edition
    site = settings.get(runtime.database, node["site"])
    url, feeds = (
        settings.url_of(site, edition["slug"]),
        feeds_of(runtime.settings.public_url, node["site"]),
    )
    shown = Article(
        title=edition["title"],
        summary=edition["summary"],
        html=absolute(edition["html"], url, runtime.settings.public_url),
        language=site["language"],
        author=node["author"]["name"] if node["author"] else site["author"],
        published_at=date_of(node),
        head=(
            meta("og:url", url),
            meta("og:site_name", site["title"]),
            link("canonical", url),
            link("alternate", feeds["atom"], "application/atom+xml"),
            link("alternate", feeds["json"], "application/feed+json"),
        ),
    )
    return article.document(shown, _styles(request))


def _styles(request: Request) -> str:
    return f"{request.runtime.settings.public_url}/web/v1/{PAGE_STYLES}"
