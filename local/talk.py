"""The newspaper's comments: a search in them, and the most discussed pages."""

from collections.abc import Mapping
from datetime import datetime
from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode

from local.articles import Read, filled

SEARCH = "/search"
TITLE = "Search the comments"
_MOST_DISCUSSED = 3
_LONGEST_QUERY = 200
_WRONG_WORDS = HTTPStatus.UNPROCESSABLE_ENTITY


def box() -> str:
    """Return the form of a search, for the side of a page."""
    return filled("search-form.html", {"query": ""})


def page(read: Read, site: str, query: str) -> str:
    """Return the page of a search by the query of its address."""
    given = {name: values[0] for name, values in parse_qs(query).items()}
    words = given.get("q", "").strip()[:_LONGEST_QUERY]
    form = filled("search-form.html", {"query": words})
    return filled(
        "search.html", {"title": TITLE}, form=form, found=_found(read, site, words, given)
    )


def _found(read: Read, site: str, words: str, given: Mapping[str, str]) -> str:
    """Return the results of a search, or why there are none."""
    if not words:
        return ""
    asked = {"q": words, "limit": 10, **({"cursor": given["cursor"]} if "cursor" in given else {})}
    status, answer = read(f"/sites/{site}/search?{urlencode(asked)}")
    if status == _WRONG_WORDS:
        return _told("Look for one to five words, such as “ferry”.")
    if status != HTTPStatus.OK:
        return _told("The comments cannot be searched at the moment.")
    comments, following = answer["comments"], answer["next"]
    if not comments and not following:
        return _told("No comment has all of these words.")
    more = f"{SEARCH}?{urlencode({'q': words, 'cursor': following})}" if following else ""
    link = f'<p><a href="{escape(more)}">Older comments</a></p>' if more else ""
    return f'<ol class="found">{"".join(map(_result, comments))}</ol>{link}'


def _told(text: str) -> str:
    return f'<p role="status">{escape(text)}</p>'


def _result(comment: Any) -> str:
    posted = datetime.fromisoformat(comment["posted_at"]).astimezone()
    return filled(
        "found.html",
        {
            "address": comment["permalink"],
            "title": comment["node"]["title"],
            "author": comment["author"]["name"],
            "at": comment["posted_at"],
            "day": f"{posted:%d %B %Y}",
            "excerpt": comment["excerpt"],
        },
    )


def most_discussed(read: Read, site: str) -> str:
    """Return the box of the week's most discussed pages; nothing before they are counted."""
    status, answer = read(f"/sites/{site}/discussed?days=7&limit={_MOST_DISCUSSED}")
    if status != HTTPStatus.OK or not answer["nodes"]:
        return ""
    rows = "".join(
        f'<li><a href="{escape(each["url"])}">{escape(each["title"])}</a>'
        f' <span class="count">{_number(each["comments"])}</span></li>'
        for each in answer["nodes"]
    )
    return f'<section class="box"><h2>Most discussed</h2><ol>{rows}</ol></section>'


def _number(comments: int) -> str:
    return f"{comments} {'comment' if comments == 1 else 'comments'}"
