"""Pages for people who opened an address in a browser: one style sheet, and no script."""

from html import escape
from typing import NamedTuple

from chalicelib.http.responses import Text
from chalicelib.languages import direction

# The style sheet of pages that the server writes (`chalicelib.web.embed`).
STYLES_PATH = "/web/v1/page.css"


def page_html(title: str, main: str, base_url: str, language: str = 'lang="en"') -> str:
    """Return the HTML of a page that search engines leave out.

    title, main: HTML. language: the attributes of `<html>`, `lang` and perhaps `dir`.
    """
    return f"""<!doctype html>
<html {language}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="stylesheet" href="{escape(base_url)}{STYLES_PATH}">
</head>
<body>
<main>
<h1>{title}</h1>
{main}
</main>
</body>
</html>
"""


class LinkPage(Text):
    """The page of a link in a letter, without scripts."""

    media_type = "text/html"
    max_bytes = 100_000


class LinkText(NamedTuple):
    """The texts of the page of a link: `title` and `sentence` as HTML, `button` as text."""

    title: str
    sentence: str
    button: str
    language: str


def link_page(text: LinkText, action: str, base_url: str, leads_to: str = "") -> LinkPage:
    """Return the page of a link in a letter; its button posts to `action`, empty for no button.

    Programs that scan letters open each link in them: opening a link must change nothing.
    `leads_to`: an origin that the button's answer may redirect to.
    """
    main = f"<p>{text.sentence}</p>"
    if action:
        button = f"<button>{escape(text.button)}</button>"
        main += f'\n<form method="post" action="{escape(action)}">{button}</form>'
    language = f'lang="{text.language}" dir="{direction(text.language)}"'
    # Browsers apply `form-action` to a redirect after the form, too.
    targets = f"'self' {leads_to}".strip()
    policy = (
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action {targets}"
    )
    # The address of the page is a secret.
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
    return LinkPage(page_html(text.title, main, base_url, language), headers)
