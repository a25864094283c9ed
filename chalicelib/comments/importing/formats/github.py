"""GitHub Discussions, the store of giscus: JSON responses of GitHub's GraphQL API."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    is_true,
    key_of,
    line_of,
    number_of,
    skip,
    text_of,
    url_of,
)
from chalicelib.comments.importing.formats.comments_json import Record, Unusable, id_and_time
from chalicelib.comments.importing.formats.json_groups import groups
from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedComment,
    ImportedState,
    ImportedThread,
    Item,
)
from chalicelib.foreign.entities import unescape
from chalicelib.foreign.moments import moment_of

_PAGE = ("data", "repository", "discussions", "nodes", "*")
_ONE = ("data", "repository", "discussion")
# `gh api graphql --paginate --slurp` writes the pages as an array; without `--slurp`,
# one by one.
_PLACES = (_PAGE, _ONE, ("*", *_PAGE), ("*", *_ONE))
_TOTAL = "comments.totalCount"
_FIELDS = ("id", "number", "title", "url", "body", "locked", _TOTAL)
# giscus ends the text of a discussion with a link to the page.
_LINK = re.compile(r"\[(https?://[^\]\s]+)\]\(\1\)")
_IMAGE = re.compile(r"<img\b[^<>]*?\bsrc\s*=\s*\"([^\"<>]*)\"[^<>]*>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*\"([^\"<>]*)\"", re.IGNORECASE)
_VOTES = {"THUMBS_UP": 1, "THUMBS_DOWN": -1}
_SPAM = frozenset({"spam", "abuse"})


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield each discussion as a thread, and its comments with their replies."""
    for group in groups(stream, _PLACES, _FIELDS, ("comments", "nodes", "*")):
        head = group.head
        key = key_of(head.get("id") or head.get("number") or head.get("url"))
        if not key:
            # GitHub answers null for a discussion that the token may not read.
            continue
        yield ImportedThread(
            key=key,
            url=_page(head),
            title=line_of(head.get("title")),
            locked=is_true(head.get("locked")),
        )
        yield from group.items(partial(_items, thread=key))
        if number_of(head.get(_TOTAL)) > group.size:
            yield skip("more_comments", f"line {group.line}, discussion {key}", head.get("title"))


def _page(head: Record) -> str | None:
    """Return the address of the page that giscus made a discussion for."""
    title = text_of(head.get("title")).strip()
    links = _LINK.findall(text_of(head.get("body")))
    if links:
        return url_of(links[-1])
    return url_of(title) or (url_of(f"/{title}") if "/" in title else None)


def _items(record: Record, thread: str) -> Iterator[Item]:
    comment = _comment(record, thread, None)
    yield comment
    part = _part(record, "replies")
    nodes = part.get("nodes")
    replies = [each for each in nodes if isinstance(each, dict)] if isinstance(nodes, list) else []
    for reply in replies:
        yield _reply(reply, comment)
    if number_of(part.get("totalCount")) > len(replies):
        yield skip("more_comments", f"replies to {comment.key}", comment.text)


def _reply(record: Record, parent: ImportedComment) -> Item:
    try:
        return _comment(record, parent.thread, parent.key)
    except Unusable as fault:
        return skip(fault.reason, f"reply to {parent.key}", record.get("body"))


def _comment(record: Record, thread: str, parent: str | None) -> ImportedComment:
    key, posted = id_and_time(record.get("id") or record.get("databaseId"), record.get("createdAt"))
    state = _state(record)
    is_deleted = state == "deleted"
    ups, downs = _totals(record)
    votes = _voters(record)
    return ImportedComment(
        thread=thread,
        key=key,
        parent=parent,
        posted=posted,
        edited=moment_of(record.get("lastEditedAt")),
        author=None if is_deleted else _author(_part(record, "author")),
        text="" if is_deleted else _IMAGE.sub(_picture, text_of(record.get("body"))),
        state=state,
        ups=max(ups, sum(vote > 0 for _, vote in votes)),
        downs=max(downs, sum(vote < 0 for _, vote in votes)),
        votes=votes,
    )


def _state(record: Record) -> ImportedState:
    if record.get("deletedAt"):
        return "deleted"
    if not is_true(record.get("isMinimized")):
        return "visible"
    return "spam" if text_of(record.get("minimizedReason")).lower() in _SPAM else "hidden"


def _author(author: Record) -> ImportedAuthor | None:
    login = text_of(author.get("login"))
    # A login may change; the number behind it does not.
    account = author.get("databaseId") or author.get("id") or login
    return author_of(author.get("name") or login, account=account, email=author.get("email"))


def _totals(record: Record) -> tuple[int, int]:
    """Return the votes for and against.

    A person may give both an upvote and a thumb: the larger number counts.
    """
    groups_of = record.get("reactionGroups")
    counts = {"THUMBS_UP": 0, "THUMBS_DOWN": 0}
    for thumb, each in _thumbs(groups_of):
        people = _part(each, "users") or _part(each, "reactors")
        counts[thumb] = max(number_of(people.get("totalCount")), 0)
    return max(counts["THUMBS_UP"], number_of(record.get("upvoteCount"))), counts["THUMBS_DOWN"]


def _voters(record: Record) -> tuple[tuple[str, int], ...]:
    nodes = _part(record, "reactions").get("nodes")
    votes: dict[str, int] = {}
    for thumb, each in _thumbs(nodes):
        user = _part(each, "user")
        account = key_of(user.get("databaseId") or user.get("id") or user.get("login"))
        if account:
            votes.setdefault(account, _VOTES[thumb])
    return tuple(votes.items())


def _thumbs(found: Any) -> Iterator[tuple[str, Record]]:
    """Yield the name and the record of each thumb up or down in a list of reactions."""
    for each in found if isinstance(found, list) else ():
        content = each.get("content") if isinstance(each, Mapping) else None
        if isinstance(content, str) and content in _VOTES:
            yield content, each


def _picture(found: re.Match[str]) -> str:
    words = _ALT.search(found[0])
    named = re.sub(r"[\[\]\\\n]", "", unescape(words[1])) if words else ""
    return f"![{named}]({unescape(found[1])})"


def _part(record: Record, name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}
