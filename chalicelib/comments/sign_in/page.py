"""The page of a link: it asks whether the reader wrote, and its button says yes.

Programs that scan letters open each link in them; so opening it changes nothing.
"""

from html import escape

from chalicelib.comments.people.links import Confirmation
from chalicelib.comments.sign_in.addresses import origin_of
from chalicelib.comments.sign_in.sign_in_words import SIGN_IN_WORDS
from chalicelib.comments.sign_in.words import WORDS, is_rtl
from chalicelib.http import Text
from chalicelib.web.files import PAGE_STYLES


class ConfirmationPage(Text):
    """A page with a button, without scripts."""

    media_type = "text/html"
    max_bytes = 100_000


def page_of(found: Confirmation, token: str, public_url: str) -> ConfirmationPage:
    """Return the page of a link, in the language of its letter."""
    language = found["language"]
    words = (SIGN_IN_WORDS if found.get("kind") == "sign_in" else WORDS)[language]
    title = escape(words["title"]).format(site=escape(found["site"]))
    name = f"<bdi>{escape(found['name'])}</bdi>"
    question = escape(words["question"]).format(name=name, site=escape(found["site"]))
    direction = "rtl" if is_rtl(language) else "ltr"
    html = f"""<!doctype html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="stylesheet" href="{escape(public_url)}/web/v1/{PAGE_STYLES}">
</head>
<body>
<main>
<h1>{title}</h1>
<p>{question}</p>
<form method="post" action="?token={escape(token)}"><button>{escape(words["yes"])}</button></form>
</main>
</body>
</html>
"""
    return ConfirmationPage(html, _headers(found))


def _headers(found: Confirmation) -> dict[str, str]:
    # Browsers hold the page that a form leads on to against `form-action`, too.
    targets = f"'self' {origin_of(found['return_to']) or ''}".strip()
    policy = (
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action {targets}"
    )
    # The address of the page is a secret.
    return {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
