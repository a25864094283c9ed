"""Avatars: the picture that a person's token names, or a drawing of their initials.

A page has only the avatar's address, and no digest of a mail address: a reader could guess the
address from its digest.
"""

import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlsplit

from chalicelib.http import Text

DRAWING_HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}
_MOST_LETTERS = 2


class Drawing(Text):
    """200: a drawing."""

    media_type = "image/svg+xml"
    max_bytes = 10_000


def may_lead_to(picture: str, hosts: Sequence[str] | None, fetched_as: str | None) -> bool:
    """Return whether an avatar's address may redirect to the picture that its person chose.

    hosts: the site's allowed hosts; None: any host, but only to load an image of a page. A reader
    who opens the address as a link then stays at Plaza.
    fetched_as: the Sec-Fetch-Dest of the request (W3C Fetch Metadata, section 2.1).
    """
    if hosts is None:
        return fetched_as == "image"
    return (urlsplit(picture).hostname or "") in hosts


def caching_of(hosts: Sequence[str] | None) -> Mapping[str, str]:
    """Return the headers of caching; `hosts` None: a shared cache would mix images and links."""
    if hosts is None:
        return {"Cache-Control": "private, max-age=86400", "Vary": "Sec-Fetch-Dest"}
    return {"Cache-Control": "public, max-age=86400"}


def draw(user_id: str, name: str) -> str:
    """Return the initials of a name on the person's own colour, as SVG."""
    hue = int.from_bytes(hashlib.sha256(user_id.encode()).digest()[:2]) % 360
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">'
        f'<rect width="64" height="64" fill="hsl({hue} 45% 40%)"/>'
        '<text x="32" y="34" fill="#fff" font-family="system-ui, sans-serif" font-size="28" '
        'text-anchor="middle" dominant-baseline="middle">'
        f"{escape(initials(name))}</text></svg>"
    )


def initials(name: str) -> str:
    """Return the first letters of a name's first and last word; blank: it has no letter."""
    words = ["".join(each for each in word if each.isalnum()) for word in name.split()]
    firsts = [word[0] for word in words if word]
    ends = firsts if len(firsts) <= _MOST_LETTERS else [firsts[0], firsts[-1]]
    return "".join(ends).upper()
