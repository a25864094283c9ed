"""Decoding of HTML character references, such as `&amp;` and `&#8230;`."""

import html
import re

# 1,000 digits: more than any character needs, and fewer than the 4,300 that `int` still takes.
_TOO_LONG = re.compile("&#[0-9]{1000,};?")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def unescape(text: str) -> str:
    """Return a text with decoded references; a number of 1,000 digits or more becomes U+FFFD."""
    return html.unescape(_TOO_LONG.sub(_REPLACEMENT, text))
