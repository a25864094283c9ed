"""The errors of content."""

from typing import Any

from chalicelib.errors import Problem


class UnknownContent(Problem):
    """Nothing that the caller may read has this id or this address."""

    status = 404
    code = "unknown_content"
    title = "Page not found"


class ContentGone(Problem):
    """The page that had this id or this address was deleted."""

    status = 410
    code = "content_gone"
    title = "This page was deleted"


class PageMoved(Problem):
    """The page has another address now; the answer's Location is the call with it."""

    status = 308
    code = "page_moved"
    title = "This page has another address now"

    def __init__(self, address: str, location: str) -> None:
        headers = {"Location": location, "Cache-Control": "public, max-age=30"}
        super().__init__(headers=headers, facts={"address": address})


class UnknownRevision(Problem):
    """The page has no revision of this number, or has it no longer."""

    status = 404
    code = "unknown_revision"
    title = "Revision not found"


class UnknownPreview(Problem):
    """The preview's address is not one of Plaza's, or was ended, or the page was deleted."""

    status = 404
    code = "unknown_preview"
    title = "This preview has ended"


class UnknownContentSite(Problem):
    """The site publishes nothing here: it has no settings."""

    status = 404
    code = "unknown_content_site"
    title = "This site publishes nothing here"


class SiteNotSetUp(Problem):
    """Something is published before its site has a title and an address."""

    status = 409
    code = "site_not_set_up"
    title = "Set the site's title and base_url first: PUT /content/{site}/settings"


class EditConflict(Problem):
    """The draft is not as the caller read it; `facts` have the present one."""

    status = 409
    code = "edit_conflict"
    title = "Somebody else has saved this page: compare, and save again"

    def __init__(self, present: Any, fields: list[str]) -> None:
        super().__init__(facts={"present": present, "fields": fields})


class AddressTaken(Problem):
    """The address is another page's; `facts` say whose, and whether it may be taken over."""

    status = 409
    code = "address_taken"
    title = "This address belongs to another page"

    def __init__(self, address: str, node_id: str, *, is_current: bool) -> None:
        facts = {"address": address, "id": node_id, "is_current": is_current}
        super().__init__(facts=facts)


class TooManyToMove(Problem):
    """More pages than one call moves have an address with this prefix; none was moved."""

    status = 409
    code = "too_many_to_move"
    title = "Too many pages have an address with this prefix: move them in parts"


class PageTooLarge(Problem):
    """The page's HTML is over its limit."""

    status = 422
    code = "page_too_large"
    title = "The page's HTML is larger than 1 MiB"
