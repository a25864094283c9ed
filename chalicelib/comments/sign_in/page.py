"""The page of a link: it asks whether the reader wrote, and its button says yes.

Programs that scan letters open each link in them; so opening it changes nothing.
"""

from html import escape

from chalicelib.comments.people.links import Confirmation
from chalicelib.comments.sign_in.addresses import origin_of
from chalicelib.comments.sign_in.sign_in_words import SIGN_IN_WORDS
from chalicelib.comments.sign_in.words import WORDS, is_rtl
from chalicelib.http import Text
from chalicelib.http.pages import page_html


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
    button = f"<button>{escape(words['yes'])}</button>"
    form = f'<form method="post" action="?token={escape(token)}">{button}</form>'
    main = f"<p>{question}</p>\n{form}"
    html = page_html(title, main, public_url, f'lang="{language}" dir="{direction}"')
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
