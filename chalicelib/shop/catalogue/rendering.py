"""Safe HTML from a product's Markdown, rendered once at each write."""

from chalicelib.errors import UnreadableText
from chalicelib.shop.errors import ProductTooLarge

# Short Markdown can render to HTML many times its length.
MAX_HTML_BYTES = 64 * 1024


def render(text: str | None) -> str:
    """Return the HTML of a text; raises ProductTooLarge and UnreadableText."""
    if not text:
        return ""
    # Imported for the first text: the parser and the sanitiser take 20 ms of a cold start, and
    # most containers render nothing.
    from chalicelib import markdown
    from chalicelib.shop.catalogue.dialect import DIALECT

    try:
        return markdown.render(text, DIALECT, max_bytes=MAX_HTML_BYTES)
    except markdown.TooLarge:
        raise ProductTooLarge from None
    except markdown.Unreadable as fault:
        raise UnreadableText("text", fault.code, fault.detail) from None
