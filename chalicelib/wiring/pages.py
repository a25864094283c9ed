"""Content's adapters to comments and analytics: a published page's discussion and its views."""

from collections.abc import Sequence

from pymongo.client_session import ClientSession

from chalicelib.analytics.reports.queries import page_counts
from chalicelib.analytics.visitors import paths as paths_of_hits
from chalicelib.comments import attached, nodes
from chalicelib.comments.latest import sitemap
from chalicelib.content.publishing.discussions import Discussed
from chalicelib.runtime import Runtime


class NodesOfPages:
    """Discussions as nodes of comments; see `content.publishing.discussions.Discussions`."""

    def begin(
        self, runtime: Runtime, discussion: str, page: Discussed, session: ClientSession
    ) -> None:
        """Create or reuse a discussion's node in the transaction that publishes its page."""
        public = attached.PublicTime(page.edition, page.public_from, page.public_until)
        named = attached.NamedPage(page.title, page.url, page.is_closed)
        attached.begin(runtime, discussion, named, public, session)

    def tell(
        self, runtime: Runtime, discussion: str, page: Discussed, *, close: bool | None
    ) -> None:
        """Update a discussion's public period; for a named page, also its title and address.

        `close`: True closes the discussion, False opens it, None changes nothing.
        """
        public = attached.PublicTime(page.edition, page.public_from, page.public_until)
        named = attached.NamedPage(page.title, page.url) if page.is_named else None
        attached.update(runtime, discussion, named, public, close=close)

    def end(self, runtime: Runtime, discussion: str) -> None:
        """Delete a discussion with its comments, if it exists."""
        attached.end(runtime, discussion)

    def at_address(
        self, runtime: Runtime, site: str, url: str, session: ClientSession
    ) -> str | None:
        """Return the id of the discussion that an import of comments makes for an address.

        None: another page has the discussion, or the discussion has moved to another id.
        """
        from chalicelib.comments.importing.identities import node_at
        from chalicelib.comments.page_urls import plain

        discussion = node_at(site, plain(url))
        found = nodes.look(runtime.database, discussion, session)
        if found is None:
            return discussion
        if "vacant" in found:
            return None if "moved_to" in found["vacant"] else discussion
        return discussion if found.get("public_from") is None else None

    def counts(self, runtime: Runtime, discussions: Sequence[str]) -> dict[str, int]:
        """Return the number of public comments of each discussion."""
        return nodes.visible_counts(runtime.database, discussions)

    def sitemaps(self, runtime: Runtime, site: str) -> list[str]:
        """Return the addresses of the sitemaps of a site's pages with discussions."""
        return sitemap.files(runtime, site)

    def in_sitemaps(self, runtime: Runtime, site: str, urls: Sequence[str]) -> set[str]:
        """Return the addresses among `urls` that the sitemaps of discussions list."""
        return sitemap.find_listed_pages(runtime, site, urls)


class CountedPages:
    """Views by the counts of analytics; see `content.reading.views.Views`."""

    def counts(self, runtime: Runtime, site: str, paths: Sequence[str]) -> dict[str, int] | None:
        """Return the views of each path; None: the site has no counts or hides them."""
        # Imported here: content's workers, which import this module, count no views.
        from chalicelib.analytics import permissions
        from chalicelib.analytics.errors import UnknownSite

        try:
            if not permissions.recall(runtime, site)["public"]:
                return None
        except UnknownSite:
            return None
        names = {path: paths_of_hits.find(path) for path in paths}
        asked = {name for name in names.values() if name is not None}
        counted = page_counts(runtime.database, site, list(asked))
        return {path: counted[name] if name else 0 for path, name in names.items()}


DISCUSSIONS = NodesOfPages()
