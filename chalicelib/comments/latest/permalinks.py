"""Addresses of comments on the pages that their discussions are about."""

from urllib.parse import urlsplit

# The fragments by which applications in browsers name a page of theirs.
_ROUTES = ("/", "!/")


def permalink(page_url: str, comment_id: str) -> str:
    """Return the address of a comment, to which the element of the page scrolls.

    It is a fragment; of an application whose fragments are its routes, a parameter of the query.
    """
    page, _, fragment = page_url.partition("#")
    if not fragment.startswith(_ROUTES):
        return f"{page}#plaza-{comment_id}"
    mark = "&" if urlsplit(page).query else "?"
    return f"{page.removesuffix('?')}{mark}plaza={comment_id}#{fragment}"
