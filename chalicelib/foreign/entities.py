"""References to characters in HTML, such as `&amp;` and `&#8230;`, as their characters."""

import html
import re

# Far above the digits of any character, and below those that Python refuses to make a number of.
_TOO_LONG = re.compile("&#[0-9]{1000,};?")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def unescape(text: str) -> str:
    """Return a text with its characters in place of references, whatever their number."""
    return html.unescape(_TOO_LONG.sub(_REPLACEMENT, text))
