"""Short texts of HTML as plain text: decoded character references, without tags."""

import html
import re

from chalicelib.texts import balance_directions, drop_controls

# 1,000 digits: more than any character needs, and fewer than the 4,300 that `int` still takes.
_TOO_LONG = re.compile("&#[0-9]{1000,};?")
_TAG = re.compile(r"<[^<>]*>")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def unescape(text: str) -> str:
    """Return a text with decoded references; a number of 1,000 digits or more becomes U+FFFD."""
    return html.unescape(_TOO_LONG.sub(_REPLACEMENT, text))


def plain_line(html_text: str, most: int) -> str:
    """Return HTML as plain text on one line, cut to `most` characters."""
    plain = unescape(_TAG.sub("", html_text))
    line = str(drop_controls(" ".join(plain.split())))[:most]
    return balance_directions(line).rstrip()
