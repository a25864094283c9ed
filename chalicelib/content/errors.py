"""Refusals of the content API, with the HTTP status and stable code of each."""

from typing import Any

from chalicelib.errors import Problem


class UnknownContent(Problem):
    """No page that the caller may read has this id or this address."""

    status = 404
    code = "unknown_content"
    title = "Page not found"


class ContentGone(Problem):
    """The page of this id or this address is deleted."""

    status = 410
    code = "content_gone"
    title = "This page was deleted"


class PageMoved(Problem):
    """The page has another address now; `Location` is this call with the new address."""

    status = 308
    code = "page_moved"
    title = "This page has another address now"
    header = "Location"

    def __init__(self, address: str, location: str) -> None:
        headers = {"Location": location, "Cache-Control": "public, max-age=30"}
        super().__init__(headers=headers, facts={"address": address})


class UnknownRevision(Problem):
    """The page has no revision of this number, or no longer."""

    status = 404
    code = "unknown_revision"
    title = "Revision not found"


class AssetsGone(Problem):
    """The revision shows assets that are gone; `facts` name them."""

    status = 409
    code = "assets_gone"
    title = "This revision shows assets that are gone: save its text without them"

    def __init__(self, asset_ids: list[str]) -> None:
        super().__init__(facts={"assets": asset_ids})


class UnknownPreview(Problem):
    """The preview's address is invalid or has ended, or the page is deleted."""

    status = 404
    code = "unknown_preview"
    title = "This preview has ended"


class UnknownContentSite(Problem):
    """The site publishes nothing here: it has no settings."""

    status = 404
    code = "unknown_content_site"
    title = "This site publishes nothing here"


class SiteNotSetUp(Problem):
    """The site needs a title and an address before it publishes."""

    status = 409
    code = "site_not_set_up"
    title = "Set the site's title and base_url first: PUT /content/{site}/settings"


class EditConflict(Problem):
    """The draft has changed since the caller read it; `facts` have the current draft."""

    status = 409
    code = "edit_conflict"
    title = "Somebody else has saved this page: compare, and save again"

    def __init__(self, present: Any, fields: list[str]) -> None:
        super().__init__(facts={"present": present, "fields": fields})


class AddressTaken(Problem):
    """Another page has this address, or had it before; `facts` name the page.

    `is_current` false: the page had it before, and a publication with `take` may claim it.
    """

    status = 409
    code = "address_taken"
    title = "This address belongs to another page"

    def __init__(self, address: str, node_id: str, *, is_current: bool) -> None:
        facts = {"address": address, "id": node_id, "is_current": is_current}
        super().__init__(facts=facts)


class TooManyToMove(Problem):
    """The prefix has more pages than one call can move; the call moves none."""

    status = 409
    code = "too_many_to_move"
    title = "Too many pages have an address with this prefix: move them in parts"


class PageTooLarge(Problem):
    """The page's HTML is too large, or its text has too many parts."""

    status = 422
    code = "page_too_large"
    title = "The page is too large: its HTML has more than 1 MiB, or its text too many parts"
