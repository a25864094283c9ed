"""Addresses of comments on the pages that their discussions are about."""

from urllib.parse import urlsplit

# The beginnings of fragments that single-page applications use as routes.
_ROUTES = ("/", "!/")


def permalink(page_url: str, comment_id: str) -> str:
    """Return the address of a comment; the page's comment element scrolls to it.

    The fragment names the comment; if the page's fragment is a route, a query parameter does.
    """
    page, _, fragment = page_url.partition("#")
    if not fragment.startswith(_ROUTES):
        return f"{page}#plaza-{comment_id}"
    mark = "&" if urlsplit(page).query else "?"
    return f"{page.removesuffix('?')}{mark}plaza={comment_id}#{fragment}"
