"""Where content meets comments and analytics: a published page's discussion, and its views."""

from collections.abc import Sequence

from chalice.app import Blueprint, Chalice
from pymongo.client_session import ClientSession

from chalicelib.analytics.reports.queries import page_counts
from chalicelib.analytics.settings import RememberedSites
from chalicelib.analytics.visitors import paths as paths_of_hits
from chalicelib.comments import attached, nodes
from chalicelib.content import jobs
from chalicelib.content import routes as content_routes
from chalicelib.content.publishing.discussions import Discussed
from chalicelib.runtime import Runtime


class NodesOfPages:
    """Discussions as nodes of comments; see `content.publishing.discussions.Discussions`."""

    def begin(
        self, runtime: Runtime, discussion: str, page: Discussed, session: ClientSession
    ) -> None:
        """Make a discussion in the transaction that publishes its page; one there is taken."""
        attached.begin(runtime, discussion, page.title, page.url, session)

    def tell(
        self, runtime: Runtime, discussion: str, page: Discussed, *, close: bool | None
    ) -> None:
        """Give a discussion its page's title and address; close or open it, or leave it (None)."""
        attached.tell(runtime, discussion, page.title, page.url, close=close)

    def end(self, runtime: Runtime, discussion: str) -> None:
        """Delete a discussion with its comments, if it is there."""
        attached.end(runtime, discussion)

    def counts(self, runtime: Runtime, discussions: Sequence[str]) -> dict[str, int]:
        """Return how many comments of each discussion everybody sees."""
        return nodes.visible_counts(runtime.database, discussions)


class CountedPages:
    """Views as analytics count them; see `content.reading.views.Views`."""

    def __init__(self, runtime: Runtime) -> None:
        most = runtime.bounds.analytics.sites_remembered
        self._sites = RememberedSites(runtime.database, most)

    def counts(self, runtime: Runtime, site: str, paths: Sequence[str]) -> dict[str, int] | None:
        """Return the views of each path; None where a site does not count, or keeps it private."""
        found = self._sites.find(site, runtime.now())
        if found is None or not found["public"]:
            return None
        names = {path: paths_of_hits.find(path) for path in paths}
        asked = {name for name in names.values() if name is not None}
        counted = page_counts(runtime.database, site, list(asked))
        return {path: counted[name] if name else 0 for path, name in names.items()}


DISCUSSIONS = NodesOfPages()


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of content."""
    return content_routes.routes(runtime, DISCUSSIONS, CountedPages(runtime))


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker of content."""
    jobs.declare_workers(app, runtime, DISCUSSIONS)
    jobs.declare_schedules(app, runtime)
