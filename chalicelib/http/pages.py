"""Pages for people who opened an address in a browser: one style sheet, and no script."""

from html import escape

# The style sheet of pages that the server writes (`chalicelib.web.embed`).
STYLES_PATH = "/web/v1/page.css"


def page_html(title: str, main: str, base_url: str, language: str = 'lang="en"') -> str:
    """Return the HTML of a page that search engines leave out.

    title, main: as HTML. language: the attributes that tell it.
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
