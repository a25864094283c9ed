"""Avatars: the picture that a person's token names, or a drawing of their initials.

No page names a digest of a mail address, which could be guessed: it needs only the address of the
avatar.
"""

import hashlib
from html import escape

from chalicelib.http import Text

A_DAY = "public, max-age=86400"
DRAWING_HEADERS = {
    "Cache-Control": A_DAY,
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}
_MOST_LETTERS = 2


class Drawing(Text):
    """200: a drawing."""

    media_type = "image/svg+xml"
    max_bytes = 10_000


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
