"""A page as a plain HTML document, for crawlers and trials; sites show pages in their own look.

This module escapes all texts but the page's own HTML, which publication has sanitised.
"""

from datetime import datetime
from html import escape
from typing import NamedTuple

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' https: http:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups "
    "allow-popups-to-escape-sandbox",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}


class Article(NamedTuple):
    """The contents of an HTML document; `head` are further elements of its head."""

    title: str
    summary: str | None
    html: str
    language: str
    author: str | None = None
    published_at: datetime | None = None
    head: tuple[str, ...] = ()


def document(article: Article, stylesheet_url: str) -> str:
    """Return the document."""
    title, summary = escape(article.title), escape(article.summary or "")
    paragraph = f'<p dir="auto">{summary}</p>' if summary else ""
    head = "\n".join(article.head)
    return f"""<!doctype html>
<html lang="{escape(article.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<meta property="og:type" content="article">
<meta property="og:title" content="{title}">
<meta property="og:description" content="{summary}">
{head}
<link rel="stylesheet" href="{escape(stylesheet_url)}">
</head>
<body>
<main>
<article>
<h1 dir="auto">{title}</h1>
{_byline(article)}
{paragraph}
<div dir="auto">{article.html}</div>
</article>
</main>
</body>
</html>
"""


def link(rel: str, href: str, kind: str = "") -> str:
    """Return a link for a document's head."""
    typed = f' type="{escape(kind)}"' if kind else ""
    return f'<link rel="{escape(rel)}"{typed} href="{escape(href)}">'


def meta(name: str, content: str) -> str:
    """Return a property of Open Graph for a document's head."""
    return f'<meta property="{escape(name)}" content="{escape(content)}">'


def _byline(article: Article) -> str:
    parts = [f'<b dir="auto">{escape(article.author)}</b>'] if article.author else []
    if article.published_at is not None:
        at = article.published_at
        # The date is English in an article of any language, hence `lang`.
        date = f"{at:%d %B %Y, %H:%M} UTC"
        parts.append(f'<time datetime="{at.isoformat()}" lang="en" dir="ltr">{date}</time>')
    return f"<p>{' '.join(parts)}</p>" if parts else ""
