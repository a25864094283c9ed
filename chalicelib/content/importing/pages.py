"""An idempotent import of pages into a site.

Ids follow from the file, the import writes page by page, and an existing page stays unchanged. So
the next run continues after a crash, and two runs at once write each page once.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from pymongo.errors import DuplicateKeyError

from chalicelib.assets.errors import UnknownAsset
from chalicelib.content import rendered, settings
from chalicelib.content.editing import drafts
from chalicelib.content.errors import AddressTaken, PageTooLarge
from chalicelib.content.importing.conversion import (
    KINDS,
    ConvertedPage,
    PageRules,
    UnusablePage,
    convert,
)
from chalicelib.content.importing.wordpress import WordPressItem
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import addresses, publishing
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.publishing.publishing import Arrival
from chalicelib.content.shapes import ContentNode, PageDraft
from chalicelib.errors import InvalidRequest, UnreadableText
from chalicelib.foreign import people
from chalicelib.foreign.outcomes import ImportReport
from chalicelib.foreign.spools import Seen
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

_WORDS = ("slug", "title", "summary", "tags", "detail")
_WITHOUT_HTML = {"live.html": 0, "live.detail": 0, "next.html": 0, "next.detail": 0}
# The caller of asset checks: without an account, so pages of a file may name no asset.
_NOBODY = Principal("", "")

Tell = Callable[[int], None]


def run(  # noqa: PLR0913 - an import, its ways out, and its kind
    runtime: Runtime,
    discussions: Discussions,
    site: str,
    items: Iterable[WordPressItem],
    tell: Tell,
    *,
    is_dry_run: bool = False,
) -> ImportReport:
    """Import the posts and pages of a file into a site; return the report.

    A dry run writes nothing and returns the same report. After each item, `tell` receives the
    number of items so far. Raises SiteNotSetUp and the errors of `items`; after an error, a repeat
    continues the import.
    """
    work = _PageImport(runtime, discussions, site, is_dry_run=is_dry_run)
    for number, item in enumerate(items, 1):
        work.take(item)
        tell(number)
    return work.outcome


class _PageImport:
    def __init__(
        self, runtime: Runtime, discussions: Discussions, site: str, *, is_dry_run: bool
    ) -> None:
        base_url = settings.get(runtime.database, site)["base_url"]
        own = runtime.settings
        secret = people.secret_of(own)
        self._runtime, self._discussions, self._site = runtime, discussions, site
        self._rules = PageRules(site, base_url, secret, own.reserved_names, runtime.now())
        self._is_dry_run = is_dry_run
        # The addresses and ids of a dry run's earlier pages: a dry run stores no page.
        self._claimed, self._brought = Seen(), Seen()
        self.outcome = ImportReport()

    def take(self, item: WordPressItem) -> None:
        """Count an item, and import it if it is a page; report the reason for an omitted page."""
        where = f"line {item.line}, {item.kind} {item.id}"
        counts = self.outcome.counts
        if item.kind not in KINDS:
            counts["attachments" if item.kind == "attachment" else "others"] += 1
            return
        counts["pages"] += 1
        try:
            page = convert(self._rules, item)
            self._bring(page, self._draft(page), where)
        except UnusablePage as unusable:
            self.outcome.leave(unusable.reason, where)

    def _draft(self, page: ConvertedPage) -> PageDraft:
        """Return a page's draft; raises UnusablePage if Plaza cannot store it, or show its HTML."""
        try:
            draft = drafts.new_draft(self._runtime, page.new, _NOBODY)
            if page.publication is not None:
                rendered.render(self._runtime, page.new.type, draft)
        except PageTooLarge:
            raise UnusablePage("too_large") from None
        except UnknownAsset:
            raise UnusablePage("asset") from None
        except UnreadableText:
            raise UnusablePage("unreadable") from None
        except InvalidRequest:
            raise UnusablePage("malformed") from None
        return {**draft, "by": page.writer}

    def _bring(self, page: ConvertedPage, draft: PageDraft, where: str) -> None:
        node = self._find(page)
        if node is not None:
            self._meet(node, page, draft, where)
            return
        if self._is_dry_run:
            if not self._brought.is_new(page.id):
                self._meet_tried(page, draft, where)
                return
            self._brought.is_new(_key_of(page, draft))
        for reason in page.losses:
            self.outcome.note(reason, where)
        try:
            made = self._store(page, draft)
        except DuplicateKeyError:
            # Another run has just stored the page.
            self.outcome.counts["present"] += 1
            return
        self.outcome.counts["imported"] += 1
        is_public = page.publication is not None and self._publish(made, page, where)
        self.outcome.counts["published" if is_public else "drafts"] += 1

    def _store(self, page: ConvertedPage, draft: PageDraft) -> ContentNode | None:
        """Store a new page; None in a dry run. Raises DuplicateKeyError."""
        if self._is_dry_run:
            return None
        return drafts.bring(self._runtime, self._site, page.new.type, draft, page.id)

    def _find(self, page: ConvertedPage) -> ContentNode | None:
        where = {"_id": page.id, "site": self._site}
        return NODES.of(self._runtime.database).find_one(where, _WITHOUT_HTML)

    def _meet_tried(self, page: ConvertedPage, draft: PageDraft, where: str) -> None:
        """Count a page that a dry run's file repeats: as present, or as changed."""
        if _key_of(page, draft) in self._brought:
            self.outcome.counts["present"] += 1
        else:
            self.outcome.counts["changed"] += 1
            self.outcome.note("changed", where)

    def _meet(self, node: ContentNode, page: ConvertedPage, draft: PageDraft, where: str) -> None:
        """Count a page that the site has already; publish it if no earlier run has."""
        counts = self.outcome.counts
        if node["removed"] is not None:
            self.outcome.leave("deleted", where)
        elif node["version"] > 1 or _words(node["draft"]) != _words(draft):
            counts["changed"] += 1
            self.outcome.note("changed", where)
        elif page.publication is None or node["edition"]:
            counts["present"] += 1
        elif self._publish(None if self._is_dry_run else node, page, where):
            counts["imported"] += 1
            counts["published"] += 1
        else:
            counts["present"] += 1

    def _publish(self, node: ContentNode | None, page: ConvertedPage, where: str) -> bool:
        """Publish a page; return False if another page has its address.

        A dry run (node None) only claims the address.
        """
        try:
            if node is None:
                self._claim(page)
            elif page.publication is not None:
                arrival = Arrival(page.address, page.is_closed)
                given = page.publication
                publishing.publish(self._runtime, self._discussions, node, given, arrival)
        except AddressTaken:
            self.outcome.note("address_taken", where)
            return False
        return True

    def _claim(self, page: ConvertedPage) -> None:
        """Claim a page's address within the dry run; raises AddressTaken."""
        slug = page.new.slug
        held = addresses.look(self._runtime.database, self._site, slug)
        is_held = held is not None and held["node"] != page.id
        if is_held or not self._claimed.is_new(slug):
            raise AddressTaken(slug, page.id, is_current=True)


def _key_of(page: ConvertedPage, draft: PageDraft) -> str:
    """Return a key that differs if the id or the words of a page differ."""
    return f"{page.id} {json.dumps(_words(draft), sort_keys=True)}"


def _words(draft: PageDraft | None) -> dict[str, Any]:
    words: dict[str, Any] = dict(draft) if draft else {}
    return {name: words.get(name) for name in _WORDS}
