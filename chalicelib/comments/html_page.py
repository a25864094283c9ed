"""A page of comments as HTML, for readers without scripts, and for crawlers.

This module escapes all text except each comment's HTML, which was sanitised before it was stored.
"""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

from chalicelib.comments.answers import CommentAnswer, CommentsAnswer
from chalicelib.web.files import PAGE_STYLES

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' https:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
# Deeper replies have this indent: a phone has no room for more.
_DEEPEST = 5
# The texts in place of comments that the reader does not see, by state.
_PLACEHOLDERS = {
    "deleted": "This comment was deleted.",
    "pending": "This comment waits for a moderator.",
}


def html_page(page: CommentsAnswer, public_url: str, query: dict[str, str]) -> str:
    """Return the page; its links to the previous and next page have `query` and a cursor."""
    styles = f"{public_url}/web/v1/{PAGE_STYLES}"
    feed = f"{public_url}/nodes/{page['node']['id']}/comments.atom"
    node, count = page["node"], page["count"]
    title, url = escape(node["title"]), escape(node["url"])
    counted = "1 comment" if count == 1 else f"{count:,} comments"
    head, foot = _links(page, query)
    shown = [*page["ancestors"], *page["comments"]]
    names = {each["id"]: each["author"]["name"] if each["author"] else None for each in shown}
    items = "\n".join(_item(each, names) for each in shown)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{counted}: {title}</title>
<link rel="canonical" href="{url}">
{head}
<link rel="alternate" type="application/atom+xml" title="{title}" href="{escape(feed)}">
<link rel="stylesheet" href="{escape(styles)}">
<script type="application/ld+json">{_linked_data(page)}</script>
</head>
<body>
<main>
<h1><a href="{url}" dir="auto">{title}</a></h1>
<p>{counted}{". This discussion is closed." if not node["open"] else ""}</p>
<ol>
{items}
</ol>
{foot}
</main>
</body>
</html>
"""


def _links(page: CommentsAnswer, query: dict[str, str]) -> tuple[str, str]:
    """Return the links to the previous and next page, as HTML for the head and for the foot."""
    beside = [
        (relation, escape(f"?{urlencode({**query, 'cursor': cursor})}"), text)
        for relation, cursor, text in (
            ("prev", page["previous"], "Previous comments"),
            ("next", page["next"], "More comments"),
        )
        if cursor
    ]
    head = "\n".join(f'<link rel="{rel}" href="{href}">' for rel, href, _ in beside)
    links = " ".join(f'<a rel="{rel}" href="{href}">{text}</a>' for rel, href, text in beside)
    return head, f"<nav>{links}</nav>" if links else ""


def _item(comment: CommentAnswer, names: Mapping[str, str | None]) -> str:
    depth = min(comment["depth"], _DEEPEST)
    place = f'<li id="plaza-{escape(comment["id"])}" class="depth-{depth}">'
    if comment["author"] is None or comment["html"] is None:
        reason = _PLACEHOLDERS.get(comment["state"], "This comment is hidden.")
        return f'{place}<article class="gone"><p>{reason}</p></article></li>'
    posted = comment["posted_at"]
    time = f'<time datetime="{posted.isoformat()}">{posted:%d %B %Y, %H:%M} UTC</time>'
    marks = [
        f'<b dir="auto">{escape(comment["author"]["name"])}</b>',
        f'<a href="#plaza-{escape(comment["id"])}">{time}</a>',
        *_reply(comment, names),
        *(["edited"] if comment["edited_at"] else []),
        *(["waits for a moderator"] if comment["state"] == "pending" else []),
    ]
    header = f"<header>{' '.join(marks)}</header>"
    return f'{place}<article>{header}<div dir="auto">{comment["html"]}</div></article></li>'


def _reply(comment: CommentAnswer, names: Mapping[str, str | None]) -> Iterator[str]:
    told = comment["reply_to"]
    answered = told["id"] if told else comment["parent_id"]
    if answered is None:
        return
    author = told["author"] if told else None
    name = escape(author["name"] if author else names.get(answered) or "another comment")
    # The server finds no page around a comment that the reader does not see: link to none.
    if answered in names:
        yield f'in reply to <a href="#plaza-{escape(answered)}" dir="auto">{name}</a>'
    elif author or not told:
        address = f"?around={escape(answered)}#plaza-{escape(answered)}"
        yield f'in reply to <a href="{address}" dir="auto">{name}</a>'
    else:
        yield f"in reply to {name}"


def _linked_data(page: CommentsAnswer) -> str:
    """Return the page as schema.org's DiscussionForumPosting, safe within a script element."""
    node = page["node"]
    posting: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "DiscussionForumPosting",
        "headline": node["title"],
        "url": node["url"],
        "commentCount": page["count"],
        "comment": [
            {
                "@type": "Comment",
                "text": each["text"],
                "dateCreated": each["posted_at"].isoformat(),
                "author": {"@type": "Person", "name": each["author"]["name"]},
            }
            for each in page["comments"]
            if each["author"] is not None
        ],
    }
    return json.dumps(posting, ensure_ascii=False).replace("<", "\\u003c")
